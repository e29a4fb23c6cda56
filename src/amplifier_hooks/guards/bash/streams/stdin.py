"""The text that a command reads from its input, when the script itself holds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplifier_hooks.guards.bash.streams.pipes import Programs
from amplifier_hooks.guards.bash.streams.redirects import find_last_command, list_statements
from amplifier_hooks.guards.bash.tree import get_text, walk
from amplifier_hooks.guards.bash.word import Word
from amplifier_hooks.guards.bash.word_reader import read_word

if TYPE_CHECKING:
    from tree_sitter import Node

_REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})


def read_stdin(node: Node, upstream: Programs) -> Word | None:
    """The here-document or here-string that is the command's whole input; otherwise None.

    Of several inputs the last one counts, and of one that a group of commands shares, the others
    may have read a part: then nothing is certain.
    """
    own = list(_list_inputs(node))
    if len(own) == 1:
        return _read_text(own[0])
    return _read_from_cat(node) if not own and upstream == ("cat",) else None


def _read_from_cat(node: Node) -> Word | None:
    """`cat <<EOF | sh`: the grammar puts the rest of the pipe into the here-document."""
    around = node.parent
    while around is not None and around.type in {"redirected_statement", "pipeline"}:
        around = around.parent
    if around is None or around.type != "heredoc_redirect" or around.parent is None:
        return None
    body = around.parent.child_by_field_name("body")
    if body is None or get_text(body) != "cat" or len(list(_list_inputs(body))) != 1:
        return None
    return _read_text(around)


def _list_inputs(node: Node) -> Iterator[Node]:
    """The redirections of this very command that change its input."""
    for statement in list_statements(node):
        if statement == node or find_last_command(statement) == node:
            yield from (one for one in _list_redirects(statement) if _is_input(one))


def _list_redirects(statement: Node) -> Iterator[Node]:
    for child in statement.children:
        if child.type in _REDIRECTS:
            yield child
        if child.type == "heredoc_redirect":  # `cat <<EOF < f`: the second is inside the first
            yield from _list_redirects(child)


def _is_input(redirect: Node) -> bool:
    text = get_text(redirect)
    descriptor = text[: len(text) - len(text.lstrip("0123456789"))]
    return descriptor.strip("0") == "" if descriptor else text.startswith("<")


def _read_text(redirect: Node) -> Word | None:
    if redirect.type == "heredoc_redirect":
        bodies = [inner for inner in walk(redirect) if inner.type == "heredoc_body"]
        return _read_heredoc(redirect, bodies[0]) if len(bodies) == 1 else None
    if redirect.type == "herestring_redirect":
        words = [child for child in redirect.children if child.is_named]
        return read_word(words[-1]) if words else None
    return None


def _read_heredoc(redirect: Node, body: Node) -> Word:
    """Behind `<<'EOF'` the text is as it stands; otherwise a backslash or a dollar changes it."""
    text = get_text(body)
    mark = "".join(get_text(c) for c in redirect.children if c.type == "heredoc_start")
    expands = not set(mark) & set("'\"\\") and bool(set(text) & set("$`\\"))
    indented = get_text(redirect).lstrip("0").startswith("<<-") and "\t" in text
    return Word(text, None if expands or indented or body.named_children else text)
