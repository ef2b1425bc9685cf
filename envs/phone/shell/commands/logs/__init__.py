"""Android's log, which holds what `log` has written, and what apps have failed of."""
