"""Which `cd` each command of a script runs behind, as the structure of the script tells.

A subshell, a pipeline and the background keep their `cd` to themselves; behind `cd a &&` and
`cd a;` is a. Where loops, functions or texts move the shell, nothing is said of what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_hooks.guards.bash.commands import STAYING, Command, Way, Ways
from amplifier_hooks.guards.bash.words import get_text, read_word, split_names, walk
from amplifier_hooks.guards.bash.workspace import HOME_WORD, Workspace

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_WAYS = 8
_CHANGERS = frozenset({"cd", "chdir", "pushd"})
# What these run, or where they go, is not in sight here.
_ELUSIVE = split_names("popd command builtin eval source . alias exec trap enable")
_APART = split_names("subshell command_substitution process_substitution")
_LOOPS = split_names("for_statement while_statement c_style_for_statement")
_BRANCHES = split_names("if_statement elif_clause else_clause case_statement case_item")
_LEAVING = split_names("exit return")


def find_movements(root: Node) -> dict[int, Ways | None]:
    """The ways to each command, by the id of its node; None where they are not known."""
    trace = _Trace()
    trace.visit(root, None if _is_elusive(root) else STAYING)
    return trace.found


def _is_elusive(root: Node) -> bool:
    """Whether a function may move the shell, or a variable says what `cd x` means."""
    for node in walk(root):
        if node.type == "function_definition" and any(map(_may_move, walk(node))):
            return True
        if node.type == "variable_assignment" and get_text(node).startswith("CDPATH"):
            return True
    return False


def _may_move(node: Node) -> bool:
    if node.type != "command":
        return False
    name = _read_name(node)
    return name is None or name in _CHANGERS | _ELUSIVE


def _read_name(node: Node) -> str | None:
    name = node.child_by_field_name("name")
    return None if name is None else read_word(name).value


@dataclass
class _Trace:
    """Follows a script in the order in which it runs."""

    found: dict[int, Ways | None] = field(default_factory=dict)

    def visit(self, node: Node, ways: Ways | None, *, passed: bool = False) -> Ways | None:
        """The ways behind a node, if these lead to it; `passed` says that it succeeded."""
        if node.type == "list":
            return self._visit_list(node, ways, passed=passed)
        visit = _VISITS.get(node.type)
        if visit is not None:
            return visit(self, node, ways)
        return self._visit_all(node.children, ways)

    def visit_command(self, node: Node, ways: Ways | None) -> Ways | None:
        """A `cd` leads on."""
        self.found[node.id] = ways
        self._visit_all(node.children, ways)
        name = _read_name(node)
        if name is None or name in _ELUSIVE:
            return None
        return _move(node, ways) if name in _CHANGERS else ways

    def visit_pipeline(self, node: Node, ways: Ways | None) -> Ways | None:
        """Each part is a shell of its own."""
        for child in node.children:
            self.visit(child, ways)
        return ways

    def visit_apart(self, node: Node, ways: Ways | None) -> Ways | None:
        """So is a subshell."""
        self._visit_all(node.children, ways)
        return ways

    def visit_function(self, node: Node, ways: Ways | None) -> Ways | None:
        """Where a function runs is not known here."""
        self._visit_all(node.children, None)
        return ways

    def visit_branch(self, node: Node, ways: Ways | None) -> Ways | None:
        """What is inside may run, or may not."""
        return _join(ways, self._visit_all(node.children, ways))

    def visit_loop(self, node: Node, ways: Ways | None) -> Ways | None:
        """If the first round moves the shell, the second begins elsewhere."""
        after = self._visit_all(node.children, ways)
        if after == ways:
            return ways
        self._visit_all(node.children, None)
        return None

    def _visit_all(self, nodes: Sequence[Node], ways: Ways | None) -> Ways | None:
        for at, node in enumerate(nodes):
            after = self.visit(node, ways)
            following = nodes[at + 1] if at + 1 < len(nodes) else None
            is_apart = following is not None and following.type == "&"
            ways = ways if is_apart else after
        return ways

    def _visit_list(self, node: Node, ways: Ways | None, *, passed: bool) -> Ways | None:
        left = node.children[0]
        right = node.children[-1]
        if node.children[1].type == "&&":
            between = self.visit(left, ways, passed=True)
            after = self.visit(right, between, passed=passed)
            if passed or _only_moves(left):
                return after
            return _join(_join(ways, between), after)
        between = self.visit(left, ways)
        after = self.visit(right, _join(ways, between))
        return between if _leaves(right) else _join(between, after)


_VISITS: Mapping[str, Callable[[_Trace, Node, Ways | None], Ways | None]] = {
    "command": _Trace.visit_command,
    "pipeline": _Trace.visit_pipeline,
    "function_definition": _Trace.visit_function,
    **dict.fromkeys(_APART, _Trace.visit_apart),
    **dict.fromkeys(_BRANCHES, _Trace.visit_branch),
    **dict.fromkeys(_LOOPS, _Trace.visit_loop),
}


def _join(one: Ways | None, other: Ways | None) -> Ways | None:
    if one is None or other is None or len(one | other) > _MOST_WAYS:
        return None
    return one | other


def _only_moves(node: Node) -> bool:
    """`cd a` and `cd a && cd b`, which succeed where these folders are."""
    commands = [one for one in walk(node) if one.type == "command"]
    return all(_read_name(one) in _CHANGERS for one in commands)


def _leaves(node: Node) -> bool:
    """`|| exit 1` and `|| { echo no; exit 1; }`."""
    commands = [one for one in walk(node) if one.type == "command"]
    return bool(commands) and _read_name(commands[-1]) in _LEAVING


def _move(node: Node, ways: Ways | None) -> Ways | None:
    words = [read_word(one) for one in node.children_by_field_name("argument")]
    words = [one for one in words if one.value not in {"-L", "-P", "-e", "--"}]
    if not words and _read_name(node) != "pushd":
        words = [HOME_WORD]
    is_plain = len(words) == 1 and not words[0].glob and not words[0].split
    if ways is None or not is_plain or (words[0].value or "x")[0] in "-+":
        return None
    return frozenset((*way, words[0]) for way in ways)


# ---- where that is ------------------------------------------------------------------------------

_REPLACING = frozenset({"ln", "mv", "mount"})


def locate(
    command: Command, bases: Sequence[Path], workspace: Workspace, script: Iterable[Command]
) -> list[Path]:
    """The folders that a command may run in: all bases, unless its ways are sure.

    A way is sure if each folder on it is there, and nothing of the script could put another one
    in its place.
    """
    if command.ways is None or command.ways == STAYING:
        return list(bases) if command.ways is None else list(bases[:1])
    known = tuple(script)
    if any(one.name in _REPLACING or "link" in one.text for one in known):
        return list(bases)
    made = {word.value for one in known if one.name == "mkdir" for word in one.operands}
    found = [_follow(way, bases[0], workspace, made) for way in command.ways]
    sure = [one for one in found if one is not None]
    return list(dict.fromkeys(sure)) if len(sure) == len(found) else list(bases)


def _follow(way: Way, start: Path, workspace: Workspace, made: set[str | None]) -> Path | None:
    here = start
    for word in way:
        path = workspace.find_place(word, here)
        if path is None or not (path.is_dir() or word.value in made):
            return None
        here = path
    return here
