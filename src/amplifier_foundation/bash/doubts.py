"""Where the grammar and a shell may read a script differently: sentences that say why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from amplifier_foundation.bash.streams.heredocs import doubt_heredocs
from amplifier_foundation.bash.streams.redirects import ARGUMENT_TYPES, has_lost_dash
from amplifier_foundation.bash.tree import get_text, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_ODD_LETTERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\x85\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]"
    r"|[\ud800-\udfff]"
)
_DESCRIPTOR = re.compile(rb"(?:^|[\s;&|(){}])[0-9]+$|\{[A-Za-z_][A-Za-z0-9_]*\}$")
_TAKEN_AS_THEY_ARE = frozenset(
    {"raw_string", "ansi_c_string", "comment", "heredoc_body", "heredoc_content", "heredoc_start"}
)
_TEXTS = frozenset({"string", "translated_string", "heredoc_body", "regex"})
# What the parts of these make together is read by those who read them.
_JOINING = frozenset(
    {"concatenation", "command_name", "expansion", "simple_expansion", "brace_expression"}
    | {"declaration_command", "unset_command", "subscript"}
)
_WORDS = ARGUMENT_TYPES | {"command_name", "variable_assignment", "variable_name"}
_LONGEST_NAME = 200
_JOINED_LINES = re.compile(r"[^\s\\]\\\n\S")


def list_doubts(source: str, root: Node, nodes: Sequence[Node]) -> Iterator[str]:
    """Why the script cannot be read for certain; nothing when it can."""
    if root.has_error:
        yield "the command does not parse as shell"
    if odd := _ODD_LETTERS.search(source):
        yield f"it holds the invisible letter U+{ord(odd[0]):04X}"
    # A shell joins these two halves into one word; the grammar reads two.
    if _JOINED_LINES.search(source):
        yield "a backslash at the end of a line joins two halves of a word"
    text = root.text or b""
    yield from doubt_heredocs(nodes, text, root.start_byte)
    for node in nodes:
        yield from _doubt_gaps(node, text, root.start_byte)
        yield from _doubt_node(node, text[: node.start_byte - root.start_byte])


def _doubt_gaps(node: Node, text: bytes, offset: int) -> Iterator[str]:
    """Between the parts of a node stands nothing that a shell would read."""
    if node.type in _TEXTS:
        return
    ends = [node.start_byte, *(child.end_byte for child in node.children)]
    starts = [*(child.start_byte for child in node.children), node.end_byte]
    for end, start in zip(ends, starts, strict=True) if node.children else ():
        gap = text[end - offset : start - offset].replace(b"\\\n", b"")
        lost = gap.strip(b" \t\n")
        # `git commit -F - <<EOF`: the grammar loses this word, `has_lost_dash` finds it.
        if lost and not (lost == b"-" and any(map(has_lost_dash, node.children))):
            yield "the grammar overlooks a part of it"
        elif node.type == "command" and b"\n" in gap:
            yield "the grammar and a shell see the ends of its lines differently"
    if node.type not in _JOINING and any(_are_one_word(*pair) for pair in pairwise(node.children)):
        yield "the grammar takes one word for two"


def _are_one_word(one: Node, other: Node) -> bool:
    """`a'b'\\c`: what stands without a gap between is one word to a shell."""
    both = one.type in _WORDS and other.type in _WORDS
    return both and one.end_byte == other.start_byte


def _doubt_node(node: Node, before: bytes) -> Iterator[str]:
    kind = node.type
    if kind == "test_command":
        yield from _doubt_test(node)
    elif kind == "word" and "\n" in get_text(node).replace("\\\n", ""):
        yield "the grammar and a shell see the ends of its lines differently"
    elif kind == "file_redirect" and _DESCRIPTOR.search(before[-_LONGEST_NAME:]):
        # `bash 0<x` and `exec {x}>y`: the grammar takes what names the descriptor for a word.
        yield "a number or name stands directly before a redirection"
    elif kind == "command_substitution" and _is_backquoted_twice(get_text(node)):
        yield "a backslash inside backquotes changes what they run"
    # `${x@P}` runs the substitutions that are in x.
    elif kind == "expansion" and get_text(node).endswith(("@P}", "@E}")):
        yield "a variable is expanded as a prompt"
    if not node.children and _overlooks_substitution(node):
        yield "the grammar overlooks a substitution"


def _doubt_test(node: Node) -> Iterator[str]:
    """`[[ 'a[$(…)]' -eq 0 ]]` evaluates the index of the array, although it is quoted."""
    quoted = (get_text(inner) for inner in walk(node) if inner.type == "raw_string")
    if any("$(" in text or "`" in text for text in quoted):
        yield "a test evaluates a substitution that is quoted"


def _is_backquoted_twice(text: str) -> bool:
    """Before it runs the text a shell takes backslashes out of it; the grammar does not."""
    return text.startswith("`") and "\\" in text


def _overlooks_substitution(node: Node) -> bool:
    """Whether text that has no parts holds one nevertheless, as a regular expression may."""
    if node.type in _TAKEN_AS_THEY_ARE or not node.is_named:
        return False
    text = re.sub(r"\\.", "", get_text(node), flags=re.DOTALL)
    return any(sign in text for sign in ("$(", "`", "${", "$[", "<(", ">("))
