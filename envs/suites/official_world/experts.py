"""Experts of AndroidWorld's official tasks.

Most tasks are solved just like the built-in family of the same name: by that family's expert, with upstream's
parameters in its words. The experts of the others are below.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from itertools import takewhile
from typing import Any

from coach_gym.envs.apps.calendar import expert as calendar
from coach_gym.envs.apps.calendar.expert import Entry
from coach_gym.envs.apps.expense import expert as expense
from coach_gym.envs.apps.joplin import expert as notes
from coach_gym.envs.apps.markor import expert as markor
from coach_gym.envs.apps.recipes import expert as recipes
from coach_gym.envs.apps.tasks import expert as tasks
from coach_gym.envs.phone.epoch import midnight, to_seconds
from coach_gym.envs.profiles import ANDROID_WORLD
from coach_gym.envs.suites.experts import app_expert
from coach_gym.envs.tasks.screen import Expert, Screen, finishing
from coach_gym.ui import Element

Params = Mapping[str, Any]
NOW = calendar.NOW
MONDAY, SUNDAY = date(2023, 10, 16), date(2023, 10, 22)  # next week, on the phones' day

OFFICIAL: dict[str, Expert] = {}
"""Experts of the tasks that no built-in family's expert solves, by upstream's names."""


def official_expert(name: str) -> Expert:
    """Returns the expert of an official task, which takes upstream's parameters and the instance's `goal`.

    Raises:
        KeyError: The task has no expert.
    """
    if name in OFFICIAL:
        return OFFICIAL[name]
    expert, adapted = app_expert(ANDROID_WORLD, name), ADAPTED.get(name, dict)
    return lambda screen, params: expert(screen, adapted(params))


def official(*names: str) -> Callable[[Expert], Expert]:
    """Makes a generator function the expert of the official tasks named."""

    def register(function: Expert) -> Expert:
        finished = finishing(function)
        OFFICIAL.update(dict.fromkeys(names, finished))
        return finished

    return register


# upstream's parameters in the words of our experts


def _renamed(**names: str) -> Callable[[Params], Params]:
    """Parameters under other names, given as `ours=theirs`."""
    return lambda p: {ours: p[theirs] for ours, theirs in names.items()}


def _names(p: Params) -> Params:
    return {"names": [row.get("name", row.get("title")) for row in p["row_objects"]]}


def _new_expenses(p: Params) -> Params:
    return {"new": [(row["name"], row["amount"], row["category"], row["note"]) for row in p["row_objects"]]}


def _new_recipes(p: Params) -> Params:
    return {"new": [tuple(row[key] for key in _RECIPE) for row in p["row_objects"]]}


def _new_event(p: Params) -> Params:
    row = p["row_objects"][0]
    return {
        "start": row["start_ts"],
        "minutes": p["duration_mins"],
        "title": p["event_title"],
        "description": p["event_description"],
        "repetition": p["repeat_rule"].capitalize() if row["repeat_interval"] else "No repetition",
    }


def _day_of(p: Params) -> Params:
    return {"day": date(p["year"], p["month"], p["day"]).isoformat()}


def _edited_note(p: Params) -> Params:
    where, text = {
        "header": ("at the top", "header"),
        "footer": ("at the bottom", "footer"),
        "replace": ("in place of the old text", "replace_text"),
    }[p["edit_type"]]
    return {"name": p["file_name"], "where": where, "text": p[text]}


def _app(p: Params) -> Params:
    return {"app_name": {"dialer": "Phone"}.get(p["app_name"], p["app_name"])}


def _this_week(p: Params) -> Params:
    days = (MONDAY - timedelta(days=7), SUNDAY - timedelta(days=7))
    return {"category": p["category"], "from": days[0].isoformat(), "to": days[1].isoformat()}


def _activity_on(first: str, last: str) -> Callable[[Params], Params]:
    """Takes a category, and its days from the parameters named."""
    return lambda p: {
        "category": p["category"], "from": day_named(p[first]).isoformat(), "to": day_named(p[last]).isoformat(),
    }  # fmt: skip


_RECIPE = ("title", "description", "servings", "preparationTime", "ingredients", "directions")
_NOTE = _renamed(name="file_name", text="text")
_MOVED = _renamed(name="file_name", source="source_folder", folder="source_folder", target="destination_folder")

ADAPTED: dict[str, Callable[[Params], Params]] = {
    "ContactsNewContactDraft": _renamed(first="first", last="last", number="phone", label="phone_label"),
    **dict.fromkeys(("ExpenseAddSingle", "ExpenseAddMultiple", "ExpenseAddMultipleFromGallery"), _new_expenses),
    **dict.fromkeys(("ExpenseDeleteSingle", "ExpenseDeleteMultiple", "ExpenseDeleteMultiple2"), _names),
    "FilesDeleteFile": _renamed(folder="subfolder", name="file_name"),
    "FilesMoveFile": _MOVED,
    "MarkorCreateFolder": _renamed(name="folder_name"),
    "MarkorCreateNote": _NOTE,
    "MarkorCreateNoteAndSms": _renamed(name="file_name", text="text", number="number"),
    "MarkorCreateNoteFromClipboard": _renamed(name="file_name"),
    "MarkorDeleteNote": _renamed(name="file_name"),
    "MarkorEditNote": _edited_note,
    "MarkorMoveNote": _MOVED,
    "NotesTodoItemCount": _renamed(notebook="folder"),
    "OpenAppTaskEval": _app,
    **dict.fromkeys(("RecipeAddSingleRecipe", "RecipeAddMultipleRecipes"), _new_recipes),
    "RecipeAddMultipleRecipesFromImage": _new_recipes,
    "RecipeDeleteSingleRecipe": _names,
    "RecipeDeleteSingleWithRecipeWithNoise": _names,
    "RecipeDeleteMultipleRecipes": _names,
    "RecipeDeleteMultipleRecipesWithNoise": _names,
    "SimpleCalendarAddOneEvent": _new_event,
    "SimpleCalendarAddOneEventInTwoWeeks": _new_event,
    "SimpleCalendarAddOneEventRelativeDay": _new_event,
    "SimpleCalendarAddOneEventTomorrow": _new_event,
    "SimpleCalendarAddRepeatingEvent": _new_event,
    "SimpleCalendarDeleteEvents": _day_of,
    "SimpleCalendarDeleteEventsOnRelativeDay": _day_of,
    "SimpleCalendarDeleteOneEvent": lambda p: {"title": p["event_title"], "start": p["row_objects"][0]["start_ts"]},
    "SimpleCalendarEventsInNextWeek": lambda p: _between(midnight(MONDAY), datetime.combine(SUNDAY, time.max)),
    "SimpleCalendarNextEvent": lambda p: {"from": to_seconds(NOW)},
    "SportsTrackerActivitiesCountForWeek": _this_week,
    "SportsTrackerActivitiesOnDate": lambda p: {"from": day_named(p["date"]).isoformat()},
    "SportsTrackerActivityDuration": _activity_on("date", "date"),
    "SportsTrackerLongestDistanceActivity": _this_week,
    "SportsTrackerTotalDistanceForCategoryOverInterval": _activity_on("start_date", "end_date"),
    "SportsTrackerTotalDurationForCategoryThisWeek": _this_week,
    "SystemCopyToClipboard": _renamed(text="clipboard_content"),
    "TasksCompletedTasksForDate": lambda p: {"day": day_named(p["date"]).isoformat()},
    "TasksDueNextWeek": lambda p: {"from": MONDAY.isoformat(), "to": SUNDAY.isoformat()},
    "TasksDueOnDate": lambda p: {"day": day_named(p["date"]).isoformat()},
    "TasksHighPriorityTasksDueOnDate": lambda p: {"day": day_named(p["date"]).isoformat()},
    "TasksIncompleteTasksOnDate": lambda p: {"day": day_named(p["date"]).isoformat()},
    "TurnOnWifiAndOpenApp": _app,
}
"""Upstream's parameters, turned into those that our expert of the same name takes."""


