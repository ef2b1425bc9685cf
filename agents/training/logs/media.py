"""What TensorBoard shows besides curves: pictures, videos, histograms, texts and hyper-parameters.

Stable-Baselines3's `Image`, `Figure`, `Video` and `HParam` are recognised by their attributes, so its callbacks can log
them; it need not be installed.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from PIL import Image
from torch import Tensor

from coach_gym.recording.store import Row, find_stores, load_episodes
from coach_gym.recording.strip import episode_strip

METRICS = ("rollout/success_rate", "eval/success_rate")
"""The curves that hyper-parameters are compared by."""


@runtime_checkable
class ImageLike(Protocol):
    """A picture, and the order of its axes, such as `"HWC"`."""

    image: Any
    dataformats: str


@runtime_checkable
class FigureLike(Protocol):
    """A figure of matplotlib, and whether to close it."""

    figure: Any
    close: bool


@runtime_checkable
class VideoLike(Protocol):
    """Frames of N videos, (N, T, C, H, W), uint8 or from 0 to 1, and frames per second."""

    frames: Any
    fps: float


@runtime_checkable
class HParamLike(Protocol):
    """Hyper-parameters, and metrics by the names of their curves."""

    hparam_dict: Mapping[str, Any]
    metric_dict: Mapping[str, float]


@dataclass
class Picture:
    """A picture, (height, width, 3) uint8."""

    image: np.ndarray
    dataformats: str = "HWC"


@dataclass
class HyperParameters:
    """Settings of a run, as numbers, booleans and texts."""

    hparam_dict: Mapping[str, Any]
    metric_dict: Mapping[str, float]


@dataclass
class Text:
    """A text in Markdown that is too long for a table."""

    markdown: str


def is_media(value: Any) -> bool:
    """Returns whether a value is something other than a number or a short text."""
    if isinstance(value, np.ndarray | Tensor):
        return value.ndim > 0
    return isinstance(value, ImageLike | FigureLike | VideoLike | HParamLike | Text)


def write_media(writer: Any, key: str, value: Any, step: int) -> None:
    """Adds what `is_media` recognises to a `SummaryWriter`."""
    match value:
        case Text():
            writer.add_text(key, value.markdown, step)
        case ImageLike():
            writer.add_image(key, value.image, step, dataformats=value.dataformats)
        case FigureLike():
            writer.add_figure(key, value.figure, step, close=value.close)
        case VideoLike():
            _add_video(writer, key, value, step)
        case HParamLike():
            from torch.utils.tensorboard.summary import hparams

            for summary in hparams(dict(value.hparam_dict), dict(value.metric_dict)):
                writer.file_writer.add_summary(summary)
        case _:
            numbers = value.detach().float().cpu().numpy() if isinstance(value, Tensor) else value
            finite = numbers[np.isfinite(numbers)]
            if finite.size:
                writer.add_histogram(key, finite, step)


def _add_video(writer: Any, key: str, video: VideoLike, step: int) -> None:
    """Adds an animated GIF of all videos side by side; `SummaryWriter.add_video` needs a moviepy older than 2."""
    from tensorboard.compat.proto.summary_pb2 import Summary

    frames = video.frames.detach().cpu().numpy() if isinstance(video.frames, Tensor) else np.asarray(video.frames)
    if frames.dtype != np.uint8:
        frames = (255 * frames.clip(0, 1)).astype(np.uint8)
    n, length, channels, height, width = frames.shape
    frames = frames.transpose(1, 3, 0, 4, 2).reshape(length, height, n * width, channels)
    pictures = [Image.fromarray(np.broadcast_to(frame, (height, n * width, 3)).copy()) for frame in frames]
    gif = io.BytesIO()
    pictures[0].save(gif, "GIF", save_all=True, append_images=pictures[1:], duration=1000 / video.fps, loop=0)
    shown = Summary.Image(height=height, width=n * width, colorspace=3, encoded_image_string=gif.getvalue())
    writer.file_writer.add_summary(Summary(value=[Summary.Value(tag=key, image=shown)]), step)


def settings_of(agent: str, arguments: Mapping[str, Any]) -> dict[str, Text | HyperParameters]:
    """Returns what a run was started with, by key, as a table and as hyper-parameters."""
    plain = {"agent": agent, **{name: _plain(value) for name, value in sorted(arguments.items())}}
    rows = [f"| {name} | `{value}` |" for name, value in plain.items()]
    return {
        "settings": Text("\n".join(["| setting | value |", "|---|---|", *rows])),
        "hparams": HyperParameters(plain, dict.fromkeys(METRICS, 0.0)),
    }


def evaluation_strips(folder: Path, timesteps: int) -> dict[str, Picture]:
    """Returns a strip of a success and one of a failure, by key, of the evaluation after some steps.

    Args:
        folder: Folder of episodes, to which the evaluation was written.
        timesteps: Environment steps before the evaluation.
    """
    if not find_stores(folder):
        return {}

    def found(row: Row, solved: bool) -> bool:
        ours = row["phase"] == "evaluation" and row["timesteps"] == timesteps and row["length"] > 0
        return ours and row["outcome"] is not None and (row["outcome"] >= 1) is solved

    strips = {}
    for name, solved in (("success", True), ("failure", False)):
        episode = next(load_episodes(folder, lambda row, solved=solved: found(row, solved)), None)  # type: ignore[misc]
        if episode is not None:
            strips[f"eval/{name}"] = Picture(np.asarray(episode_strip(episode, height=320)))
    return strips


def _plain(value: Any) -> bool | int | float | str:
    if isinstance(value, bool | int | float | str):
        return value
    return str(value) if value is None or isinstance(value, Path) else type(value).__name__
