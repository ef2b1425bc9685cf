"""Hooks are called in Stable-Baselines3's order; evaluation, checkpoints, progress."""

import json

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from stable_baselines3.common import callbacks as sb3

from coach_gym.agents import (
    BaseCallback,
    CallbackList,
    CheckpointCallback,
    EvalCallback,
    GRPOAgent,
    StopTrainingOnRewardThreshold,
    evaluate,
    evaluate_policy,
)
from coach_gym.agents.training.saving.checkpoints import checkpoints_in
from coach_gym.dialects import UITars
from coach_gym.envs.vector import AndroidVectorEnv
from tests.agents import tiny
from tests.agents.trivial_env import LETTERS, ButtonEnv
from tests.agents.warm_start import warm_policy


def buttons(n: int = 4, **kwargs) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: ButtonEnv(**kwargs)] * n)


def make(envs=None, **arguments) -> GRPOAgent:
    settings = {"batch_size": 8, "group_size": 2, "max_new_tokens": 2, "seed": 0, **arguments}
    return GRPOAgent(settings.pop("policy", None) or tiny.policy(), envs or buttons(), 1e-3, **settings)


class Knowing:
    """Acts by the goal, and checks that its states are passed back."""

    def __init__(self, answers=LETTERS):
        self.answers = answers

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        expected = [None if start else goal for goal, start in zip(observation["goal"], episode_start, strict=True)]
        assert expected == ([None] * len(expected) if state is None else list(state))
        return [self.answers[goal] for goal in observation["goal"]], list(observation["goal"])


