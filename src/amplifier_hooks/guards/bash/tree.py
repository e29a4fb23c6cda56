"""The syntax tree of a script, as the grammar of tree-sitter for bash draws it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from amplifier_hooks.modules.extras import require

if TYPE_CHECKING:  # an optional package: `require` says what to install when it is missing
    from tree_sitter import Node, Tree

MAX_NODES = 10_000
MAX_DEPTH = 60


# The grammar's scanner looks characters up in tables of 256 entries; one far beyond them, as in
# `{\U0003b558`, ends the process. To bash all bytes from 0x80 on are just letters, so the grammar
# sees each as two letters that are in the tables, and `get_text` puts the bytes back.
_STAND_INS = {
    byte: chr(0xC0 + (byte >> 4 & 7)) + chr(0xE0 + (byte & 15)) for byte in range(128, 256)
}
_BYTES = {letters: chr(byte) for byte, letters in _STAND_INS.items()}


def parse_tree(script: str, owner: str) -> Tree:
    """Parse a script; what is no shell stands in the tree as an error."""
    source = script.encode(errors="replace")
    if not script.isascii():
        source = source.decode("latin-1").translate(_STAND_INS).encode()
    tree: Tree = _create_parser(owner).parse(source)
    return tree


def _restore(source: bytes) -> str:
    if source.isascii():
        return source.decode()
    # Two letters for a byte; half a pair, should the grammar ever cut one, is left as it is.
    written = re.sub("[À-Ç][à-ï]", lambda found: _BYTES[found[0]], source.decode(errors="replace"))
    return written.encode("latin-1", "replace").decode(errors="replace")


def ensure_available(owner: str) -> None:
    """Raise the ModuleLoadError with the sentence what to install, at mount rather than later."""
    _create_parser(owner)


def _create_parser(owner: str) -> Any:
    # One for each call: guards judge in threads, and a parser must not be shared between them.
    engine = require("tree_sitter", owner)
    return engine.Parser(_load_language(engine, require("tree_sitter_bash", owner)))


@cache
def _load_language(engine: Any, grammar: Any) -> Any:
    return engine.Language(grammar.language())


def get_text(node: Node) -> str:
    """The text of a node as it is written."""
    return _restore(node.text or b"")


def slice_text(node: Node, start: int, end: int) -> str:
    """The text between two positions of the script that both lie inside the node."""
    # A node knows its positions in the whole script, its own text begins at 0.
    offset = node.start_byte
    return _restore((node.text or b"")[start - offset : end - offset])


def list_nodes(root: Node) -> list[Node] | None:
    """All nodes in the order they are written; None when there are too many, or too deep."""
    nodes: list[Node] = []
    # A stack of our own: the depth of hostile input must not become the depth of our recursion.
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        nodes.append(node)
        if depth > MAX_DEPTH or len(nodes) > MAX_NODES:
            return None
        stack += [(child, depth + 1) for child in reversed(node.children)]
    return nodes


def walk(root: Node) -> Iterator[Node]:
    """The node and everything below it, in the order it is written."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)
