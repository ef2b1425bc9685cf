"""What it costs to see what happens: episodes that are kept, and a phone in the browser."""
