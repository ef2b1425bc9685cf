"""Which answers the questions about meetings accept."""

from coach_gym.envs.apps.zoom import lab_tasks as zoom


def test_names_of_people(accepts):
    meetings = {"123 456 7890": "Ada", "222 222 2222": "Bo"}
    task = zoom.ZoomNameInMeeting({"number": "123 456 7890", "meetings": meetings})
    accepts(task, ("Ada", "ada", '"Ada"'), ("Bo", "Ada, Bo", "Ad"))
