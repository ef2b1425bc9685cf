"""The uiautomator2 server: what its client calls, under its names and with its arguments."""
