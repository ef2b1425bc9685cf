"""Data that Android keeps for all apps: schemas and queries of the contacts and the telephony provider."""
