"""The server is asked in the same protocols as the providers speak."""

from tests.hooks.agent.providers.conftest import (  # noqa: F401 - fixtures are used by their names
    _no_settings_from_outside,
    one_certificate,
    protocol,
)
