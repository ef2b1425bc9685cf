"""Sound, pictures and moving pictures as files: what the apps write and what they can read."""
