"""What the built-in suites keep apart from training: task families and whole apps.

The lists are by hand. About a tenth of the families of training's apps is for validation and a fifth for test, from
different apps and of different kinds, some close to a training family and some far from all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from coach_gym.envs.tasks.task import Task

Apart = Mapping[str, tuple[Literal["families", "apps"], Literal["validation", "test"]]]
"""By name of a family, why it is kept apart from training, and for which split. All other families are training's."""

APPS = {
    "validation": ("Audio Recorder", "Cantook", "Joplin", "OpenTracks", "Zoom"),
    "test": ("Bluecoins", "Calendar", "MAPS.ME", "OsmAnd", "Pi Music Player", "Retro Music", "Simple Calendar Pro",
             "VLC"),
}  # fmt: skip
"""Apps, as the launcher names them, of which no training task goes through any."""

FAMILIES = {
    "validation": (
        # AndroidWorld
        "ContactsNewContactDraft", "ExpenseDeleteDuplicates2", "ExpenseDeleteMultiple", "FilesRenameFile",
        "MarkorRenameNote", "RecipeDeleteSingleWithRecipeWithNoise", "SimpleSmsSendClipboardContent",
        "SystemBluetoothTurnOffVerify", "TasksCompletedTasksForDate", "TasksSetPriority",
        # AndroidLab
        "ClockLabelAlarm", "ContactsRemoveFavorite", "FilesFileSize", "SettingsFontSize",
        # AndroidSight
        "GalleryRenamePicture", "GalleryTallestBar",
    ),
    "test": (
        # AndroidWorld
        "BrowserMaze", "ClockStopWatchPausedVerify", "ClockTimerEntry", "ExpenseAddSingle", "ExpenseDeleteMultiple2",
        "FilesMoveFile", "MarkorDeleteAllNotes", "MarkorEditNote", "MarkorMergeNotes", "MarkorTranscribeReceipt",
        "RecipeAddSingleRecipe", "RecipeDeleteDuplicateRecipes", "RecipeDeleteMultipleRecipesWithNoise",
        "SimpleSmsResend", "SimpleSmsSendReceivedAddress", "SystemBrightnessMinVerify", "SystemWifiTurnOnVerify",
        "TasksHighPriorityTasksDueOnDate", "TasksRenameTask", "TurnOffWifiAndTurnOnBluetooth",
        # AndroidLab
        "ClockAddAlarmWithLabel", "ClockCityTime", "ContactsCompanyOf", "ContactsDeleteByNumber", "MarkorNoteByAge",
        "SettingsAirplaneMode", "SettingsPercentage", "SettingsRingtone",
        # AndroidSight
        "ChromePressShape", "ClockAlarmOfPicture",
    ),
}  # fmt: skip
"""Families of training's apps that training leaves out."""


def keep_apart(families: Iterable[type[Task]]) -> Apart:
    """Returns which of these families are kept apart. One that goes through apps of both splits is test's."""
    apart: dict[str, tuple[Literal["families", "apps"], Literal["validation", "test"]]] = {}
    splits: tuple[Literal["validation", "test"], ...] = ("validation", "test")
    for family in families:
        for split in splits:
            if family.name in FAMILIES[split]:
                apart[family.name] = "families", split
        for split in splits:
            if set(family.apps) & set(APPS[split]):
                apart[family.name] = "apps", split
    return apart