def _between(first: datetime, last: datetime) -> Params:
    return {"from": to_seconds(first), "to": to_seconds(last)}


def day_named(text: str) -> date:
    """Parses a day as upstream writes it, e.g. October 9 2023."""
    return datetime.strptime(text, "%B %d %Y").date()


def time_named(text: str) -> time:
    """Parses a time of day as upstream writes it: 16:15, 4pm, 8:00pm."""
    found = re.fullmatch(r"(\d{1,2})(?::(\d{2}))?\s*([ap]m)?", text)
    assert found is not None, text
    hour = int(found[1]) % 12 + 12 * (found[3] == "pm") if found[3] else int(found[1])
    return time(hour, int(found[2] or 0))


# calendar


@official("SimpleCalendarEventsOnDate", "SimpleCalendarAnyEventsOnDate")
def _titles_on_date(s: Screen, p: Params) -> Iterator[str]:
    """Tells the titles of a day's events."""
    found = yield from _events_of(s, day_named(p["date"]))
    yield s.finish(", ".join(entry.title for entry in found))


@official("SimpleCalendarEventOnDateAtTime")
def _titles_at_time(s: Screen, p: Params) -> Iterator[str]:
    """Tells the titles of the events that start at a time."""
    found = yield from _events_of(s, day_named(p["date"]))
    yield s.finish(", ".join(entry.title for entry in found if entry.start.time() == time_named(p["time"])))


