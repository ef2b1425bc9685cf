"""Names and words for task parameters, half of them kept apart from training.

A policy that has learned to copy what a goal says does as well on words it never met. To measure that, each
pool is split: training instances draw from one half, validation from a quarter, test from the other quarter.
"""

from __future__ import annotations

import random
from typing import Literal, get_args

Split = Literal["train", "validation", "test"]

REPEATED = frozenset("""
    apple bird book bridge butter daisy desk drum early electric empty fern ferry fish frost garlic green guitar hill
    honey jacket jasmine kite lake laurel little long magazine mango milk moss nest noodle old oven park pond pumpkin
    quiet river robin salmon salt scarf small sofia spare sparrow stone tall theatre umbrella willow winter wolf young
""".split()) | {"lunch break"}  # fmt: skip
"""Entries that do not count as kept apart, because a pool of another part has them too, if only as one word of several.

In lower case. A test finds what is missing here.
"""


class ParamRng(random.Random):
    """A seeded generator of task parameters that knows from which part of the words to draw.

    Attributes:
        origin: Its seed.
        split: The part of the words.
        drawn: The entries of pools that were drawn so far.
    """

    def __init__(self, seed: int, split: Split = "train") -> None:
        super().__init__(seed)
        if split not in get_args(Split):
            raise ValueError(f"split={split!r} is unknown; choose one of {get_args(Split)}")
        self.origin = seed
        self.split: Split = split
        self.drawn: list[str] = []


class Pool:
    """A list of words or phrases: every other one for training, the rest for validation and test in turn.

    Args:
        text: The entries.
        separator: What stands between them; white space around an entry is dropped.
    """

    def __init__(self, text: str, separator: str | None = ";") -> None:
        entries = [" ".join(entry.split()) for entry in text.split(separator)]
        self.all = tuple(dict.fromkeys(entry for entry in entries if entry))
        self.train = self.all[::2]
        self.validation, self.test = (
            tuple(entry for entry in self.all[first::4] if entry.casefold() not in REPEATED) for first in (1, 3)
        )

    def of(self, split: Split) -> tuple[str, ...]:
        """Returns the entries of one split."""
        return {"train": self.train, "validation": self.validation, "test": self.test}[split]

    def draw(self, rng: ParamRng) -> str:
        """Draws an entry from the split of `rng`."""
        rng.drawn.append(entry := rng.choice(self.of(rng.split)))
        return entry

    def draw_many(self, rng: ParamRng, count: int) -> list[str]:
        """Draws `count` different entries from the split of `rng`."""
        entries = rng.sample(self.of(rng.split), count)
        rng.drawn.extend(entries)
        return entries


def _words(text: str) -> Pool:
    return Pool(text, separator=None)


FIRST_NAMES = _words("""
    Aaron Abigail Adam Adele Ahmed Aisha Alan Albert Alice Alma Amara Amelia Amir Ana Andre Angela Anna Anton
    Aria Arthur Astrid Ava Axel Barbara Beatrice Ben Bianca Boris Brian Bruno Camila Carla Carlos Cecilia
    Celine Charles Chloe Claire Clara Colin Cora Cyrus Daisy Dana Daniel Daphne Darius David Deborah Diana
    Diego Dmitri Dora Dylan Edgar Edith Edwin Elena Elias Elisa Ella Elsa Emil Emily Emma Enzo Erik Esther
    Ethan Eva Evelyn Fabian Fatima Felix Fiona Flora Frank Freya Gabriel Gemma George Gina Giulia Grace
    Greta Gustav Hana Hannah Harold Harvey Hassan Hazel Hector Helen Henry Hilda Hugo Ibrahim Ida Igor Ines
    Ingrid Irene Iris Isaac Isabel Ivan Ivy Jack Jacob Jade James Jan Jasmine Javier Jean Jenny Joan Joel
    Jonas Joseph Judith Julia Julian Karim Karl Kate Keiko Kenji Kevin Kira Lara Laura Layla Lea Leo Leon
    Lena Liam Lily Linda Lina Louis Lucas Lucia Luna Lydia Magnus Malik Marco Maria Marta Martin Maya Max
    Mei Mia Michael Mila Milo Miriam Mona Nadia Naomi Nathan Nina Noah Noel Nora Olaf Olga Oliver Olivia
    Omar Oscar Otto Owen Paula Paulo Pedro Penny Peter Petra Philip Pia Quentin Quinn Rachel Rafael Ralph
    Raul Rebecca Rene Rhea Richard Rita Robert Robin Rosa Ruben Ruth Ryan Sabine Salma Samuel Sandra Sara
    Sean Selma Silas Simon Sofia Sonia Stefan Stella Sven Sylvia Tamara Tariq Teresa Theo Thomas Tim Tina
    Tobias Tomas Uma Ursula Valerie Vera Victor Viktoria Vincent Violet Walter Wanda Wendy Willem Xavier
    Yara Yasmin Yusuf Yvonne Zara Zoe
""")

