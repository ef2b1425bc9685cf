"""AndroidVectorEnv: Gymnasium's vector API outside, faults that stay with the environment that has them."""

import signal
import threading
import time
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.errors import UsageError
from coach_gym.envs.vector import AndroidVectorEnv
from tests.envs.fake_device import SIZE, SUITE, FakeDevice

make_env = partial(AndroidEnv, device=FakeDevice, screen_size=SIZE, suite=SUITE)
SAVE_ADA = {"task": "SaveName", "params": {"name": "Ada"}}


class Fragile(gym.Wrapper):
    """Breaks on command: raises what it is told to, or hangs until it is let go."""

    def __init__(self, env, built):
        super().__init__(env)
        built.append(self)
        self.raises = self.raises_in_reset = None
        self.hang = threading.Event()
        self.hangs = self.closed = False

    def reset(self, **kwargs):
        if self.raises_in_reset:
            raise self.raises_in_reset
        return super().reset(**kwargs)

    def step(self, action):
        if self.raises:
            raise self.raises
        if self.hangs:
            self.hang.wait()
        return super().step(action)

    def close(self):
        self.closed = True
        super().close()


@pytest.fixture
def built():
    """Every fragile environment built, by index of its place."""
    return [[], [], []]


@pytest.fixture
def envs(built):
    envs = AndroidVectorEnv([lambda made=made: Fragile(make_env(), made) for made in built], step_timeout=0.3)
    yield envs
    for made in built:
        for env in made:
            env.hang.set()
    envs.close()


def test_equals_sync_vector_env_step_by_step():
    ours, theirs = AndroidVectorEnv([make_env] * 3), SyncVectorEnv([make_env] * 3)
    assert ours.observation_space == theirs.observation_space
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.single_action_space == theirs.single_action_space
    assert ours.metadata == theirs.metadata and ours.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    results = [ours.reset(seed=5)], [theirs.reset(seed=5)]
    rng = np.random.default_rng(0)
    for _ in range(25):
        actions = tuple(rng.choice(["wait()", "finished()", "type(content='é')", "?"], p=[0.4, 0.2, 0.2, 0.2], size=3))
        for envs, result in zip((ours, theirs), results, strict=True):
            result.append(envs.step(actions))
    for result in zip(*results, strict=True):
        for step in result:
            step[-1].pop("step_latency", None)
        assert data_equivalence(*result, exact=True)
        assert result[0][0] in ours.observation_space
    ours.close()
    theirs.close()


def test_texts_arrive_as_they_are(envs):
    observations, _ = envs.reset(seed=0, options=SAVE_ADA)
    assert observations["goal"] == ("Save the name Ada.",) * 3
    observations, *_ = envs.step(["type(content='Grüße 👋')", "nonsense", "wait()"])
    assert "Grüße 👋" in observations["ui"][0] and "no action" in observations["last_action_error"][1]
    assert observations["screenshot"].shape == (3, 120, 60, 3)


def test_make_vec_reaches_it_with_arguments():
    gym.register(
        "FakeVec-v0", "coach_gym.envs.android:AndroidEnv", vector_entry_point="coach_gym.envs.make:make_vector_env"
    )
    envs = gym.make_vec(
        "FakeVec-v0", num_envs=2, vectorization_mode="vector_entry_point",
        device=FakeDevice, screen_size=SIZE, suite=SUITE, step_timeout=3.0,
    )  # fmt: skip
    assert isinstance(envs, AndroidVectorEnv) and envs.num_envs == 2 and envs.step_timeout == 3.0
    assert envs.spec.id == "FakeVec-v0"
    envs.reset(seed=0)
    envs.step(envs.action_space.sample())
    envs.close()


def test_no_device_starts_before_reset_and_no_environment_is_built_twice():
    started = []

    def start():
        started.append(1)
        return FakeDevice()

    constructed = []

    def make():
        constructed.append(1)
        return AndroidEnv(device=start, screen_size=SIZE, suite=SUITE)

    envs = AndroidVectorEnv([make] * 3)
    assert len(constructed) == 1 and not started
    envs.reset()
    assert len(constructed) == 3 and len(started) == 3
    envs.close()


