"""The map that AndroidLab's map.me tasks ask about: a coarse San Francisco Bay.

Places stand where they are in the world. Lengths of roads and times of trains are chosen so that the routes come
out as the tasks' standard answers have them; no road is shorter than the straight line.
"""

from __future__ import annotations

from functools import lru_cache

from coach_gym.envs.apps.mapsme.data import DATABASE, Area, Line, Place, Road, World, write
from coach_gym.envs.phone.phone import Phone

PLACES = {  # key: name, kind, address, latitude, longitude; a crossing has no name
    "me": ("", "", "", 37.4380, -122.1560),
    "teleferic": ("Teléferic Barcelona", "Restaurant", "El Camino Real, 855", 37.4392, -122.1581),
    "clement": ("The Clement Hotel - All Inclusive", "Hotel", "El Camino Real, 711", 37.4407, -122.1605),
    "station": ("Palo Alto", "Station", "University Avenue, 95", 37.4434, -122.1650),
    "evvia": ("Evvia Estiatorio", "Restaurant", "Emerson Street, 420", 37.4453, -122.1637),
    "nobu": ("Nobu Hotel Palo Alto", "Hotel", "Hamilton Avenue, 180", 37.4444, -122.1629),
    "south": ("University South", "Neighbourhood", "Palo Alto", 37.4440, -122.1570),
    "inn": ("Stanford Terrace Inn", "Hotel", "Stanford Avenue, 531", 37.4242, -122.1465),
    "oval": ("Stanford Campus Oval", "Bus stop", "Galvez Street", 37.4300, -122.1690),
    "stanford": ("Stanford University", "University", "Jane Stanford Way, 450", 37.4275, -122.1697),
    "university_101": ("", "", "", 37.4600, -122.1420),
    "embarcadero_101": ("", "", "", 37.4520, -122.1200),
    "ikea": ("IKEA", "Shop", "East Bayshore Road, 1700", 37.4606, -122.1383),
    "shoreline": ("Shoreline & Charleston", "Bus stop", "Mountain View", 37.4130, -122.0790),
    "coast": ("2700 Coast Avenue", "Bus stop", "Mountain View", 37.4245, -122.0985),
    "route_51": ("Route 51", "Bus stop", "Mountain View", 37.3857, -122.0830),
    "dumbarton_west": ("", "", "", 37.4860, -122.1350),
    "dumbarton_east": ("", "", "", 37.5220, -122.0680),
    "newark": ("Newark", "Town", "", 37.5297, -122.0402),
    "hayward": ("Hayward", "Town", "", 37.6688, -122.0808),
    "san_leandro": ("San Leandro", "Town", "", 37.7249, -122.1561),
    "oakland": ("Oakland", "Town", "", 37.8044, -122.2712),
    "emeryville": ("IKEA", "Shop", "Shellmound Street, 4400", 37.8314, -122.2921),
    "berkeley": ("Downtown Berkeley", "Station", "Shattuck Avenue, 2160", 37.8703, -122.2680),
    "oxford": ("Oxford Street & University Avenue", "Bus stop", "Berkeley", 37.8716, -122.2664),
    "uc": ("University of California, Berkeley", "University", "Berkeley", 37.8719, -122.2585),
    "menlo": ("Menlo Park", "Town", "", 37.4530, -122.1817),
    "redwood": ("Redwood City", "Town", "", 37.4852, -122.2364),
    "san_mateo": ("San Mateo", "Town", "", 37.5630, -122.3255),
    "millbrae": ("Millbrae", "Station", "Rollins Road, 200", 37.5985, -122.3872),
    "south_sf": ("South San Francisco", "Town", "", 37.6547, -122.4077),
    "mission": ("16th Street Mission", "Station", "Mission Street, 2000", 37.7620, -122.4180),
    "openai": ("OpenAI", "Office", "18th Street, 3180", 37.7622, -122.4148),
    "downtown": ("San Francisco", "Town", "", 37.7890, -122.3960),
    "redwood_101": ("", "", "", 37.4990, -122.2240),
    "san_mateo_101": ("", "", "", 37.5700, -122.3000),
    "millbrae_101": ("", "", "", 37.6000, -122.3700),
}  # fmt: skip
ROADS = [  # from, to, km, km/h of cars
    ("me", "teleferic", 0.28, 30), ("teleferic", "clement", 0.30, 30), ("clement", "station", 0.55, 40),
    ("station", "evvia", 0.35, 30), ("station", "nobu", 0.30, 30), ("me", "south", 0.80, 30),
    ("station", "south", 0.85, 30), ("me", "inn", 2.0, 40), ("station", "oval", 1.9, 40),
    ("oval", "stanford", 0.35, 20), ("me", "embarcadero_101", 4.1, 45), ("south", "university_101", 2.9, 35),
    ("university_101", "ikea", 1.2, 30), ("embarcadero_101", "university_101", 2.4, 100),
    ("coast", "shoreline", 2.3, 46), ("shoreline", "route_51", 4.7, 56), ("shoreline", "embarcadero_101", 6.0, 100),
    ("university_101", "dumbarton_west", 3.6, 50), ("dumbarton_west", "dumbarton_east", 7.6, 80),
    ("dumbarton_east", "newark", 2.8, 50), ("newark", "hayward", 18.6, 60), ("hayward", "san_leandro", 10.6, 50),
    ("san_leandro", "oakland", 15.6, 50), ("oakland", "berkeley", 8.3, 45), ("berkeley", "oxford", 0.25, 20),
    ("oxford", "uc", 0.9, 20), ("oakland", "emeryville", 4.2, 40), ("station", "menlo", 2.0, 45),
    ("menlo", "redwood", 6.6, 50), ("redwood", "san_mateo", 12.6, 50), ("san_mateo", "millbrae", 7.2, 50),
    ("millbrae", "south_sf", 7.1, 50), ("south_sf", "mission", 13.57, 45), ("mission", "openai", 0.40, 30),
    ("mission", "downtown", 3.7, 35), ("embarcadero_101", "redwood_101", 11.8, 105),
    ("redwood_101", "san_mateo_101", 11.2, 105), ("san_mateo_101", "millbrae_101", 7.6, 105),
    ("millbrae_101", "mission", 20.5, 100), ("redwood_101", "redwood", 2.1, 40),
    ("san_mateo_101", "san_mateo", 2.6, 40), ("millbrae_101", "millbrae", 1.7, 40), ("downtown", "oakland", 13.2, 90),
]  # fmt: skip
LINES = [  # name, from, to, minutes
    ("824", "coast", "shoreline", 5), ("EB", "shoreline", "route_51", 6),
    ("Caltrain", "station", "redwood", 9), ("Caltrain", "redwood", "san_mateo", 11),
    ("Caltrain", "san_mateo", "millbrae", 8), ("Red", "millbrae", "mission", 23), ("Red", "mission", "downtown", 6),
    ("Red", "downtown", "oakland", 11), ("Red", "oakland", "berkeley", 12),
]  # fmt: skip
BAY = (
    (37.455, -122.030), (37.452, -122.085), (37.466, -122.112), (37.486, -122.122), (37.500, -122.165),
    (37.522, -122.205), (37.548, -122.240), (37.573, -122.275), (37.592, -122.330), (37.604, -122.362),
    (37.640, -122.385), (37.705, -122.388), (37.760, -122.378), (37.797, -122.388), (37.812, -122.420),
    (37.812, -122.490), (37.870, -122.480), (37.905, -122.395), (37.870, -122.312), (37.828, -122.303),
    (37.798, -122.330), (37.772, -122.285), (37.735, -122.225), (37.680, -122.165), (37.610, -122.140),
    (37.545, -122.110), (37.510, -122.085), (37.480, -122.040),
)  # fmt: skip
CAMPUS = ((37.4360, -122.1740), (37.4350, -122.1640), (37.4240, -122.1590), (37.4200, -122.1720), (37.4300, -122.1800))


@lru_cache(maxsize=1)
def bay() -> World:
    """Returns the whole map."""
    ids = {key: id for id, key in enumerate(PLACES, 1)}
    return World(
        tuple(Place(ids[key], *place) for key, place in PLACES.items()),
        tuple(Road(ids[a], ids[b], km, kmh) for a, b, km, kmh in ROADS),
        tuple(Line(name, ids[a], ids[b], minutes) for name, a, b, minutes in LINES),
        (Area("water", BAY), Area("park", CAMPUS)),
        ids["me"],
    )


def prepare(phone: Phone) -> None:
    """Downloads the map."""
    write(phone.storage.database(DATABASE), bay())
