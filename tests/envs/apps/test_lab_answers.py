"""Which answers the questions of AndroidLab's kind accept, beyond the one that an expert gives."""

import pytest

from coach_gym.envs.apps.bluecoins import lab_tasks as bluecoins
from coach_gym.envs.apps.cantook import lab_tasks as cantook
from coach_gym.envs.apps.mapsme import lab_tasks as mapsme
from coach_gym.envs.apps.pimusic import lab_tasks as pimusic
from coach_gym.envs.apps.zoom import lab_tasks as zoom
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.tasks.words import ParamRng

DEVICE = PhoneDevice(270, 600)


def score(task, answer):
    DEVICE.reset_state()
    task.setup(DEVICE)
    return task.evaluate(DEVICE, answer)


def accepts(task, right, wrong):
    assert [answer for answer in right if score(task, answer) != 1.0] == []
    assert [answer for answer in (*wrong, None, "", " ") if score(task, answer) != 0.0] == []


def entry(day, cents, kind=3, item="Tea"):
    return [kind, cents, day, item, "", 1 if kind == 3 else 101]


def test_amounts_with_and_without_currency_and_separators():
    entries = [entry("2023-10-08", 123000), entry("2023-10-08", 450, item="Milk"), entry("2023-10-08", 9900, 4, "Pay"),
               entry("2023-10-09", 700, item="Salt")]  # fmt: skip
    params = {"day": "2023-10-08", "date": "October 8, 2023", "other": "2023-10-09", "entries": entries}
    right = ("1234.50", "1,234.50", "1234.5", "1,234.50 CNY", "1234.50 cny.", "-1,234.50 CNY", " 1234.50 yuan ")
    wrong = ("1234", "1234.05", "12.3450", "1234.50 USD", "99", "about 1234.50", "1234.50 or 7", "1e3", "7.00 CNY")
    accepts(bluecoins.BluecoinsSpentOnDay(params), right, wrong)


def test_a_book_that_was_changed_on_the_way_does_not_count():
    params = {"day": "2023-10-08", "date": "", "other": "", "entries": [entry("2023-10-08", 500)]}
    task = bluecoins.BluecoinsSpentOnDay(params)
    assert score(task, "5.00") == 1.0
    with DEVICE.database(bluecoins.DATABASE) as db:
        db.execute("UPDATE TRANSACTIONSTABLE SET amount = -1")
    assert task.evaluate(DEVICE, "5.00") == 0.0


@pytest.mark.parametrize(
    "read, right, wrong",
    [
        (3, ("37.5%", "37.5", "37.5 %", "37.5 percent"), ("37", "38%", "0.375", "62.5%", "37.5% or 50%")),
        (4, ("50.0%", "50%", "50", "50 percent."), ("5", "500", "49.9%", "half")),
    ],
)
def test_shares_of_a_book(read, right, wrong):
    book = ["The Red Door", "Ada Moon", "Novels", [f"{n}." for n in range(8)], read]
    accepts(cantook.CantookProgressOf({"title": "The Red Door", "other": "", "books": [book]}), right, wrong)


def test_numbers_of_books_and_songs():
    books = [[f"The Book {n}", "Ada Moon", "Novels", ["One."], 0] for n in range(3)]
    params = {"title": "", "author": "Ada Moon", "other": "Bo Vale", "books": books}
    accepts(cantook.CantookBooksByAuthor(params), ("3", "3 books", "3."), ("2", "33", "3 songs", "3 or 4", "13"))
    songs = [["One", "Ada Moon", "Trees", 200]]
    params = {"title": "", "songs": songs, "playlists": [], "playing": None, "artist": "Ada Moon", "other": ""}
    accepts(pimusic.PiMusicCountByArtist(params), ("1", "1 song", "1 songs"), ("0", "11", "one or two"))


def test_names_of_albums_and_of_people():
    songs = [["One", "Ada Moon", "Tall Trees", 200], ["Two", "Ada Moon", "Seas", 200]]
    params = {"title": "One", "songs": songs, "playlists": [], "playing": None, "other": "Two"}
    accepts(pimusic.PiMusicAlbumOf(params), ("Tall Trees", "tall trees", "'Tall Trees'."), ("Seas", "Tall", "One"))
    meetings = {"123 456 7890": "Ada", "222 222 2222": "Bo"}
    task = zoom.ZoomNameInMeeting({"number": "123 456 7890", "meetings": meetings})
    accepts(task, ("Ada", "ada", '"Ada"'), ("Bo", "Ada, Bo", "Ad"))


def test_times_of_travel():
    params = mapsme.MapsTravelTime.sample(ParamRng(5))
    task = mapsme.MapsTravelTime(params)
    world = mapsme.world_of(params["town"])
    names = (params["start"], params["target"])
    minutes = mapsme._minutes(world, *names, mapsme.WAYS[params["how"]])
    right = (f"{minutes} min", f"{minutes} minutes", f"{minutes}min.", f"0 hr {minutes} min")
    wrong = (f"{minutes + 1} min", f"{minutes} hr", f"{minutes}", f"{minutes} km", f"{minutes} or 1 min", "min")
    accepts(task, right, wrong)


@pytest.mark.parametrize(
    "answer, minutes",
    [
        ("1 hr 5 min", 65), ("1h5m", 65), ("2 hours", 120), ("65 minutes", 65), ("65", None), ("hr", None),
        ("1:05", None), ("5 min 1 hr", None),
    ],
)  # fmt: skip
def test_times_in_hours_and_minutes(answer, minutes):
    assert mapsme._told(answer) == minutes


def test_every_town_hangs_together_and_its_nearest_places_stand_out():
    for seed in range(30):
        params = mapsme.MapsNearest.sample(ParamRng(seed))
        world = mapsme.world_of(params["town"])
        away = mapsme.distances(world)
        assert len(away) == len(world.places)
        near = sorted(away[place.id] for place in world.places if place.kind == params["kind"])
        assert near[1] - near[0] > mapsme.CLEAR
