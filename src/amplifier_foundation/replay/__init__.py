"""Replays: a recorded session runs again, with its recorded model, through today's hooks."""

from amplifier_foundation.replay.difference import Difference
from amplifier_foundation.replay.process.job import Job, ReplayFailed, digest_material
from amplifier_foundation.replay.process.launch import launch_replay
from amplifier_foundation.replay.recording import CannotReplay, Recording, read_recording
from amplifier_foundation.replay.replay import Replay, replay_session

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