LAST_NAMES = _words("""
    Abbott Acosta Adler Ahmad Alvarez Andersen Archer Arnold Atkins Bailey Baker Barnes Barton Bauer Becker
    Bennett Berg Bishop Blake Bloom Booth Bosch Bowen Braun Brooks Bryant Burke Burton Calder Campbell
    Carlson Carter Castillo Chan Chandler Chavez Clark Cole Coleman Conrad Cooper Costa Craig Cruz Curtis
    Dalton Daniels Davies Dawson Dean Delgado Dixon Dorsey Douglas Drake Dubois Duncan Eaton Edwards Ellis
    Engel Erickson Estrada Evans Farrell Fernandez Ferrari Fields Fischer Fisher Fleming Flores Foster
    Fox Francis Franklin Fraser Frost Fuentes Gallagher Garcia Gibson Gill Glover Gomez Goodwin Gordon
    Graham Grant Greene Griffin Haas Hahn Hale Hansen Harper Hart Hayes Heller Henderson Herrera Hoffman
    Holland Holmes Hopkins Horton Howard Hughes Hunter Ibarra Ingram Irwin Ito Jackson Jacobs Jansen Jarvis
    Jensen Jordan Joyce Kaiser Kaur Keller Kelly Kemp Khan Kim Klein Knight Koch Kowalski Kramer Lambert
    Lang Larsen Lawson Leblanc Lee Leonard Levine Lin Lindgren Lloyd Lopez Lowe Lund Lynch Maier Malone
    Mancini Marino Marsh Mason Mayer Mendez Meyer Miles Mills Molina Monroe Moore Morales Moreau Moss
    Murphy Nakamura Nash Navarro Neumann Newton Nguyen Nielsen Nolan Novak Obrien Okafor Olsen Ortega
    Osborne Owens Page Palmer Park Parker Patel Pearson Perez Peters Petrov Phillips Pierce Pohl Porter
    Price Quintero Ramirez Ramos Reed Reyes Rhodes Ricci Rivera Roberts Robles Rogers Romano Rossi Roth
    Rowe Russo Ryder Saito Salazar Sanders Santos Sato Schmidt Schultz Sharma Shaw Silva Simmons Singh
    Sloan Soto Spencer Stark Steele Stone Strand Suzuki Tanaka Taylor Thorne Torres Tran Tucker Turner
    Valdez Vargas Vasquez Vogel Wagner Walker Walsh Wang Ward Watts Weaver Weber Wells West Wolf Wong
    Wright Wu Yamada Yates York Young Zhang Ziegler Zimmer
""")

NOUNS = _words("""
    anchor apple arrow atlas autumn badge balcony bamboo banjo barley basket beacon bicycle blanket blossom
    bottle branch bridge bucket butter button cabin cactus candy candle canoe canyon carpet castle cedar
    cello chalk cherry circle clover cobalt coffee comet copper coral cotton cradle crystal daisy desert
    diamond dolphin dragon drum eagle echo elbow ember engine falcon feather fern ferry fiddle flame flute
    forest fossil fountain garden garlic ginger glacier globe granite grape guitar hammer harbor harvest
    hazel helmet honey horizon island ivory jacket jasmine jungle kettle kite ladder lagoon lantern laurel
    lemon lily linen lobster locket lotus magnet mango maple marble meadow melon meteor mirror mosaic moss
    mountain muffin needle nest nickel noodle oasis ocean olive onion opal orange orbit orchid otter oyster
    paddle panda paper parrot peach pebble pencil pepper piano pillow planet plum pocket pond poppy prairie
    prism pumpkin puzzle quartz quilt rabbit radio raven ribbon river robin rocket saddle saffron sailor
    salmon satin scarf shadow shell silver sparrow spider spruce station stone summit sunset tango teapot
    temple thunder tiger timber tulip tunnel turtle umbrella valley vanilla velvet violin walnut willow
    window winter zebra
""")