def test_per_env_options_put_one_instance_in_several_places(envs):
    options = {"task": "SaveName", "per_env": [SAVE_ADA, SAVE_ADA, {"params": {"name": "Bob"}}]}
    observations, infos = envs.reset(options=options)
    assert observations["goal"] == ("Save the name Ada.", "Save the name Ada.", "Save the name Bob.")
    assert [info["name"] for info in infos["params"]] == ["Ada", "Ada", "Bob"]


def test_reset_mask_leaves_the_others_alone(envs):
    envs.reset(seed=0, options=SAVE_ADA)
    envs.step(["type(content='Ad')"] * 3)
    observations, infos = envs.reset(options={**SAVE_ADA, "reset_mask": np.array([False, True, False])})
    assert ['text="Ad"' in ui for ui in observations["ui"]] == [True, False, True]
    assert infos["_task"].tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"tusk": "SaveName"}, "options ['tusk'] are unknown"),
        ({"per_env": [SAVE_ADA]}, "per_env'] has 1 entries for 3"),
        ({"reset_mask": [True] * 3}, "boolean array of shape (3,)"),
        ({"reset_mask": np.zeros(3, bool)}, "selects no environment"),
    ],
)
def test_wrong_options_are_the_callers_error_and_leave_it_usable(envs, built, options, reason):
    with pytest.raises(UsageError) as raised:
        envs.reset(options=options)
    assert reason in str(raised.value)
    _, infos = envs.reset(seed=0, options=SAVE_ADA)
    assert "fault" not in infos and all(len(made) <= 1 for made in built)


def test_seeds_must_match_the_number_of_environments(envs):
    with pytest.raises(UsageError, match="seed has 2 entries for 3 environments"):
        envs.reset(seed=[1, 2])
    whole = [envs.reset(seed=seeds)[1]["params"].tolist() for seeds in ([4, 5, 6], np.array([4, 5, 6]))]
    assert whole[0] == whole[1] and "fault" not in envs.reset(seed=np.arange(3))[1]


@pytest.mark.parametrize("reward", [float("nan"), -float("inf"), 10**400, None, "1.0x", [1.0, 2.0]])
def test_a_reward_that_is_no_finite_number_is_a_fault(envs, built, reward):
    envs.reset(seed=0)
    first = built[0][-1]
    first.step = lambda action: (*type(first).step(first, action)[:1], reward, False, False, {})
    _, rewards, terminated, truncated, infos = envs.step(["wait()"] * 3)
    assert rewards.tolist() == [0.0] * 3 and terminated.tolist() == [False] * 3
    assert truncated.tolist() == [True, False, False]
    assert infos["fault"][0].startswith("DeviceError: the reward ")
    envs.reset()
    assert len(built[0]) == 2, "another one is built"


@pytest.mark.parametrize(("arguments", "told"), [
    ({"seed": 1.5}, "seed=1.5 is of type float; pass one for each"), ({"seed": -1}, "seed=-1 is none"),
    ({"seed": True}, "seed=True is none"), ({"seed": "123"}, "seed='123' is of type str"),
    ({"options": 5}, "options=5 is of type int; pass a dict or None"),
    ({"options": [1]}, r"options=\[1\] is of type list"),
    ({"options": {"per_env": 5}}, "per_env'.=5 is of type int"),
    ({"options": {"per_env": [5, {}, None]}}, "an entry of options.*=5 is of type int"),
])  # fmt: skip
def test_what_is_no_seed_and_no_option(envs, arguments, told):
    with pytest.raises(UsageError, match=told):
        envs.reset(**arguments)
    first, _ = envs.reset(seed=np.int64(3))
    assert first["goal"] == envs.reset(seed=[3, 4, 5])[0]["goal"]


def test_step_before_reset_is_refused(envs):
    with pytest.raises(UsageError, match="never reset"):
        envs.step(["wait()"] * 3)


