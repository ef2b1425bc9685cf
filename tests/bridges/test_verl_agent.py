"""verl-agent's manager: driven as its roll-out loop does it, with exact anchors, and no reward for a fault."""

import re
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

from coach_gym.bridges.talk import NoVerdict
from coach_gym.bridges.verl_agent import AndroidEnvironmentManager
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.devices.phone import PhoneDevice
from tests.bridges.scripts import SIZE, TASK, played
from tests.bridges.test_pages import PAGE


def rolled_out(manager, seeds, scripts):
    """What `vanilla_multi_turn_loop` collects."""
    obs, _ = manager.reset([{"seed": seed} for seed in seeds])
    seen, done, rewards = [obs], np.zeros(len(seeds), bool), np.zeros(len(seeds))
    batches, infos = [[] for _ in seeds], [[] for _ in seeds]
    for step in range(20):
        active = ~done
        obs, got, dones, told = manager.step([script[min(step, len(script) - 1)] for script in scripts])
        rewards[active] += got[active]
        for each in range(len(seeds)):
            batches[each].append({"active_masks": active[each]})
            infos[each].append(told[each])
        seen.append(obs)
        done |= dones
        if done.all():
            break
    return seen, rewards, manager.success_evaluator(total_infos=infos, total_batch_list=batches), infos


def test_a_batch_plays_what_gymnasium_plays():
    actions, results = played(3)
    manager = AndroidEnvironmentManager(groups=1, group_size=2, **TASK)
    seen, rewards, success, infos = rolled_out(manager, [3, 3], [actions, ["no action", "finished()"]])
    manager.close()
    assert rewards.tolist() == [1, 0] and success["success_rate"].tolist() == [1, 0]
    for obs, (observation, *_) in zip(seen, results, strict=True):
        assert obs["image"].shape == (2, SIZE[1], SIZE[0], 3) and obs["image"].dtype == np.uint8
        np.testing.assert_array_equal(obs["image"][0], observation["screenshot"])
        assert all(text.count("<image>") == 1 and results[0][0]["goal"] in text for text in obs["text"])
    assert [bool(info["is_action_valid"]) for info in infos[1][:2]] == [False, True]
    assert seen[0]["anchor"][0] == seen[0]["anchor"][1] and len({*seen[2]["anchor"]}) == 2


def test_a_group_plays_one_task_and_validation_always_the_same():
    manager = AndroidEnvironmentManager(groups=2, group_size=2, same_tasks=True, screen_size=SIZE)
    drawn = [[talk.goal for talk in manager.talks] for _ in range(2) if manager.reset()]
    assert drawn[0] == drawn[1] and drawn[0][0] == drawn[0][1] and drawn[0][2] == drawn[0][3]
    assert drawn[0][0] != drawn[0][2]


def test_the_lines_of_the_page_make_both_managers():
    (lines,) = re.findall(r"^```text\nel(if .*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    config = SimpleNamespace(
        env=SimpleNamespace(env_name="Android", seed=0, rollout=SimpleNamespace(n=2)),
        data=SimpleNamespace(train_batch_size=2, val_batch_size=1),
    )
    names = {}
    exec(f"def make_envs(config):\n{textwrap.indent(lines, '    ')}", names)
    training, validation = names["make_envs"](config)
    assert [len(manager.talks) for manager in (training, validation)] == [4, 1] and validation.same_tasks
    training.close()
    validation.close()


def test_a_fault_stops_training():
    class Loses(PhoneDevice):
        def perform(self, action):
            raise ConnectionError("the cable is out")

    manager = AndroidEnvironmentManager(groups=1, device=lambda: Loses(*SIZE), **TASK)
    manager.reset()
    with pytest.raises(NoVerdict, match="the cable is out"):
        manager.step(["press_home()"])


def test_equal_states_have_equal_digests_and_others_have_not():
    one, other = AndroidEnv(screen_size=(270, 600)), AndroidEnv(screen_size=(270, 600))
    start = {"seed": 3, "options": {"task": "ContactsAddContact"}}
    one.reset(**start)
    other.reset(**start)
    seen = [one.digest()]
    for action in ("open_app(app_name='Contacts')", "click(start_box='(235,540)')", "press_back()", "wait()"):
        twin = one.fork()
        assert twin.digest() == one.digest() == other.digest() == seen[-1]
        for env in (one, other, twin):
            env.step(action)
        assert one.digest() == other.digest() == twin.digest()
        seen.append(one.digest())
    assert len({*seen}) == len(seen)
    kept = one.snapshot()
    for change in (
        lambda phone: phone.put_setting("system", "font_scale", "1.3"),
        lambda phone: phone.put_clipboard("x"),
        lambda phone: phone.write("/sdcard/a.txt", b"x"),
        lambda phone: phone.remove("/sdcard/Download"),
    ):
        change(one._device)
        assert one.digest() != seen[-1]
        one.restore(kept)
        assert one.digest() == seen[-1]
