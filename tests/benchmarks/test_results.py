"""Committed results, and what every benchmark has in common."""

import json
import math
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = sorted((ROOT / "benchmarks/results").glob("*.json"))
SCRIPTS = [path for path in sorted((ROOT / "benchmarks").rglob("*.py")) if "def main(" in path.read_text()]
COMPUTED = {"memory", "against"}  # arithmetic without any measurement


def headline(name):
    return json.loads((ROOT / f"benchmarks/results/{name}.json").read_text())["headline"]


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_headline_is_a_flat_map_of_names_to_numbers(path):
    result = json.loads(path.read_text())
    assert result["headline"] or result["measured"] is False
    for name, value in result["headline"].items():
        assert name.isidentifier() and type(value) in (int, float) and math.isfinite(value), name


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT / "benchmarks")))
def test_every_benchmark_writes_json_says_how_to_rerun_it_and_pins_its_threads(path):
    package = path.name == "__main__.py"
    source = "".join(each.read_text() for each in path.parent.glob("*.py")) if package else path.read_text()
    assert '"--json"' in source and '"headline"' in source
    if path.stem not in COMPUTED:
        assert "rerun: " in source
        assert "OMP_NUM_THREADS" in source or "set_num_threads" in source


def percent(value):
    return f"{100 * value:.1f} %"


def whole_percent(value):
    return f"{100 * value:.0f} %"


def times(value):
    return f"{value:.1f}x"


def ends(*when):
    return {f"{how}_{each}": percent for how in ("greedy", "sampled") for each in when}


BOTH = ends("before", "after")
BY_README = {
    "demo": {
        **ends("before", "after", "frozen_critic"), "best_of_8_before": percent, "best_by_judge_before": percent,
        **{f"unseen_words{how}_{when}": percent for how in ("", "_sampled") for when in ("before", "after")},
    },
    "demo_all_replayed": ends("after"),
    "demo_critic": ends("after", "frozen_critic"),
    "first_run": ends("before", "after", "after_cloning", "after_imitates"),
    "controls": BOTH,
    "controls_shuffled": ends("after"),
    "controls_visits": BOTH,
    "controls_reworded": ends("after"),
    "controls_varied": ends("after"),
    "rehearsal": {
        f"{measured}_{arm}": percent
        for how in ("greedy", "sampled")
        for measured, arms in {
            f"practised_{how}": ("rehearsed_24",), f"others_{how}": ("base", "not_rehearsed", "rehearsed_24"),
        }.items()
        for arm in arms
    },
    "phone": {"steps_per_s": "{:,.0f} steps/s".format, "steps_per_s_1080x2400": "{:,.0f} steps/s".format},
    "trajectory_tree": {"policy_update_speedup": times, "critic_fit_speedup": times},
    "collection": {"speedup_8": times, "speedup_32": times},
    "conformance_android_world": {"solved": "{} of 116".format},
    "conformance_android_lab": {"loaded": "{} tasks load".format, "solved": "solve {} of the 98".format},
}  # fmt: skip
BY_MEASURED = {
    **{
        name: BY_README[name]
        for name in (
            "first_run", "phone", "trajectory_tree", "collection", "conformance_android_world",
            "conformance_android_lab",
        )
    },
    "demo": {name: written for name, written in BY_README["demo"].items() if not name.startswith("best_")},
    **{
        f"controls{name}": BOTH
        for name in (
            "", "_shuffled", "_long", "_curriculum", "_uncorrected", "_judged", "_votes", "_own_judge", "_judge_demo",
            "_varied", "_reworded", "_coach", "_mini_batches", "_visits",
        )
    },
    "unseen_words_coach": {name: whole_percent for name in ("greedy_unseen_words", "sampled_unseen_words")},
    "unseen_words": {
        f"{how}_{kind}": whole_percent
        for how in ("greedy", "sampled")
        for kind in ("unseen_words_before", "unseen_words", "training_unseen_words")
    },
    "rehearsal": {
        f"{kind}_{how}_{arm}": percent
        for kind in ("practised", "unseen_words", "others")
        for how in ("greedy", "sampled")
        for arm in ("base", "rehearsed_24")
    },
    "gradients": {
        f"noise_k{which}": "{:.2f} times".format
        for which in (
            "1__true_value_of_the_state__ppo_", "1__others_of_a_group__rloo_", "2__leave_one_out", "4__no_baseline",
        )
    },
    "mistakes": {name: percent for name in ("fixed_greedy", "dependent_greedy")},
    "judges": {name: "{:.2f}".format for name in ("auc_before", "auc", "prm_accuracy_before", "prm_accuracy")},
    "judge_default": {"prm_accuracy": "{:.2f}".format},
    "judge_forks": {name: "{:.2f}".format for name in ("prm_accuracy", "auc", "auc_judge")},
    "judge_demo": {"prm_accuracy": "{:.2f}".format},
    "judge_own": {"prm_accuracy": "{:.2f}".format},
    "k_scaling": {name: "{:.2f}".format for name in ("k2", "k4", "k8")},
    "sight": {name: "{:.2f}".format for name in ("true", "shuffled", "fixed", "chance")},
    "sight_pocket": {name: "{:.2f}".format for name in ("true", "shuffled", "chance")},
    "sight_taught": {name: "{:.2f}".format for name in ("true", "shuffled")},
    "scaling": {"seconds_steps": "T^{:.2f}".format, "seconds_k": "k^{:.2f}".format},
}  # fmt: skip
PAGES = {"README.md": BY_README, "docs/results/measured.md": BY_MEASURED}


