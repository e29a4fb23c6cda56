"""A shell script read into the simple commands that it would run, in the order they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amplifier_foundation.bash.command import Command, name_program
from amplifier_foundation.bash.doubts import list_doubts
from amplifier_foundation.bash.pipes import Programs, find_upstream
from amplifier_foundation.bash.redirects import (
    ARGUMENT_TYPES,
    find_stray_words,
    read_redirects,
    read_stdin,
)
from amplifier_foundation.bash.tree import get_text, list_nodes, parse_tree
from amplifier_foundation.bash.word import Word
from amplifier_foundation.bash.word_reader import read_word

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_LENGTH = 100_000
_DECLARING = frozenset({"declaration_command", "unset_command"})


@dataclass(frozen=True, slots=True)
class Script:
    """The commands, and the sentences saying what could not be understood."""

    commands: tuple[Command, ...]
    unclear: tuple[str, ...] = ()
    functions: frozenset[str] = field(default_factory=frozenset)


def join_scripts(scripts: Iterable[Script]) -> Script:
    """Several scripts as one."""
    parts = list(scripts)
    return Script(
        tuple(command for part in parts for command in part.commands),
        tuple(reason for part in parts for reason in part.unclear),
        frozenset(name for part in parts for name in part.functions),
    )


def parse_script(source: str, owner: str = "shell parsing") -> Script:
    """Read a script. Never raises on its text: what cannot be read is in `unclear`."""
    if len(source) > MAX_LENGTH:
        return Script((), (f"a command of {len(source)} letters is too long to be judged",))
    root = parse_tree(source, owner).root_node
    nodes = list_nodes(root)
    if nodes is None:
        return Script((), ("the command has too many parts, or they are nested too deep",))
    written = Script(
        (*_read_commands(nodes), *(_read_declaration(n) for n in nodes if _is_declaration(n))),
        tuple(list_doubts(source, root, nodes)),
        frozenset(_read_function_name(n) for n in nodes if n.type == "function_definition"),
    )
    hidden = join_scripts(parse_script(text, owner) for text in _list_expanding_texts(nodes))
    # A function that a here-document defines is defined nowhere.
    return Script(
        written.commands + hidden.commands, written.unclear + hidden.unclear, written.functions
    )


def _read_commands(nodes: list[Node]) -> Iterator[Command]:
    upstream = find_upstream(nodes)
    strays = find_stray_words(nodes)
    for node in nodes:
        if node.type == "command":
            yield _read_command(node, upstream.get(node.id, ()), strays.get(node.id, ()))


def _read_command(node: Node, upstream: Programs, strays: Iterable[Node]) -> Command:
    name = node.child_by_field_name("name")
    redirects = read_redirects(node)
    return Command(
        program=None if name is None else name_program(read_word(name)),
        words=(*_read_arguments(node), *(read_word(word) for word in strays)),
        text=get_text(node),
        assigns=tuple(_list_assigned(node)),
        redirects=redirects,
        piped_from=upstream,
        stdin=read_stdin(node, redirects),
    )


def _read_arguments(node: Node) -> Iterator[Word]:
    for child in node.children_by_field_name("argument"):
        if child.type in ARGUMENT_TYPES or not child.is_named:
            yield read_word(child)
        else:
            yield Word(get_text(child), None)


def _is_declaration(node: Node) -> bool:
    """What runs no program, but sets a name or empties a file: `PATH=…`, `export …`, `> file`."""
    if node.type == "redirected_statement":
        return node.child_by_field_name("body") is None
    if node.type == "variable_assignment":
        around = node.parent.type if node.parent is not None else ""
        return around != "command" and around not in _DECLARING
    return node.type in _DECLARING


def _read_declaration(node: Node) -> Command:
    """Its program is `export`, `declare` …, or else the shell's own no-operation."""
    alone = node.type == "variable_assignment"
    return Command(
        program=get_text(node.children[0]) if node.type in _DECLARING else ":",
        text=get_text(node),
        assigns=(_read_assigned_name(node),) if alone else tuple(_list_assigned(node)),
        redirects=read_redirects(node),
    )


def _list_assigned(node: Node) -> Iterator[str]:
    for child in node.children:
        if child.type == "variable_assignment":
            yield _read_assigned_name(child)


def _read_assigned_name(node: Node) -> str:
    name = node.child_by_field_name("name")
    return "" if name is None else get_text(name).partition("[")[0]  # `a[1]=x` assigns to a


def _read_function_name(node: Node) -> str:
    name = node.child_by_field_name("name")
    return "" if name is None else get_text(name)


def _list_expanding_texts(nodes: Iterable[Node]) -> Iterator[str]:
    """Here-documents with substitutions, as strings: the grammar overlooks some of them."""
    for node in nodes:
        if node.type == "heredoc_redirect" and not _is_quoted_heredoc(node):
            bodies = (get_text(child) for child in node.children if child.type == "heredoc_body")
            # Quotes mean nothing in a here-document; in the string they would end it.
            yield from (f': "{text.replace(chr(34), "")}"' for text in bodies if _expands(text))


def _is_quoted_heredoc(node: Node) -> bool:
    """Behind `<<'EOF'` the text is taken as it is."""
    starts = [get_text(child) for child in node.children if child.type == "heredoc_start"]
    return any(sign in start for start in starts for sign in "'\"\\")


def _expands(text: str) -> bool:
    return "$(" in text or "`" in text
