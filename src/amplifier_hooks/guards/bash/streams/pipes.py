"""Which programs stand before a command in its pipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from amplifier_hooks.guards.bash.tree import walk
from amplifier_hooks.guards.bash.word_reader import read_word

if TYPE_CHECKING:
    from tree_sitter import Node

Programs = tuple[str | None, ...]


def find_upstream(nodes: Iterable[Node]) -> dict[int, Programs]:
    """By a command's node id, the programs whose output it can read through a pipe."""
    upstream: dict[int, Programs] = {}
    for node in nodes:
        # `cat <<EOF | sh`: here the rest of the pipe is part of the here-document.
        if node.type not in {"pipeline", "heredoc_redirect"}:
            continue
        before = _list_programs_before(node) if node.type == "heredoc_redirect" else {}
        for child in node.children:
            _add_upstream(child, tuple(before), upstream)
            before |= dict.fromkeys(_list_programs(child))
    return upstream


def _add_upstream(node: Node, before: Programs, upstream: dict[int, Programs]) -> None:
    if before:
        for inner in walk(node):
            if inner.type == "command":
                upstream[inner.id] = (*before, *upstream.get(inner.id, ()))


def _list_programs_before(node: Node) -> dict[str | None, None]:
    """The command that a here-document belongs to stands before it."""
    siblings = node.parent.children if node.parent is not None else []
    earlier = (child for child in siblings if child.start_byte < node.start_byte)
    return dict.fromkeys(name for child in earlier for name in _list_programs(child))


def _list_programs(node: Node) -> Iterator[str | None]:
    for inner in walk(node):
        if inner.type == "command_name":
            yield read_word(inner).value
