"""The apps of the embedded phone, one folder each: screens, data, tasks, and the scripts that solve them."""
