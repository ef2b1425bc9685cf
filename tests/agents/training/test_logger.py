"""Tables, curves and run folders."""

from coach_gym.agents.training.logger import HumanOutput, Logger, configure_logger


class Memory:
    name = "memory"

    def __init__(self):
        self.dumps = []

    def write(self, values, excluded, step):
        self.dumps.append((step, {key: value for key, value in values.items() if self.name not in excluded[key]}))

    def close(self):
        self.dumps.append("closed")


def test_a_dump_holds_what_was_recorded_since_the_last():
    memory = Memory()
    logger = Logger(None, [memory])
    logger.record("a", 1)
    logger.record("a", 2)
    logger.record("hidden", 3, exclude="memory")
    logger.record_mean("mean", 1.0)
    logger.record_mean("mean", 2.0)
    logger.record_mean("mean", 6.0)
    logger.dump(step=10)
    logger.record_mean("mean", 5.0)
    logger.dump(step=20)
    logger.close()
    assert memory.dumps == [(10, {"a": 2, "mean": 3.0}), (20, {"mean": 5.0}), "closed"]


def test_table(capsys):
    logger = Logger(None, [HumanOutput()])
    logger.record("train/loss", 0.123456)
    logger.record("rollout/success_rate", 0.5)
    logger.record("rollout/hidden", 0.5, exclude=("stdout", "tensorboard"))
    logger.record("note", "text")
    logger.dump()
    assert capsys.readouterr().out.splitlines() == [
        "---------------------------",
        "| note            | text  |",
        "| rollout/        |       |",
        "|    success_rate | 0.5   |",
        "| train/          |       |",
        "|    loss         | 0.123 |",
        "---------------------------",
    ]
    logger.dump()
    assert capsys.readouterr().out == ""


def test_run_folders_count_up_or_go_on(tmp_path):
    (tmp_path / "run_2").mkdir()
    (tmp_path / "running_7").mkdir()
    assert configure_logger(0, tmp_path, "run", reset_num_timesteps=True).dir == str(tmp_path / "run_3")
    assert configure_logger(0, tmp_path, "run", reset_num_timesteps=False).dir == str(tmp_path / "run_3")
    assert configure_logger(0, tmp_path, "new", reset_num_timesteps=False).dir == str(tmp_path / "new_1")
    assert configure_logger(0, None, "run", reset_num_timesteps=True).dir is None
