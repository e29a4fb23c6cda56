"""What a command is redirected to and from, and the words that the grammar takes for that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from amplifier_hooks.guards.bash.command import Redirect
from amplifier_hooks.guards.bash.tree import get_text, slice_text
from amplifier_hooks.guards.bash.word import Word, split_names
from amplifier_hooks.guards.bash.word_reader import read_word

if TYPE_CHECKING:
    from tree_sitter import Node

ARGUMENT_TYPES = split_names(
    "word number string raw_string ansi_c_string translated_string concatenation "
    "simple_expansion expansion command_substitution process_substitution "
    "arithmetic_expansion brace_expression regex extglob_pattern array test_operator"
)


def read_redirects(node: Node) -> tuple[Redirect, ...]:
    """The redirections of a command, those of the statements around it included."""
    return tuple(
        Redirect(_read_operator(child), _read_target(child))
        for statement in list_statements(node)
        for child in find_redirects(statement)
    )


def find_stray_words(nodes: Iterable[Node]) -> dict[int, list[Node]]:
    """`rm > log -rf /`: the grammar takes words behind a redirection for more targets of it.

    They are words of the last command before the redirection; the result is by its node's id.
    """
    strays: dict[int, list[Node]] = {}
    for node in nodes:
        if node.type in {"redirected_statement", "command"}:
            strays.setdefault(find_last_command(node).id, []).extend(_list_words_behind(node))
    return strays


def has_lost_dash(command: Node) -> bool:
    """`cat - <<EOF`: the grammar loses a dash that stands before a here-document."""
    around, behind = command.parent, command.next_sibling
    if around is None or behind is None or behind.type != "heredoc_redirect":
        return False
    return slice_text(around, command.end_byte, behind.start_byte).strip() == "-"


def _list_words_behind(statement: Node) -> Iterator[Node]:
    for redirect in find_redirects(statement):
        yield from _list_targets(redirect)[1:]
    # `rm <<EOF -rf /`: here the words became children of the here-document.
    for child in statement.children:
        if child.type == "heredoc_redirect":
            yield from (word for word in child.children if word.type in ARGUMENT_TYPES)


def find_last_command(node: Node) -> Node:
    """`a && b > log` redirects b alone, although the grammar hangs it above both."""
    while node.type in {"redirected_statement", "list", "negated_command", "pipeline"}:
        node = node.child_by_field_name("body") or node.named_children[-1]
    return node


def _list_targets(redirect: Node) -> list[Node]:
    return [c for c in redirect.children if c.is_named and c.type != "file_descriptor"]


def list_statements(node: Node) -> Iterator[Node]:
    """The node itself and the statements around it that redirect it."""
    yield node
    around = node.parent
    while around is not None:
        if around.type == "redirected_statement":
            yield around
        around = around.parent


def find_redirects(statement: Node) -> Iterator[Node]:
    """The redirections that stand directly at a statement."""
    for child in statement.children:
        if child.type in {"file_redirect", "herestring_redirect"}:
            yield child
        elif child.type == "heredoc_redirect":  # `cat <<EOF > log`: the second is inside the first
            yield from find_redirects(child)


def _read_operator(node: Node) -> str:
    signs = [child for child in node.children if not child.is_named]
    return get_text(signs[0]) if signs else "<<<"


def _read_target(node: Node) -> Word:
    targets = _list_targets(node)
    return read_word(targets[0]) if targets else Word(get_text(node), None)