ADJECTIVES = _words("""
    amber ancient autumn bitter bold brave brief bright bronze calm careful cheerful clear clever cold
    cosmic cozy crimson curious dusty dark deep distant early eager electric emerald empty faint famous
    fancy final first fresh frosty gentle giant golden grand green happy heavy hidden honest hollow humble
    icy idle jolly keen kind large late lazy light little lively local lonely long loud lucky lunar magic
    mellow merry mild misty modern narrow neat nifty nimble noble northern old open orange pale patient plain
    polite proud purple quick quiet rapid rare red remote rich rough round royal rustic scarlet secret
    sharp shiny short silent simple slow small smooth snowy soft solar southern spare square steady strange
    strong sunny sweet swift tall tidy tiny true vast vivid warm weekly western white wide wild wise young
""")

CITIES = _words("""
    Accra Athens Auckland Bangkok Barcelona Berlin Bogota Boston Brussels Budapest Cairo Calgary Chicago
    Copenhagen Dakar Dallas Denver Dresden Dublin Edinburgh Florence Geneva Glasgow Hamburg Hanoi Havana
    Helsinki Houston Istanbul Jakarta Kyoto Lagos Leipzig Lima Lisbon London Lyon Madrid Manila Marseille
    Melbourne Memphis Miami Milan Montreal Mumbai Munich Nairobi Naples Nice Osaka Oslo Ottawa Paris Perth
    Phoenix Porto Prague Quito Riga Rome Rotterdam Salzburg Santiago Seattle Seoul Seville Shanghai Sofia
    Stockholm Sydney Tallinn Tampa Tokyo Toronto Tunis Turin Utrecht Valencia Vancouver Venice Vienna
    Vilnius Warsaw Zagreb Zurich
""")

STREETS = Pool("""
    Acorn Lane; Alder Street; Ash Grove; Bay Road; Birch Avenue; Bluebell Way; Bridge Street; Canal Street;
    Castle Hill; Cedar Drive; Chapel Lane; Church Street; Clover Court; College Avenue; Cypress Road; Dove Lane;
    Elm Street; Factory Road; Fern Close; Fir Avenue; Garden Street; Grove Road; Harbour View; Hazel Lane;
    Heron Way; Hill Street; Holly Road; Juniper Drive; King Street; Lake Avenue; Laurel Court; Linden Street;
    Lime Walk; Maple Avenue; Market Square; Meadow Lane; Mill Road; Nightingale Way; North Street; Oak Avenue;
    Orchard Road; Park Lane; Pine Street; Poplar Drive; Queen Street; Quarry Road; River Road; Rose Garden;
    School Lane; Sparrow Court; Spring Street; Station Road; Sycamore Drive; Temple Road; Tower Hill;
    Valley Road; Victoria Avenue; Vine Street; Walnut Grove; Willow Lane
""")

EVENTS = Pool("""
    Annual Review; Art Class; Band Practice; Board Meeting; Book Club; Budget Planning; Car Inspection;
    Catch Up; Choir Rehearsal; Client Call; Code Review; Cooking Class; Dance Lesson; Dentist Appointment;
    Design Sprint; Doctor Visit; Dog Training; Exam Preparation; Eye Test; Family Dinner; Farewell Party;
    Film Night; Football Match; French Lesson; Garden Work; Gym Session; Haircut; House Viewing; Job Interview;
    Kickoff Meeting; Lab Meeting; Language Exchange; Lunch Break; Marketing Sync; Morning Run; Museum Visit;
    Music Lesson; Night Shift; Office Hours; Parent Evening; Photo Session; Piano Lesson; Pottery Workshop;
    Product Demo; Project Kickoff; Quiz Night; Reading Group; Recycling Day; Safety Training; Sales Review;
    School Play; Spanish Class; Sprint Review; Staff Meeting; Study Group; Swimming Lesson; Tax Appointment;
    Team Lunch; Tennis Match; Theatre Evening; Town Hall; Train Journey; Vet Appointment; Video Call;
    Walking Tour; Wine Tasting; Yoga Class; Zoo Trip
""")

