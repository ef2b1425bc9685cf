"""An iteration counts whole or not at all, whatever ends it."""

import _thread
import random
import signal
import threading
import time
import warnings
from contextlib import suppress

import pytest
import torch
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import BaseCallback, CheckpointCallback, CoachAgent, GRPOAgent
from coach_gym.envs.vector import AndroidVectorEnv
from coach_gym.interruptions import held_back
from tests.agents.training.saving.test_directories import LONG
from tests.agents.training.saving.test_save_load import assert_equal
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import warm_policy


def buttons():
    return SyncVectorEnv([lambda: ButtonEnv(steps=2)] * 4)


def make(method=CoachAgent, envs=None, **arguments):
    extra = {"malformed_is_worthless": False, "critic_replay": 8} if method is CoachAgent else {}
    settings = {"batch_size": 8, "mini_batch_size": 4, "max_new_tokens": 3, "seed": 0, **extra, **arguments}
    return method(warm_policy(), envs or buttons(), 1e-3, **settings)


def standing(agent):
    """All that a training continues from."""
    counters = agent.num_timesteps, agent.n_updates, agent.num_instances
    rates = [group["lr"] for each in agent.optimizers.values() for group in each.param_groups]
    random_states = agent.rng.bit_generator.state, torch.get_rng_state().tolist()
    infos = [info["r"] for info in agent.ep_info_buffer]
    parameters = agent.get_parameters()
    copies = {part: {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in state.items()}
              for part, state in parameters.items() if "optimizer" not in part}
    moments = {part: {i: {k: v.clone() for k, v in each.items()} for i, each in state["state"].items()}
               for part, state in parameters.items() if "optimizer" in part}
    return [copies, moments, counters, rates, random_states, infos]


class Remember(BaseCallback):
    """Keeps where the training stood before every roll-out."""

    def __init__(self):
        super().__init__()
        self.stood = []

    def _on_rollout_start(self):
        self.stood.append(standing(self.model))


def fails_at(agent, name, number, error):
    """Has an optimizer fail after its step of a number."""
    optimizer, calls = agent.optimizers[name], []
    step = optimizer.step

    def failing(*args):
        step(*args)
        calls.append(1)
        if len(calls) == number:
            optimizer.step = step
            raise error

    optimizer.step = failing


@pytest.mark.parametrize(("name", "number"), [
    ("critic.optimizer", 1), ("critic.optimizer", 4), ("policy.optimizer", 1), ("policy.optimizer", 4),
])  # fmt: skip
def test_a_failed_update_changes_nothing(name, number, tmp_path):
    """In the first iteration, when optimizers have no states yet, or in the second."""
    error = KeyboardInterrupt() if number == 1 else FloatingPointError()
    agent, remember = make(), Remember()
    fails_at(agent, name, number, error)
    with pytest.raises(type(error)):
        agent.learn(40, callback=[CheckpointCallback(1, tmp_path), remember])
    assert_equal(standing(agent), remember.stood[-1])
    newest = max(tmp_path.iterdir(), key=lambda path: int(path.name.split("_")[2]))
    resumed = CoachAgent.load(newest, env=buttons())
    assert_equal(standing(resumed), remember.stood[-1], atol=1e-7)
    for each in (agent, resumed):
        torch.manual_seed(7)
        each.learn(16, reset_num_timesteps=False)
    assert_equal(resumed.get_parameters(), agent.get_parameters(), atol=1e-6)


def test_weights_that_overflow_are_taken_back():
    agent, remember = make(GRPOAgent, mini_batch_size=8), Remember()
    optimizer = agent.optimizers["policy.optimizer"]
    step = optimizer.step

    def overflowing():
        step()
        next(agent.policy.model.parameters()).data[0] = float("inf")

    optimizer.step = overflowing
    with pytest.raises(FloatingPointError, match="policy model.*is not finite"):
        agent.learn(40, callback=remember)
    assert_equal(standing(agent), remember.stood[-1])


def test_a_save_in_a_rollout_is_that_of_its_beginning(tmp_path):
    class Saving(Remember):
        def _on_step(self):
            self.model.save(tmp_path / "agent")
            return self.model.n_updates < 1

    agent, saving = make(), Saving()
    agent.learn(100, callback=saving)
    assert agent.n_updates == 1
    assert_equal(standing(CoachAgent.load(tmp_path / "agent")), saving.stood[-1], atol=1e-7)


def stopped_in_a_rollout():
    agent, remember = make(seed=3, critic_replay=0), Remember()

    def go_on(*_):
        return agent.n_updates == 0 or agent.num_timesteps < remember.stood[-1][2][0] + 8

    agent.learn(40, callback=[remember, go_on])
    return agent, remember.stood[-1]


