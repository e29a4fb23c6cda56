"""Where the grammar and a shell may read a script differently: sentences that say why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from amplifier_foundation.bash.tree import get_text, slice_text, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_ODD_LETTERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\x85\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]"
    r"|[\ud800-\udfff]"
)
_JOINED_LINES = re.compile(r"[^\s\\]\\\n\S")


def list_doubts(source: str, root: Node, nodes: Iterable[Node]) -> Iterator[str]:
    """Why the script cannot be read for certain; nothing when it can."""
    if root.has_error:
        yield "the command does not parse as shell"
    if odd := _ODD_LETTERS.search(source):
        yield f"it holds the invisible letter U+{ord(odd[0]):04X}"
    # A shell joins these two halves into one word; the grammar reads two.
    if _JOINED_LINES.search(source):
        yield "a backslash at the end of a line joins two halves of a word"
    for node in nodes:
        doubt = _doubt_node(node)
        if doubt is not None:
            yield doubt


def _doubt_node(node: Node) -> str | None:
    if node.type == "test_command":
        return _doubt_test(node)
    if node.type in {"command", "word"}:
        differs = _spans_lines(node)
        return "the grammar and a shell see the ends of its lines differently" if differs else None
    # `${x@P}` runs the substitutions that are in x.
    if node.type == "expansion" and get_text(node).endswith(("@P}", "@E}")):
        return "a variable is expanded as a prompt"
    return None


def _doubt_test(node: Node) -> str | None:
    """`[[ 'a[$(…)]' -eq 0 ]]` evaluates the index of the array, although it is quoted."""
    quoted = (get_text(inner) for inner in walk(node) if inner.type == "raw_string")
    if any("$(" in text or "`" in text for text in quoted):
        return "a test evaluates a substitution that is quoted"
    return None


def _spans_lines(node: Node) -> bool:
    """A command goes on in the next line only behind a backslash; a bare word never does."""
    if node.type == "word":
        return "\n" in get_text(node).replace("\\\n", "")
    pairs = pairwise(node.children)
    gaps = (slice_text(node, one.end_byte, next_.start_byte) for one, next_ in pairs)
    return any("\n" in gap.replace("\\\n", "") for gap in gaps)
