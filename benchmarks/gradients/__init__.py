"""How good is the gradient that a roll-out yields? By the number of scored candidates, their baseline and their Q."""
