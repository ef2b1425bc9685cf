"""What the embedded phone holds for AndroidLab's tasks answers their questions as AndroidLab's standard answers do.

The right-hand sides are the standard answers and the strings of AndroidLab's judges (evaluation/tasks of its
repository), so none of them may be changed here.
"""

from datetime import date, datetime

import pytest

from coach_gym.envs.apps.bluecoins.data import DATABASE, EXPENSE, INCOME, money, read
from coach_gym.envs.apps.cantook import data as cantook_data
from coach_gym.envs.apps.mapsme import data as mapsme_data
from coach_gym.envs.apps.mapsme.data import ROLES, distance_text, length_text, time_text
from coach_gym.envs.apps.mapsme.route import distances, route
from coach_gym.envs.apps.pimusic import data as pimusic_data
from coach_gym.envs.phone.media import epub
from coach_gym.envs.profiles import world_phone
from coach_gym.envs.suites.official_lab.prepare_bluecoins import prepare as prepare_bluecoins
from coach_gym.envs.suites.official_lab.prepare_cantook import EBOOKS
from coach_gym.envs.suites.official_lab.prepare_cantook import prepare as prepare_cantook
from coach_gym.envs.suites.official_lab.prepare_mapsme import bay
from coach_gym.envs.suites.official_lab.prepare_mapsme import prepare as prepare_mapsme
from coach_gym.envs.suites.official_lab.prepare_pimusic import prepare as prepare_pimusic

TODAY = datetime(2024, 5, 10, 12)


@pytest.fixture(scope="module")
def phone():
    phone = world_phone(270, 600)
    phone.now = TODAY
    for prepare in (prepare_bluecoins, prepare_cantook, prepare_mapsme, prepare_pimusic):
        prepare(phone)
    return phone


# Bluecoins


@pytest.fixture(scope="module")
def book(phone):
    return [transaction for _, transaction in read(phone.storage.database(DATABASE))]


def spent(book, day, item=""):
    return sum(each.cents for each in book if each.day == day and each.kind == EXPENSE and item in each.item)


def only(book, day, kind):
    (found,) = [each for each in book if each.day == date(2024, 5, day) and each.kind == kind]
    return found


def test_what_was_spent_on_two_days(book):
    assert money(spent(book, date(2024, 5, 10))) == "11,400.00 CNY"
    assert money(spent(book, date(2024, 5, 6))) == "69.51 CNY"
    assert sum(each.day == date(2024, 5, 6) for each in book) == 3


def test_the_cake(book):
    (cake,) = [each for each in book if each.cents == 38888]
    assert cake.day == date(2024, 5, 3) and cake.notes == "Buying cake"


@pytest.mark.parametrize("first", [date(2024, 5, 5), date(2024, 5, 6)], ids=["from Sunday", "from Monday"])
def test_taxis_of_the_week_whichever_day_it_starts_on(book, first):
    week = [date.fromordinal(first.toordinal() + days) for days in range(7)]
    assert money(sum(spent(book, day, "Taxi") for day in week)) == "60.12 CNY"
    assert sum(each.cents for each in book if each.item == "Taxi") > 6012, "other weeks have taxis, too"


@pytest.mark.parametrize(
    "day, kind, cents", [(15, EXPENSE, 40000), (12, INCOME, 1800000), (12, EXPENSE, 79420)], ids=str
)
def test_what_is_to_be_changed_is_found_by_its_day(book, day, kind, cents):
    assert only(book, day, kind).cents == cents


def test_days_whose_only_transaction_changes_its_kind(book):
    for day, kind in ((13, EXPENSE), (2, INCOME)):
        (each,) = [each for each in book if each.day == date(2024, 5, day)]
        assert each.kind == kind


# Cantook


@pytest.fixture(scope="module")
def library(phone):
    return cantook_data.Library(phone.storage)


def test_the_shelf(library):
    titles = [book.title for book in library.books()]
    assert "Pride and Prejudice" not in titles and {"Don Quixote", "Hamlet"} <= set(titles)
    assert sum(book.author == "Charles Dickens" for book in library.books()) == 2
    assert {book.title for book in library.books() if book.category == "Tragedies"} == {"Hamlet", "Romeo and Juliet"}


