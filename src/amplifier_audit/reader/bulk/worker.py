"""A process that verifies the segments which another one gives it."""

from __future__ import annotations

import signal
from multiprocessing.connection import Connection

from amplifier_audit.reader.bulk.segment_task import run_task
from amplifier_audit.reader.bulk.shapes import Shapes


def serve(descriptor: int) -> None:
    """Take tasks from a socket until its other end is closed; send what was found."""
    # A terminal interrupts all of its processes; the one that gives the tasks ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    shapes = Shapes()
    with Connection(descriptor) as connection:
        try:
            while True:
                task = connection.recv()
                connection.send(run_task(task, shapes, connection.send))
        except (EOFError, OSError):
            return
