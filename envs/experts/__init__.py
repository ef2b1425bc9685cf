"""Scripted solvers that see only what an agent sees: proofs of solvability and demonstrations."""

from coach_gym.envs.experts import contacts as contacts
from coach_gym.envs.experts import settings as settings
