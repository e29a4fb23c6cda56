"""What the description of one server's tool says about tools of others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from amplifier_hooks.guards.injection_guard.finding import Finding

KIND = "other-tools"
_NEAR = 200
_PREFIXED = re.compile(r"mcp__([a-z0-9][a-z0-9_-]{0,31}?)__", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{4,63}")
_CALLED = re.compile(
    r"\b(?:tools?|functions?|calling|using|invoking|invokes?|calls?|called|uses?)[\s'\"`:]{1,3}"
    r"([A-Za-z0-9]{1,32}(?:[_-][A-Za-z0-9]{1,32}){1,6})|"
    r"\b([A-Za-z0-9]{1,32}(?:[_-][A-Za-z0-9]{1,32}){1,6})[\s'\"`]{1,3}(?:tool|function)\b"
)
_STEERING = re.compile(
    r"\b(?:bcc|redirect\w*|recipient|(?:change|replace|rewrite|alter|modify|set) (?:the|its|every)|"
    r"every (?:e-?mail|message|call)|all (?:e-?mails|messages|calls|payments)|instead of the|"
    r"(?:is|are) (?:broken|deprecated|disabled|unsafe|insecure|down))\b",
    re.IGNORECASE,
)


class Shadowing:
    """Remembers which server has which tools."""

    def __init__(self, orders: Callable[[str], bool]) -> None:
        self._orders = orders
        self._tools: dict[str, set[str]] = {}

    def learn(self, server: str, names: Iterator[str]) -> None:
        """The server has tools of these names."""
        self._tools.setdefault(server, set()).update(names)

    def find(self, text: str, server: str) -> Iterator[Finding]:
        """Where a text of this server says how tools of others are to be used."""
        for found in _PREFIXED.finditer(text):
            if found[1].casefold() != server.casefold():
                yield Finding(found.start(), found.end(), KIND)
        yield from self._find_known(text, server)
        own = self._tools.get(server, set())
        for found in _CALLED.finditer(text):
            if (found[1] or found[2]) not in own:
                yield from self._judge(text, found, steering=True)

    def _find_known(self, text: str, server: str) -> Iterator[Finding]:
        others = {name for one, names in self._tools.items() if one != server for name in names}
        others -= self._tools.get(server, set())
        for found in _WORD.finditer(text) if others else ():
            if found.group() in others and _is_name(found.group()):
                yield from self._judge(text, found, steering=False)

    def _judge(self, text: str, found: re.Match[str], *, steering: bool) -> Iterator[Finding]:
        near = text[max(0, found.start() - _NEAR) : found.end() + _NEAR]
        if self._orders(near) and (not steering or _STEERING.search(near)):
            yield Finding(found.start(), found.end(), KIND)


def _is_name(word: str) -> bool:
    """Whether a word is a name and not a word of a language: `send_email`, `sendEmail`."""
    return "_" in word or "-" in word or word not in {word.lower(), word.capitalize()}


def list_names(items: list[Mapping[str, object]]) -> Iterator[str]:
    """The names of the listed items."""
    return (name for item in items if isinstance(name := item.get("name"), str))
