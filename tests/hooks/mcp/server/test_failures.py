"""What a caller is told when a tool cannot answer."""

from __future__ import annotations

from amplifier_core.errors import AmplifierError
from amplifier_hooks.mcp.server.failures import Refused


def test_a_refusal_is_an_error_to_be_read() -> None:
    """The command line shows such errors as a sentence."""
    assert isinstance(Refused("No session 'x'"), AmplifierError)
    assert str(Refused("No session 'x'")) == "No session 'x'"
