"""Replays: a recorded session runs again, with its recorded model, through today's hooks."""

from amplifier_foundation.replay.difference import Difference
from amplifier_foundation.replay.recording import CannotReplay, Recording, read_recording
from amplifier_foundation.replay.replay import Replay, replay_session

__all__ = [
    "CannotReplay",
    "Difference",
    "Recording",
    "Replay",
    "read_recording",
    "replay_session",
]
