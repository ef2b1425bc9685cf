"""Families of Simple SMS Messenger."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any, ClassVar

from coach_gym.envs.apps.contacts import address_book
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.providers import telephony
from coach_gym.envs.phone.providers.telephony import INBOX, SENT, Message
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.records import another
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

Entry = list
"""A message: phone number, text, whether we sent it, how many minutes ago. JSON."""

Key = tuple[str, str, int]
"""Line, text and type of a message: what is compared."""


class SmsTask(Task):
    """A task on `params["messages"]`, with contacts from `params["people"]` if there are any.

    It is solved when the messages on the phone are those of the start and `sent()`, no more and no less.
    """

    apps: ClassVar[tuple[str, ...]] = ("Simple SMS Messenger",)

    def setup(self, device: Device) -> None:
        """Stores the contacts and the messages."""
        address_book.store(device, [address_book.contact(*person) for person in self.params.get("people", [])])
        with device.database(telephony.PATH) as db:
            db.execute("BEGIN")
            for address, body, ours, minutes in self.params["messages"]:
                date = device.now - timedelta(minutes=minutes)
                telephony.insert(db, address, body, SENT if ours else INBOX, date)
            db.execute("COMMIT")

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares lines, texts and types of all messages with those expected."""
        with device.database(telephony.PATH) as db:
            found = sorted(_key(message) for message in telephony.messages(db))
        return float(found == sorted([*self.left(), *self.sent()]))

    def left(self) -> list[Key]:
        """Returns the messages of the start that have to be there in the end."""
        kinds = (INBOX, SENT)
        return [(telephony.line(address), body, kinds[ours]) for address, body, ours, _ in self.params["messages"]]

    def sent(self) -> list[Key]:
        """Returns the messages that have to be sent."""
        return [(telephony.line(self.params["number"]), self.params["message"], SENT)]


def _key(message: Message) -> Key:
    return telephony.line(message.address), message.body.strip(), message.kind


def inbox(rng: ParamRng, numbers: list[str]) -> list[Entry]:
    """Returns one received message from each number, the last one first, some hours apart."""
    texts = words.MESSAGES.draw_many(rng, len(numbers))
    ages = sorted(rng.sample(range(5, 40 * 60, 7), len(numbers)))
    return [[number, text, False, age] for number, text, age in zip(numbers, texts, ages, strict=True)]


def _numbers_of(params: dict[str, Any]) -> list[str]:
    """Returns the numbers that wrote to us, without the one that the goal names."""
    return sorted({address for address, *_ in params["messages"]} - {params["number"]})


def _cut(message: str) -> str:
    """Returns a message without its last word."""
    return message.rpartition(" ")[0]


class SimpleSmsSend(SmsTask):
    """A message to a number that is not in the contacts."""

    template = "Send a text message to {number}: {message}"
    difficulty = "medium"
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a number, a message, and messages from others."""
        number, *others = address_book.numbers(rng, rng.randint(1, 5))
        return {"number": number, "message": words.MESSAGES.draw(rng), "messages": inbox(rng, others)}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a number that is not quite the same."""
        return {**self.params, "number": address_book.other_number(self.params["number"])}


class SmsSendToContact(SmsTask):
    """A message to somebody in the contacts."""

    template = "Send {name} a text message: {message}"
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to six contacts and picks one."""
        people = address_book.people(rng, rng.randint(3, 6))
        name, number = rng.choice(people)
        strangers = address_book.numbers(rng, rng.randint(0, 3))
        params = {"name": name, "number": number, "message": words.MESSAGES.draw(rng)}
        return {**params, "people": people, "messages": inbox(rng, strangers)}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another contact."""
        return another(rng, self.params, "name", [name for name, _ in self.params["people"]])


class SimpleSmsReply(SmsTask):
    """A reply to one of several strangers."""

    template = "Reply to {number} with this text message: {message}"
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to six strangers and picks one."""
        numbers = address_book.numbers(rng, rng.randint(2, 6))
        return {"number": rng.choice(numbers), "message": words.MESSAGES.draw(rng), "messages": inbox(rng, numbers)}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the number of another stranger."""
        return {**self.params, "number": rng.choice(_numbers_of(self.params))}


