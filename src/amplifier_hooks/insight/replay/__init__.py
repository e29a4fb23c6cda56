"""Replays: a recorded session runs again, with its recorded model, through today's hooks."""

from amplifier_hooks.insight.replay.comparison import Difference
from amplifier_hooks.insight.replay.job import (
    Job,
    Replay,
    ReplayFailed,
    digest_material,
    launch_replay,
    replay_session,
)
from amplifier_hooks.insight.replay.recording import CannotReplay, Recording, read_recording

__all__ = [
    "CannotReplay",
    "Difference",
    "Job",
    "Recording",
    "Replay",
    "ReplayFailed",
    "digest_material",
    "launch_replay",
    "read_recording",
    "replay_session",
]
