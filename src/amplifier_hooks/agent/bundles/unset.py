"""Options whose variable is not set, left out: for people who look at a bundle and do not run it.

Only options that do not say which files and commands run. Whoever looks is shown what would run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from amplifier_core.mount_plan import EXAMPLES, LISTS
from amplifier_hooks.yaml_files.node import Node, Problem

_SECTIONS = ("approval", "audit", "sandbox")
_READS_FILES = frozenset({"hooks-rules", "hooks-shell", "tool-mcp"})
_HARMLESS = frozenset({"env", "headers"})


@dataclass
class LeavingOut:
    """Takes values that could not be filled in out of a document; `problems` has them."""

    problems: list[Problem] = field(default_factory=list)

    def clean(self, document: Node) -> Node:
        """The document without them; where it could say what runs, they stay."""
        for key in _SECTIONS:
            document = _change(document, key, self._drop)
        document = _change(document, "session", self._clean_session)
        document = self._clean_lists(document)
        return _change(document, "agents", lambda node: _change_all(node, self._clean_agent))

    def _clean_agent(self, agent: Node) -> Node:
        return self._clean_lists(_change(agent, "session", self._clean_session))

    def _clean_session(self, session: Node) -> Node:
        modules = {key: node for key, node in session.mapping().items() if key in EXAMPLES}
        rest = self._drop(session.without(*modules))
        return replace(rest, value={**rest.mapping(), **modules}) if modules else rest

    def _clean_lists(self, node: Node) -> Node:
        for kind in LISTS:
            node = _change(
                node,
                kind,
                lambda listed: replace(listed, value=tuple(map(self._clean_entry, listed.items()))),
            )
        return node

    def _clean_entry(self, entry: Node) -> Node:
        names_files = entry.text("module") in _READS_FILES
        clean = self._drop_harmless if names_files else self._drop
        return _change(entry, "config", clean)

    def _drop_harmless(self, node: Node) -> Node:
        """What a command gets, not the command."""
        if isinstance(node.value, tuple):
            return replace(node, value=tuple(map(self._drop_harmless, node.value)))
        found = {
            key: self._drop(one) if key in _HARMLESS else self._drop_harmless(one)
            for key, one in node.mapping().items()
        }
        return replace(node, value=found) if isinstance(node.value, dict) else node

    def _drop(self, node: Node) -> Node:
        if isinstance(node.value, tuple):
            return replace(
                node, value=tuple(self._drop(one) for one in node.value if self._is_set(one))
            )
        if not isinstance(node.value, dict):
            return node
        return replace(
            node, value={k: self._drop(one) for k, one in node.value.items() if self._is_set(one)}
        )

    def _is_set(self, node: Node) -> bool:
        if isinstance(node.value, Problem):
            self.problems.append(node.value)
        return not isinstance(node.value, Problem)


def _change(node: Node, key: str, change: Callable[[Node], Node]) -> Node:
    child = node.mapping().get(key)
    return node if child is None else node.with_key(key, change(child))


def _change_all(node: Node, change: Callable[[Node], Node]) -> Node:
    if not isinstance(node.value, dict):
        return node
    return replace(node, value={key: change(child) for key, child in node.value.items()})
