"""Evaluation as the benchmarks do it: every task once, or n times, in order; and what their result scripts read."""

from coach_gym.evaluation.players import ChatPlayer, ExpertPlayer, Player, PredictorPlayer, RandomPlayer
from coach_gym.evaluation.records import Record, read_records
from coach_gym.evaluation.report import Report
from coach_gym.evaluation.run import evaluate_suite

__all__ = [
    "ChatPlayer",
    "ExpertPlayer",
    "Player",
    "PredictorPlayer",
    "RandomPlayer",
    "Record",
    "Report",
    "evaluate_suite",
    "read_records",
]
