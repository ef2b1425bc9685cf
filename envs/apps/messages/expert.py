"""Experts of Simple SMS Messenger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

Params = Mapping[str, Any]
APP = "Simple SMS Messenger"
FIELD = "Type a message…"


@expert("SimpleSmsSend")
def send_to_number(s: Screen, p: Params) -> Iterator[str]:
    """Starts a conversation with the number and sends the message."""
    yield from write_to(s, p["number"])
    yield from send(s, p["message"])


@expert("SmsSendToContact")
def send_to_contact(s: Screen, p: Params) -> Iterator[str]:
    """Starts a conversation with the contact and sends the message."""
    yield from s.open(APP)
    yield s.tap("New conversation")
    if not s.has(p["name"]):
        yield s.back()  # puts the keyboard away, which leaves little of the list on a low screen
    yield from s.follow(p["name"])
    yield from send(s, p["message"])


@expert("SimpleSmsReply")
def reply(s: Screen, p: Params) -> Iterator[str]:
    """Opens the conversation and sends the message."""
    yield from s.open(APP)
    yield s.tap(p["number"])
    yield from send(s, p["message"])


@expert("SimpleSmsReplyMostRecent")
def reply_to_latest(s: Screen, p: Params) -> Iterator[str]:
    """Opens the conversation on top and sends the message."""
    yield from s.open(APP)
    yield s.tap(next(element for element in s.elements if element.long_clickable))
    yield from send(s, p["message"])


@expert("SimpleSmsSendClipboardContent")
def send_clipboard(s: Screen, p: Params) -> Iterator[str]:
    """Starts a conversation, pastes and sends."""
    yield from write_to(s, p["number"])
    yield s.long_press(FIELD)
    yield s.tap("Paste")
    yield s.tap("SMS")


@expert("SimpleSmsResend")
def resend(s: Screen, p: Params) -> Iterator[str]:
    """Reads the last message of ours and sends it again."""
    yield from s.open(APP)
    yield s.tap(p["name"])
    ours = [element for element in s.elements if _sent(element, s)]
    yield from send(s, ours[-1].label)


@expert("SimpleSmsSendReceivedAddress")
def forward(s: Screen, p: Params) -> Iterator[str]:
    """Forwards the address to the other contact."""
    yield from s.open(APP)
    yield s.tap(p["name2"])
    yield s.long_press("thread_message_body")
    yield s.tap("Forward message")
    yield s.tap(p["name1"])
    yield s.tap("SMS")


@expert("SmsDeleteThread")
def delete_thread(s: Screen, p: Params) -> Iterator[str]:
    """Selects the conversation and deletes it."""
    yield from s.open(APP)
    yield s.long_press(p["name"])
    yield s.tap("Delete")
    yield s.tap("Yes")


@expert("SmsTextOf")
def text_of(s: Screen, p: Params) -> Iterator[str]:
    """Opens the conversation and reads the message."""
    yield from s.open(APP)
    yield s.tap(p["name"])
    yield s.finish(s.find("thread_message_body").label)


def write_to(s: Screen, number: str) -> Iterator[str]:
    """Starts a conversation with a number."""
    yield from s.open(APP)
    yield s.tap("New conversation")
    yield from s.fill("Add Contact or Number…", number)
    yield s.tap("OK")


def send(s: Screen, message: str) -> Iterator[str]:
    """Sends a message in the conversation on the screen, and that is all."""
    yield from s.fill(FIELD, message)
    yield s.tap("SMS")


def _sent(element: Element, s: Screen) -> bool:
    """Returns whether an element is a message that we sent: those stand at the right."""
    left, _, right, _ = element.bounds
    width = max(other.bounds[2] for other in s.elements)
    return element.id == "thread_message_body" and left > width - right
