"""The checks of map, note, sports, page and note-reading families: what they let pass and what they do not."""

from datetime import date

import pytest

from coach_gym.envs.apps.chrome import world_tasks as browser
from coach_gym.envs.apps.expense.app import DATABASE as LEDGER
from coach_gym.envs.apps.joplin import data as joplin_data
from coach_gym.envs.apps.joplin import world_tasks as notes
from coach_gym.envs.apps.markor import from_notes_tasks as from_notes
from coach_gym.envs.apps.opentracks import data as opentracks_data
from coach_gym.envs.apps.opentracks import world_tasks as sports
from coach_gym.envs.apps.osmand import data as osmand_data
from coach_gym.envs.apps.osmand import world_tasks as maps
from coach_gym.envs.apps.osmand.data import FAVORITES, MARKERS, PLACES, TRACKS, Place
from coach_gym.envs.apps.recipes import world_tasks as recipes
from coach_gym.envs.apps.settings import world_tasks as system
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.tasks.answers import about
from coach_gym.envs.tasks.words import ParamRng


@pytest.fixture
def device():
    return PhoneDevice(270, 600)


def begin(family, device, seed=0):
    task = family(family.sample(ParamRng(seed)))
    task.setup(device)
    return task


# maps


def favor(device, *places):
    known = osmand_data.favorites(device)
    osmand_data.save_favorites(device, [*known, *places])


@pytest.mark.parametrize("seed", range(4))
def test_a_favourite_counts_by_where_it_is_and_only_once(device, seed):
    task = begin(maps.OsmAndFavorite, device, seed)
    before = device.read(FAVORITES)
    lat, lon = PLACES[task.params["place"]]
    favor(device, Place("any name", (lat + 0.0009, lon - 0.0009)))
    assert task.evaluate(device, None) == 1
    favor(device, Place("any name", (lat, lon)))
    assert task.evaluate(device, None) == 0, "two"
    device.write(FAVORITES, before)
    favor(device, Place(task.params["place"], (lat + 0.0011, lon)))
    assert task.evaluate(device, None) == 0, "the name alone is not the place"
    device.write(FAVORITES, b"no gpx")
    assert task.evaluate(device, None) == 0


def test_a_marker_is_no_favourite_and_a_passed_one_no_marker(device):
    task = begin(maps.OsmAndMarker, device, 1)
    place = Place(task.params["place"], PLACES[task.params["place"]])
    favor(device, place)
    assert task.evaluate(device, None) == 0
    device.reset_state()
    task.setup(device)
    with device.database(MARKERS) as db:
        osmand_data.add_marker(db, place, device.now)
        assert task.evaluate(device, None) == 1
        osmand_data.pass_marker(db, osmand_data.markers(db)[0], device.now)
        assert task.evaluate(device, None) == 0


def test_a_track_may_pass_by_other_points_but_must_keep_the_order(device):
    task = begin(maps.OsmAndTrack, device, 2)
    points = [PLACES[name] for name in task.params["waypoints"]]
    path = f"{TRACKS}/x.gpx"
    for line, right in (
        (points, 1), ([(47.0, 9.4), points[0], (47.1, 9.6), *points[1:]], 1), (points[::-1], 0), (points[:-1], 0),
        ([], 0),
    ):  # fmt: skip
        osmand_data.save_track(device, path, line)
        assert task.evaluate(device, None) == right
    device.write(path, b"<gpx")
    assert task.evaluate(device, None) == 0


# questions


@pytest.mark.parametrize("answer, right", [
    ("1000", True), ("1010", True), ("990", True), ("1,000", True), ("1000.0", True), ("1011", False), ("989", False),
    ("about 1000", False), ("1e3", False), ("nan", False), ("", False), (None, False), ("1" * 5000, False),
])  # fmt: skip
def test_a_measured_number_may_be_off_by_the_tolerance(answer, right):
    assert about(answer, 1000, 10) == right


@pytest.mark.parametrize("family", sports.TASKS)
def test_answers_about_activities_need_them_all_left_alone(device, family):
    task = begin(family, device, 3)
    result = [a[1] for a in task.params["activities"] if sports.day_of(a).isoformat() == task.params["from"]]
    answer = ", ".join(result) if family is sports.SportsTrackerActivitiesOnDate else f"{task.result:.0f}"
    assert task.evaluate(device, answer) == 1
    with device.database(opentracks_data.DATABASE) as db:
        opentracks_data.delete(db, opentracks_data.tracks(db)[0].id)
    assert task.evaluate(device, answer) == 0


