"""The page in a real browser shows what is in the files, and obeys filters and keys."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from torch.utils.tensorboard import SummaryWriter

from coach_gym.episode import Candidate, Episode
from coach_gym.recording.origin import Origin
from coach_gym.recording.store import EpisodeStore, read_index, read_trajectory
from coach_gym.viewer.export import export_page
from coach_gym.viewer.shown import shown_episode
from tests.coach_gym.recording.made import episode
from tests.coach_gym.viewer.served import chromium, served

HOSTILE = "<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>"
RUN = "runs/first"
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="


def various() -> Episode:
    """An episode whose steps have a tap, a scroll, typing, and a text that is no action."""
    made = episode(steps=3)
    texts = ["Action: scroll(start_box='(9,20)', direction='down')", "Action: type(content='Ada')", HOSTILE]
    for step in made.steps:
        others = [Candidate(text, [1, 2], [-1.5, -0.25], None, 0.25 * i, -0.1 * i) for i, text in enumerate(texts)]
        step.candidates = [step.candidates[0], *others]
    return made


def hostile() -> Episode:
    made = various()
    made.goal = made.answer = made.fault = HOSTILE
    for step in made.steps:
        step.observation.ui = f'<Button text="{HOSTILE}" bounds="[0,0][9,9]"/>'.replace("<img", "&lt;img")
        step.reasoning = HOSTILE
    return made


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs_of_everyone")
    store = EpisodeStore(root / RUN / "episodes")
    for number in range(12):
        made = replace(various(), goal=f"goal {number}", outcome=float(number % 2), task=f"Task{number % 3}")
        made.steps = made.steps[: 1 + number % 3]
        store.write(made, Origin("train", number))
    store.write(hostile(), Origin("train", 99))
    return root


@pytest.fixture(scope="module")
def address(root: Path) -> Iterator[str]:
    with served(root) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda problem: problems.append(str(problem)))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    yield page
    page.close()
    assert problems == []


def row_of(root: Path, goal: str) -> dict[str, Any]:
    return next(row for row in read_index(root / RUN / "episodes") if row["goal"] == goal)


def open_episode(page: Any, address: str, row: dict[str, Any], step: int = 1) -> None:
    page.goto(f"{address}#/episode?run={RUN}&id={row['id']}&step={step}")
    page.wait_for_selector(".mark")


def written(value: float, digits: int = 3) -> str:
    return f"{value + 0.0:.{digits}f}".replace("-", "−")  # the page writes no negative zero


def test_every_candidate_has_a_mark_and_the_numbers_of_the_file(page: Any, address: str, root: Path) -> None:
    row = row_of(root, "goal 2")
    shown = shown_episode(read_trajectory(root / RUN / "episodes", row["id"]))
    for t, step in enumerate(shown["steps"]):
        open_episode(page, address, row, t + 1)
        page.reload()
        page.wait_for_selector(".mark")
        assert page.locator(".mark").count() + page.locator(".offscreen button").count() == len(step["candidates"]) == 4
        for i, candidate in enumerate(step["candidates"]):
            card = page.locator(f".candidate[data-candidate='{i}']")
            figure = {name: card.locator(f"[data-figure='{name}'] b").inner_text() for name in ("Q", "log-probability")}
            assert figure == {"Q": written(candidate["q"]), "log-probability": written(candidate["logprob"], 2)}
            advantage = card.locator("[data-figure='advantage'] b").inner_text()
            assert advantage.removeprefix("+") == written(candidate["advantage"])
        tap = page.locator(".mark[data-candidate='0']")
        assert "executed" in tap.get_attribute("class") and page.locator(".mark.executed").count() == 1
        ring, start = tap.locator("circle.ring"), step["candidates"][0]["action"]["start"]
        assert [float(ring.get_attribute(name)) for name in ("cx", "cy")] == list(start)
        assert page.locator(".reason").inner_text().endswith("It is the right button.")


def test_colours_follow_the_advantage(page: Any, address: str, root: Path) -> None:
    open_episode(page, address, row_of(root, "goal 2"))
    blue, orange = (
        page.locator(f".badge >> nth={i}").evaluate(
            "e => { const c = document.createElement('canvas').getContext('2d'); "
            "c.fillStyle = getComputedStyle(e).backgroundColor; c.fillRect(0, 0, 1, 1); "
            "return Array.from(c.getImageData(0, 0, 1, 1).data); }"
        )
        for i in (0, 3)
    )
    assert blue[2] > blue[0] and orange[0] > orange[2]


@pytest.mark.parametrize(
    "filters, keep",
    [
        ({"task": "Task1"}, lambda row: row["task"] == "Task1"),
        ({"outcome": "solved"}, lambda row: row["outcome"] == 1.0 and row["fault"] is None),
        ({"outcome": "fault"}, lambda row: row["fault"] is not None),
        ({"least": "2", "most": "2"}, lambda row: row["length"] == 2),
        ({"text": "goal 1"}, lambda row: "goal" in row["goal"] and "1" in row["goal"] + row["task"]),
        ({"task": "Task0", "outcome": "failed"}, lambda row: row["task"] == "Task0" and row["outcome"] == 0.0),
    ],
)
def test_filters(filters: dict[str, str], keep: Any, page: Any, address: str, root: Path) -> None:
    page.goto(f"{address}#/episodes")
    page.wait_for_selector(".row")
    for name, value in filters.items():
        control = page.locator(f"[data-filter='{name}']")
        control.select_option(value) if name in ("task", "outcome") else control.fill(value)
    wanted = {row["id"] for row in read_index(root / RUN / "episodes") if keep(row)}
    assert {row.get_attribute("data-id") for row in page.locator(".row").all()} == wanted
    assert page.locator("#count").inner_text().startswith(f"{len(wanted)} episode")
    page.reload()  # the filters are in the address
    page.wait_for_selector(".row")
    assert page.locator(".row").count() == len(wanted)


def test_success_by_family(page: Any, address: str) -> None:
    page.goto(f"{address}#/episodes")
    page.wait_for_selector(".family")
    counts = dict(line.inner_text().split("\n")[:2] for line in page.locator(".family .what").all())
    assert {task: counts[task] for task in ("Task0", "Task1", "Task2")} == dict.fromkeys(
        ("Task0", "Task1", "Task2"), "2 of 4"
    )


def test_keys(page: Any, address: str, root: Path) -> None:
    open_episode(page, address, row_of(root, "goal 5"))

    def after(key: str) -> str:
        page.keyboard.press(key)
        return page.evaluate("location.hash.split('&').slice(2).join('&')")

    said = [after(key) for key in ("ArrowRight", "ArrowDown", "4", "End", "ArrowRight", "ArrowLeft", "Home")]
    assert said == ["step=2", "step=2&candidate=2", "step=2&candidate=4", "step=3", "step=3", "step=2", "step=1"]
    page.keyboard.press("t")
    assert page.locator(".element").count() == 1
    before = page.evaluate("location.hash")
    page.keyboard.press("]")
    page.wait_for_function("before => location.hash !== before", arg=before)
    page.keyboard.press("e")
    page.wait_for_selector(".row")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.dataset.filter") == "text"


def test_keys_pressed_while_a_page_loads_wait_for_it(browser: Any, address: str, root: Path) -> None:
    page, row = browser.new_page(), row_of(root, "goal 5")
    page.add_init_script(
        "const real = window.fetch; const slow = () => new Promise(done => setTimeout(done, 500));"
        "window.fetch = (...asked) => slow().then(() => real(...asked));"
    )
    page.goto(f"{address}#/episode?run={RUN}&id={row['id']}")
    for key in ("ArrowRight", "4"):
        page.keyboard.press(key)
    page.wait_for_selector(".mark")
    assert page.evaluate("location.hash").endswith("step=2&candidate=4")
    order = [each["id"] for each in sorted(read_index(root / RUN / "episodes"), key=lambda each: -each["started"])]
    for key in ("]", "]", "e", "/"):  # two episodes on, then the list and its search
        page.keyboard.press(key)
    page.wait_for_function("id => location.hash.includes(id)", arg=order[order.index(row["id"]) + 2])
    page.wait_for_selector(".row")
    page.wait_for_function("() => document.activeElement.dataset.filter === 'text'")
    page.close()


def test_a_slow_server_is_waited_for(browser: Any, address: str) -> None:
    """The page looks for news every three seconds, but does not begin anew while it is still loading."""
    page = browser.new_page()
    page.add_init_script(
        "const real = window.fetch; const slow = () => new Promise(done => setTimeout(done, 3500));"
        "window.fetch = (...asked) => slow().then(() => real(...asked));"
    )
    page.goto(f"{address}#/episodes")
    page.wait_for_selector(".row", timeout=60_000)
    page.close()


def test_the_page_asked_for_last_is_shown(page: Any, address: str, root: Path) -> None:
    """An episode that arrives after its reader asked for the list, but before the browser said so, changes nothing."""
    open_episode(page, address, row_of(root, "goal 5"))
    page.evaluate(
        "() => { const real = data.episode; data.episode = async (...of) => {"
        "const told = await real(...of); await new Promise(done => { window.arrive = done; }); return told; }; }"
    )
    page.keyboard.press("]")
    page.wait_for_function("() => window.arrive !== undefined")
    page.evaluate("() => { location.hash = '#/episodes'; window.arrive(); }")
    page.wait_for_selector(".row", timeout=5000)
    assert page.evaluate("location.hash").startswith("#/episodes")


def test_the_element_under_the_pointer(page: Any, address: str, root: Path) -> None:
    open_episode(page, address, row_of(root, "goal 2"))
    page.keyboard.press("t")
    page.wait_for_selector(".mark")
    box = page.locator(".stage svg").bounding_box()
    page.mouse.move(box["x"] + 5 / 20 * box["width"], box["y"] + 7 / 40 * box["height"])
    assert page.locator(".element.under-pointer").inner_text().startswith("Button b0")
    assert page.locator(".hit").get_attribute("width") == "9"


def test_hostile_text_is_text(page: Any, address: str, root: Path) -> None:
    row = row_of(root, HOSTILE)
    page.goto(f"{address}#/episodes")
    page.wait_for_selector(".row")
    open_episode(page, address, row)
    assert page.locator("h1").inner_text() == HOSTILE
    for key in ("p", "t", "i"):
        page.keyboard.press(key)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src='x']").count() == 0


def test_five_thousand_episodes_without_delay(page: Any, tmp_path: Path, root: Path) -> None:
    (row,) = read_index(root / RUN / "episodes")[:1]
    row["screen"] = None
    rows = ({**row, "id": f"{i:08d}-0", "goal": f"goal {i}", "task": f"Task{i % 90}"} for i in range(5000))
    (tmp_path / "index.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    with served(tmp_path) as address:
        page.goto(f"{address}#/episodes")
        page.wait_for_selector(".row")
        assert page.locator(".row").count() < 60
        waited = page.evaluate(
            "() => { const box = document.querySelector('[data-filter=text]'); const begun = performance.now(); "
            "box.value = 'goal 4999'; box.dispatchEvent(new Event('input')); "
            "document.body.getBoundingClientRect(); return performance.now() - begun; }"
        )
        assert page.locator(".row").count() == 1 and waited < 400, waited
        page.locator("[data-filter='text']").fill("")
        page.locator(".list").evaluate("list => { list.scrollTop = 1e9; }")
        page.wait_for_selector(".row[data-id='00000000-0'], .row[data-id='00004999-0']")
        page.goto("about:blank")  # before its server goes


def test_new_episodes_appear(page: Any, tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path / "live" / "episodes")
    store.write(various(), Origin("train"))
    with served(tmp_path) as address:
        page.goto(f"{address}#/episodes")
        page.wait_for_selector(".row")
        assert page.locator(".row").count() == 1
        store.write(various(), Origin("train"))
        page.locator(".row").nth(1).wait_for(timeout=15_000)
        page.goto("about:blank")  # before its server goes


def test_what_would_have_happened_comes_into_sight_and_stays_while_one_reads(page: Any, tmp_path: Path) -> None:
    origin = Origin("train", environment={"id": "AndroidWorld-v0", "kwargs": {}})
    id = EpisodeStore(tmp_path / "run" / "episodes").write(various(), origin)
    told = {"screen": PIXEL, "over": False, "success": None, "error": "nothing there"}
    page.route("**/api/what-if", lambda route: route.fulfill(json=told))
    page.set_viewport_size({"width": 1300, "height": 700})
    with served(tmp_path) as address:
        page.goto(f"{address}#/episode?run=run&id={id}&step=1&candidate=2")
        page.wait_for_selector(".mark")
        page.keyboard.press("w")
        caption = page.locator(".whatif figcaption").nth(1)
        caption.wait_for()
        assert caption.inner_text() == "With candidate 2. nothing there"
        page.wait_for_function("document.querySelector('.result').getBoundingClientRect().bottom <= innerHeight + 1")
        for key, shown in (("t", "Button"), ("i", "goal"), ("p", "prompt")):
            page.keyboard.press(key)
            assert shown in page.locator(".pane").inner_text()
            assert page.locator("[role='tab'][aria-selected='true']").count() == 1 and caption.is_visible()
        page.goto("about:blank")  # before its server goes


def test_the_values_of_a_chart_stand_beside_the_colours_of_their_runs(page: Any, tmp_path: Path) -> None:
    for run, loss in (("first", 0.5), ("second", -2.0)):
        writer = SummaryWriter(str(tmp_path / run))
        for step in (1, 2):
            writer.add_scalar("train/q_mean", loss * step, step)
        writer.close()
    with served(tmp_path) as address:
        page.goto(address)
        page.wait_for_selector(".chart .swatch")
        told = page.evaluate(
            "[...document.querySelectorAll('.chart h2 .number span[title]')].map((each) =>"
            "[each.title, each.textContent, each.querySelector('.swatch').style.background])"
        )
        colours = page.evaluate("[...document.querySelectorAll('.run .swatch')].map((each) => each.style.background)")
    assert [(run, value) for run, value, _ in told] == [("first", "1"), ("second", "−4")]
    assert [colour for *_, colour in told] == colours and len(set(colours)) == 2


def test_exported_page_needs_no_server(page: Any, tmp_path: Path, root: Path) -> None:
    assert export_page(root, tmp_path / "out.html", 40) == 13
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    row = row_of(root, HOSTILE)
    page.goto(f"file://{tmp_path}/out.html#/episode?run={RUN}&id={row['id']}&step=2")
    page.wait_for_selector(".mark")
    assert page.locator(".mark").count() + page.locator(".offscreen button").count() == 4
    assert page.locator("h1").inner_text() == HOSTILE and page.evaluate("window.hacked") is None
    assert all(url.startswith(("file:", "data:")) for url in asked)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_is_wider_than_the_window(scheme: str, width: int, browser: Any, address: str, root: Path) -> None:
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    for place in ("#/", "#/episodes", f"#/episode?run={RUN}&id={row_of(root, HOSTILE)['id']}"):
        page.goto(address + place)
        page.wait_for_selector(".run, .row, .candidate")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
