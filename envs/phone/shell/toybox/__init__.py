"""The shell's commands that Android has from toybox: files and their contents, text, archives, processes."""
