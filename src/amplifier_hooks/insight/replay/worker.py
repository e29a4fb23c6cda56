"""The worker: replays one session in a process that can write and send nothing.

It reads a job from its standard input and writes one line of JSON: what it found, or why not. What
hooks print goes nowhere.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

from amplifier_hooks.insight.replay.job import Job
from amplifier_hooks.insight.replay.recording import CannotReplay, read_recording
from amplifier_hooks.insight.replay.replay import replay_session


def main() -> None:
    """Do the job on standard input."""
    job = Job.from_dict(json.load(sys.stdin))
    told = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    logging.getLogger().addHandler(logging.NullHandler())
    with told:
        told.write(json.dumps(do_job(job)) + "\n")


def do_job(job: Job) -> dict[str, Any]:
    """What a job found, or why it could not be done."""
    try:
        recording = read_recording(Path(job.trail))
        found = replay_session(recording, job.load(), Path(job.scratch), keep_going=job.keep_going)
    except CannotReplay as error:
        return {"cannot": str(error)}
    except Exception as error:  # noqa: BLE001 - the process that waits tells the person
        return {"failed": f"{type(error).__name__}: {error}"}
    return {"found": found.to_dict()}


if __name__ == "__main__":
    main()
