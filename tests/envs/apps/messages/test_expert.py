"""The experts of Simple SMS Messenger among many conversations, and what its tasks refuse."""

import pytest

from coach_gym.envs.apps.messages import expert
from coach_gym.envs.apps.messages import world_tasks as families
from coach_gym.envs.phone.providers import telephony
from tests.envs.expert_at_work import work

PEOPLE = [[f"Person {chr(65 + number)} Berg", f"+1201555{number:04d}"] for number in range(12)]
INBOX = [[number, f"Message of {name}", False, 10 + 7 * place] for place, (name, number) in enumerate(PEOPLE[:6])]
ANN, BO = PEOPLE[0], PEOPLE[5]


def send(device, number, text, kind=telephony.SENT):
    with device.database(telephony.PATH) as db:
        telephony.insert(db, number, text, kind, device.now)


@pytest.mark.parametrize("message", ["Hi", "a" * 300, "50% off & <more>", "Ünïcode ☕", "What? Really!"])
def test_any_message_reaches_any_number(device, message):
    task = families.SimpleSmsSend({"number": "+1 (301) 555-0199", "message": message, "messages": INBOX})
    task.setup(device)
    work(device, expert.send_to_number, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("number, text, kind, score", [
    ("+13015550199", "See you", telephony.SENT, 1), ("3015550199", "See you ", telephony.SENT, 1),
    ("+13015550199", "See you", telephony.FAILED, 0), ("+13015550199", "See you", telephony.INBOX, 0),
    ("+13015550199", "see you", telephony.SENT, 0), ("+13015550198", "See you", telephony.SENT, 0),
    ("", "See you", telephony.SENT, 0),
])  # fmt: skip
def test_number_text_and_delivery_count_but_not_how_a_number_is_spelled(device, number, text, kind, score):
    task = families.SimpleSmsSend({"number": "+13015550199", "message": "See you", "messages": INBOX})
    task.setup(device)
    send(device, number, text, kind)
    assert task.evaluate(device, None) == score


def test_a_message_sent_twice_or_to_somebody_else_as_well_does_not_count(device):
    task = families.SimpleSmsReply({"number": ANN[1], "message": "Yes", "messages": INBOX})
    task.setup(device)
    send(device, ANN[1], "Yes")
    solved = device.snapshot()
    for number in (ANN[1], BO[1]):
        assert task.evaluate(device, None) == 1
        send(device, number, "Yes")
        assert task.evaluate(device, None) == 0
        device.restore(solved)


@pytest.mark.parametrize("person", [ANN, BO])
def test_the_last_message_of_ours_is_sent_again_not_the_answer_to_it(device, person):
    name, number = person
    messages = [*INBOX, [number, "Older", True, 400], [number, "Newer", True, 9], [number, "What?", False, 7]]
    task = families.SimpleSmsResend({"name": name, "number": number, "message": "Newer", "people": PEOPLE,
                                     "messages": messages})  # fmt: skip
    task.setup(device)
    work(device, expert.resend, task.params)
    assert task.evaluate(device, None) == 1


def test_an_address_is_passed_on_to_one_person(device):
    params = {"name1": ANN[0], "name2": BO[0], "number": ANN[1], "message": "7 Elm Street"}
    messages = [[BO[1], "7 Elm Street", False, 2], [PEOPLE[3][1], "9 Oak Street", False, 300]]
    task = families.SimpleSmsSendReceivedAddress({**params, "people": PEOPLE, "messages": messages})
    task.setup(device)
    work(device, expert.forward, task.params)
    assert task.evaluate(device, None) == 1
    send(device, BO[1], "7 Elm Street")
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("person", [ANN, BO])
def test_one_conversation_is_deleted_and_the_others_stay(device, person):
    name, number = person
    task = families.SmsDeleteThread({"name": name, "number": number, "people": PEOPLE, "messages": INBOX})
    task.setup(device)
    work(device, expert.delete_thread, task.params)
    assert task.evaluate(device, None) == 1
    with device.database(telephony.PATH) as db:
        telephony.delete_thread(db, telephony.conversations(db)[0].id)
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("answer, score", [
    ("Message of Person A Berg", 1), ("message of person a berg.", 1), ('"Message of Person A Berg"', 1),
    ("Message of Person B Berg", 0), ("She wrote: Message of Person A Berg", 0), ("", 0), (None, 0),
])  # fmt: skip
def test_what_somebody_wrote_is_answered_word_for_word(device, answer, score):
    task = families.SmsTextOf({"name": ANN[0], "number": ANN[1], "people": PEOPLE, "messages": INBOX})
    task.setup(device)
    assert work(device, expert.text_of, task.params) == "Message of Person A Berg"
    assert task.evaluate(device, answer) == score
