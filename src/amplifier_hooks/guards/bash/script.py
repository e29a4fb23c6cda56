"""A shell script read into the simple commands that it would run, in the order they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING

from amplifier_hooks.guards.bash.command import Command, name_program
from amplifier_hooks.guards.bash.doubts import list_doubts
from amplifier_hooks.guards.bash.streams.pipes import Programs, find_upstream
from amplifier_hooks.guards.bash.streams.redirects import (
    ARGUMENT_TYPES,
    find_stray_words,
    has_lost_dash,
    read_redirects,
)
from amplifier_hooks.guards.bash.streams.stdin import read_stdin
from amplifier_hooks.guards.bash.tree import get_text, list_nodes, parse_tree
from amplifier_hooks.guards.bash.variables.arithmetic import Evaluation, find_evaluation
from amplifier_hooks.guards.bash.variables.declarations import list_assigned, read_declarations
from amplifier_hooks.guards.bash.word import Word, create_literal
from amplifier_hooks.guards.bash.word_reader import read_word

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_LENGTH = 100_000


@dataclass(frozen=True, slots=True)
class Script:
    """The commands, and the sentences saying what could not be understood."""

    commands: tuple[Command, ...]
    unclear: tuple[str, ...] = ()
    functions: frozenset[str] = field(default_factory=frozenset)
    evaluation: Evaluation = field(default_factory=Evaluation)
    whole: bool = True
    """Whether the commands are all that there are: else it is too long, or goes too deep."""


def join_scripts(scripts: Iterable[Script]) -> Script:
    """Several scripts as one."""
    parts = list(scripts)
    return Script(
        tuple(command for part in parts for command in part.commands),
        tuple(reason for part in parts for reason in part.unclear),
        frozenset(name for part in parts for name in part.functions),
        reduce(Evaluation.join, (part.evaluation for part in parts), Evaluation()),
        all(part.whole for part in parts),
    )


def parse_script(source: str, owner: str = "shell parsing") -> Script:
    """Read a script. Never raises on its text: what cannot be read is in `unclear`."""
    if len(source) > MAX_LENGTH:
        why = f"a command of {len(source)} letters is too long to be judged"
        return Script((), (why,), whole=False)
    root = parse_tree(source, owner).root_node
    nodes = list_nodes(root)
    if nodes is None:
        why = "the command has too many parts, or they are nested too deep"
        return Script((), (why,), whole=False)
    strays = find_stray_words(nodes)
    written = Script(
        (*_read_commands(nodes, strays), *read_declarations(nodes, strays)),
        tuple(list_doubts(source, root, nodes)),
        frozenset(_read_function_name(n) for n in nodes if n.type == "function_definition"),
        find_evaluation(nodes),
    )
    hidden = join_scripts(parse_script(text, owner) for text in _list_expanding_texts(nodes))
    # A function that a here-document defines is defined nowhere.
    return replace(join_scripts([written, hidden]), functions=written.functions)


def _read_commands(nodes: list[Node], strays: Mapping[int, list[Node]]) -> Iterator[Command]:
    upstream = find_upstream(nodes)
    defined = _find_definitions(nodes[0])
    for node in nodes:
        if node.type == "command":
            command = _read_command(node, upstream.get(node.id, ()), strays.get(node.id, ()))
            begin = defined.get(command.program or "", node.end_byte)
            yield replace(command, calls_function=begin < node.start_byte)


def _find_definitions(root: Node) -> dict[str, int]:
    """Where functions are surely defined: not in a subshell, a condition or the background."""
    found: dict[str, int] = {}
    for node in root.children:
        behind = node.next_sibling
        if node.type == "function_definition" and (behind is None or behind.type != "&"):
            found.setdefault(_read_function_name(node), node.start_byte)
    return found


def _read_command(node: Node, upstream: Programs, strays: Iterable[Node]) -> Command:
    name = node.child_by_field_name("name")
    lost = (create_literal("-"),) if has_lost_dash(node) else ()
    return Command(
        program=None if name is None else name_program(read_word(name)),
        words=(*_read_arguments(node), *lost, *(read_word(word) for word in strays)),
        text=get_text(node),
        assigns=tuple(list_assigned(node)),
        redirects=read_redirects(node),
        piped_from=upstream,
        stdin=read_stdin(node, upstream),
    )


def _read_arguments(node: Node) -> Iterator[Word]:
    for child in node.children_by_field_name("argument"):
        if child.type in ARGUMENT_TYPES or not child.is_named:
            yield read_word(child)
        else:
            yield Word(get_text(child), None)


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
