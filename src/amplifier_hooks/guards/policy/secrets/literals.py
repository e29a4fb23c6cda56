"""Secrets whose value is known: hidden wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

MARK = "[secret]"


class LiteralScrubber:
    """Replaces known values; a scrubber for sessions."""

    is_constant = True

    def __init__(self, secrets: Collection[str]) -> None:
        # The longest first: one secret may be the beginning of another.
        self._secrets = sorted((one for one in secrets if one), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, self._secrets)))

    def __call__(self, text: str) -> str:
        return self._pattern.sub(MARK, text) if self._secrets else text

    def open_stream(self) -> LiteralStream:
        """A stream that hides the values also where they are split over its pieces."""
        return LiteralStream(self, self._secrets)


class LiteralStream:
    """Passes on what is decided, and holds back the beginning of a known value."""

    def __init__(self, scrub: LiteralScrubber, secrets: Collection[str]) -> None:
        self._scrub = scrub
        self._secrets = secrets
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take a piece; returns what can be passed on now, its secrets hidden."""
        text = self._scrub(self._held + piece)
        end = len(text) - max(self._measure_beginnings(text), default=0)
        self._held = text[end:]
        return text[:end]

    def flush(self) -> str:
        """What was held back, now that nothing follows."""
        rest, self._held = self._held, ""
        return rest

    def _measure_beginnings(self, text: str) -> Iterator[int]:
        """How much of the end of a text may become each of the values."""
        for secret in self._secrets:
            longest = min(len(secret) - 1, len(text))
            yield next((n for n in range(longest, 0, -1) if secret.startswith(text[-n:])), 0)