@pytest.mark.parametrize("error", [RuntimeError("lost\nlong story"), ValueError("odd"), SystemExit("died")])
def test_an_environment_that_raises_costs_one_episode(envs, built, error):
    envs.reset(seed=0, options=SAVE_ADA)
    envs.step(["type(content='A')"] * 3)
    built[1][0].raises = error
    observations, rewards, terminations, truncations, infos = envs.step(["type(content='d')"] * 3)
    assert truncations.tolist() == [False, True, False] and not terminations.any() and not rewards.any()
    assert infos["fault"].tolist() == [None, f"{type(error).__name__}: {str(error).split(chr(10))[0]}", None]
    assert infos["task"].tolist() == ["SaveName"] * 3 and infos["is_success"].tolist() == [False] * 3
    assert observations in envs.observation_space
    observations, _, _, truncations, infos = envs.step(["type(content='a')"] * 3)
    assert not truncations.any() and "fault" not in infos
    assert ['text="Ada"' in ui for ui in observations["ui"]] == [True, False, True]
    assert len(built[1]) == 2 and built[1][0].closed


def test_a_fault_is_told_with_what_cannot_be_copied(built):
    class Locked(Fragile):
        def reset(self, **kwargs):
            observation, info = super().reset(**kwargs)
            return observation, {**info, "lock": threading.Lock()}

    envs = AndroidVectorEnv([lambda: Locked(make_env(), built[0])])
    envs.reset(seed=0)
    built[0][0].raises = RuntimeError("lost")
    infos = envs.step(["wait()"])[-1]
    assert infos["fault"][0] == "RuntimeError: lost" and "lock" in infos
    envs.close()


def test_an_environment_that_hangs_is_given_up_at_its_time_limit(envs, built):
    envs.reset(seed=0, options=SAVE_ADA)
    built[2][0].hangs = True
    began = time.monotonic()
    _, _, _, truncations, infos = envs.step(["wait()"] * 3)
    assert 0.3 <= time.monotonic() - began < 2.0
    assert truncations.tolist() == [False, False, True]
    assert infos["fault"][2] == "TimeoutError: step took longer than 0.3 s"
    _, _, _, truncations, _ = envs.step(["wait()"] * 3)
    assert not truncations.any() and len(built[2]) == 2
    built[2][0].hang.set()  # it wakes up late: its answer is nobody's, and it is closed
    envs.step(["wait()"] * 3)
    deadline = time.monotonic() + 5
    while not built[2][0].closed and time.monotonic() < deadline:
        time.sleep(0.01)
    assert built[2][0].closed
    assert not envs.step(["wait()"] * 3)[3].any()


def test_an_environment_that_fails_in_reset_is_told_by_reset_and_by_its_only_step(envs, built):
    envs.reset(seed=0, options=SAVE_ADA)
    built[0][0].raises_in_reset = RuntimeError("no boot")
    observations, infos = envs.reset(options=SAVE_ADA)
    assert infos["fault"].tolist() == ["RuntimeError: no boot", None, None]
    assert observations in envs.observation_space and observations["goal"][0] == ""
    _, _, _, truncations, infos = envs.step(["wait()"] * 3)
    assert truncations.tolist() == [True, False, False] and infos["fault"][0] == "RuntimeError: no boot"
    observations, _, _, truncations, infos = envs.step(["wait()"] * 3)
    assert not truncations.any() and observations["goal"][0] != "" and len(built[0]) == 2


def test_a_rebuilt_environment_draws_from_the_seed_of_the_first_reset(built):
    def goals_after_a_fault():
        made = []
        envs = AndroidVectorEnv([lambda: Fragile(make_env(), made)])
        envs.reset(seed=7)
        made[0].raises = RuntimeError()
        envs.step(["wait()"])
        goals = [envs.step(["wait()"])[0]["goal"][0]]
        for _ in range(3):
            envs.step(["finished()"])
            goals.append(envs.step(["wait()"])[0]["goal"][0])
        envs.close()
        return goals

    assert goals_after_a_fault() == goals_after_a_fault()


def test_recv_does_not_wait_for_a_busy_environment(envs, built):
    envs.step_timeout = 30.0
    envs.reset(seed=0, options=SAVE_ADA)
    built[0][0].hangs = True
    envs.send(["wait()"] * 3)
    served = []
    for _ in range(4):
        for transition in envs.recv():
            served.append(transition.env_id)
            envs.send(["wait()"], [transition.env_id])
    assert 0 not in served and len(served) >= 4
    assert 0 in envs.pending
    built[0][0].hang.set()
    rest = envs.recv(min_ready=3)
    assert sorted(transition.env_id for transition in rest) == [0, 1, 2] and envs.pending == ()


