"""How critics and process reward models are measured: forks tell the truth, metrics compare it with what they say."""