@official("SimpleCalendarEventsInTimeRange")
def _titles_in_range(s: Screen, p: Params) -> Iterator[str]:
    """Tells the titles of the events that start between two times."""
    found = yield from _events_of(s, day_named(p["date"]))
    first, last = time_named(p["start_time"]), time_named("8pm")  # which the goal says and the parameters do not
    yield s.finish(", ".join(entry.title for entry in found if first <= entry.start.time() <= last))


@official("SimpleCalendarFirstEventAfterStartTime")
def _first_from_time(s: Screen, p: Params) -> Iterator[str]:
    """Counts an event that starts exactly then as one after it, as upstream does."""
    found = yield from _events_of(s, day_named(p["date"]))
    yield s.finish(min((e for e in found if e.start.time() >= time_named(p["time"])), key=lambda e: e.start).title)


@official("SimpleCalendarNextMeetingWithPerson")
def _next_with_person(s: Screen, p: Params) -> Iterator[str]:
    """Tells when the next meeting with a person starts."""
    yield from _search_events(s, p["person"])
    start = next(entry.start for entry in calendar.entries_by_day(s) if entry.start > NOW)
    yield s.finish(f"{start:%B %-d %Y %H:%M}")


@official("SimpleCalendarLocationOfEvent")
def _location_of(s: Screen, p: Params) -> Iterator[str]:
    """Tells where an event takes place."""
    yield from _search_events(s, p["title"])
    yield s.tap(lambda element: element.long_clickable and element.label.startswith(p["title"]))
    yield s.finish(s.find("Location").value)


def _search_events(s: Screen, words: str) -> Iterator[str]:
    yield from s.open(calendar.APP)
    yield s.tap("Search")
    yield s.type(words)
    yield s.back()  # puts the keyboard away


def _events_of(s: Screen, day: date) -> Generator[str, None, list[Entry]]:
    """Goes to a day from anywhere and reads its events."""
    yield from calendar.open_day(s, day)
    seen: dict[Entry, None] = {}
    yield from s.sweep(lambda: seen.update(dict.fromkeys(calendar.entries(s, day))))
    return list(seen)


# tasks


@official("TasksHighPriorityTasks")
def _high_priority(s: Screen, p: Params) -> Iterator[str]:
    """Skips tasks that have not started yet, which the search shows too."""
    yield from s.open(tasks.APP)
    yield s.tap("Search")
    yield s.back()  # puts the keyboard away
    rows = yield from tasks.read(s)
    yield s.finish(", ".join(row.title for row in rows if row.priority == "high"))


# notes


@official("NotesMeetingAttendeeCount")
def _attendees(s: Screen, p: Params) -> Iterator[str]:
    """Tells how many people attend a meeting, from its note."""
    yield from notes.open_note(s, p["title"])
    yield from s.scroll_to(_names_people)
    found = _PEOPLE.fullmatch(s.find(_names_people).label)
    yield s.finish(found[1] if found else "")


_PEOPLE = re.compile(r"• .*?\b(\d+) (?:attendees|individuals|participants|people)\b.*")


def _names_people(element: Element) -> bool:
    return _PEOPLE.fullmatch(element.label) is not None


@official("MarkorMergeNotes")
def _merge_notes(s: Screen, p: Params) -> Iterator[str]:
    """Merges notes that, unlike those of the built-in family, end with a line break."""
    yield from s.open("Markor")
    texts = []
    for which in ("file1_name", "file2_name", "file3_name"):
        yield from markor.open_note(s, p[which])
        texts.append(s.find(markor.EDITOR).value.strip())
        yield s.tap("Navigate up")
    yield from markor.new_note(s, p["new_file_name"])
    yield from s.fill(markor.EDITOR, "\n\n".join(texts))
    yield s.tap("Save")


@official("MarkorAddNoteHeader", "MarkorChangeNoteContent")
def _rewrite_note(s: Screen, p: Params) -> Iterator[str]:
    """Writes the whole text anew; leaving the editor saves it. Upstream's budget leaves no step to spare."""
    yield from s.open("Markor")
    yield from markor.open_note(s, p["original_name"])
    text = f"{p['header']}\n\n{s.find(markor.EDITOR).value}" if "header" in p else p["updated_content"]
    yield from markor.replace_text(s, text)
    yield s.tap("Navigate up")
    yield from markor.rename(s, p["original_name"], p["new_name"])


