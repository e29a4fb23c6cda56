"""The text of a reply as it may be shown: what could be the beginning of a secret waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol


class TextStream(Protocol):
    """What a scrubber opens that can look over the edges of pieces (`open_stream`)."""

    def feed(self, piece: str) -> str: ...
    def flush(self) -> str: ...


class HeldText:
    """Takes the pieces of one block through every scrubber that can look over their edges.

    Scrubbers that cannot see each piece by itself, when it is shown or recorded.
    """

    def __init__(self, scrubbers: Iterable[Any]) -> None:
        opened = (getattr(one, "open_stream", None) for one in scrubbers)
        self._streams: list[TextStream] = [open_stream() for open_stream in opened if open_stream]

    def feed(self, piece: str) -> str:
        """Take a piece; returns what may be shown now, which may be nothing."""
        for stream in self._streams:
            piece = stream.feed(piece)
        return piece

    def flush(self) -> str:
        """What was held back, now that the block is complete."""
        rest = ""
        for stream in self._streams:
            rest = stream.feed(rest) + stream.flush()
        return rest
