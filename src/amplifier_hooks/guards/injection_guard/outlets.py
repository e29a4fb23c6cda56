"""Links and pictures whose address has room for data: to show one is to send it."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_hooks.guards.injection_guard.finding import Finding
from amplifier_hooks.guards.policy.patterns import compile_pattern

KIND = "outlet"

_ADDRESS = (
    r"(?i)\]\(\s{0,3}(?P<markdown>https?://[^)\n]+)\)|"
    r"<(?:img|a|iframe|source|link)\s[^<>]*(?:src|href)\s{0,2}=\s{0,2}[\"']"
    r"(?P<html>https?://[^\"'\n]+)"
)
_DATA = (
    r"data|secrets?|passwords?|history|conversation|chat|context|contents?|summary|messages?|"
    r"base64|prompt|output|result|answer|file|env|credentials?|private|cookies?|emails?|"
    r"memory|session|stolen|leak|exfil\w{0,10}"
)
_ROOM = (
    r"[?&#/=][^\s]*(?:\{\{?|\$\{|<|\[)[^}>\])]*(?:\b|_)(?:" + _DATA + r")(?:\b|_)|"
    r"=\s{0,2}[A-Z_]*(?:DATA|SECRETS?|HISTORY|CONVERSATION|CONTENTS?|SUMMARY|PASSWORD|PROMPT|"
    r"BASE64)[A-Z_]*(?:&|$|\s)"
)


class Outlets:
    """Finds addresses with a place that somebody is to fill with data."""

    def __init__(self, owner: str) -> None:
        self._address = compile_pattern(_ADDRESS, owner)
        self._room = compile_pattern(_ROOM, owner)

    def find(self, text: str) -> Iterator[Finding]:
        """Every such address."""
        if "://" in text:
            for start, end in self._address.find_spans(text):
                if self._room.occurs_in(text[start:end]):
                    yield Finding(start, end, KIND)
