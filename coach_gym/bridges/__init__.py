"""The environments behind other programs' interfaces: each module needs a package of its own."""
