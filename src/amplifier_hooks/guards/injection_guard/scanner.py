"""Looks through a text for instructions to the model, however they are disguised."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from amplifier_core.utils.nested import iterate_parts, rewrite
from amplifier_hooks.guards.injection_guard.obfuscation import (
    Encodings,
    Folded,
    HiddenRegions,
    find_hidden_text,
)
from amplifier_hooks.guards.injection_guard.patterns import Finding, join_findings, load_wordings
from amplifier_hooks.guards.policy.patterns import compile_pattern

_LINK = (
    r"(?i)\]\(\s{0,3}(?P<markdown>https?://[^)\n]+)\)|"
    r"<(?:img|a|iframe|source|link)\s[^<>]*(?:src|href)\s{0,2}=\s{0,2}[\"']"
    r"(?P<html>https?://[^\"'\n]+)"
)
_DATA_WORDS = (
    r"data|secrets?|passwords?|history|conversation|chat|context|contents?|summary|messages?|"
    r"base64|prompt|output|result|answer|file|env|credentials?|private|cookies?|emails?|"
    r"memory|session|stolen|leak|exfil\w{0,10}"
)
_PLACE_FOR_DATA = (
    r"[?&#/=][^\s]*(?:\{\{?|\$\{|<|\[)[^}>\])]*(?:\b|_)(?:" + _DATA_WORDS + r")(?:\b|_)|"
    r"=\s{0,2}[A-Z_]*(?:DATA|SECRETS?|HISTORY|CONVERSATION|CONTENTS?|SUMMARY|PASSWORD|PROMPT|"
    r"BASE64)[A-Z_]*(?:&|$|\s)"
)


class ExfiltrationLinks:
    """Finds addresses with a place that somebody is to fill with data."""

    def __init__(self, owner: str) -> None:
        self._address = compile_pattern(_LINK, owner)
        self._place = compile_pattern(_PLACE_FOR_DATA, owner)

    def find(self, text: str) -> Iterator[Finding]:
        """Every such address."""
        if "://" in text:
            for start, end in self._address.find_spans(text):
                if self._place.occurs_in(text[start:end]):
                    yield Finding(start, end, "outlet")


_BETWEEN = "\n"
_BACK = 240
_ON = 480
_SENTENCE = re.compile(r"[.!?。！？](?:\s|\Z)|[\n\r>。！？]")
_PARAGRAPH = re.compile(r"\n\s*\n|</|-->|\"\s*[,}\]]")
_MOST_PARTS = 500_000


class Texts:
    """Every text in a value, keys too, up to a number of letters."""

    def __init__(self, value: Any, longest: int) -> None:
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._unread: list[str] = []
        length = 0
        for part in _iterate_texts(value):
            if length >= longest:
                self._unread.append(part)
                continue
            self._starts.append(length)
            self._parts.append(part)
            length += len(part) + len(_BETWEEN)
        self._longest = longest
        whole = _BETWEEN.join(self._parts)
        self.text = whole[:longest]
        self.unread = len(whole) - len(self.text) + sum(map(len, self._unread))
        """How many letters are too many to be looked through."""

    def mask(self, value: Any, found: Sequence[Finding], replacement: str) -> Any:
        """The value without the passages in which something was found, and what was not read."""
        masks = self._mask_parts(found, replacement)
        for part in self._unread:
            masks[part] = replacement.replace("{kind}", f"{len(part):,} characters, not read")
        return rewrite(value, lambda text, _: masks.get(text, text))

    def _mask_parts(self, found: Sequence[Finding], replacement: str) -> dict[str, str]:
        cuts: dict[int, list[Finding]] = {}
        for one in found:
            first = self._find_part(one.start)
            last = self._find_part(max(one.start, one.end - 1))
            end = self._starts[last] + len(self._parts[last])
            passage = widen(self.text, one, self._starts[first], end)
            for number in range(first, last + 1):
                cuts.setdefault(number, []).append(passage)
        if self.unread and self._parts:
            rest = Finding(self._longest, self._longest + self.unread, "not read")
            cuts.setdefault(len(self._parts) - 1, []).append(rest)
        return {
            self._parts[number]: _cut(self._parts[number], self._starts[number], ones, replacement)
            for number, ones in cuts.items()
        }

    def _find_part(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1


def _iterate_texts(value: Any) -> Iterator[str]:
    for _, part in iterate_parts(value, _MOST_PARTS):
        if isinstance(part, Mapping):
            yield from (key for key in part if isinstance(key, str))
        elif isinstance(part, str):
            yield part
        elif isinstance(part, bytes | bytearray):
            yield part.decode(errors="surrogateescape")


def widen(text: str, one: Finding, least: int = 0, most: int | None = None) -> Finding:
    """From the beginning of the sentence to the end of the paragraph: orders come in several."""
    before = text[max(least, one.start - _BACK) : one.start]
    ends = [found.end() for found in _SENTENCE.finditer(before)]
    start = one.start - len(before) + (ends[-1] if ends else 0)
    stop = _PARAGRAPH.search(text, one.end, one.end + _ON)
    end = stop.start() if stop else min(len(text), one.end + _ON)
    return Finding(start, end if most is None else min(end, most), one.kind)


def _cut(part: str, offset: int, passages: Sequence[Finding], replacement: str) -> str:
    pieces: list[str] = []
    position = 0
    for one in sorted(passages, key=lambda each: each.start):
        start = max(one.start - offset, position)
        end = min(one.end - offset, len(part))
        if start < end:
            mark = replacement.replace("{kind}", one.kind)
            again = start == position and pieces[-1:] == [mark]
            pieces += [] if again else [part[position:start], mark]
            position = end
    return "".join([*pieces, part[position:]])


_NEAR = 200
_PREFIXED = re.compile(r"mcp__([a-z0-9][a-z0-9_-]{0,31}?)__", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{4,63}")
_NAMED_TOOL = re.compile(
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

    def __init__(self, gives_order: Callable[[str], bool]) -> None:
        self._gives_order = gives_order
        self._tools: dict[str, set[str]] = {}

    def learn(self, server: str, names: Iterator[str]) -> None:
        """The server has tools of these names."""
        self._tools.setdefault(server, set()).update(names)

    def find(self, text: str, server: str) -> Iterator[Finding]:
        """Where a text of this server says how tools of others are to be used."""
        for found in _PREFIXED.finditer(text):
            if found[1].casefold() != server.casefold():
                yield Finding(found.start(), found.end(), "other-tools")
        yield from self._find_known(text, server)
        own = self._tools.get(server, set())
        for found in _NAMED_TOOL.finditer(text):
            if (found[1] or found[2]) not in own:
                yield from self._judge(text, found, steering=True)

    def _find_known(self, text: str, server: str) -> Iterator[Finding]:
        others = {name for one, names in self._tools.items() if one != server for name in names}
        others -= self._tools.get(server, set())
        for found in _NAME.finditer(text) if others else ():
            if found.group() in others and _is_name(found.group()):
                yield from self._judge(text, found, steering=False)

    def _judge(self, text: str, found: re.Match[str], *, steering: bool) -> Iterator[Finding]:
        near = text[max(0, found.start() - _NEAR) : found.end() + _NEAR]
        if self._gives_order(near) and (not steering or _STEERING.search(near)):
            yield Finding(found.start(), found.end(), "other-tools")


def _is_name(word: str) -> bool:
    """Whether a word is a name and not a word of a language: `send_email`, `sendEmail`."""
    return "_" in word or "-" in word or word not in {word.lower(), word.capitalize()}


def list_names(items: list[Mapping[str, object]]) -> Iterator[str]:
    """The names of the listed items."""
    return (name for item in items if isinstance(name := item.get("name"), str))


_DIGITS_AS_LETTERS = str.maketrans("0134578@$!|", "oieastbasil")
_DISGUISED = re.compile(r"[a-z][013457@$!|][a-z013457@$!|]")
_RUN_TOGETHER = re.compile(
    r"(?:ignore|disregard|forget)(?:all|any|the|your|of){0,3}(?:previous|prior|above|earlier|system)"
    r"(?:instructions?|prompts?|directives?|rules)"
)


@lru_cache(maxsize=8)
def load_finders(owner: str) -> tuple[Encodings, HiddenRegions, ExfiltrationLinks]:
    """Compiled once for all sessions of a process."""
    return Encodings(owner), HiddenRegions(owner), ExfiltrationLinks(owner)


class Scanner:
    """Finds what it was told to look for; it knows patterns, and proves nothing by silence."""

    def __init__(
        self,
        owner: str,
        languages: Sequence[str],
        *,
        off: Collection[str] = (),
        patterns: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
    ) -> None:
        self._wordings = load_wordings(tuple(languages), owner)
        self._encodings, self._regions, self._links = load_finders(owner)
        self._off = frozenset(off)
        self._own = {
            name: compile_pattern(source, owner) for name, source in (patterns or {}).items()
        }
        self._allow = [compile_pattern(source, owner) for source in allow]

    def scan(self, text: str, *, strict: bool = False) -> list[Finding]:
        """All finds in the order of the text, overlaps joined.

        `strict` for what a server says of its tools: short texts, in which less is ordinary.
        """
        found = [one for one in self._find(text, strict) if one.kind not in self._off]
        return join_findings(self._drop_allowed(text, found)) if found else []

    def gives_order(self, text: str) -> bool:
        """Whether a text says what has to be done."""
        return self._wordings.gives_order(Folded(text).text)

    def _find(self, text: str, strict: bool) -> Iterator[Finding]:
        yield from self._find_plain(text, strict)
        yield from find_hidden_text(text, strict=strict)
        yield from self._links.find(text)
        for start, end in self._regions.find(text):
            if self._wordings.addresses_model(Folded(text[start:end]).text):
                yield Finding(start, end, "hidden-order")
        for start, end, said in self._encodings.find(text):
            for one in self._find_decoded(said):
                yield Finding(start, end, one.kind)
        for name, pattern in self._own.items():
            yield from (Finding(start, end, name) for start, end in pattern.find_spans(text))

    def _find_plain(self, text: str, strict: bool) -> Iterator[Finding]:
        folded = Folded(text)
        yield from self._find_folded(folded, folded.text, strict)
        if _DISGUISED.search(folded.text):
            letters = folded.text.translate(_DIGITS_AS_LETTERS)
            for start, end in self._wordings.find_overrides(letters):
                yield Finding(*folded.locate(start, end), "override")

    def _find_folded(self, folded: Folded, reading: str, strict: bool) -> Iterator[Finding]:
        for one in self._wordings.find(reading, strict=strict):
            yield Finding(*folded.locate(one.start, one.end), one.kind)

    def _find_decoded(self, said: str) -> Iterator[Finding]:
        folded = Folded(said)
        yield from self._wordings.find(folded.text, strict=False)
        if _RUN_TOGETHER.search(folded.text):
            yield Finding(0, len(said), "override")

    def _drop_allowed(self, text: str, found: list[Finding]) -> list[Finding]:
        spans = [span for pattern in self._allow for span in pattern.find_spans(text)]
        return [
            one
            for one in found
            if not any(start <= one.start and one.end <= end for start, end in spans)
        ]