class Diary(BaseCallback):
    """Records which hooks are called."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def _init_callback(self):
        self.calls.append("init")

    def _on_training_start(self):
        assert self.training_env is self.model.get_env() and self.logger is self.model.logger
        self.calls.append("training_start")

    def _on_rollout_start(self):
        self.calls.append("rollout_start")

    def _on_step(self):
        assert {"rewards", "dones", "infos", "episodes"} <= self.locals.keys()
        self.calls.append("step")
        return True

    def _on_rollout_end(self):
        self.calls.append("rollout_end")

    def _on_training_end(self):
        self.calls.append("training_end")


def test_order_of_calls():
    diary = Diary()
    make().learn(16, callback=diary)
    rollout = ["rollout_start", "step", "step", "rollout_end"]
    assert diary.calls == ["init", "training_start", *rollout, *rollout, "training_end"]
    assert diary.n_calls == 4 and diary.num_timesteps == 16


def test_functions_and_lists_are_callbacks():
    diary, seen = Diary(), []
    make().learn(8, callback=[diary, lambda locals_, globals_: seen.append(locals_["self"].num_timesteps)])
    assert seen == [4, 8] and diary.n_calls == 2


@pytest.mark.parametrize(("callback", "told"), [
    ({"a": 1}, "callback={'a': 1} is of type dict; pass"), ("ab", "'ab' is of type str"), (5, "5 is of type int"),
    (Diary, r"Diary is a class; pass an instance of it, Diary\(\.\.\.\)"), ([Diary()] + [5], "5 is of type int"),
])  # fmt: skip
def test_what_is_no_callback(callback, told):
    with pytest.raises(TypeError, match=told):
        make().learn(4, callback=callback)


def test_a_callback_that_says_false_stops_the_training_before_the_update():
    agent = make()
    agent.learn(1000, callback=lambda locals_, globals_: False)
    assert agent.num_timesteps == 4 and agent.n_updates == 0
    diary = Diary()
    agent.learn(1000, callback=CallbackList([lambda *_: False, diary]))
    assert diary.n_calls == 1, "everyone on the list is called"


def test_stable_baselines_own_callbacks_work():
    agent = make()
    counting = sb3.StopTrainingOnMaxEpisodes(max_episodes=3)
    agent.learn(1000, callback=sb3.CallbackList([counting]))
    assert counting.n_episodes >= 12 and agent.num_timesteps < 1000


def test_an_interruption_leaves_an_agent_that_works(tmp_path):
    class Interrupt(Diary):
        def _on_step(self):
            raise KeyboardInterrupt

    agent, callback = make(buttons(steps=2)), Interrupt()
    with pytest.raises(KeyboardInterrupt):
        agent.learn(100, callback=callback, progress_bar=True)
    assert callback.calls[-1] == "training_end"
    agent.save(tmp_path / "agent")
    agent.predict(ButtonEnv().reset(seed=0)[0])
    agent.learn(8, reset_num_timesteps=False)
    assert agent.n_updates == 1


def test_an_interruption_in_the_middle_of_an_update():
    agent = make(policy=warm_policy())
    step = agent.optimizers["policy.optimizer"].step

    def interrupted(*args):
        raise KeyboardInterrupt

    agent.optimizers["policy.optimizer"].step = interrupted
    with pytest.raises(KeyboardInterrupt):
        agent.learn(8)
    assert agent.n_updates == 0
    agent.optimizers["policy.optimizer"].step = step
    agent.learn(8)
    assert agent.n_updates == 1


# ---- evaluation -------------------------------------------------------------------------------------------------


def test_evaluation_counts_every_seed_once():
    envs = SyncVectorEnv([ButtonEnv, lambda: ButtonEnv(steps=4)])
    result = evaluate(Knowing(), envs, n_eval_episodes=9, seed=5)
    assert [r.seed for r in result.results] == list(range(5, 14))
    assert result.success_rate == result.mean_reward == 1.0
    assert {r.length for r in result.results} == {1, 4}
    again = evaluate(Knowing(), buttons(1), n_eval_episodes=9, seed=5)
    assert [r.task for r in again.results] == [r.task for r in result.results]
    assert [r.params for r in again.results] == [r.params for r in result.results]


def test_success_of_each_task():
    result = evaluate(Knowing({**LETTERS, "green": "x"}), buttons(), n_eval_episodes=30)
    per_task = result.success_per_task
    assert set(per_task) == {"PressRed", "PressGreen", "PressBlue"}
    assert per_task["PressGreen"][0] == 0 and per_task["PressRed"][0] == per_task["PressRed"][1] > 0
    assert sum(n for _, n in per_task.values()) == 30
    assert result.success_rate == pytest.approx(1 - per_task["PressGreen"][1] / 30)


def test_faults_do_not_count():
    envs = buttons(2, faulty=[1, 2])
    result = evaluate(Knowing(), envs, n_eval_episodes=4)
    assert [r.fault is None for r in result.results] == [True, False, False, True]
    assert result.success_rate == 1.0 and len(result.judged) == 2
    with pytest.warns(UserWarning, match="2 of 4 episodes"):
        assert evaluate_policy(Knowing(), envs, 4) == (1.0, 0.0)
    with pytest.raises(ValueError, match="all 3 episodes"):
        evaluate_policy(Knowing(), buttons(faulty=[]), 3)


class Undecided(ButtonEnv):
    """An environment whose judge has failed."""

    def step(self, action):
        *rest, info = super().step(action)
        return *rest, {**info, "is_success": None}


def test_unknown_verdicts_do_not_count():
    envs = AndroidVectorEnv([ButtonEnv, Undecided])
    result = evaluate(Knowing(), envs, n_eval_episodes=4)
    assert sorted(map(str, (r.success for r in result.results))) == ["None", "None", "True", "True"]
    assert result.success_rate == 1.0 and len(result.judged) == 2
    with pytest.raises(ValueError, match="the judge gave no verdict"):
        evaluate_policy(Knowing(), Undecided(), 3)


def test_evaluate_policy():
    assert evaluate_policy(Knowing(), ButtonEnv(), 5) == (1.0, 0.0)
    assert evaluate_policy(Knowing(), buttons(steps=2), 5, return_episode_rewards=True) == ([1.0] * 5, [2] * 5)
    with pytest.raises(ValueError, match="not above 1.50"):
        evaluate_policy(Knowing(), buttons(), 5, reward_threshold=1.5)
    seen = []
    evaluate_policy(
        Knowing(), buttons(), 5, callback=lambda locals_, _: seen.append((locals_["done"], locals_["reward"]))
    )
    assert seen == [(True, 1.0)] * 5


def test_eval_callback(tmp_path):
    agent = make(tensorboard_log=str(tmp_path / "runs"))
    agent.predict = Knowing().predict
    stop = StopTrainingOnRewardThreshold(0.9)
    callback = EvalCallback(
        buttons(2, faulty=[2]), callback_on_new_best=stop, n_eval_episodes=4, eval_freq=2,
        log_path=tmp_path, best_model_save_path=tmp_path, verbose=0,
    )  # fmt: skip
    agent.learn(1000, callback=callback, tb_log_name="run")
    assert agent.num_timesteps == 8 and callback.best_mean_reward == 1.0
    assert callback.last is not None and len(callback.last.judged) == 3
    assert (tmp_path / "best_model" / "actor").is_dir()
    stored = np.load(tmp_path / "evaluations.npz")
    assert stored["timesteps"].tolist() == [8]
    np.testing.assert_array_equal(stored["results"], [[1, 1, np.nan, 1]])
    np.testing.assert_array_equal(stored["successes"], [[1, 1, np.nan, 1]])
    from tests.agents.training.test_online import tags

    assert {"eval/mean_reward", "eval/mean_ep_length", "eval/success_rate"} <= tags(tmp_path / "runs" / "run_1")


def evaluating(tmp_path, agent, steps, episodes=4):
    callback = EvalCallback(
        buttons(2), n_eval_episodes=episodes, eval_steps=8, log_path=tmp_path, best_model_save_path=tmp_path, verbose=0,
    )  # fmt: skip
    agent.learn(steps, callback, reset_num_timesteps=agent.num_timesteps == 0)


def test_a_training_that_goes_on_goes_on_with_its_evaluations(tmp_path):
    agent = make()
    evaluating(tmp_path, agent, 16)
    before = dict(np.load(tmp_path / "evaluations.npz"))
    assert before["timesteps"].tolist() == [0, 8, 16]
    agent.save(tmp_path / "saved")
    evaluating(tmp_path, agent, 8)  # which is lost, and done again
    evaluating(tmp_path, GRPOAgent.load(tmp_path / "saved", buttons()), 16)
    after = np.load(tmp_path / "evaluations.npz")
    assert after["timesteps"].tolist() == [0, 8, 16, 24, 32]
    for name in ("results", "successes", "ep_lengths"):
        np.testing.assert_array_equal(after[name][:3], before[name])
        assert after[name].shape == (5, 4)
    evaluating(tmp_path, make(), 8)
    assert np.load(tmp_path / "evaluations.npz")["timesteps"].tolist() == [0, 8], "of a new training"


@pytest.mark.parametrize("file, spoiled, message", [
    ("evaluations.npz", b"PK\x03\x04", "evaluations.npz is damaged"),
    ("evaluations.npz", b"", "evaluations.npz is damaged"),
    ("best_model.json", b"", "best_model.json is damaged"),
    ("best_model.json", b'{"mean_reward": "x"}', "mean_reward='x'"),
    ("best_model.json", b"[" * 100_000, "best_model.json is damaged"),
])  # fmt: skip
def test_damaged_notes_are_named_before_the_training_goes_on(file, spoiled, message, tmp_path):
    agent = make()
    evaluating(tmp_path, agent, 8)
    (tmp_path / file).write_bytes(spoiled)
    with pytest.raises(ValueError, match=message):
        evaluating(tmp_path, agent, 8)
    assert agent.num_timesteps == 8


def test_evaluations_of_other_sizes_are_not_mixed(tmp_path):
    agent = make()
    evaluating(tmp_path, agent, 8)
    agent.save(tmp_path / "saved")
    with pytest.raises(ValueError, match="evaluations of 4 episodes, not of 2"):
        evaluating(tmp_path, GRPOAgent.load(tmp_path / "saved", buttons()), 8, episodes=2)


def test_a_damaged_note_of_the_best_checkpoint_is_named_at_once(tmp_path):
    (tmp_path / "agent_best.json").write_text('{"checkpoint": "agent_8_steps"}')
    with pytest.raises(ValueError, match="agent_best.json is damaged .no success_rate"):
        make().learn(8, CheckpointCallback(1, tmp_path, "agent"))


@pytest.mark.parametrize("rate", ["NaN", "true", "1e999", "null"])
def test_a_best_success_rate_that_is_no_number_is_named_at_once(tmp_path, rate):
    (tmp_path / "agent_best.json").write_text(f'{{"checkpoint": "agent_8_steps", "success_rate": {rate}}}')
    with pytest.raises(ValueError, match="agent_best.json is damaged .success_rate="):
        make().learn(8, CheckpointCallback(1, tmp_path, "agent"))


def test_a_threshold_needs_an_evaluation():
    with pytest.raises(ValueError, match="callback_on_new_best"):
        make().learn(8, callback=StopTrainingOnRewardThreshold(1.0))


def test_evaluation_needs_an_environment_of_its_own():
    agent = make()
    with pytest.raises(ValueError, match="make another one"):
        agent.learn(8, callback=EvalCallback(agent.get_env()))


def test_what_follows_an_evaluation_can_stop_the_training():
    after = Diary()
    agent = make()
    agent.predict = Knowing().predict
    agent.learn(16, callback=EvalCallback(buttons(1), callback_after_eval=after, eval_freq=1, verbose=0))
    assert after.n_calls == 4 and after.calls[:2] == ["init", "training_start"]
    agent.learn(100, callback=EvalCallback(buttons(1), callback_after_eval=NeverAgain(), eval_freq=1, verbose=0))
    assert agent.num_timesteps == 4


class NeverAgain(BaseCallback):
    def _on_step(self):
        return False


def test_checkpoints_are_written_between_iterations(tmp_path):
    agent = make()
    agent.learn(24, callback=CheckpointCallback(3, tmp_path, name_prefix="agent"))
    # due at calls 3 and 6, that is after 12 and 24 steps; written when the roll-outs that these fall in are learned
    assert sorted(path.name for path in tmp_path.iterdir()) == ["agent_16_steps", "agent_24_steps"]
    assert GRPOAgent.load(tmp_path / "agent_16_steps").n_updates == 2


def test_the_latest_checkpoints_and_the_best_are_kept(tmp_path, monkeypatch):
    agent = make()
    rates = {0: 0.0, 8: 0.25, 16: 0.75, 24: 0.5, 32: 0.75, 40: 0.25, 48: 0.0}
    monkeypatch.setattr(type(agent), "ep_success_buffer", property(lambda self: [rates[self.num_timesteps]]))
    agent.learn(48, callback=CheckpointCallback(None, tmp_path, "agent", save_steps=8, keep=2))
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["agent_32_steps", "agent_40_steps", "agent_48_steps", "agent_best.json"]
    assert json.loads((tmp_path / "agent_best.json").read_text()) == {
        "checkpoint": "agent_32_steps", "success_rate": 0.75,
    }  # fmt: skip
    (tmp_path / "agent_notes_steps").mkdir()
    (tmp_path / "agent_7_steps").mkdir()
    assert [path.name for path in checkpoints_in(tmp_path, "agent")] == kept[:3]


def test_checkpoints_fall_due_after_minutes(tmp_path, monkeypatch):
    clock = iter(range(0, 6000, 60))
    monkeypatch.setattr("coach_gym.agents.training.saving.checkpoints.time.monotonic", lambda: next(clock))
    make().learn(24, callback=CheckpointCallback(None, tmp_path, "agent", save_minutes=2))
    assert [path.name for path in checkpoints_in(tmp_path, "agent")] == ["agent_8_steps", "agent_24_steps"]


def test_when_to_save_and_whether_it_works_are_checked_at_once(tmp_path):
    with pytest.raises(ValueError, match="nothing says when to save"):
        CheckpointCallback(None, tmp_path)
    with pytest.raises(ValueError, match="keep=0 is too small"):
        CheckpointCallback(1, tmp_path, keep=0)

    class Own(UITars): ...

    agent = make(policy=tiny.policy(dialect=Own(28 * 28, 24 * 28 * 28)))
    with pytest.raises(ValueError, match=r"DIALECTS\['Own'\] = Own"):
        agent.learn(8, callback=CheckpointCallback(1, tmp_path))
    assert agent.num_timesteps == 0


class Rated(EvalCallback):
    """Finds the rewards that it is given, one evaluation after the other."""

    def __init__(self, rewards, **settings):
        super().__init__(buttons(1), n_eval_episodes=1, verbose=0, **settings)
        self.rewards, self.at = list(rewards), []

    def _evaluate(self):
        agent, reward = self.model, self.rewards.pop(0)
        found, agent.predict = agent.predict, Knowing(LETTERS if reward else dict.fromkeys(LETTERS, "?")).predict
        self.at.append(self.model.num_timesteps)
        go_on = super()._evaluate()
        agent.predict = found
        return go_on


def test_evaluations_between_iterations_keep_the_best_agent(tmp_path):
    agent = make()
    evaluation = Rated([0.0, 1.0, 0.0, 1.0], eval_steps=10, best_model_save_path=tmp_path)
    agent.learn(40, callback=evaluation)
    assert evaluation.at == [0, 16, 32, 40]  # when due, and at the end
    assert GRPOAgent.load(tmp_path / "best_model").num_timesteps == 16
    note = json.loads((tmp_path / "best_model.json").read_text())
    assert note == {"timesteps": 16, "mean_reward": 1.0, "success_rate": 1.0, "episodes": 1}


def test_a_training_that_goes_on_keeps_a_better_agent_of_before(tmp_path):
    agent = make()
    agent.learn(8, callback=Rated([1.0, 0.0], eval_steps=8, best_model_save_path=tmp_path))
    agent.learn(8, callback=Rated([0.0, 0.0], eval_steps=8, best_model_save_path=tmp_path), reset_num_timesteps=False)
    assert GRPOAgent.load(tmp_path / "best_model").num_timesteps == 0
    agent.learn(8, callback=Rated([0.0, 0.0], eval_steps=8, best_model_save_path=tmp_path))
    assert json.loads((tmp_path / "best_model.json").read_text())["mean_reward"] == 0.0, "a new training begins anew"


def test_an_interrupted_training_is_not_evaluated_again(tmp_path):
    agent = make()
    evaluation = Rated([0.0], eval_steps=100)

    def interrupt(locals_, globals_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        agent.learn(8, callback=[evaluation, interrupt])
    assert evaluation.at == [0]


def test_an_evaluation_between_iterations_can_stop_the_training():
    agent = make()
    agent.learn(100, callback=Rated([1.0], eval_steps=8, callback_on_new_best=StopTrainingOnRewardThreshold(0.9)))
    assert agent.num_timesteps < 8


def test_checkpoints_can_leave_the_best_to_an_evaluation(tmp_path):
    make().learn(24, callback=CheckpointCallback(None, tmp_path, save_steps=8, keep=1, keep_best=False))
    assert [path.name for path in tmp_path.iterdir()] == ["rl_model_24_steps"]


# ---- what is refused before anything is played ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["save_path", "log_path", "best_model_save_path", "tensorboard_log"])
@pytest.mark.parametrize("inside", [".", "runs/first"])
def test_a_folder_that_cannot_be_written_to_is_refused_before_anything_is_played(name, inside, tmp_path):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / inside
    agent = make(tensorboard_log=folder) if name == "tensorboard_log" else make()
    callback = CheckpointCallback(1, folder) if name == "save_path" else None
    if name in ("log_path", "best_model_save_path"):
        callback = EvalCallback(ButtonEnv(), **{name: folder})
    with pytest.raises(ValueError, match=f"{name}='{folder}' cannot be written to .*; pass another folder"):
        agent.learn(8, callback)
    assert agent.num_timesteps == 0 and [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_is_still_to_be_made_is_not_made_before_it_is_needed(tmp_path):
    CheckpointCallback(100, tmp_path / "a/b").init_callback(make())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [
    lambda: CheckpointCallback(1, 5), lambda: CheckpointCallback(1, None), lambda: BaseCallback("1"),
    lambda: CheckpointCallback(1, "runs", keep_best="False"), lambda: EvalCallback(ButtonEnv(), log_path=5),
    lambda: EvalCallback(ButtonEnv(), best_model_save_path=5), lambda: EvalCallback(ButtonEnv(), verbose=None),
    lambda: EvalCallback(ButtonEnv(), callback_on_new_best=5), lambda: EvalCallback(ButtonEnv(), BaseCallback),
    lambda: EvalCallback(ButtonEnv(), callback_after_eval=[BaseCallback()]), lambda: make().learn(4, tb_log_name=5),
    lambda: make().learn(4, reset_num_timesteps="False"), lambda: make().learn(4, progress_bar="no"),
])  # fmt: skip
def test_arguments_of_another_type_are_refused(wrong):
    with pytest.raises(TypeError, match=r"\w+=.*; pass"):
        wrong()
