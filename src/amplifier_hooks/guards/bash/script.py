"""A shell script read into the simple commands that it would run, in the order they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from amplifier_hooks.guards.bash.commands import STAYING, Command, Ways, name_program
from amplifier_hooks.guards.bash.movements import find_movements
from amplifier_hooks.guards.bash.redirections import (
    ARGUMENT_TYPES,
    Programs,
    doubt_heredocs,
    find_stray_words,
    find_upstream,
    has_lost_dash,
    read_redirects,
    read_stdin,
)
from amplifier_hooks.guards.bash.variables import (
    Evaluation,
    find_evaluation,
    list_assigned,
    read_declarations,
)
from amplifier_hooks.guards.bash.words import (
    Word,
    create_literal,
    get_text,
    list_nodes,
    parse_tree,
    read_word,
    walk,
)

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
_ONE_LINE = frozenset(
    {"command", "declaration_command", "unset_command", "redirected_statement"}
    | {"file_redirect", "herestring_redirect"}
)
_WITHOUT_GAPS = frozenset({"variable_assignment", "concatenation", "command_name"})
# What the parts of these make together is read by those who read them.
_JOINING = frozenset(
    {"concatenation", "command_name", "expansion", "simple_expansion", "brace_expression"}
    | {"declaration_command", "unset_command", "subscript"}
)
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_WORDS = ARGUMENT_TYPES | {"command_name", "variable_assignment", "variable_name"}
_PLAIN_TARGET = re.compile(r"[A-Za-z0-9_./:@%+,-]+(?:[ \t].*)?", re.DOTALL)
_SPACED_BRACKETS = re.compile(r"\[[ \t].*[ \t]\]", re.DOTALL)
_SEPARATORS = frozenset({"&&", "||", "<", ">", "<<", ">>", ";", "|", "&", "(", ")"})
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
        yield from _doubt_gap(node, text[end - offset : start - offset])
    if node.type not in _JOINING and any(_are_one_word(*pair) for pair in pairwise(node.children)):
        yield "the grammar takes one word for two"


def _doubt_gap(node: Node, gap: bytes) -> Iterator[str]:
    bare = gap.replace(b"\\\n", b"")
    lost = bare.strip(b" \t\n")
    # `git commit -F - <<EOF`: the grammar loses this word, `has_lost_dash` finds it.
    if lost and not (lost == b"-" and any(map(has_lost_dash, node.children))):
        yield "the grammar overlooks a part of it"
    elif (node.type in _ONE_LINE and b"\n" in bare) or (node.type in _WITHOUT_GAPS and gap):
        yield "the grammar and a shell see the ends of its lines differently"


def _are_one_word(one: Node, other: Node) -> bool:
    """`a'b'\\c`: what stands without a gap between is one word to a shell."""
    both = one.type in _WORDS and other.type in _WORDS
    return both and one.end_byte == other.start_byte


def _doubt_node(node: Node, before: bytes) -> Iterator[str]:
    if node.type == "file_redirect" and _DESCRIPTOR.search(before[-_LONGEST_NAME:]):
        # `bash 0<x` and `exec {x}>y`: the grammar takes what names the descriptor for a word.
        yield "a number or name stands directly before a redirection"
    doubting = _DOUBTING.get(node.type)
    if doubting is not None:
        yield from doubting(node)
    if not node.children and _overlooks_substitution(node):
        yield "the grammar overlooks a substitution"


def _doubt_word(node: Node) -> Iterator[str]:
    if "\n" in get_text(node).replace("\\\n", ""):
        yield "the grammar and a shell see the ends of its lines differently"


def _doubt_substitution(node: Node) -> Iterator[str]:
    text = get_text(node)
    # Before it runs the text a shell takes backslashes out of it; the grammar does not.
    if text.startswith("`") and "\\" in text:
        yield "a backslash inside backquotes changes what they run"
    if text.startswith("$(("):
        yield "the grammar takes arithmetic for a command"


def _doubt_expansion(node: Node) -> Iterator[str]:
    # `${x@P}` runs the substitutions that are in x.
    if get_text(node).endswith(("@P}", "@E}")):
        yield "a variable is expanded as a prompt"


def _doubt_redirect(node: Node) -> Iterator[str]:
    """`ls >&'a[$(id)]'` runs id: bash expands the name of the file once more."""
    operator, _, target = get_text(node).partition("&")
    if operator.endswith((">", "<")) and not _PLAIN_TARGET.fullmatch(target.strip(" \t")):
        yield "a name behind >& is expanded twice"


def _doubt_quotes(node: Node) -> Iterator[str]:
    """`"${x:-'$(id)'}"` runs id: the single quotes are letters like any other."""
    around = node.parent
    while around is not None and around.type not in _SUBSTITUTIONS:
        if around.type in {"string", "translated_string", "heredoc_body"}:
            yield "single quotes inside double quotes do not quote"
            return
        around = around.parent


def _doubt_test(node: Node) -> Iterator[str]:
    """`[[ 'a[$(…)]' -eq 0 ]]` evaluates the index of the array, although it is quoted."""
    quoted = (get_text(inner) for inner in walk(node) if inner.type == "raw_string")
    if any("$(" in text or "`" in text for text in quoted):
        yield "a test evaluates a substitution that is quoted"
    if not get_text(node).startswith("[[") and not _is_plain_bracket(node):
        yield "the grammar takes for a test what a shell reads as commands"


def _is_plain_bracket(node: Node) -> bool:
    """`[` is a command like any other: `[ a && b ]` runs `b ]`, and `[f]` is a wildcard."""
    text = get_text(node)
    signs = {inner.type for inner in _walk_expressions(node)}
    return bool(_SPACED_BRACKETS.fullmatch(text)) and "\n" not in text and not signs & _SEPARATORS


def _walk_expressions(node: Node) -> Iterator[Node]:
    """The parts of a test, but not what is inside its words."""
    for child in node.children:
        yield child
        if child.type.endswith("_expression"):
            yield from _walk_expressions(child)


def _overlooks_substitution(node: Node) -> bool:
    """Whether text that has no parts holds one nevertheless, as a regular expression may."""
    if node.type in _TAKEN_AS_THEY_ARE or not node.is_named:
        return False
    text = re.sub(r"\\.", "", get_text(node), flags=re.DOTALL)
    return any(sign in text for sign in ("$(", "`", "${", "$[", "<(", ">("))


_DOUBTING: Mapping[str, Callable[[Node], Iterator[str]]] = {
    "file_redirect": _doubt_redirect,
    "test_command": _doubt_test,
    "word": _doubt_word,
    "command_substitution": _doubt_substitution,
    "expansion": _doubt_expansion,
    "raw_string": _doubt_quotes,
    "ansi_c_string": _doubt_quotes,
}


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


_BACKQUOTED = re.compile(r"`([^`\\'\"$()#<;&]*)`")


def separate_backquotes(source: str) -> str:
    """`` `a` `b` `` as `$(a) $(b)`, where that surely is the same: the grammar sees one there."""
    quoted = any("`" in text for text in re.findall(r"'[^']*'", source))
    odd = quoted or "\\" in source or "<<" in source or "#" in source or "$'" in source
    if source.count("`") < 4 or odd:
        return source
    separated = _BACKQUOTED.sub(r"$(\1)", source)
    return source if "`" in separated else separated


def parse_script(source: str, owner: str = "shell parsing") -> Script:
    """Read a script. Never raises on its text: what cannot be read is in `unclear`."""
    if len(source) > MAX_LENGTH:
        why = f"a command of {len(source)} letters is too long to be judged"
        return Script((), (why,), whole=False)
    source = separate_backquotes(source)
    root = parse_tree(source, owner).root_node
    nodes = list_nodes(root)
    if nodes is None:
        why = "the command has too many parts, or they are nested too deep"
        return Script((), (why,), whole=False)
    strays = find_stray_words(nodes)
    ways = find_movements(nodes[0])
    stays = all(one == STAYING for one in ways.values())
    declared = read_declarations(nodes, strays)
    written = Script(
        (
            *_read_commands(nodes, strays, ways),
            *(one if stays else one.run_behind(None) for one in declared),
        ),
        tuple(list_doubts(source, root, nodes)),
        frozenset(_read_function_name(n) for n in nodes if n.type == "function_definition"),
        find_evaluation(nodes),
    )
    hidden = join_scripts(parse_script(text, owner) for text in _list_expanding_texts(nodes))
    if not stays:
        behind = tuple(one.run_behind(None) for one in hidden.commands)
        hidden = replace(hidden, commands=behind)
    # A function that a here-document defines is defined nowhere.
    return replace(join_scripts([written, hidden]), functions=written.functions)


def _read_commands(
    nodes: list[Node], strays: Mapping[int, list[Node]], ways: Mapping[int, Ways | None]
) -> Iterator[Command]:
    upstream = find_upstream(nodes)
    defined = _find_definitions(nodes[0])
    for node in nodes:
        if node.type == "command":
            command = _read_command(node, upstream.get(node.id, ()), strays.get(node.id, ()))
            begin = defined.get(command.program or "", node.end_byte)
            yield replace(command, calls_function=begin < node.start_byte, ways=ways.get(node.id))


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
