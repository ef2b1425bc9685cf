"""Pools of words and the generator that draws from them."""

import re

import pytest

from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.words import ParamRng, Pool

POOLS = {name: pool for name, pool in vars(words).items() if isinstance(pool, Pool)}


@pytest.mark.parametrize("name", POOLS)
def test_halves_are_disjoint_and_make_the_whole(name):
    pool = POOLS[name]
    assert len(pool.all) >= 50
    assert set(pool.train).isdisjoint(pool.heldout) and set(pool.train) | set(pool.heldout) == set(pool.all)
    assert abs(len(pool.train) - len(pool.heldout)) <= 1


def test_a_draw_stays_in_its_split():
    for split in ("train", "heldout", "all"):
        rng = ParamRng(0, split)
        assert {words.FIRST_NAMES.draw(rng) for _ in range(300)} <= set(words.FIRST_NAMES.of(split))
    first, last = words.full_names(ParamRng(3, "heldout"), 1)[0].split()
    assert first in words.FIRST_NAMES.heldout and last in words.LAST_NAMES.heldout


def test_same_seed_same_words():
    assert [words.slug(ParamRng(7)) for _ in range(2)] == [words.slug(ParamRng(7))] * 2
    assert words.paragraph(ParamRng(7)) != words.paragraph(ParamRng(8))


def test_several_at_once_share_nothing():
    names = words.full_names(ParamRng(1), 20)
    assert len({name.split()[0] for name in names}) == len({name.split()[1] for name in names}) == 20
    slugs = words.slugs(ParamRng(1), 20)
    assert len({slug.split("_")[0] for slug in slugs}) == len({slug.split("_")[1] for slug in slugs}) == 20


def test_phone_numbers_belong_to_nobody():
    assert all(re.fullmatch(r"\+1\d{3}555\d{4}", words.phone_number(ParamRng(seed))) for seed in range(50))


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="split='test' is unknown"):
        ParamRng(0, "test")