class SimpleSmsReplyMostRecent(SmsTask):
    """A reply to whoever wrote last."""

    template = "Reply to the most recent text message: {message}"
    difficulty = "medium"
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to six strangers, of whom the first wrote last."""
        numbers = address_book.numbers(rng, rng.randint(2, 6))
        return {"number": numbers[0], "message": words.MESSAGES.draw(rng), "messages": inbox(rng, numbers)}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the message without its last word."""
        return {**self.params, "message": _cut(self.params["message"])}


class SimpleSmsSendClipboardContent(SmsTask):
    """What is on the clipboard, sent to a number."""

    template = "Send what is on the clipboard to {number} as a text message."
    budget = 16

    sample = SimpleSmsSend.sample
    near_miss = SimpleSmsSend.near_miss

    def setup(self, device: Device) -> None:
        """Also puts the message on the clipboard."""
        super().setup(device)
        device.put_clipboard(self.params["message"])


class SimpleSmsResend(SmsTask):
    """Our last message to somebody, which got lost and is sent again."""

    template = "{name} did not get the last text message I sent. Send it again."
    difficulty = "medium"
    budget = 12

    QUESTION = "Something went wrong here, what did you just write?"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws contacts with a message to each, and lets one of them ask what it said."""
        people = address_book.people(rng, rng.randint(2, 4))
        texts = words.MESSAGES.draw_many(rng, len(people))
        messages = [[people[i][1], text, True, 60 * i + 9] for i, text in enumerate(texts)]
        chosen = rng.randrange(len(people))
        name, number = people[chosen]
        messages.append([number, cls.QUESTION, False, 60 * chosen + 7])
        params = {"name": name, "number": number, "message": texts[chosen]}
        return {**params, "people": people, "messages": messages}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another contact."""
        return another(rng, self.params, "name", [name for name, _ in self.params["people"]])


class SimpleSmsSendReceivedAddress(SmsTask):
    """An address from one contact, passed on to another."""

    template = "{name2} just sent me the address of the event. Text that address to {name1}."
    difficulty = "medium"
    budget = 16

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two contacts, and an address from one of them."""
        people = address_book.people(rng, rng.randint(3, 6))
        (name1, number), (name2, sender) = people[:2]
        address = f"{rng.randint(2, 199)} {words.STREETS.draw(rng)}"
        messages = [[sender, address, False, 2], *inbox(rng, [known for _, known in people[2:]])]
        params = {"name1": name1, "name2": name2, "number": number, "message": address}
        return {**params, "people": rng.sample(people, len(people)), "messages": messages}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a third contact as the receiver."""
        goal = (self.params["name1"], self.params["name2"])
        return {**self.params, "name1": rng.choice([name for name, _ in self.params["people"] if name not in goal])}


class SmsDeleteThread(SmsTask):
    """A whole conversation deleted."""

    template = "Delete the text messages with {name}."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to six contacts who wrote, and picks one."""
        people = address_book.people(rng, rng.randint(2, 6))
        name, number = rng.choice(people)
        return {"name": name, "number": number, "people": people, "messages": inbox(rng, [n for _, n in people])}

    def left(self) -> list[Key]:
        """Returns the messages of all others."""
        return [key for key in super().left() if key[0] != telephony.line(self.params["number"])]

    def sent(self) -> list[Key]:
        """Returns nothing: no message is asked for."""
        return []

    near_miss = SimpleSmsResend.near_miss


class SmsTextOf(SmsTask):
    """The text that somebody wrote."""

    template = "What did {name} write to me?"
    kind = "query"
    budget = 8

    sample = SmsDeleteThread.sample
    near_miss = SimpleSmsResend.near_miss

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the answer with the text; the messages must not have changed."""
        text = next(text for number, text, *_ in self.params["messages"] if number == self.params["number"])
        return float(_bare(answer or "") == _bare(text) and super().evaluate(device, answer))

    def sent(self) -> list[Key]:
        """Returns nothing: no message is asked for."""
        return []


def _bare(text: str) -> str:
    """Returns a sentence in lower case, without quotes and end mark."""
    return text.casefold().strip(" .!?\"'")


TASKS = (
    SimpleSmsSend,
    SmsSendToContact,
    SimpleSmsReply,
    SimpleSmsReplyMostRecent,
    SimpleSmsSendClipboardContent,
    SimpleSmsResend,
    SimpleSmsSendReceivedAddress,
    SmsDeleteThread,
    SmsTextOf,
)