@pytest.mark.parametrize(("page", "name"), [(page, name) for page, quoted in PAGES.items() for name in quoted])
def test_a_page_quotes_its_results(page, name):
    text, found = " ".join((ROOT / page).read_text().split()), headline(name)
    for key, written in PAGES[page][name].items():
        assert written(found[key]) in text, (key, found[key])


@pytest.mark.parametrize("name", ["demo_all_replayed", "demo_mini_batches_of_8", "demo_critic"])
def test_the_demos_page_quotes_what_it_was(name):
    text, found = (ROOT / "docs/results/demo.md").read_text(), headline(name)
    for key in ("greedy_after", "sampled_after", "greedy_frozen_critic", "sampled_frozen_critic"):
        assert percent(found[key]) in text, (key, found[key])


def test_the_page_of_generalisation_quotes_what_agents_unlearn():
    text, found = (ROOT / "docs/concepts/generalisation.md").read_text(), headline("generalisation")
    for kind in ("instances", "words"):
        for how in ("greedy", "sampled"):
            for when in ("_before", ""):
                assert whole_percent(found[f"{how}_unseen_{kind}{when}"]) in text


def test_the_page_of_rehearsal_quotes_its_results():
    text, found = (ROOT / "docs/concepts/exploration.md").read_text(), headline("generalisation_rehearsed")
    for which in ("base", "not_rehearsed_seed_0", "rehearsed_seed_0", "rehearsed_seed_1"):
        assert f"{percent(found[f'greedy_{which}'])} and {percent(found[f'sampled_{which}'])} |" in text


def test_the_page_of_rehearsal_quotes_the_demo_with_it():
    text, found = (ROOT / "docs/concepts/exploration.md").read_text(), headline("rehearsal")
    for arm in ("base", "rehearsed_24"):
        cells = [[percent(found[f"{kind}_{how}_{arm}"]) for how in ("greedy", "sampled")]
                 for kind in ("practised", "unseen_words", "others")]  # fmt: skip
        assert f"| {' | '.join(map(' and '.join, cells))} |" in text
    without = [percent(found[f"others_{how}_not_rehearsed"]) for how in ("greedy", "sampled")]
    assert f"| {' and '.join(without)} |" in text


def test_the_page_of_openenv_quotes_its_results():
    text, found = (ROOT / "docs/how_to/openenv.md").read_text(), headline("openenv")
    for way in ("openenv", "gymnasium", "echo"):
        for screen in ("270x600", "540x1200"):
            assert f"{found[f'{way}_core_ms_{screen}']:.1f} ms" in text, (way, screen)


@pytest.mark.parametrize("page", ["comparison", "measured"])
def test_pages_quote_the_findings_of_the_ablation_by_a_judge(page):
    text = " ".join((ROOT / f"docs/results/{page}.md").read_text().split())
    studies = json.loads((ROOT / "benchmarks/results/ablations_judge.json").read_text())["studies"]
    gaps = [each["difference"] for study in studies.values() for each in study["findings"] if "difference" in each]
    assert len(gaps) == 4
    for gap in gaps:
        assert "{value:.0f} ({low:.0f} to {high:.0f})".format(**{name: 100 * gap[name] for name in gap}) in text, gap