TODOS = Pool("""
    Answer the survey; Assemble the shelf; Back up the laptop; Bake a cake; Book the hotel; Brush the cat;
    Buy new shoes; Buy stamps; Call the bank; Call the plumber; Cancel the magazine; Change the filter;
    Charge the camera; Check the tyres; Clean the garage; Clean the oven; Collect the parcel; Cut the hedge;
    Defrost the freezer; Deliver the keys; Descale the kettle; Draft the agenda; Empty the bins; Feed the fish;
    File the invoices; Find a gift; Fix the bike; Fix the shower; Fold the laundry; Hang the picture;
    Iron the shirts; Learn the poem; Measure the window; Mend the jacket; Mow the lawn; Order the curtains;
    Organise the photos; Pack the suitcase; Paint the fence; Pay the rent; Pick up the suit; Plan the route;
    Plant the tulips; Polish the boots; Post the letter; Practise the speech; Prepare the slides;
    Print the tickets; Renew the passport; Repair the lamp; Replace the battery; Return the book;
    Scan the receipt; Sell the sofa; Sharpen the knives; Sort the cables; Sweep the porch; Tidy the desk;
    Translate the article; Update the website; Wash the car; Water the plants; Weed the garden;
    Wrap the present; Write the report
""")

PURCHASES = Pool("""
    Bakery; Birthday Gift; Book Shop; Brake Pads; Breakfast; Bus Pass; Camping Stove; Car Wash; Cat Food;
    Charity Run; Cinema; Coffee Beans; Concert; Cough Syrup; Desk Lamp; Dinner Out; Dog Food; Dry Cleaning;
    Electric Bill; Eye Drops; Ferry Ticket; Flower Shop; Football Boots; Garden Tools; Gas Bill; Grocery Run;
    Guitar Strings; Gym Fee; Hair Salon; Headphones; Hiking Boots; Hotel Night; Ice Cream; Internet Bill;
    Jacket Repair; Kitchen Knife; Library Fine; Light Bulbs; Lunch Box; Magazine; Museum; New Tyres; Notebook;
    Office Chair; Paint Cans; Parking; Pharmacy; Phone Bill; Picnic; Pizza Night; Plane Ticket; Printer Ink;
    Rain Coat; Running Shoes; School Trip; Ski Pass; Sun Cream; Sushi; Swimming Pool; Taxi Ride; Tea Set;
    Theatre; Train Ticket; Vet Visit; Video Game; Water Bill; Winter Coat; Yoga Mat
""")

DISHES = Pool("""
    Apple Crumble; Bean Chili; Beef Stew; Beetroot Salad; Blueberry Muffins; Butter Chicken; Cabbage Rolls;
    Caesar Salad; Carrot Soup; Cheese Omelette; Chicken Curry; Chickpea Wraps; Chocolate Mousse; Coconut Rice;
    Corn Chowder; Couscous Bowl; Crab Cakes; Cucumber Salad; Egg Fried Rice; Eggplant Bake; Fennel Gratin;
    Fish Tacos; French Toast; Garlic Bread; Garlic Shrimp; Ginger Cookies; Greek Salad; Grilled Salmon;
    Herb Dumplings; Honey Granola; Kale Smoothie; Lamb Kebab; Leek Quiche; Lemon Tart; Lentil Soup; Mango Lassi;
    Meatball Pasta; Minestrone; Miso Ramen; Mushroom Risotto; Mushroom Toast; Noodle Salad; Oat Pancakes;
    Onion Soup; Paprika Pork; Pea Soup; Pesto Gnocchi; Pineapple Curry; Potato Gratin; Pumpkin Pie;
    Quinoa Salad; Ratatouille; Rice Pudding; Roast Chicken; Salmon Bowl; Shakshuka; Spinach Lasagna;
    Spring Rolls; Stuffed Peppers; Sweet Potato Mash; Thai Green Curry; Tofu Stir Fry; Tomato Bruschetta;
    Tuna Sandwich; Turkey Burger; Vegetable Paella; Waffles; Zucchini Fritters
""")