def _read_note(s: Screen, name: str) -> Generator[str, None, str]:
    """Goes to a note in Markor from anywhere and reads its text."""
    yield from s.open("Markor")
    yield from markor.open_note(s, name)
    return s.find(markor.EDITOR).value


def _records(text: str) -> list[dict[str, str]]:
    """Parses a note of upstream's: a table with `|` between its columns, or blocks of `field: value` lines."""
    head, *rows = text.strip().splitlines()
    if "|" in head:
        return [dict(zip(head.split("|"), row.split("|"), strict=True)) for row in rows]
    blocks = [[line.strip().split(": ", 1) for line in block.strip().splitlines()] for block in text.split("\n\n")]
    return [{"title": block[0][1], **dict(block[1:])} for block in blocks if block]  # type: ignore[misc]


# expenses


@official("ExpenseAddMultipleFromMarkor")
def _add_reimbursable_expenses(s: Screen, p: Params) -> Iterator[str]:
    """Adds the expenses of a note that are reimbursable."""
    text = yield from _read_note(s, "my_expenses.txt")
    ids = {category: id for id, category in expense.CATEGORIES.items()}
    new = [
        (
            row["name"], round(100 * float(row["amount_dollars"].lstrip("$"))), ids[row["category_name"]],
            row["note"].removesuffix(". Reimbursable."),
        )
        for row in _records(text) if row["note"].endswith("Reimbursable.")
    ]  # fmt: skip
    yield from expense.add(s, {"new": new})


# recipes


@official("RecipeAddMultipleRecipesFromMarkor", "RecipeAddMultipleRecipesFromMarkor2")
def _add_recipes_from_note(s: Screen, p: Params) -> Iterator[str]:
    """Adds the recipes of a note that take as long as asked."""
    text = yield from _read_note(s, "recipes.txt")
    wanted = p.get("prep_time")
    rows = [row for row in _records(text) if wanted in (None, row["preparationTime"])]
    yield from recipes.add(s, {"new": [tuple(row[key] for key in _RECIPE) for row in rows]})


@official("RecipeDeleteMultipleRecipesWithConstraint")
def _delete_recipes_that_use(s: Screen, p: Params) -> Iterator[str]:
    """Opens one recipe after the other and looks at its directions."""
    yield from s.open(recipes.APP)
    yield from _search_recipes(s, p["ingredient"])
    others = 0
    while len(recipes.rows(s)) > others:
        yield s.tap(recipes.rows(s)[others])
        if p["ingredient"] in recipes.below(s, "Directions").lower():
            yield from recipes.delete_open(s)
        else:
            yield s.tap("Navigate up")
            others += 1


@official("RecipeDeleteDuplicateRecipes", "RecipeDeleteDuplicateRecipes2", "RecipeDeleteDuplicateRecipes3")
def _delete_duplicate_recipe(s: Screen, p: Params) -> Iterator[str]:
    """Recipes that look the same in the list may differ inside; those are opened and compared."""
    yield from s.open(recipes.APP)
    labels = yield from _all_recipes(s)
    scrolled, searched = len(labels) > len(recipes.rows(s)), ""
    for label, _ in takewhile(lambda count: count[1] > 1, Counter(labels).most_common()):
        title = label.split(", ")[0]
        if scrolled and title != searched:
            yield from _search_recipes(s, title)
            searched = title
        inside = set()
        for place in [place for place, row in enumerate(recipes.rows(s)) if row.label == label]:
            yield s.tap(recipes.rows(s)[place])
            if s.text in inside:
                yield from recipes.delete_open(s)
                return
            inside.add(s.text)
            yield s.tap("Navigate up")


def _search_recipes(s: Screen, text: str) -> Iterator[str]:
    """Narrows the list, which may be narrowed already."""
    if s.has("Close"):
        yield s.tap("Close")
    yield s.tap("Search")
    yield s.type(text)
    yield s.back()  # puts the keyboard away


def _all_recipes(s: Screen) -> Generator[str, None, list[str]]:
    """Reads the whole list, scrolling to its end; neighbouring pages overlap."""
    labels: list[str] = []

    def look() -> None:
        page = [row.label for row in recipes.rows(s)]
        overlap = next(n for n in range(min(len(page), len(labels)), -1, -1) if labels[len(labels) - n :] == page[:n])
        labels.extend(page[overlap:])

    yield from s.sweep(look)
    return labels
