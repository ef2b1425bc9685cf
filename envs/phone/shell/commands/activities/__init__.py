"""What starts, ends and works apps: `am` and `monkey`, and how their arguments describe intents."""