def test_sports_answers_are_those_of_plain_sums(device):
    activities = [
        ["A", "running", "", 1696839000, 30, 1000],  # Monday, October 9 2023, 08:10 UTC
        ["B", "running", "", 1697371800, 45, 3000],  # Sunday, October 15, 12:10
        ["C", "running", "", 1696781400, 60, 9000],  # Sunday, October 8, 16:10
        ["D", "rowing", "", 1696839000, 15, 500],
    ]
    week = {"from": "2023-10-09", "to": "2023-10-15", "category": "running", "activities": activities}
    for family, right in (
        (sports.SportsTrackerActivitiesCountForWeek, 2),
        (sports.SportsTrackerTotalDurationForCategoryThisWeek, 75),
        (sports.SportsTrackerLongestDistanceActivity, 3000),
        (sports.SportsTrackerTotalDistanceForCategoryOverInterval, 4000),
    ):
        assert family(week).result == right
    assert sports.MONDAY == date(2023, 10, 9) and sports.MONDAY.weekday() == 0


@pytest.mark.parametrize("family", notes.TASKS)
def test_answers_about_notes_need_them_all_left_alone(device, family):
    task = begin(family, device, 4)
    params = task.params
    if family is notes.NotesIsTodo:
        answer = str(next(note[3] for note in params["notes"] if note[1] == params["title"]))
    elif family is notes.NotesTodoItemCount:
        answer = str(sum(note[3] for note in params["notes"] if note[0] == params["notebook"]))
    else:
        answer = str(params["count"]) if family is notes.NotesMeetingAttendeeCount else params["quantity"]
    assert task.evaluate(device, answer) == 1 and task.evaluate(device, f"{answer} or so") == 0
    with device.database(joplin_data.DATABASE) as db:
        joplin_data.update(db, joplin_data.notes(db)[0].id, device.now, title="Other")
    assert task.evaluate(device, answer) == 0


# pages, notes to type off, the clipboard


@pytest.mark.parametrize("family", browser.TASKS)
def test_a_page_counts_only_in_front_and_only_when_it_says_so(device, family):
    task = begin(family, device, 5)
    device.phone.launch(browser.PACKAGE)
    assert task.evaluate(device, "Success!") == 0
    device.write(f"{browser.DOWNLOADS}/{task.params['name']}", b"<p>Success!</p>")
    device.phone.top.go_to(f"file://{browser.DOWNLOADS}/{task.params['name']}")
    device.phone.changed()
    assert task.evaluate(device, None) == 1, "that is what such a page says, whoever wrote it"
    device.phone.key("HOME")
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("seed", range(5))
def test_mazes_have_a_way_from_the_first_cell_to_the_last(seed):
    grid = browser.maze(ParamRng(seed), 5)
    reached, todo = {(0, 0)}, [(0, 0)]
    while todo:
        row, column = todo.pop()
        for cell in ((row + 1, column), (row, column + 1)):
            if max(cell) < 5 and grid[cell[0]][cell[1]] != "#" and cell not in reached:
                reached.add(cell)
                todo.append(cell)
    assert (4, 4) in reached and grid[4][4] == "G" and grid[0][0] == "."


def test_only_expenses_with_the_mark_count(device):
    task = begin(from_notes.ExpenseAddMultipleFromMarkor, device, 6)
    marked = [line for line in task.params["lines"] if line.endswith(task.params["mark"])]
    assert [line.split(" | ")[0] for line in marked] == [entry[0] for entry in task.params["new"]]
    with device.database(LEDGER) as db:
        for name, cents, category, note in task.params["new"]:
            assert task.evaluate(device, None) == 0
            db.execute(
                "INSERT INTO expense(name, amount, category, note, created_date, modified_date) VALUES (?,?,?,?,0,0)",
                (name, cents, category, note),
            )
    assert task.evaluate(device, None) == 1


def test_the_exact_copy_is_one_and_the_others_only_look_like_it():
    params = recipes.RecipeDeleteDuplicateRecipes3.sample(ParamRng(7))
    twice = params["twice"]
    alike = [recipe for recipe in params["recipes"] if recipe[:2] == twice[:2]]
    assert len(alike) == 5 and alike.count(twice) == 2


def test_the_clipboard_has_to_hold_the_text(device):
    task = begin(system.SystemCopyToClipboard, device, 8)
    assert task.evaluate(device, task.params["text"]) == 0
    device.put_clipboard(f" {task.params['text']}\n")
    assert task.evaluate(device, None) == 1