MESSAGES = Pool("""
    Are we still on for tonight?; Bring the blue folder please; Call me when you land;
    Can you pick up some milk?; Coffee at nine?; Congratulations on the new job!; Did you see the game?;
    Dinner is ready; Do you need a lift home?; Don't forget your umbrella; Enjoy your holiday!;
    Good luck tomorrow; Happy birthday!; Have a safe flight; Heading home now; How was your weekend?;
    I am at the front door; I found your scarf; I left the keys with Tom; I sent you the photos;
    I will be late today; I will bring dessert; I'm on my way; Is the shop open on Sunday?; Just parked the car;
    Let me know when you arrive; Let's meet at the station; Lunch tomorrow?; Meeting moved to three;
    My train is delayed; Need anything from town?; No rush, take your time; Please feed the cat;
    Please water the plants; Running ten minutes late; Save me a seat; See you at the gate; See you on Friday;
    Sorry, I missed your call; Thank you for the flowers; Thanks for dinner last night;
    The code is on the fridge; The documents are signed; The movie starts at eight; The parcel has arrived;
    The plumber is here; The recipe was delicious; The tickets are booked; The wifi is working again;
    There is cake in the kitchen; Traffic is terrible today; Wait for me downstairs; We are out of coffee;
    We won the match!; What time does it start?; Where did you park?; Which platform is it?;
    Will you join us later?; You forgot your charger; Your order is ready
""")

SENTENCES = Pool("""
    A light rain fell all afternoon.; All chairs go back to the store room.; Ask about the garden door.;
    Bread costs less at the corner shop.; Bring two copies of the form.; Check the weather before the hike.;
    Every second lamp was switched off.; Five boxes are still in the attic.; Four seats are left in row seven.;
    Good ideas often come while walking.; He keeps the spare key in a jar.; Her train leaves from platform two.;
    It takes an hour to cross the lake.; Keep the receipt for the kettle.; Leave the window open at night.;
    Look for the red mailbox.; Measure twice and cut once.; Most visitors arrive before noon.;
    Never mix bleach with vinegar.; Nobody had seen the map before.; One spoon of sugar is enough.;
    Order more paper by Thursday.; Our bus was early this morning.; Paint dries slowly in winter.;
    Put the oven on low heat.; Remember to thank the neighbours.; Seven geese crossed the road.;
    She plays the cello on Mondays.; Small stones keep the soil moist.; Some of the apples are still green.;
    The bakery closes at six.; The bridge is closed for repairs.; The clock in the hall is slow.;
    The dog sleeps under the stairs.; The first draft is nearly done.; The ladder is behind the shed.;
    The library has a new reading room.; The meeting room is on the third floor.; The password hint is a river.;
    The printer needs a new cartridge.; The river is high this spring.; The shop sells maps and postcards.;
    The soup needs more salt.; The tall one goes at the back.; There are nine steps to the cellar.;
    They moved the piano yesterday.; This page is left blank on purpose.; Three of the lights are broken.;
    Turn left after the old mill.; Two cups of flour and one of milk.; Use the side entrance on Sundays.;
    Wash the wool by hand.; We counted twelve swans.; We planted beans along the wall.;
    Winter tyres go on in October.; Write the date on every jar.; Yellow labels mean fragile.;
    You can see the sea from the tower.
""")


def full_names(rng: ParamRng, count: int) -> list[str]:
    """Draws `count` names that share neither first nor last names, so that each part tells them apart."""
    pairs = zip(FIRST_NAMES.draw_many(rng, count), LAST_NAMES.draw_many(rng, count), strict=True)
    return [f"{first} {last}" for first, last in pairs]


def phone_number(rng: ParamRng) -> str:
    """Draws a phone number: +1 and ten digits, in the range that belongs to no one (555)."""
    return f"+1{rng.randrange(200, 999)}555{rng.randrange(10_000):04d}"


def slug(rng: ParamRng) -> str:
    """Draws a file or folder name without extension, such as `brave_otter`."""
    return f"{ADJECTIVES.draw(rng)}_{NOUNS.draw(rng)}"


def slugs(rng: ParamRng, count: int) -> list[str]:
    """Draws `count` file names that share no word."""
    pairs = zip(ADJECTIVES.draw_many(rng, count), NOUNS.draw_many(rng, count), strict=True)
    return [f"{adjective}_{noun}" for adjective, noun in pairs]


def paragraph(rng: ParamRng, sentences: int = 2) -> str:
    """Draws different sentences and joins them."""
    return " ".join(SENTENCES.draw_many(rng, sentences))
