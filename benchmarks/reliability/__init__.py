"""How much is lost when devices fail."""
