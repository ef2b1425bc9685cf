"""Scripted solvers that see only what an agent sees: proofs of solvability and demonstrations."""
