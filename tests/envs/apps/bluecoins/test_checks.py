"""Which answers the questions about a ledger accept."""

from coach_gym.envs.apps.bluecoins import lab_tasks as bluecoins


def entry(day, cents, kind=3, item="Tea"):
    return [kind, cents, day, item, "", 1 if kind == 3 else 101]


def test_amounts_with_and_without_currency_and_separators(accepts):
    entries = [entry("2023-10-08", 123000), entry("2023-10-08", 450, item="Milk"), entry("2023-10-08", 9900, 4, "Pay"),
               entry("2023-10-09", 700, item="Salt")]  # fmt: skip
    params = {"day": "2023-10-08", "date": "October 8, 2023", "other": "2023-10-09", "entries": entries}
    right = ("1234.50", "1,234.50", "1234.5", "1,234.50 CNY", "1234.50 cny.", "-1,234.50 CNY", " 1234.50 yuan ")
    wrong = ("1234", "1234.05", "12.3450", "1234.50 USD", "99", "about 1234.50", "1234.50 or 7", "1e3", "7.00 CNY")
    accepts(bluecoins.BluecoinsSpentOnDay(params), right, wrong)


def test_a_book_that_was_changed_on_the_way_does_not_count(device):
    params = {"day": "2023-10-08", "date": "", "other": "", "entries": [entry("2023-10-08", 500)]}
    task = bluecoins.BluecoinsSpentOnDay(params)
    task.setup(device)
    assert task.evaluate(device, "5.00") == 1.0
    with device.database(bluecoins.DATABASE) as db:
        db.execute("UPDATE TRANSACTIONSTABLE SET amount = -1")
    assert task.evaluate(device, "5.00") == 0.0
