"""Modules that act on the machine: where a recorded session is judged again, they do not run."""

from __future__ import annotations

from collections.abc import Mapping

RUNS_PROGRAMS = "it runs programs"
WRITES_FILES = "it writes files"
SENDS = "it sends messages to others"
ASKS_A_MODEL = "it asks a model"

ACTING: Mapping[str, str] = {
    "hooks-backup": WRITES_FILES,
    "hooks-git-status": RUNS_PROGRAMS,
    "hooks-linter-feedback": RUNS_PROGRAMS,
    "hooks-logging": WRITES_FILES,
    "hooks-model-judge": ASKS_A_MODEL,
    "hooks-notify": SENDS,
    "hooks-otel": SENDS,
    "hooks-session-naming": ASKS_A_MODEL,
    "hooks-shell": RUNS_PROGRAMS,
    "hooks-test-runner": RUNS_PROGRAMS,
}
"""Our modules that do more than answer, each with the reason; recorded answers stand for them."""
