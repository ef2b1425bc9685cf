"""Episodes on disk and as pictures."""

from coach_gym.recording.store import EpisodeStore, load_episodes

__all__ = ["EpisodeStore", "load_episodes"]
