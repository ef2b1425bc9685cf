"""Episodes in ATIF, the Agent Trajectory Interchange Format of Harbor, version 1.8.

The first step of a trajectory is the user's: the goal and the first screen. The others are the agent's, one for each
step of the episode: its response as `message`, the action as a tool call, tokens and log-probabilities as `metrics`,
and the screen that follows as `observation`. Whatever the format has no field for is in `extra`:

- of the trajectory: task, parameters, seed, outcome, fault, answer and origin; `prompt` is how a prompt begins.
- of an agent's step: screen text, the k candidates with Q and advantage, which was executed, the verdict on it and its
  reasoning, the return; `prompt` is the user's turn as the agent read it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from coach_gym.actions import Action, ActionError, format_action, parse_action
from coach_gym.dialects import Frame
from coach_gym.dialects.dialect import Part
from coach_gym.episode import Candidate, Episode, Observation, Step
from coach_gym.recording.origin import Origin

VERSION = "ATIF-v1.8"
SCREEN = "[screen]"
"""Stands for a screenshot in the text of a prompt."""

Keep = Callable[[np.ndarray], str]
"""Stores a screenshot once and returns its path, relative to the trajectory."""


def to_atif(episode: Episode, origin: Origin, keep: Keep, id: str = "") -> dict[str, Any]:
    """Returns an episode as an ATIF document of plain JSON values.

    Args:
        episode: The episode.
        origin: Where it comes from.
        keep: Stores its screenshots.
        id: Identifier of the trajectory.
    """
    screens = [_image(keep(step.observation.screenshot)) for step in episode.steps]
    screens += [] if episode.last is None else [_image(keep(episode.last.screenshot))]
    told = [_agent_step(episode, t, origin, screens[t + 1 : t + 2]) for t in range(episode.length)]
    opening = {
        "step_id": 1,
        "source": "user",
        "message": [{"type": "text", "text": episode.goal}, *screens[:1]],
        **({"timestamp": told[0]["timestamp"]} if told else {}),
    }
    return {
        "schema_version": VERSION,
        "trajectory_id": id,
        "agent": {"name": origin.agent or "coach-gym", "version": ""},
        "steps": [opening, *told],
        "final_metrics": {"total_steps": episode.length},
        "extra": _about(episode, origin),
    }


def from_atif(document: dict[str, Any], read: Callable[[str], np.ndarray]) -> Episode:
    """Returns the episode that `to_atif` wrote.

    Args:
        document: The document.
        read: Returns the screenshot of a path.
    """
    about, (opening, *agent_steps) = document["extra"], document["steps"]
    images = [opening["message"][1:], *(_shown(step) for step in agent_steps)]
    screens = [read(part["source"]["path"]) for parts in images for part in parts]
    last = about["last"]
    return Episode(
        goal=opening["message"][0]["text"],
        steps=[_step(told["extra"], screen) for told, screen in zip(agent_steps, screens, strict=False)],
        last=None if last is None else Observation(screens[-1], **last),
        **{name: about[name] for name in ("outcome", "fault", "task", "params", "answer", "seed")},
    )


def _agent_step(episode: Episode, t: int, origin: Origin, following: list[dict[str, Any]]) -> dict[str, Any]:
    step, call = episode.steps[t], f"call_{t + 1}"
    executed = step.candidates[step.executed]
    told: dict[str, Any] = {
        "step_id": t + 2,
        "timestamp": datetime.fromtimestamp(step.time, UTC).isoformat(),
        "source": "agent",
        "message": executed.text,
        "extra": _extra(episode, t, origin),
    }
    if executed.token_ids:
        told["metrics"] = {
            "completion_tokens": len(executed.token_ids),
            "completion_token_ids": executed.token_ids,
            "logprobs": executed.logprobs,
        }
    thought, action = _parsed(step.action)
    if thought:
        told["reasoning_content"] = thought
    if action is not None:
        given = {name: value for name, value in asdict(action).items() if value not in (None, "")}
        told["tool_calls"] = [{"tool_call_id": call, "function_name": given.pop("kind"), "arguments": given}]
    if following:
        answered = {} if action is None else {"source_call_id": call}
        told["observation"] = {"results": [{**answered, "content": following}]}
    return told


def _extra(episode: Episode, t: int, origin: Origin) -> dict[str, Any]:
    step = episode.steps[t]
    return {
        "ui": step.observation.ui,
        "last_action_error": step.observation.last_action_error,
        "action": step.action,
        "candidates": [_candidate(each, step, origin) for each in step.candidates],
        "executed": step.executed,
        "process_reward": step.process_reward,
        "judged": step.judged,
        "reasoning": step.reasoning,
        "return": step.return_,
        "version": step.version,
        "time": step.time,
        "prompt": _turn(episode, t, origin),
    }


def _candidate(candidate: Candidate, step: Step, origin: Origin) -> dict[str, Any]:
    return {
        "text": candidate.text,
        "action": _canonical(candidate.text, step.observation, origin),
        "token_ids": candidate.token_ids,
        "logprobs": candidate.logprobs,
        "return": candidate.return_,
        "q": _finite(candidate.q),
        "advantage": _finite(candidate.advantage),
    }


def _step(told: dict[str, Any], screenshot: np.ndarray) -> Step:
    candidates = [
        Candidate(c["text"], c["token_ids"], c["logprobs"], c["return"], c["q"], c["advantage"])
        for c in told["candidates"]
    ]
    return Step(
        observation=Observation(screenshot, told["ui"], told["last_action_error"]),
        candidates=candidates,
        return_=told["return"],
        **{
            name: told[name]
            for name in ("executed", "action", "process_reward", "version", "judged", "reasoning", "time")
        },
    )


def _about(episode: Episode, origin: Origin) -> dict[str, Any]:
    last = episode.last
    told = {
        "task": episode.task,
        "params": episode.params,
        "seed": episode.seed,
        "outcome": episode.outcome,
        "fault": episode.fault,
        "answer": episode.answer,
        "last": None if last is None else {"ui": last.ui, "last_action_error": last.last_action_error},
        "phase": origin.phase,
        "timesteps": origin.timesteps,
        "environment": origin.environment,
        "reset": origin.reset or ({"seed": episode.seed} if episode.seed is not None else None),
        "prompt": _opening(episode, origin),
    }
    return json.loads(json.dumps(told, default=str))  # parameters may hold dates


def _opening(episode: Episode, origin: Origin) -> list[dict[str, str]]:
    """The turns with which every prompt of the episode begins."""
    if origin.dialect is None or not episode.steps:
        return []
    turns = origin.dialect.opening(episode.goal, _frame(episode.steps[0].observation, origin))
    return [{"role": role, "content": _text(parts)} for role, parts in turns]


def _turn(episode: Episode, t: int, origin: Origin) -> str:
    """The user's turn of a step, with `SCREEN` for the screenshot."""
    if origin.dialect is None:
        return ""
    previous = [step.candidates[step.executed].text for step in episode.steps[:t]]
    observation = episode.steps[t].observation
    frame = _frame(observation, origin)
    return _text(origin.dialect.observation(episode.goal, observation, t, frame, previous))


def _text(parts: Iterable[Part]) -> str:
    return "\n".join(part if isinstance(part, str) else SCREEN for part in parts)


def _canonical(text: str, observation: Observation, origin: Origin) -> str:
    """A response as canonical action text, in pixels of the screenshot; unchanged if it is no action."""
    if origin.dialect is None:
        return text
    try:
        thought, action = origin.dialect.parse(text, _frame(observation, origin))
    except ActionError:
        return text
    return format_action(action, thought)


def _frame(observation: Observation, origin: Origin) -> Frame:
    assert origin.dialect is not None
    height, width = observation.screenshot.shape[:2]
    return origin.dialect.frame(width, height, origin.token_side).showing(observation.ui)


def _parsed(text: str) -> tuple[str, Action | None]:
    try:
        return parse_action(text)
    except ActionError:
        return "", None


def _image(path: str) -> dict[str, Any]:
    return {"type": "image", "source": {"media_type": "image/png", "path": path}}


def _shown(step: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for result in step.get("observation", {}).get("results", []) for part in result["content"]]


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
