"""Finds the built-in task that corresponds to an official task on a phone that upstream has prepared.

A built-in task writes the phone's initial state from its parameters. This module goes the other way: it reads the
parameters from the prepared phone, so that the built-in checker can judge any later state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, time, timedelta
from typing import Any

from coach_gym.envs.apps.calendar import data as calendar_data
from coach_gym.envs.apps.calendar import world_tasks as calendar
from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.task_alarms import ClockTask
from coach_gym.envs.apps.contacts.world_tasks import AddressBookTask
from coach_gym.envs.apps.expense import app as expense_app
from coach_gym.envs.apps.expense import world_tasks as expense
from coach_gym.envs.apps.gallery.world_tasks import DCIM, SaveCopyOfReceiptTaskEval
from coach_gym.envs.apps.joplin import data as joplin_data
from coach_gym.envs.apps.joplin import world_tasks as notes
from coach_gym.envs.apps.markor import world_tasks as markor
from coach_gym.envs.apps.markor.app import NOTEBOOK
from coach_gym.envs.apps.messages import world_tasks as messages
from coach_gym.envs.apps.opentracks import data as opentracks_data
from coach_gym.envs.apps.opentracks import world_tasks as sports
from coach_gym.envs.apps.osmand import data as osmand_data
from coach_gym.envs.apps.osmand.world_tasks import MapTask
from coach_gym.envs.apps.recipes import app as recipes_app
from coach_gym.envs.apps.recipes import world_tasks as recipes
from coach_gym.envs.apps.recorder.data import RECORDS
from coach_gym.envs.apps.recorder.world_tasks import RecordingTask
from coach_gym.envs.apps.settings import world_tasks as system
from coach_gym.envs.apps.tasks import data as tasks_data
from coach_gym.envs.apps.tasks import world_tasks as tasks
from coach_gym.envs.devices.device import Device
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone.epoch import from_seconds, midnight, to_seconds
from coach_gym.envs.phone.providers import contacts, telephony
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.official_world.experts import ADAPTED, MONDAY, NOW, SUNDAY, day_named, time_named
from coach_gym.envs.tasks.file_tree import FileTask, read_tree
from coach_gym.envs.tasks.task import Task

Params = Mapping[str, Any]

INCOMPARABLE = {
    "RecipeDeleteMultipleRecipesWithConstraint": "ours asks for an ingredient, upstream's for a word in the directions",
    "SimpleCalendarNextMeetingWithPerson": "ours names the event 'Meeting with', upstream's 'Drinks with'",
}
"""Families that share a name with upstream's but ask for something else."""

STRICTER = {
    **dict.fromkeys(
        (
            "MarkorChangeNoteContent", "MarkorCreateNote", "MarkorEditNote", "MarkorTranscribeReceipt",
            "RecipeAddSingleRecipe", "RecipeAddMultipleRecipes", "RecipeAddMultipleRecipesFromImage",
            "RecipeAddMultipleRecipesFromMarkor", "RecipeAddMultipleRecipesFromMarkor2",
            "RetroCreatePlaylist", "VlcCreatePlaylist",
        ),
        "upstream takes texts for equal that are alike by a ratio of 0.9; ours must be the same",
    ),
}  # fmt: skip
"""Where our checker may refuse what upstream's accepts, and why."""

_BUILTIN = load_suite("android_world").families


def counterpart(official: Task, device: Device) -> Task | None:
    """Returns the built-in task that asks for the same on this phone, ready to judge it, or None.

    Args:
        official: An official task that has just been set up.
        device: The device it was set up on.
    """
    family = _BUILTIN.get(official.name)
    if family is None or official.name in INCOMPARABLE or official.params.get("app_name") == "dialer":
        return None
    told = dict(official.params)
    for kind, read in STATE.items():
        if issubclass(family, kind):
            told |= read(device)
    for asked in (ADAPTED, ASKED):
        if official.name in asked:
            told |= asked[official.name](official.params)
    task: Any = family(told)
    if isinstance(task, FileTask):
        task.before = read_tree(device, task.root)
    elif isinstance(task, RecordingTask):
        task.before = set(device.listdir(RECORDS))
    elif isinstance(task, SaveCopyOfReceiptTaskEval):
        task.before = read_tree(device, DCIM)
    return task


