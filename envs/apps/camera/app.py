"""Camera saves photos in Pictures and videos in Movies, like the one of AndroidWorld's emulator."""

from __future__ import annotations

import io
from datetime import datetime
from functools import cache

import numpy as np
from PIL import Image

from coach_gym.envs.phone.app import App, Screen
from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.phone.media import mp4
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Column, IconButton, Picture, Row, Space, Tabs, Text

PHOTOS = "/storage/emulated/0/Pictures"
VIDEOS = "/storage/emulated/0/Movies"

HILLS = ((200, 46, 26, (148, 168, 196)), (250, 60, 22, (112, 146, 130)), (300, 38, 20, (86, 125, 70)))
"""From the farthest to the nearest: its height, wave length and steepness in pixels, and its colour."""


class Camera(App):
    """A camera in front of which nothing ever moves."""

    package = "com.android.camera2"
    activity = "com.android.camera.CameraLauncher"
    label = "Camera"
    icon = "camera"
    color = "#455a64"

    def main(self) -> Screen:
        """Opens the viewfinder."""
        return Viewfinder()

    def open(self, intent: Intent) -> bool:
        """Shows the viewfinder for requests for photos and videos."""
        if not intent.action.startswith("android.media.action."):
            return False
        self.phone.launch(self.package)
        return True


class Viewfinder(Screen):
    """The picture in front of the lens, and the shutter."""

    def __init__(self) -> None:
        super().__init__()
        self.mode = "Photo"
        self.recording_since: datetime | None = None

    def build(self) -> View:
        """Shows the scene above the shutter."""
        shutter = {"Photo": ("circle_slice_8", "Shutter")}.get(self.mode, ("record_circle", "Start recording"))
        if self.recording_since:
            shutter = ("stop_circle", "Stop recording")
        state = f"Recording since {self.recording_since:%H:%M:%S}" if self.recording_since else ""
        button = IconButton(shutter[0], shutter[1], self._press, "shutter_button")
        return Column(
            [
                Picture(scene(), "Viewfinder", height=100, flex=1),
                Text(state, 13, align="center") if state else Space(0),
                Row([Space(flex=1), button, Space(flex=1)], pad=(0, 10, 0, 4)),
                Tabs(("Photo", "Video"), self.mode, self._select),
            ]
        )

    def _select(self, mode: str) -> None:
        if self.recording_since is None:
            self.mode = mode

    def _press(self) -> None:
        stamp = self.local_now.strftime("%Y%m%d_%H%M%S")
        if self.mode == "Photo":
            self.phone.storage.write(f"{PHOTOS}/IMG_{stamp}.jpg", photo())
        elif self.recording_since is None:
            self.allowed("record audio", self._record)
        else:
            seconds = max(1.0, (self.now - self.recording_since).total_seconds())
            film = mp4.slides([photo()], seconds, scene().shape[1::-1])  # nothing moves before this lens
            self.phone.storage.write(f"{VIDEOS}/VID_{stamp}.mp4", film)
            self.recording_since = None

    def _record(self) -> None:
        self.recording_since = self.now


@cache
def scene() -> np.ndarray:
    """Returns what the lens sees, hills under a sky: 400 x 300 x 3 uint8."""
    y, x = np.mgrid[0:400, 0:300].astype(float)
    height = (y / 400)[..., None]
    picture = np.array((92, 150, 224)) * (1 - height) + np.array((250, 236, 214)) * height
    sun = np.exp(-((x - 215) ** 2 + (y - 120) ** 2) / 1800)[..., None]
    picture += (np.array((255, 244, 205)) - picture) * sun
    for base, wave, steep, color in HILLS:
        top = base + steep * np.sin(x / wave) + steep / 4 * np.sin(x / wave * 3.7 + base)
        cover = np.clip(y - top + 0.5, 0, 1)[..., None]  # half a pixel of a soft edge
        shade = np.array(color) * np.clip(1.15 - (y - top) / 300, 0.6, 1.15)[..., None]
        picture += (shade - picture) * cover
    return picture.clip(0, 255).astype(np.uint8)


def photo() -> bytes:
    """Returns the scene as a JPEG file."""
    out = io.BytesIO()
    Image.fromarray(scene()).save(out, "JPEG", quality=85)
    return out.getvalue()


APP = Camera
