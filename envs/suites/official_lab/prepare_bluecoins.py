"""The ledger that AndroidLab's Bluecoins tasks ask about and change: late April to mid-May 2024."""

from __future__ import annotations

from datetime import date

from coach_gym.envs.apps.bluecoins.data import DATABASE, EXPENSE, INCOME, Transaction, add
from coach_gym.envs.phone.phone import Phone

FOOD, GROCERIES, RIDES, HOUSING, FUN, SHOPPING = 2, 3, 4, 5, 6, 7
SALARY, INTEREST, REFUND = 102, 103, 104
MAY = [  # day, kind, cents, item, notes, category
    (1, EXPENSE, 12600, "Cinema", "Holiday matinee", FUN),
    (2, INCOME, 5200, "Refund", "Wrong size", REFUND),
    (3, EXPENSE, 38888, "Bakery", "Buying cake", FOOD),
    (4, EXPENSE, 2480, "Taxi", "To the station", RIDES),
    (5, EXPENSE, 21750, "Supermarket", "Weekly shopping", GROCERIES),
    (6, EXPENSE, 2151, "Taxi", "To the office", RIDES),
    (6, EXPENSE, 3200, "Noodle bar", "Lunch", FOOD),
    (6, EXPENSE, 1600, "Coffee", "With Lin", FOOD),
    (7, EXPENSE, 1940, "Taxi", "In the rain", RIDES),
    (7, EXPENSE, 5850, "Book shop", "Travel guide", SHOPPING),
    (8, EXPENSE, 4500, "Noodle bar", "Dinner", FOOD),
    (9, EXPENSE, 1921, "Taxi", "Home from dinner", RIDES),
    (10, EXPENSE, 1060000, "Rent", "May and June", HOUSING),
    (10, EXPENSE, 80000, "Desk", "Home office", SHOPPING),
    (12, INCOME, 1800000, "Salary", "May", SALARY),
    (12, EXPENSE, 79420, "Supermarket", "Party", GROCERIES),
    (13, EXPENSE, 20000, "Envelope", "", SHOPPING),
    (15, EXPENSE, 40000, "Train ticket", "To Hangzhou", RIDES),
]  # fmt: skip
"""Later than today, the tenth, are entries made in advance."""


def prepare(phone: Phone) -> None:
    """Fills the book."""
    book = phone.storage.database(DATABASE)
    add(book, Transaction(INCOME, 3120, date(2024, 4, 28), "Savings", "Interest", INTEREST))
    add(book, Transaction(EXPENSE, 9900, date(2024, 4, 30), "Taxi", "To the airport", RIDES))
    for day, kind, cents, item, notes, category in MAY:
        add(book, Transaction(kind, cents, date(2024, 5, day), item, notes, category))
