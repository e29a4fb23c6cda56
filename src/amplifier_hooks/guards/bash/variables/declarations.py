"""What runs no program, but sets a name or empties a file: `PATH=…`, `export …`, `> file`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.streams.redirects import read_redirects
from amplifier_hooks.guards.bash.tree import get_text
from amplifier_hooks.guards.bash.variables.arithmetic import list_computed_names, list_expressions
from amplifier_hooks.guards.bash.word import Word
from amplifier_hooks.guards.bash.word_reader import read_word

if TYPE_CHECKING:
    from tree_sitter import Node

_DECLARING = frozenset({"declaration_command", "unset_command"})


def read_declarations(nodes: Iterable[Node], strays: Mapping[int, list[Node]]) -> Iterator[Command]:
    """Each as a command; its program is `export`, `declare` …, or the shell's no-operation."""
    for node in nodes:
        if node.type in _DECLARING:
            words = (*_read_words(node), *(read_word(word) for word in strays.get(node.id, ())))
            yield _create(node, get_text(node.children[0]), tuple(list_assigned(node)), words)
        elif node.type == "test_command" and not get_text(node).startswith("[["):
            yield _create(node, "[", words=tuple(_list_operands(node)))
        elif _is_bare_redirect(node):
            yield _create(node, ":")
        names = (*_list_names(node), *_list_computed(node))
        if names:
            yield _create(node, ":", names)


def list_assigned(node: Node) -> Iterator[str]:
    """The names that stand before a command, or behind `export` and its like."""
    for child in node.children:
        if child.type == "variable_assignment":
            yield read_assigned_name(child)


def read_assigned_name(node: Node) -> str:
    """`a[1]=x` assigns to a."""
    name = node.child_by_field_name("name")
    return "" if name is None else get_text(name).partition("[")[0]


def _create(
    node: Node, program: str, assigns: tuple[str, ...] = (), words: tuple[Word, ...] = ()
) -> Command:
    return Command(
        program=program,
        words=words,
        text=get_text(node),
        assigns=assigns,
        redirects=read_redirects(node),
    )


def _is_bare_redirect(node: Node) -> bool:
    return node.type == "redirected_statement" and node.child_by_field_name("body") is None


def _list_names(node: Node) -> tuple[str, ...]:
    if node.type == "variable_assignment":
        around = node.parent.type if node.parent is not None else ""
        alone = around != "command" and around not in _DECLARING
        return (read_assigned_name(node),) if alone else ()
    if node.type == "for_statement":  # `select`, too
        name = node.child_by_field_name("variable")
        return () if name is None else (get_text(name),)
    if node.type == "expansion":
        return _list_defaulted(node)
    return ()


def _list_computed(node: Node) -> Iterator[str]:
    """`((NAME = 1))`, and arithmetic anywhere else."""
    for expression in list_expressions(node):
        yield from list_computed_names(expression)


def _list_defaulted(node: Node) -> tuple[str, ...]:
    """`${NAME:=x}`."""
    signs = {get_text(child) for child in node.children if not child.is_named}
    first = next((child for child in node.children if child.is_named), None)
    if first is None or not signs & {"=", ":="}:
        return ()
    return (get_text(first).partition("[")[0],)


def _list_operands(node: Node) -> Iterator[Word]:
    """The words between `[` and `]`, which the grammar reads as an expression."""
    for child in node.children[1:-1] if node.type == "test_command" else node.children:
        if child.type.endswith("_expression"):
            yield from _list_operands(child)
        else:
            yield read_word(child)


def _read_words(node: Node) -> tuple[Word, ...]:
    """The words behind the program; what stands without a gap between is one word."""
    words: list[Word] = []
    end = -1
    for child in node.children[1:]:
        word = _read_part(child)
        if child.start_byte == end and words:
            word = _join_words(words.pop(), word)
        words.append(word)
        end = child.end_byte
    return tuple(words)


def _read_part(node: Node) -> Word:
    if node.type != "variable_assignment":
        text = get_text(node)
        return Word(text, text) if node.type == "variable_name" else read_word(node)
    value = node.child_by_field_name("value")
    text = get_text(node)
    if value is None:
        return Word(text, text)
    read = read_word(value)
    name = text[: len(text) - len(get_text(value))]
    return Word(text, None if read.value is None else name + read.value)


def _join_words(one: Word, other: Word) -> Word:
    known = one.value is not None and other.value is not None
    value = f"{one.value}{other.value}" if known else None
    return Word(one.raw + other.raw, value, glob=one.glob or other.glob)