# the state of the phone, as parameters


def _ledger(device: Device) -> Params:
    with device.database(expense_app.DATABASE) as db:
        rows = db.execute("SELECT name, amount, category, coalesce(note, '') FROM expense").fetchall()
    return {"entries": [list(row) for row in rows]} | _twice([tuple(row) for row in rows])


def _cook_book(device: Device) -> Params:
    with device.database(recipes_app.DATABASE) as db:
        rows = db.execute(f"SELECT {', '.join(recipes.COLUMNS)} FROM recipes").fetchall()
    return {"recipes": [list(row) for row in rows]} | _twice([tuple(row) for row in rows])


def _twice(rows: list[tuple]) -> Params:
    """Returns the row that occurs twice, if there is one."""
    return next(({"twice": list(row)} for row in rows if rows.count(row) == 2), {})


def _calendar(device: Device) -> Params:
    labels = {interval: label for label, interval in calendar_data.REPETITIONS.items()}
    with device.database(calendar_data.DATABASE) as db:
        rows = db.execute("SELECT start_ts, end_ts, title, location, description, repeat_interval, flags FROM events")
        found = [
            {
                "start": start, "minutes": (end - start) // 60, "title": title, "location": location,
                "description": description, "repetition": labels[interval],
                "all_day": bool(flags & calendar_data.ALL_DAY),
            }
            for start, end, title, location, description, interval, flags in rows
        ]  # fmt: skip
    following = [one["start"] for one in found if one["start"] > to_seconds(NOW)]
    return {"events": found, "to": min(following, default=0)}


def _todos(device: Device) -> Params:
    with device.database(tasks_data.DATABASE) as db:
        rows = db.execute("SELECT title, importance, dueDate, completed, coalesce(notes, '') FROM tasks").fetchall()
    return {"todos": [[title, priority, _on_day(due), done, more] for title, priority, due, done, more in rows]}


def _on_day(due: int) -> int:
    """Returns the due time of something without a time, on the same day."""
    return tasks_data.due_on(from_seconds(due / 1000).date()) if due else 0