def test_a_training_that_a_callback_stopped_goes_on_as_one_that_was_left_alone(tmp_path):
    whole = make(seed=3, critic_replay=0)
    whole.learn(40)
    expected = standing(whole)
    agent, began = stopped_in_a_rollout()
    told = agent.num_timesteps, len(agent.ep_info_buffer)
    assert began[2][0] < told[0] < 40, "it tells of the steps that it has taken"
    agent.save(tmp_path / "agent")
    assert told == (agent.num_timesteps, len(agent.ep_info_buffer))
    agent.learn(40 - began[2][0], reset_num_timesteps=False)
    assert_equal(standing(agent), expected, atol=1e-6)
    resumed = CoachAgent.load(tmp_path / "agent", env=buttons())
    assert_equal(standing(resumed)[2:], began[2:])
    resumed.learn(40 - began[2][0], reset_num_timesteps=False)
    assert_equal(standing(resumed), expected, atol=1e-6)


def test_a_stopped_training_takes_a_new_seed(tmp_path):
    agent, _ = stopped_in_a_rollout()
    agent.set_random_seed(9)
    agent.save(tmp_path / "agent")
    assert CoachAgent.load(tmp_path / "agent").task_entropy == agent.task_entropy == make(seed=9).task_entropy


def test_a_stopped_training_that_begins_anew_counts_from_zero():
    agent, _ = stopped_in_a_rollout()
    agent.learn(8)
    assert agent.num_timesteps == sum(info["l"] for info in agent.ep_info_buffer)


def test_half_an_update_is_not_saved(tmp_path):
    agent = make(GRPOAgent)
    step = agent.optimizers["policy.optimizer"].step

    def saving():
        step()
        agent.save(tmp_path / "agent")

    agent.optimizers["policy.optimizer"].step = saving
    with pytest.raises(RuntimeError, match="an update is in progress"):
        agent.learn(8)
    assert not any(tmp_path.iterdir())


def test_episodes_that_were_played_ahead_are_played_again_and_counted_once(tmp_path):
    class Slow(ButtonEnv):
        def step(self, action):
            time.sleep(0.03)  # meanwhile the others play ahead
            return super().step(action)

    envs = AndroidVectorEnv([lambda: Slow(steps=2), *[lambda: ButtonEnv(steps=2)] * 3])
    agent = make(GRPOAgent, envs, group_size=2, max_staleness=1)
    ahead = []

    class Saving(BaseCallback):
        def _on_rollout_start(self):
            self.model.save(tmp_path / f"{self.model.num_instances}")
            ahead.append(self.model.num_timesteps)

    agent.learn(60, callback=Saving())
    counted = []
    for number in range(len(ahead)):
        resumed = GRPOAgent.load(tmp_path / f"{4 * number}", env=buttons(), collection="rounds", max_staleness=0)
        assert len(resumed.ep_info_buffer) == 8 * number
        assert sum(info["l"] for info in resumed.ep_info_buffer) == resumed.num_timesteps
        counted.append(resumed.num_timesteps)
    assert counted != ahead, "nothing was played ahead"
    assert all(some <= more for some, more in zip(counted, ahead, strict=True))
    agent.save(tmp_path / "ended")
    ended = GRPOAgent.load(tmp_path / "ended")
    assert sum(info["l"] for info in ended.ep_info_buffer) == ended.num_timesteps
    envs.close()


def test_ctrl_c_at_any_moment(tmp_path):
    """Whenever it comes, training goes on from the newest checkpoint to the weights of a training without a break."""
    whole = make(seed=3, critic_replay=0)
    whole.learn(40, callback=CheckpointCallback(1, tmp_path / "whole"))
    chance = random.Random(0)
    for number in range(12 if LONG else 3):
        folder = tmp_path / str(number)
        agent = make(seed=3, critic_replay=0)
        timer = threading.Timer(chance.uniform(0.0, 0.8), _thread.interrupt_main)
        with suppress(KeyboardInterrupt):
            timer.start()
            agent.learn(40, callback=CheckpointCallback(1, folder))
            timer.join()
        checkpoints = sorted(folder.glob("*"), key=lambda path: int(path.name.split("_")[2]))
        assert not [path for path in checkpoints if path.suffix], "nothing half done"
        resumed = CoachAgent.load(checkpoints[-1], env=buttons()) if checkpoints else make(seed=3, critic_replay=0)
        if resumed.num_timesteps < whole.num_timesteps:
            resumed.learn(40 - resumed.num_timesteps, reset_num_timesteps=resumed.num_timesteps == 0)
        assert (resumed.num_timesteps, resumed.n_updates) == (whole.num_timesteps, whole.n_updates)


@pytest.fixture
def interruptible():
    """Programs that a script starts in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_what_holds_ctrl_c_back():
    done = []
    with pytest.raises(KeyboardInterrupt), held_back():
        _thread.interrupt_main()
        done.append(True)
    assert done
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        thread = threading.Thread(target=lambda: held_back().__enter__())
        thread.start()
        thread.join()


def test_a_second_training_on_the_same_environments_is_refused_and_the_first_goes_on():
    envs = AndroidVectorEnv([lambda: ButtonEnv(steps=2)] * 4)
    first, second = make(GRPOAgent, envs, group_size=2), make(GRPOAgent, envs, group_size=2)
    refused = []

    def intrude(*_):
        with pytest.raises(RuntimeError, match="another call of learn.*give each agent its own"):
            second.learn(8)
        refused.append(True)

    first.learn(16, callback=intrude)
    assert refused and first.n_updates >= 1
    second.learn(8)
    assert second.n_updates == 1
    envs.close()
