"""The commands of the shell that are Android's own, in modules by what they work on."""
