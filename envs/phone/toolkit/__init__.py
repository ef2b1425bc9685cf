"""Views, widgets, their layout, pixels and accessibility nodes."""
