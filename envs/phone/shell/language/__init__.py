"""The language of the shell: words, grammar, interpreter, and the commands that belong to it."""
