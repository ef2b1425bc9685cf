"""The commands of the shell, in modules by what they work on."""
