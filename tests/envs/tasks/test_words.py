"""Pools of words and the generator that draws from them."""

import re
from pathlib import Path

import pytest

from coach_gym.agents.pocket.build import vocabulary_words
from coach_gym.envs.apps.chrome import sight_tasks as chrome
from coach_gym.envs.apps.markor import sight_tasks as markor
from coach_gym.envs.apps.opentracks import world_tasks as opentracks
from coach_gym.envs.apps.osmand import world_tasks as osmand
from coach_gym.envs.apps.retro import world_tasks as retro
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.words import ParamRng, Pool

MODULES = (words, chrome, markor, opentracks, osmand, retro)
POOLS = {name: pool for module in MODULES for name, pool in vars(module).items() if isinstance(pool, Pool)}
SPLITS = ("train", "validation", "test")


def entries(split):
    """Every entry of a split, with the pool that it is of, in lower case."""
    return [(name, entry.casefold()) for name, pool in POOLS.items() for entry in pool.of(split)]


def test_no_module_has_a_pool_that_is_not_tested():
    sources = [path.read_text() for path in Path(words.__file__).parents[1].rglob("*.py")]
    assert sum(len(re.findall(r"^\w+ = (?:Pool|_words)\(", source, re.MULTILINE)) for source in sources) == len(POOLS)


@pytest.mark.parametrize("name", POOLS)
def test_the_parts_of_a_pool_are_a_half_and_at_most_a_quarter_each(name):
    pool = POOLS[name]
    assert pool.train == pool.all[::2]
    assert set(pool.validation) <= set(pool.all[1::4]) and set(pool.test) <= set(pool.all[3::4])
    assert min(len(pool.validation), len(pool.test)) > len(pool.all) / 10


@pytest.mark.parametrize(("split", "others"), [("validation", ("train", "test")), ("test", ("train", "validation"))])
def test_no_other_split_has_an_entry_that_is_kept_apart_nor_a_single_word_as_part_of_one(split, others):
    taken = {entry for other in others for _, entry in entries(other)}
    within = {word for entry in taken for word in re.findall(r"[\w']+", entry)}
    assert not [each for each in entries(split) if each[1] in taken or each[1] in within]


def test_the_pocket_models_word_list_has_no_word_that_is_kept_apart():
    known = {word.casefold() for word in vocabulary_words()}
    names = ("FIRST_NAMES", "LAST_NAMES", "NOUNS", "ADJECTIVES", "CITIES")
    assert not [each for split in SPLITS[1:] for each in entries(split) if each[0] in names and each[1] in known]


def test_a_draw_stays_in_its_split_and_is_remembered():
    for split in SPLITS:
        rng = ParamRng(0, split)
        drawn = [words.FIRST_NAMES.draw(rng) for _ in range(1500)]
        assert set(drawn) == set(words.FIRST_NAMES.of(split))
        assert rng.drawn == drawn and words.slugs(rng, 2) and len(rng.drawn) == 1504
    first, last = words.full_names(ParamRng(3, "test"), 1)[0].split()
    assert first in words.FIRST_NAMES.test and last in words.LAST_NAMES.test


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
    with pytest.raises(ValueError, match="split='heldout' is unknown"):
        ParamRng(0, "heldout")
