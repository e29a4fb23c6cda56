"""Redirections, pipes and here-documents: where input comes from, and where output goes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from amplifier_hooks.guards.bash.commands import Redirect
from amplifier_hooks.guards.bash.words import (
    Word,
    get_text,
    read_word,
    slice_text,
    split_names,
    walk,
)

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
    around = command.parent
    behind = command.next_sibling
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
