"""The embedded phone: an engine for apps, which it is given; it knows none itself."""
