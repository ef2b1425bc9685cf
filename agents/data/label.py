"""Labels for the process reward model and the critic (paper, appendix B).

A policy proposes responses to every state of a successful demonstration. One that does what the demonstration does is
good, any other is bad, and equal numbers of both are kept. A model may then say why.

    label(["runs/data/androidcontrol"], policy, generator, "runs/labels", Labelling(), reasons)
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from coach_gym.actions import ActionError, format_action, parse_action
from coach_gym.agents.data.labels import LABELS, SETTINGS, Label
from coach_gym.agents.data.matching import NEAR, matches
from coach_gym.agents.data.reasons import Reasons
from coach_gym.agents.data.retelling import retell
from coach_gym.agents.generation.generator import Generator
from coach_gym.agents.judging.verifiers import OutcomeVerifier, ask_verifier
from coach_gym.agents.models.policy import Policy
from coach_gym.checks import MOST, require_at_most, require_not_negative, require_temperature, require_whole
from coach_gym.data.folder import EpisodeFolder
from coach_gym.episode import Candidate, Episode, Observation, Step
from coach_gym.files import write_whole

_CANDIDATES, _REASONS = "candidates.jsonl", "reasons.jsonl"
AT_ONCE, ASKED_AT_ONCE = 8, 64
"""Episodes whose states are in one batch of draws, and labels in one batch of questions."""


@dataclass(frozen=True)
class Labelling:
    """How labels are made.

    Attributes:
        policy: Name of the policy that responds, for the record.
        candidates: Responses drawn in every state.
        temperature: Their temperature.
        max_new_tokens: Length at which a response is cut off.
        near: Distance up to which points count as equal, as a share of the screen's width.
        samples: Labels to keep at most, half of them good.
        seed: Seed of the draws, and of the choice of labels.
    """

    policy: str = ""
    candidates: int = 8
    temperature: float = 1.0
    max_new_tokens: int = 512
    near: float = NEAR
    samples: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        require_whole(1, candidates=self.candidates, max_new_tokens=self.max_new_tokens)
        require_at_most(MOST, candidates=self.candidates, max_new_tokens=self.max_new_tokens)
        require_whole(2, samples=self.samples)
        require_whole(0, seed=self.seed)
        require_temperature(temperature=self.temperature)
        require_not_negative(near=self.near)


@dataclass
class Summary:
    """What came of it.

    Attributes:
        episodes: Episodes whose states were labelled.
        states: Their states.
        good: Different responses that do what the demonstration does.
        bad: Different responses that do not.
        kept: Labels written, half of them good.
        dropped: Numbers of episodes and responses that were dropped, by reason.
    """

    episodes: int = 0
    states: int = 0
    good: int = 0
    bad: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        share = f"{self.good / (self.good + self.bad):.0%}" if self.good + self.bad else "none"
        lines = [
            f"{self.episodes} episodes, {self.states} states, {self.good + self.bad} different responses, {share} good",
            f"{self.kept} labels kept, half of them good",
        ]
        return "\n".join([*lines, *(f"{number} dropped: {reason}" for reason, number in self.dropped.most_common())])


def label(
    folders: Sequence[str | Path],
    policy: Policy,
    generator: Generator,
    out: str | Path,
    settings: Labelling | None = None,
    reasons: Reasons | None = None,
    verifier: OutcomeVerifier | None = None,
    progress_bar: bool = False,
) -> Summary:
    """Labels responses to the states of demonstrations; an interrupted call can be repeated.

    Only episodes that reach their goal without detours count. What the model for reasons leaves unanswered is asked
    for again by the next call.

    Args:
        folders: Folders of episodes.
        policy: Proposes responses.
        generator: Draws them.
        out: Folder for labels, which `LabelFolder` reads.
        settings: How labels are made.
        reasons: Says why; None to label without reasons.
        verifier: Checks that an episode reached its goal; None to take the episode's own outcome.
        progress_bar: Shows progress bars.

    Raises:
        ValueError: `out` holds labels that were made in another way, or there is not a good and a bad response.
    """
    out, settings = Path(out), settings or Labelling()
    sources = [EpisodeFolder(folder) for folder in folders]
    out.mkdir(parents=True, exist_ok=True)
    told = {**asdict(settings), "folders": [str(Path(folder).resolve()) for folder in folders]}
    _check_settings(out, told)
    responder = _Responder(policy, generator, settings, verifier)
    entries = _draw(responder, sources, out / _CANDIDATES, progress_bar)
    summary = Summary()
    labels = _balance(entries, settings, summary)
    if reasons is not None:
        labels = _explain(labels, reasons, sources, out / _REASONS, summary, progress_bar)
    summary.kept = len(labels)
    write_whole(out / LABELS, "".join(f"{each.to_json()}\n" for each in labels))
    write_whole(out / SETTINGS, json.dumps({"settings": told, "summary": vars(summary)}, indent=2) + "\n")
    return summary


def _check_settings(out: Path, told: dict[str, Any]) -> None:
    """Refuses to mix labels of two kinds; only `samples` may change."""
    if (out / SETTINGS).is_file():
        try:
            known = dict(json.loads((out / SETTINGS).read_text("utf-8"))["settings"])
        except (ValueError, TypeError, LookupError) as error:
            raise ValueError(f"{out / SETTINGS} is damaged ({error}); choose another folder, or empty {out}") from error
        if other := {name: value for name, value in known.items() if name != "samples" and told.get(name) != value}:
            raise ValueError(f"the labels in {out} were made with {other}; pass these, or another folder")
    write_whole(out / SETTINGS, json.dumps({"settings": told}, indent=2) + "\n")


class _Responder:
    """Draws responses to the states of episodes, and compares them with what was done there."""

    def __init__(
        self, policy: Policy, generator: Generator, settings: Labelling, verifier: OutcomeVerifier | None
    ) -> None:
        self.policy = policy
        self.generator = generator
        self.settings = settings
        self.verifier = verifier

    def entries(self, named: Sequence[tuple[int, str, Episode]]) -> Iterator[dict[str, Any]]:
        """Yields an entry of `candidates.jsonl` for each episode, except those without a verdict."""
        fine = [unusable(episode) for *_, episode in named]
        if self.verifier is not None:
            asked = [index for index, problem in enumerate(fine) if not problem]
            verdicts = ask_verifier(self.verifier, [named[index][2] for index in asked])
            for index, verdict in zip(asked, verdicts, strict=True):
                fine[index] = "" if verdict == 1.0 else "not solved" if verdict is not None else "?"
        used = [each for each, problem in zip(named, fine, strict=True) if not problem]
        labelled = iter(self._labels(used))
        for (folder, name, _), problem in zip(named, fine, strict=True):
            if problem != "?":
                states = [] if problem else next(labelled)
                yield {"folder": folder, "episode": name, "dropped": problem, "states": states}

    def _labels(self, named: Sequence[tuple[int, str, Episode]]) -> list[list[list[dict[str, Any]]]]:
        """Returns, for all states of all episodes, the different responses."""
        prompts, told = [], [retell(self.policy, episode) for *_, episode in named]
        for episode in told:
            for t, step in enumerate(episode.steps):
                prompts.append(self.policy.prompt(episode.goal, episode.steps[:t], step.observation))
        if not prompts:
            return []
        chosen = self.settings
        torch.manual_seed(int(hashlib.sha256(f"{chosen.seed} {named[0][:2]}".encode()).hexdigest()[:15], 16))
        drawn = iter(self.generator.sample(prompts, chosen.candidates, chosen.temperature, chosen.max_new_tokens))
        return [[self._judge(step, next(drawn)) for step in episode.steps] for episode in told]

    def _judge(self, step: Step, candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
        different = {candidate.text: candidate for candidate in candidates}
        return [self._judged(step, text) for text in different]

    def _judged(self, step: Step, text: str) -> dict[str, Any]:
        frame, width = self.policy.frame(step.observation), step.observation.screenshot.shape[1]
        try:
            thought, action = self.policy.dialect.parse(text, frame)
        except ActionError:
            return {"response": text, "action": text, "good": False}
        good = matches(action, parse_action(step.action)[1], width, self.settings.near)
        return {"response": text, "action": format_action(action, thought), "good": good}


def unusable(episode: Episode) -> str:
    """Returns why an episode is no demonstration; `""` if it is one: solved, and without a step that is repeated.

    A step is repeated if the same action is taken on the same screen again, waiting excepted.
    """
    if not (episode.learnable and episode.success):
        return "not solved"
    met: set[tuple[bytes, str]] = set()
    for step in episode.steps:
        try:
            _, action = parse_action(step.action)
        except ActionError:
            return "a response that is no action"
        key = _looks(step.observation), format_action(action)
        if key in met and action.kind != "wait":
            return "a step that is repeated"
        met.add(key)
    return ""


def _looks(seen: Observation) -> bytes:
    return hashlib.sha256(seen.screenshot.tobytes() + seen.ui.encode()).digest()


def _draw(
    responder: _Responder, sources: Sequence[EpisodeFolder], path: Path, progress_bar: bool
) -> list[dict[str, Any]]:
    """Returns the entries of all episodes, after drawing those that the file lacks."""
    entries = _read_lines(path)
    known = {(entry["folder"], entry["episode"]) for entry in entries}
    every = [(number, name) for number, source in enumerate(sources) for name in source.names]
    missing = [each for each in every if each not in known]
    with (
        path.open("a", encoding="utf-8") as file,
        tqdm(total=len(every), initial=len(known), desc="labels", unit="episode", disable=not progress_bar) as bar,
    ):
        for first in range(0, len(missing), AT_ONCE):
            named = [(folder, name, sources[folder].read(name)) for folder, name in missing[first : first + AT_ONCE]]
            for entry in responder.entries(named):
                entries.append(entry)
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            file.flush()
            bar.update(len(named))
    return sorted(entries, key=lambda entry: (entry["folder"], entry["episode"]))


def _balance(entries: Sequence[dict[str, Any]], settings: Labelling, summary: Summary) -> list[Label]:
    """Chooses equal numbers of good and bad responses."""
    by_verdict: dict[bool, list[Label]] = {True: [], False: []}
    for entry in entries:
        if entry["dropped"]:
            summary.dropped[f"episodes: {entry['dropped']}"] += 1
            continue
        summary.episodes += 1
        summary.states += len(entry["states"])
        for t, state in enumerate(entry["states"]):
            summary.dropped["responses: the same text again"] += settings.candidates - len(state)
            for told in state:
                by_verdict[told["good"]].append(Label(entry["folder"], entry["episode"], t, **told))
    summary.good, summary.bad = len(by_verdict[True]), len(by_verdict[False])
    number = min(summary.good, summary.bad, settings.samples // 2)
    if not number:
        raise ValueError(
            f"{summary} \nThere is nothing to balance: labels need good and bad responses. Draw more candidates, or "
            f"from a policy that sometimes does what the demonstrations do"
        )
    rng, chosen = random.Random(settings.seed), []
    for verdict, labels in by_verdict.items():
        chosen += rng.sample(labels, number)
        word = "good" if verdict else "bad"
        summary.dropped[f"responses: more {word} ones than needed"] += len(labels) - number
    summary.dropped = +summary.dropped
    rng.shuffle(chosen)
    return chosen


def _explain(
    labels: Sequence[Label],
    reasons: Reasons,
    sources: Sequence[EpisodeFolder],
    path: Path,
    summary: Summary,
    progress_bar: bool,
) -> list[Label]:
    """Returns the labels that have a reason, equally many good and bad, after asking for those that the file lacks."""
    known = {tuple(told["of"]): told["reason"] for told in _read_lines(path)}
    missing = sorted((each for each in labels if _key(each) not in known), key=_key)
    with (
        path.open("a", encoding="utf-8") as file,
        tqdm(total=len(labels), initial=len(labels) - len(missing), desc="reasons", disable=not progress_bar) as bar,
    ):
        for first in range(0, len(missing), ASKED_AT_ONCE):
            batch = missing[first : first + ASKED_AT_ONCE]
            episodes = {each.source: sources[each.folder].read(each.episode) for each in batch}
            found = reasons.ask([(each, episodes[each.source]) for each in batch])
            for each, (reason, problem) in zip(batch, found, strict=True):
                if reason:
                    known[_key(each)] = reason
                    file.write(json.dumps({"of": _key(each), "reason": reason}, ensure_ascii=False) + "\n")
                else:
                    summary.dropped[f"labels: {problem}"] += 1
            file.flush()
            bar.update(len(batch))
    explained = [replace(each, reason=known[_key(each)]) for each in labels if _key(each) in known]
    number = min(sum(each.good for each in explained), sum(not each.good for each in explained))
    if extra := len(explained) - 2 * number:
        summary.dropped["labels: their counterpart has no reason"] += extra
    good, bad = ([each for each in explained if each.good is verdict][:number] for verdict in (True, False))
    chosen = {_key(each) for each in (*good, *bad)}
    return [each for each in explained if _key(each) in chosen]


def _key(label: Label) -> tuple[int, str, int, str]:
    return label.folder, label.episode, label.step, label.response


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """Returns the lines of a file, after cutting off one that was interrupted."""
    if not path.is_file():
        return []
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        write_whole(path, whole)
    return [json.loads(line) for line in whole.decode("utf-8").split("\n") if line]
