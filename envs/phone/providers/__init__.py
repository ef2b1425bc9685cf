"""Data that Android keeps for all apps: the contacts, telephony and call log providers."""