def test_send_to_an_ended_episode_resets_it(envs):
    envs.reset(seed=0, options=SAVE_ADA)
    envs.send(["finished()"], [1])
    (ended,) = envs.recv()
    assert ended.terminated and ended.over and ended.info["is_success"] is False
    envs.send(["finished()"], [1])
    (begun,) = envs.recv()
    assert not begun.over and begun.info["budget"] in (3, 6) and "is_success" not in begun.info


def test_send_reset_chooses_the_instance(envs):
    envs.reset(seed=0)
    envs.send_reset([2], options=[SAVE_ADA])
    (begun,) = envs.recv()
    assert begun.env_id == 2 and begun.observation["goal"] == "Save the name Ada."


def test_a_refused_reset_does_not_swallow_the_others(envs):
    envs.reset(seed=0)
    envs.send_reset([0, 1, 2], options=[SAVE_ADA, {"task": "Nope"}, SAVE_ADA])
    with pytest.raises(UsageError, match="no task 'Nope'"):
        envs.recv(3)
    assert sorted(transition.env_id for transition in envs.recv(3)) == [0, 2]
    envs.send(["wait()"] * 3)
    assert len(envs.recv(3)) == 3


def test_misuse_of_send_and_recv_is_refused(envs):
    envs.reset(seed=0)
    with pytest.raises(UsageError, match="no call is in progress"):
        envs.recv()
    envs.send(["wait()"], [0])
    with pytest.raises(UsageError, match="environment 0 has a call in progress"):
        envs.send(["wait()"], [0])
    for call in (lambda: envs.step(["wait()"] * 3), envs.reset):
        with pytest.raises(UsageError, match=r"environments \[0\] have a call in progress"):
            call()
    envs.recv()


@pytest.mark.parametrize("call", [
    lambda envs: envs.reset(seed=0), lambda envs: envs.step(["wait()"] * 3), lambda envs: envs.send(["wait()"], [0]),
    lambda envs: envs.send_reset([0], [0]), lambda envs: envs.recv(), lambda envs: envs.fork([0]),
    lambda envs: envs.snapshot([0]),
])  # fmt: skip
def test_use_after_close_is_an_error_at_once(call):
    for pending in (False, True):
        envs = AndroidVectorEnv([make_env] * 3)
        envs.reset(seed=0)
        if pending:
            envs.send(["wait()"] * 3)
        envs.close()
        assert envs.pending == ()
        began = time.monotonic()
        with pytest.raises(gym.error.ClosedEnvironmentError, match="closed; make new ones"):
            call(envs)
        assert time.monotonic() - began < 1


@pytest.mark.parametrize("env_fns", [5, None, "ab", [5], [lambda: 5], []])
def test_what_makes_no_environments_is_refused(env_fns):
    with pytest.raises((TypeError, ValueError), match="(env_fns has|a function of env_fns returned|at least one).*;"):
        AndroidVectorEnv(env_fns)


