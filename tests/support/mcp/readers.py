"""How other programs read lines of JSON: not all of them see the same in the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from amplifier_hooks.guards.mcp.protocol import CALL, ELICIT, GET, READ, SAMPLE

Call = tuple[str, str]
"""The method, and what it is about, as JSON with sorted keys."""

JUDGED = frozenset({CALL, READ, GET, SAMPLE, ELICIT})


class Pairs(list[tuple[str, Any]]):
    """An object with every key that it was written with."""


Split = Callable[[bytes], Iterator[str]]
Get = Callable[[Pairs, str], Any]


@dataclass(frozen=True)
class Reader:
    """One way to read: where a message ends, and which of several keys counts."""

    name: str
    split: Split
    get: Get

    def list_calls(self, written: bytes) -> list[Call]:
        """What this reader would do that hooks have to judge first."""
        values = [value for text in self.split(written) for value in _parse(text)]
        return [call for value in values for call in self._find_calls(value)]

    def _find_calls(self, value: Any) -> Iterator[Call]:
        if isinstance(value, Pairs):
            method = self.get(value, "method")
            if method in JUDGED:
                yield method, self._describe(method, self.get(value, "params"))
        elif isinstance(value, list):
            for one in value:
                yield from self._find_calls(one)

    def list_results(self, written: bytes) -> list[str]:
        """What this reader would show to a model, as JSON; and what it would ask a model."""
        values = [value for text in self.split(written) for value in _parse(text)]
        results = [self.get(one, "result") for one in values if isinstance(one, Pairs)]
        return [said for one in results if isinstance(one, Pairs) for said in self._read(one)]

    def _read(self, result: Pairs) -> Iterator[str]:
        content = self.get(result, "content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, Pairs) and self.get(block, "text") is not None:
                yield json.dumps(self.get(block, "text"))
        requests = self.get(result, "inputRequests")
        for _, request in requests if isinstance(requests, Pairs) else ():
            if isinstance(request, Pairs) and self.get(request, "method") in JUDGED:
                yield json.dumps(self._build(self.get(request, "params")), sort_keys=True)

    def _describe(self, method: str, params: Any) -> str:
        if not isinstance(params, Pairs):
            return describe(method, {})
        names = ("name", "arguments", "uri", "messages", "message")
        return describe(method, {name: self._build(self.get(params, name)) for name in names})

    def _build(self, value: Any) -> Any:
        if isinstance(value, Pairs):
            return {name: self._build(self.get(value, name)) for name, _ in value}
        return [self._build(one) for one in value] if isinstance(value, list) else value


def describe(method: str, params: dict[str, Any]) -> str:
    """What a request is about, so that two can be compared."""
    if method == CALL:
        known = [params.get("name"), params.get("arguments") or {}]
    elif method == READ:
        known = [params.get("uri")]
    elif method == GET:
        known = [params.get("name"), params.get("arguments") or {}]
    else:
        known = [params.get("messages"), params.get("message")]
    return json.dumps(known, sort_keys=True)


def _parse(text: str) -> Iterator[Any]:
    """The values in a text, one after another; what is none is skipped up to the next line."""
    decoder = json.JSONDecoder(object_pairs_hook=Pairs, strict=False)
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] in "\x00\x1e\ufeff":
            at += 1
            continue
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("\n", at) + 1 or len(text)
        else:
            yield value


# Where a message ends


def split_lines(written: bytes) -> Iterator[str]:
    """As the protocol says, and no line counts that is not UTF-8."""
    for line in written.split(b"\n"):
        try:
            yield line.decode()
        except ValueError:
            continue


def split_everywhere(written: bytes) -> Iterator[str]:
    """At everything that some take for the end of a line."""
    yield from written.decode(errors="replace").splitlines()


def split_leniently(written: bytes) -> Iterator[str]:
    """Without the bytes that are not UTF-8."""
    yield from written.decode(errors="ignore").split("\n")


def split_nowhere(written: bytes) -> Iterator[str]:
    """Value after value, wherever lines end."""
    yield written.decode(errors="replace")


# Which key counts


def get_last(pairs: Pairs, name: str) -> Any:
    """As most readers do."""
    return next((value for found, value in reversed(pairs) if found == name), None)


def get_first(pairs: Pairs, name: str) -> Any:
    """As those do that stop at what they look for."""
    return next((value for found, value in pairs if found == name), None)


def get_any_case(pairs: Pairs, name: str) -> Any:
    """As those do that do not mind how a key is written."""
    same = (value for found, value in reversed(pairs) if found.casefold() == name.casefold())
    return next(same, None)


READERS = tuple(
    Reader(f"{split.__name__} {get.__name__}", split, get)
    for split in (split_lines, split_everywhere, split_leniently, split_nowhere)
    for get in (get_last, get_first, get_any_case)
)
