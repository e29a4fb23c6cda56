"""Where here-documents end, counted by lines as a shell does it, not by the grammar."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_PLAIN = re.compile(rb"\\?([A-Za-z0-9_.-]+)|'([^'\n]+)'|\"([^\"\n$`\\]+)\"")
_HARD_TO_READ = re.compile(rb"[\\`()]")
_DOUBT = "the grammar and a shell may see the end of a here-document differently"


def doubt_heredocs(nodes: Iterable[Node], text: bytes, offset: int) -> Iterator[str]:
    """A sentence for each here-document whose end is not surely where the grammar sees it."""
    redirects = [node for node in nodes if node.type == "heredoc_redirect"]
    lines = [text.find(b"\n", node.start_byte - offset) for node in redirects]
    several = {line for line, count in Counter(lines).items() if count > 1}
    for node, line in zip(redirects, lines, strict=True):
        if line in several or not _ends_there(node, text, offset):
            yield _DOUBT


def _ends_there(node: Node, text: bytes, offset: int) -> bool:
    signs = [one.text for one in _list_parts(node, "<<", "<<-")]
    starts = _list_parts(node, "heredoc_start")
    if len(starts) != 1 or signs not in ([b"<<"], [b"<<-"]):
        return False
    mark = _PLAIN.fullmatch(starts[0].text or b"")
    first = starts[0].end_byte - offset
    rest, newline, _ = text[first:].partition(b"\n")
    if mark is None or not newline or not _is_plain(rest):
        return False
    name = mark[mark.lastindex or 0]
    last = _find_last_line(text, first + len(rest) + 1, name, signs == [b"<<-"])
    return last in {end.end_byte - offset for end in _list_parts(node, "heredoc_end")}


def _list_parts(node: Node, *kinds: str) -> list[Node]:
    return [child for child in node.children if child.type in kinds]


def _is_plain(rest: bytes) -> bool:
    """Whether the rest of the line surely ends with it: no quote goes on in the next."""
    odd = any(rest.count(quote) % 2 for quote in (b"'", b'"'))
    return not odd and not _HARD_TO_READ.search(rest)


def _find_last_line(text: bytes, start: int, mark: bytes, indented: bool) -> int | None:
    """Where the first line that is nothing but the mark ends."""
    while start < len(text):
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end]
        if (line.lstrip(b"\t") if indented else line) == mark:
            return end
        start = end + 1
    return None
