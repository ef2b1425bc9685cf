"""The Clock app's world clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.face import face
from coach_gym.envs.apps.clock.tab import Tab
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.app import Menu, Screen
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Empty,
    Fab,
    IconButton,
    ListItem,
    ListView,
    Picture,
    Row,
    Scaffold,
    Text,
    TextField,
)

_BY_OFFSET = {  # hours ahead of UTC in the middle of October, when clocks in Europe and America still show summer time
    -7: "Phoenix Seattle Vancouver",
    -6: "Calgary Denver",
    -5: "Bogota Chicago Dallas Houston Lima Memphis Quito",
    -4: "Boston Havana Miami Montreal Ottawa Tampa Toronto",
    -3: "Santiago",
    0: "Accra Dakar Reykjavik",
    1: "Dublin Edinburgh Glasgow Lagos Lisbon London Porto Tunis",
    2: "Barcelona Berlin Brussels Budapest Copenhagen Dresden Florence Geneva Hamburg Leipzig Lyon Madrid Marseille "
    "Milan Munich Naples Nice Oslo Paris Prague Rome Rotterdam Salzburg Seville Stockholm Turin Utrecht Valencia "
    "Venice Vienna Warsaw Zagreb Zurich",
    3: "Athens Cairo Helsinki Istanbul Nairobi Riga Sofia Tallinn Vilnius",
    5.5: "Mumbai",
    7: "Bangkok Hanoi Jakarta",
    8: "Manila Perth Shanghai",
    9: "Kyoto Osaka Seoul Tokyo",
    11: "Melbourne Sydney",
    13: "Auckland",
}
OFFSETS = dict(sorted((name, offset) for offset, names in _BY_OFFSET.items() for name in names.split()))
"""Cities by name, with the hours that their clocks are ahead of UTC."""


def time_in(city: str, now: datetime, hours_ahead: float = 0) -> datetime:
    """Returns what the clocks of a city show when a clock that is `hours_ahead` of UTC shows `now`."""
    return now + timedelta(hours=OFFSETS[city] - hours_ahead)


class WorldClock(Tab):
    """The phone's time and that of the chosen cities.

    Args:
        hours_ahead: Hours that the phone's clock is ahead of UTC, whatever the time zone that is set.
        half_days: Whether times are those of a 12-hour clock.
        flat: Whether the rows of the cities lie beside the phone's time, not in a list of their own.
    """

    def __init__(self, hours_ahead: float = 0, half_days: bool = False, flat: bool = False) -> None:
        super().__init__()
        self.hours_ahead, self.half_days, self.flat = hours_ahead, half_days, flat

    def build(self) -> View:
        """Shows the phone's time and a row for each city."""
        here = [self._face(), Text(self.local_now.strftime("%a, %b %-d"), 14, theme.SECONDARY, id="date")]
        rows = [self._row(city) for city in self._cities()]
        below = rows if self.flat else [ListView([*rows, View(height=80)], "cities")]
        return Column([Column(here, pad=(16, 4, 16, 12)), *below])

    def _face(self) -> View:
        values, now = self.preferences, self.local_now
        seconds = bool(values.get("display_clock_seconds", False)) and not self.half_days
        reading = now.strftime("%H:%M:%S") if seconds else self._reading(now)
        if values.get("clock_style", "digital") == "analog":
            return Picture(face(now.hour % 12, now.minute), reading, 140, id="analog_clock", whole=True)
        return Text(reading, 56, id="digital_clock")

    def _reading(self, at: datetime) -> str:
        return clock_data.half_day(at.time()) if self.half_days else at.strftime("%H:%M")

    def fab(self) -> View:
        """Returns the button that adds a city."""
        return Fab("earth", "Add city", lambda: self.push(CitySearch(self)))

    def _row(self, city: str) -> View:
        there = time_in(city, self.now, self.hours_ahead)
        clock = Text(self._reading(there), 24)
        return ListItem(city, difference(self.local_now, there), on_long=partial(self._menu, city), trailing=clock)

    def _cities(self) -> list[str]:
        return clock_data.cities(self.preferences)

    def _store(self, names: list[str]) -> None:
        preferences.update(self.phone.storage, clock_data.PREFERENCES, clock_data.city_values(names))

    def add(self, city: str) -> None:
        """Shows another city."""
        if city not in self._cities():
            self._store([*self._cities(), city])

    def _menu(self, city: str) -> None:
        self.push(Menu([("Delete", partial(self._delete, city))], placement="center"))

    def _delete(self, city: str) -> None:
        self._store([name for name in self._cities() if name != city])


class CitySearch(Screen):
    """All cities, or those that begin with what was typed."""

    def __init__(self, owner: WorldClock) -> None:
        super().__init__()
        self.owner = owner
        self.query = TextInput()

    def build(self) -> View:
        """Shows the search field and the cities that match."""
        field = TextField(self.query, "Search for a city", "search_src_text", flex=1, border=None)
        clear = [IconButton("close", "Clear text", self._clear)] if self.query.text else []
        typed = self.query.text.strip().casefold()
        rows = [ListItem(city, on_tap=partial(self._chosen, city)) for city in OFFSETS if _begins(city, typed)]
        body = ListView(rows) if rows else Empty("No cities found", "earth")
        return Scaffold(Row([field, *clear]), body, on_back=self.pop)

    def _clear(self) -> None:
        self.query.set("")
        self.focus(self.query)

    def _chosen(self, city: str) -> None:
        self.owner.add(city)
        self.pop()


def _begins(city: str, typed: str) -> bool:
    return city.casefold().startswith(typed)


def difference(here: datetime, there: datetime) -> str:
    """Returns how the time of another place compares, in the app's words."""
    days = (there.date() - here.date()).days
    day = "Today" if not days else "Tomorrow" if days > 0 else "Yesterday"
    minutes = round((there - here).total_seconds() / 60)
    if not minutes:
        return f"{day}, same time"
    hours, rest = divmod(abs(minutes), 60)
    span = f"{hours}h {rest}m" if rest else f"{hours} hour{'' if hours == 1 else 's'}"
    return f"{day}, {span} {'ahead' if minutes > 0 else 'behind'}"
