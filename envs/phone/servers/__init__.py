"""What speaks to the phone from outside: the protocols of a real Android device."""
