"""Settings on the command line and in files."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coach_gym.cli.settings import parse_settings, read_config

names = st.from_regex(r"[a-z][a-z_]{0,20}", fullmatch=True)
values = st.one_of(st.integers(), st.booleans(), st.none(), st.lists(st.integers()), st.floats(allow_nan=False))


@given(st.dictionaries(names, values, max_size=5), st.booleans())
def test_values_written_as_json_come_back(settings, joined):
    words = []
    for name, value in settings.items():
        words += [f"--{name}={json.dumps(value)}"] if joined else [f"--{name}", json.dumps(value)]
    assert parse_settings(words) == settings


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ([], {}),
        (["--reward-model", "pocket"], {"reward_model": "pocket"}),
        (["--generation=http://127.0.0.1:8100/?a=b"], {"generation": "http://127.0.0.1:8100/?a=b"}),
        (["--env", '{"suite": "official"}'], {"env": {"suite": "official"}}),
        (["--learning_rate", "1e-6"], {"learning_rate": 1e-6}),
        (["--low", "-1"], {"low": -1}),
        (["--ui", "False", "--forkable=True"], {"ui": False, "forkable": True}),
    ],
)
def test_what_is_not_json_is_text(words, settings):
    assert parse_settings(words) == settings


@pytest.mark.parametrize("words", [["--k"], ["4", "--k"], ["k", "4"], ["--k", "4", "5"]])
def test_words_that_are_not_pairs_are_refused(words):
    with pytest.raises(SystemExit, match="--name"):
        parse_settings(words)


def test_a_config_file_is_toml_or_json(tmp_path):
    (tmp_path / "a.toml").write_text("k = 4\n[env]\nsuite = 'builtin'\n")
    (tmp_path / "a.json").write_text('{"k": 4, "env": {"suite": "builtin"}}')
    assert read_config(tmp_path / "a.toml") == read_config(tmp_path / "a.json") == {"k": 4, "env": {"suite": "builtin"}}
    assert read_config(None) == {}
