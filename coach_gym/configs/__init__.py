"""Settings for `coach-gym train --config NAME`."""
