"""`coach-gym phone --web`: a phone in the browser, to touch and to solve tasks on."""
