"""Settings that all tests share."""

import os

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
