"""One end of the relay."""

from __future__ import annotations

from amplifier_core.errors import AmplifierError
from amplifier_hooks.mcp.gateway.channel import ChannelError


def test_a_channel_fails_with_an_error_that_people_read() -> None:
    """The command line shows it without a traceback."""
    assert issubclass(ChannelError, AmplifierError)
