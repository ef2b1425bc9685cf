"""The computed memory of a 7B model."""

import pytest

from benchmarks.memory import count, memory


def test_parameters_are_those_of_the_published_model():
    assert count().total == 8_292_166_656  # the sum over Qwen2.5-VL-7B-Instruct's files


def test_what_is_spread_shrinks_and_what_is_not_stays():
    one, eight = (memory(count(), gpus, steps=16, k=4, screen=1500, response=80, cache=0) for gpus in (1, 8))
    assert eight["states"] == pytest.approx(one["states"] / 8)
    same = {name for name in one if one[name] == eight[name]}
    assert same == {"sampler", "gathered", "activations", "working", "vLLM"}
    assert eight["sum"] == pytest.approx(sum(value for name, value in eight.items() if name != "sum"))


def test_candidates_cost_logits_until_a_pass_has_as_many_branches_as_it_may():
    few, many, full = (memory(count(), 8, steps=8, k=k, screen=1631, response=80, cache=0) for k in (6, 12, 48))
    assert many["working"] == pytest.approx(2 * few["working"])
    assert full["working"] < 1.2 * many["working"]
    assert 1 < many["activations"] / few["activations"] < 1.2
