"""`coach-gym view`: a page in the browser that shows runs, their curves and their episodes."""