def test_what_was_read_and_added_last(library):
    read = [book for book in library.books("opened") if book.opened is not None]
    assert [book.title for book in read[:2]] == ["The Scarlet Letter", "Oliver Twist"] and read[1].read
    assert library.books("added")[1].author == "William Shakespeare"


def test_romeo_and_juliet_lies_open_where_the_judge_looks(library):
    (book,) = [book for book in library.books() if book.title == "Romeo and Juliet"]
    assert book.progress == "37.8%"
    shown = library.paragraphs(book)[book.position]
    assert shown == "Mer. Thou desir'st me to stop in my tale against the haire"


def test_alice_is_to_be_imported(phone, library):
    (name,) = phone.storage.listdir(EBOOKS)
    assert epub.read(phone.storage.read(f"{EBOOKS}/{name}")).title == "Alice's Adventures in Wonderland"
    assert not any("Alice" in book.title for book in library.books())


# map.me: start, end, mode, what the standard answer says of it


WAYS = [
    ("Stanford Campus Oval", "Oxford Street & University Avenue", "walk", ("73 km", "12 hr 58 min")),
    ("Stanford Campus Oval", "Oxford Street & University Avenue", "bike", ("73 km", "4 hr 7 min")),
    ("2700 Coast Avenue", "Route 51", "car", ("7.0 km", "8 min")),
]


def place(name):
    (found,) = [place for place in bay().places if place.name == name]
    return found.id


@pytest.mark.parametrize("start, end, mode, told", WAYS)
def test_routes(start, end, mode, told):
    way = route(bay(), place(start), place(end), mode)
    assert (length_text(way.km), time_text(way.minutes)) == told


@pytest.mark.parametrize("start, end", dict.fromkeys(way[:2] for way in WAYS))
def test_public_transportation_is_faster_than_riding(start, end):
    bike, transit = (route(bay(), place(start), place(end), mode) for mode in ("bike", "transit"))
    assert transit.minutes < bike.minutes


def test_lines_to_route_51():
    assert route(bay(), place("2700 Coast Avenue"), place("Route 51"), "transit").lines == ("824", "EB")


def nearest(word):
    away = distances(bay())
    found = [place for place in bay().places if word in (place.kind, place.name)]
    assert len(found) > 1, "else it would be no question"
    return min(found, key=lambda place: away[place.id])


def test_what_is_nearest():
    assert nearest("Restaurant").name == "Teléferic Barcelona"
    assert nearest("Hotel").name == "The Clement Hotel - All Inclusive"
    walk = route(bay(), bay().here, nearest("Restaurant").id, "walk")
    drive = route(bay(), bay().here, nearest("IKEA").id, "car")
    assert (time_text(walk.minutes), time_text(drive.minutes)) == ("3 min", "9 min")


def test_where_openai_is(phone):
    office = next(each for each in bay().places if each.name == "OpenAI")
    assert f"{office.address} • {distance_text(distances(bay())[office.id])}" == "18th Street, 3180 • 50.6 km"
    assert not mapsme_data.my_places(phone.storage.database(mapsme_data.DATABASE)) and "Work" in ROLES


# Pi Music Player


@pytest.fixture(scope="module")
def music(phone):
    return pimusic_data.Music(phone.storage)


def by(music, artist):
    return [song for song in music.songs() if song.artist == artist]


def test_the_songs(music):
    titles = [song.title for song in music.songs()]
    assert len(titles) == 12 and titles[1::2][:2] == ["Dark Side Of The Moon", "Future sounds"]
    assert len(by(music, "Pink Floyd")) == 4
    longest = max(by(music, "Pink Floyd"), key=lambda song: song.seconds)
    assert pimusic_data.clock(longest.seconds) == "1:21:03"
    assert sum(song.seconds for song in by(music, "Eason Chan")) == 11 * 60 + 50


def test_albums_and_artists_that_are_asked_for(music):
    songs = {song.title: song for song in music.songs()}
    assert songs["Wish You Were Here"].album == "Pulse Live" and songs["Lightship"].artist == "Sonny Boy"


def test_the_favorite_playlist_and_what_is_being_played(music, phone):
    ((id, name),) = music.playlists()
    assert name == "Favorite" and music.content(id)[0].title == "PINK BLOOD"
    playing = music.playing(phone.now)
    assert playing.runs and playing.song.title not in ("PINK BLOOD", "Lightship") and playing.song.seconds > 87
    assert music.order("tracks") != ("Duration", False)
