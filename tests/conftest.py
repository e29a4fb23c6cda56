"""Settings that all tests share."""

import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import Phase, settings

from tests.support.postgres_server import postgres_server as postgres_server
from tests.support.postgres_server import postgres_url as postgres_url
from tests.support.processes import leave_terminal

settings.register_profile("ci", deadline=None, max_examples=60, print_blob=True)
settings.register_profile("thorough", deadline=None, max_examples=2000, print_blob=True)
# Whether a test fails, not on how small an input.
PHASES = (Phase.explicit, Phase.generate)
settings.register_profile(
    "mutants", deadline=None, max_examples=40, phases=PHASES, derandomize=True, database=None
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

leave_terminal()


@pytest.fixture(autouse=True)
def keep_log_levels() -> Iterator[None]:
    """A command that sets logging up within a test's process leaves the next tests theirs."""
    names = ("amplifier_hooks", "amplifier_audit", "amplifier_core", "amplifier_hooks", None)
    levels = [(logger, logger.level) for logger in map(logging.getLogger, names)]
    yield
    for logger, level in levels:
        logger.setLevel(level)
