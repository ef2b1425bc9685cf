"""Commands about the phone as a whole: the machine, its clock, its settings, and its services."""
