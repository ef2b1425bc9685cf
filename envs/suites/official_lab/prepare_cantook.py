"""The shelf that AndroidLab's Cantook tasks ask about, and the book that one of them imports.

The texts are short passages of works whose copyright has ended; Romeo and Juliet is spelled as in the Folio of 1623,
as the task's judge quotes it.
"""

from __future__ import annotations

from datetime import timedelta

from coach_gym.envs.apps.cantook.data import Library
from coach_gym.envs.phone.folders import SHARED
from coach_gym.envs.phone.media.epub import Book, write
from coach_gym.envs.phone.phone import Phone

EBOOKS = f"{SHARED}/Download/Ebooks"
ROMEO = """\
Enter Benuolio and Mercutio.
Mer. Where the deu'le should this Romeo be? came he not home to night?
Ben. Not to his Fathers, I spoke with his man
Mer. Why that same pale hard-harted wench, that Rosaline torments him so, that he will sure run mad
Ben. Tibalt, the kinsman to old Capulet, hath sent a Letter to his Fathers house
Mer. A challenge on my life
Ben. Romeo will answere it
Mer. Any man that can write, may answere a Letter
Enter Romeo.
Ben. Here comes Romeo, here comes Romeo
Mer. Signior Romeo, Bon iour, there's a French salutation to your French slop
Rom. Good morrow to you both, what counterfeit did I giue you?
Mer. The slip sir, the slip, can you not conceiue?
Ben. Stop there, stop there
Mer. Thou desir'st me to stop in my tale against the haire
Ben. Thou would'st else haue made thy tale large
Mer. O thou art deceiu'd, I would haue made it short
Enter Nurse and her man.
Rom. Here's a goodly geare. A sayle, a sayle
Mer. Two, two: a Shirt and a Smocke
Nur. Peter?
Peter. Anon
Nur. My Fan Peter?
Mer. Good Peter to hide her face? For her Fans the fairer face?
Nur. God ye good morrow Gentlemen
Mer. God ye gooden faire Gentlewoman
Nur. Is it gooden?
Rom. One Gentlewoman, that God hath made, himselfe to mar
Nur. Gentlemen, can any of you tel me where I may find the young Romeo?
Rom. I can tell you: but young Romeo will be older when you haue found him, then he was when you sought him
Nur. You say well
Nur. If you be he sir, I desire some confidence with you
Ben. She will endite him to some Supper
Mer. Romeo, will you come to your Fathers? Weele to dinner thither
Rom. I will follow you
Mer. Farewell auncient Lady: Farewell Lady, Lady, Lady.
Exit. Mercutio, Benuolio."""
HAMLET = """\
Bar. Who's there?
Fran. Nay answer me: Stand and vnfold your selfe
Bar. Long liue the King
Fran. Barnardo?
Bar. He
Fran. You come most carefully vpon your houre"""
TWIST = """\
Among other public buildings in a certain town, there is one anciently common to most towns: to wit, a workhouse.
For a long time after it was ushered into this world of sorrow and trouble, by the parish surgeon, it remained a \
matter of considerable doubt whether the child would survive to bear any name at all."""
CITIES = """\
It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness.
There were a king with a large jaw and a queen with a plain face, on the throne of England."""
LETTER = """\
A throng of bearded men, in sad-coloured garments and grey steeple-crowned hats, was assembled in front of a wooden \
edifice.
The founders of a new colony have invariably recognised it among their earliest practical necessities to allot a \
portion of the virgin soil as a cemetery, and another portion as the site of a prison.
The door of the jail being flung open from within there appeared, in the first place, like a black shadow emerging \
into sunshine, the grim and gristly presence of the town-beadle."""
QUIXOTE = """\
In a village of La Mancha, the name of which I have no desire to call to mind, there lived not long since one of \
those gentlemen that keep a lance in the lance-rack.
The age of this gentleman of ours was bordering on fifty; he was a very early riser and a great sportsman."""
WHALE = """\
Call me Ishmael.
Some years ago, never mind how long precisely, having little or no money in my purse, I thought I would sail about a \
little and see the watery part of the world."""
SENSE = """\
The family of Dashwood had long been settled in Sussex.
Their estate was large, and their residence was at Norland Park, in the centre of their property."""
ALICE = """\
Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do.
So she was considering in her own mind whether the pleasure of making a daisy-chain would be worth the trouble of \
getting up and picking the daisies, when suddenly a White Rabbit with pink eyes ran close by her."""
SHELF = [  # title, author, category, text, paragraphs read, hours since it was last read; the last one is the newest
    ("Moby Dick", "Herman Melville", "Adventure", WHALE, 0, None),
    ("Sense and Sensibility", "Jane Austen", "Novels", SENSE, 1, 300),
    ("A Tale of Two Cities", "Charles Dickens", "Historical", CITIES, 1, 200),
    ("Oliver Twist", "Charles Dickens", "Novels", TWIST, 2, 20),
    ("The Scarlet Letter", "Nathaniel Hawthorne", "Novels", LETTER, 1, 2),
    ("Romeo and Juliet", "William Shakespeare", "Tragedies", ROMEO, 14, 48),
    ("Hamlet", "William Shakespeare", "Tragedies", HAMLET, 0, None),
    ("Don Quixote", "Miguel de Cervantes", "Adventure", QUIXOTE, 0, None),
]  # fmt: skip


def _file(title: str, author: str, category: str, text: str) -> bytes:
    return write(Book(title, author, category, tuple(text.splitlines())))


def prepare(phone: Phone) -> None:
    """Fills the shelf and the folder of books."""
    library = Library(phone.storage)
    for place, (title, author, category, text, position, hours) in enumerate(SHELF):
        added = phone.now - timedelta(days=30 - place)
        book = library.add(_file(title, author, category, text), added)
        if book is not None:
            library.move(book, position)
            if hours is not None:
                library.open(book.id, phone.now - timedelta(hours=hours))
    alice = _file("Alice's Adventures in Wonderland", "Lewis Carroll", "Adventure", ALICE)
    phone.storage.write(f"{EBOOKS}/alice_in_wonderland.epub", alice)