def test_ctrl_c_loses_no_result(monkeypatch):
    """Whoever is interrupted right after a result was taken gets it later, and does not wait for it for ever."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # programs in the background begin without it
    envs = AndroidVectorEnv([make_env] * 3, step_timeout=20.0)
    envs.reset(seed=0)
    take = envs._crew.outcome

    def interrupted(timeout):
        done = take(timeout)
        if done is not None:
            signal.raise_signal(signal.SIGINT)
        return done

    try:
        envs.send(["wait()"] * 3)
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(envs._crew, "outcome", interrupted)
            envs.recv(3)
    finally:
        signal.signal(signal.SIGINT, before)
    began = time.monotonic()
    assert sorted(arrival.env_id for arrival in envs.recv(3)) == [0, 1, 2]
    assert time.monotonic() - began < 10 and not envs.pending
    envs.close()


@pytest.mark.parametrize("action", [3, np.int64(3), 2.5, None, b"wait()", ["wait()"]])
def test_an_action_that_is_no_text_is_the_callers_mistake_and_no_fault(action):
    envs = AndroidVectorEnv([make_env] * 2)
    envs.reset(seed=0)
    with pytest.raises(UsageError, match=f"environment 1 is .* of type {type(action).__name__}; pass a text"):
        envs.step(["wait()", action])
    assert envs.pending == ()
    _, _, _, truncations, infos = envs.step([np.str_("wait()"), "wait()"])
    assert not truncations.any() and "fault" not in infos
    envs.close()


@pytest.mark.parametrize(("actions", "told"), [
    (["a"], "1 actions for 3"), (["a"] * 4, "4 actions for 3"), ([], "0 actions"), ("abc", "'abc' of type str for 3"),
    (None, "None of type NoneType for 3"), (5, "5 of type int for 3"), (iter("abc"), "of type .*iterator for 3"),
    (dict.fromkeys("abc"), "of type dict for 3"), ({*"abc"}, "of type set for 3"),
])  # fmt: skip
def test_a_wrong_number_of_actions_is_refused_before_anything_is_sent(actions, told):
    envs = AndroidVectorEnv([make_env] * 3)
    envs.reset(seed=0)
    with pytest.raises(UsageError, match=told):
        envs.step(actions)
    with pytest.raises(UsageError, match="different numbers from 0 to 2"):
        envs.send(["a", "a"], [0, 3])
    with pytest.raises(UsageError, match="different numbers from 0 to 2"):
        envs.send_reset([1, 1], [0, 0])
    with pytest.raises(UsageError, match="2 seeds and 3 options for 3"):
        envs.send_reset(None, [0, 0])
    assert envs.pending == ()
    envs.step(["x"] * 3)
    envs.close()


@pytest.mark.parametrize("seed", ["abc", [-1] * 3, [1.5] * 3, [True] * 3, -1])
def test_wrong_seeds_are_the_callers_error_and_no_fault(seed):
    envs = AndroidVectorEnv([make_env] * 3)
    with pytest.raises((UsageError, gym.error.Error), match="[Ss]eed"):
        envs.reset(seed=seed)
    assert envs.pending == () and "fault" not in envs.reset(seed=0)[1]
    envs.close()


def test_close_is_idempotent_and_does_not_wait_for_ever(envs, built, monkeypatch):
    monkeypatch.setattr("coach_gym.envs.vector._CLOSE_TIMEOUT", 0.2)
    envs.reset(seed=0)
    built[1][0].hangs = True
    envs.send(["wait()"], [1])
    began = time.monotonic()
    envs.close()
    envs.close()
    assert time.monotonic() - began < 2.0
    assert built[0][0].closed and built[2][0].closed


def test_render_gives_the_last_screenshots():
    envs = AndroidVectorEnv([partial(make_env, render_mode="rgb_array")] * 2)
    observations, _ = envs.reset(seed=0)
    assert np.array_equal(np.stack(envs.render()), observations["screenshot"])
    envs.close()


def test_overhead_of_a_step_is_small():
    """Against stepping the same environments in a plain loop; the best of several, as the machine is shared."""
    envs, plain = AndroidVectorEnv([make_env] * 8), SyncVectorEnv([make_env] * 8, copy=False)

    def best(vector):
        vector.reset(seed=0, options=SAVE_ADA)
        times = []
        for _ in range(120):
            began = time.perf_counter()
            vector.step(("?",) * 8)
            times.append(time.perf_counter() - began)
        return min(times) / 8

    extra = best(envs) - best(plain)
    envs.close()
    assert extra < 0.5e-3, f"{extra * 1e3:.3f} ms a step and environment"


@pytest.mark.parametrize("call", ["step", "reset"])
def test_ctrl_c_while_a_call_begins_leaves_it_usable(envs, monkeypatch, call):
    envs.reset(seed=1)
    worker = envs._slots[1].worker
    begun = getattr(worker, call)

    def interrupted(*args):
        begun(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        envs.send(["wait()"] * envs.num_envs) if call == "step" else envs.send_reset()
    while envs.pending:
        envs.recv()
    for _ in range(3):
        observations, infos = envs.reset(seed=2)
        assert observations["screenshot"].shape[0] == envs.num_envs and "fault" not in infos
        envs.step(["wait()"] * envs.num_envs)
