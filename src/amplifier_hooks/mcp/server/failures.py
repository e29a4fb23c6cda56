"""What a caller is told when a tool cannot answer."""

from __future__ import annotations

from amplifier_core.errors import AmplifierError


class Refused(AmplifierError):
    """The tool cannot answer this; the message says why, and what would do."""