def _activities(device: Device) -> Params:
    with device.database(opentracks_data.DATABASE) as db:
        rows = db.execute("SELECT name, category, description, starttime, totaltime, totaldistance FROM tracks")
        return {"activities": [[*row[:3], row[3] // 1000, row[4] // 60000, row[5]] for row in rows]}


def _notes(device: Device) -> Params:
    with device.database(joplin_data.DATABASE) as db:
        books = {id: title for id, title, _ in joplin_data.folders(db)}
        return {"notes": [[books.get(n.folder), n.title, n.body, n.todo, n.done] for n in joplin_data.notes(db)]}


def _messages(device: Device) -> Params:
    with device.database(telephony.PATH) as db:
        found = [[m.address, m.body, m.kind == telephony.SENT, 0] for m in telephony.messages(db)]
    return {"messages": found} | _people(device)


def _people(device: Device) -> Params:
    with device.database(contacts.PATH) as db:
        return {
            "people": [[person.name, number] for person in contacts.everybody(db) for number, _ in person.phones[:1]]
        }


def _alarms(device: Device) -> Params:
    with device.database(clock_data.ALARMS) as db:
        return {"alarms": [list(vars(alarm).values()) for alarm in clock_data.alarms(db)]}


def _ages(device: Device) -> Params:
    """Returns how many minutes ago each note was changed; only the embedded phone reports that."""
    assert isinstance(device, PhoneDevice)
    changed = {name: device.phone.storage.modified(f"{NOTEBOOK}/{name}") for name in device.listdir(NOTEBOOK)}
    return {"ages": {name: (device.now - at) / timedelta(minutes=1) for name, at in changed.items()}}


STATE: dict[type[Task], Callable[[Device], Params]] = {
    expense.LedgerTask: _ledger,
    recipes.CookBookTask: _cook_book,
    calendar.CalendarTask: _calendar,
    tasks.TodoTask: _todos,
    sports.SportsTask: _activities,
    notes.NotesTask: _notes,
    messages.SmsTask: _messages,
    markor.MarkorCreateNoteAndSms: _messages,
    markor.MarkorDeleteNewestNote: _ages,
    AddressBookTask: _people,
    ClockTask: _alarms,
    MapTask: lambda device: {"favorites": [], "markers": []},
    system._Switches: lambda device: {"others": {}},
}
"""Readers of the initial state, by kind of family."""


# what upstream asks for, where an expert need not be told


def _span(first: datetime, last: datetime) -> Params:
    return {"from": to_seconds(first), "to": to_seconds(last)}


def _day_span(p: Params, first: time = time(), last: time = time(23, 59)) -> Params:
    day = day_named(p["date"])
    return _span(datetime.combine(day, first), datetime.combine(day, last))


def _at(p: Params) -> Params:
    return _day_span(p, time_named(p["time"]), time_named(p["time"]))


def _place(p: Params) -> Params:
    """Returns the place whose name or coordinates are in the goal."""
    said = p["location"]
    for name, (latitude, longitude) in osmand_data.PLACES.items():
        if said in (f"{name}, {osmand_data.COUNTRY}", f"{latitude}, {longitude}"):
            return {"place": name}
    return {"place": said}


def _label(p: Params) -> Params:
    """Returns the launcher's name of the app."""
    return {"app_name": p["app_name"].capitalize()}


ASKED: dict[str, Callable[[Params], Params]] = {
    "ExpenseAddMultipleFromMarkor": ADAPTED["ExpenseAddMultiple"],
    "MarkorAddNoteHeader": lambda p: {"name": p["original_name"], "text": p["header"]},
    "MarkorChangeNoteContent": lambda p: {"name": p["original_name"], "text": p["updated_content"]},
    "MarkorCreateNoteFromClipboard": lambda p: {"text": p["file_content"]},
    "MarkorMergeNotes": lambda p: {
        "name": p["new_file_name"], "first": p["file1_name"], "second": p["file2_name"], "third": p["file3_name"],
    },
    "NotesMeetingAttendeeCount": lambda p: {"count": p["attendee_count"]},
    "NotesRecipeIngredientCount": lambda p: {"quantity": p["ingredient_quantity"]},
    "OpenAppTaskEval": _label,
    "OsmAndFavorite": _place,
    "OsmAndMarker": _place,
    "OsmAndTrack": lambda p: {"waypoints": [place.partition(",")[0] for place in p["waypoints"]]},
    "RecipeAddMultipleRecipesFromMarkor": ADAPTED["RecipeAddMultipleRecipes"],
    "RecipeAddMultipleRecipesFromMarkor2": ADAPTED["RecipeAddMultipleRecipes"],
    "RetroPlaylistDuration": lambda p: {"low": 45, "high": 50},
    "SportsTrackerActivitiesOnDate": lambda p: {"to": day_named(p["date"]).isoformat()},
    "SimpleCalendarAddOneEvent": lambda p: _NO_PLACE,
    "SimpleCalendarAddOneEventInTwoWeeks": lambda p: _NO_PLACE,
    "SimpleCalendarAddOneEventRelativeDay": lambda p: _NO_PLACE,
    "SimpleCalendarAddOneEventTomorrow": lambda p: _NO_PLACE,
    "SimpleCalendarAddRepeatingEvent": lambda p: _NO_PLACE,
    "SimpleCalendarAnyEventsOnDate": _day_span,
    "SimpleCalendarEventOnDateAtTime": _at,
    "SimpleCalendarEventsInNextWeek": lambda p: _span(midnight(MONDAY), datetime.combine(SUNDAY, time(23, 59))),
    "SimpleCalendarEventsInTimeRange": lambda p: _day_span(p, time_named(p["start_time"]), time(20)),
    "SimpleCalendarEventsOnDate": _day_span,
    "SimpleCalendarFirstEventAfterStartTime": _at,
    "TasksHighPriorityTasks": lambda p: {"priority": "high"},
    "TurnOnWifiAndOpenApp": _label,
}  # fmt: skip
"""What a built-in task must know of upstream's request, beyond what its expert is told."""

_NO_PLACE: Params = {"location": "", "all_day": False}
