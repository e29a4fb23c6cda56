"""Allowing edits of files inside the project, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from amplifier_core.approval import AnyApprovalSystem, ApprovalQuestion
from amplifier_core.events import TOOL_PRE
from amplifier_hooks.approvals.policy import PolicyApproval, Ruling
from amplifier_hooks.guards.policy.editing_tools import EDITING_TOOLS, PATH_KEYS
from amplifier_hooks.guards.policy.paths import resolve
from amplifier_hooks.guards.policy.places import Places, list_places
from amplifier_hooks.guards.policy.territory import iterate_texts_under

RULE = "edits"
PARTICULAR = frozenset({"hooks-production-guard", "hooks-redaction"})
"""Hooks that ask because of the place or the content, and not because it is an edit."""


class EditsApproval(PolicyApproval):
    """Allows Write, Edit, MultiEdit and NotebookEdit below a folder.

    Commands, protected places, the bundle's own files, guarded paths and secrets go on to
    `otherwise`.
    """

    def __init__(
        self,
        folder: Path,
        otherwise: AnyApprovalSystem | None = None,
        governing: Iterable[Path] = (),
    ) -> None:
        """`governing` are the files and folders of the bundle, which are for a person to change."""
        super().__init__(otherwise)
        self._folder = folder.resolve()
        self._governing = [one.resolve() for one in governing]

    def judge(self, question: ApprovalQuestion) -> Ruling:
        """Allow what is an edit, concerns only files below the folder, and no protected place."""
        is_edit = question.event == TOOL_PRE and question.tool_name in EDITING_TOOLS
        reason = f"only edits of files below {self._folder} are allowed without a person"
        if not is_edit or not self._is_inside(question.tool_input):
            return Ruling("ask", RULE, reason)
        if question.hook in PARTICULAR:
            return Ruling("ask", RULE, f"{question.hook} asks about this file or its content")
        return Ruling("allow", RULE)

    @cached_property
    def _places(self) -> Places:
        return list_places([self._folder])

    def _is_inside(self, tool_input: Any) -> bool:
        """Whether there is a path, and all of them lead to where edits are allowed."""
        given = list(iterate_texts_under(tool_input, PATH_KEYS))
        return bool(given) and all(map(self._is_editable, given))

    def _is_editable(self, given: str) -> bool:
        try:
            path = resolve(given, self._folder)
        except ValueError:
            return False
        inside = path != self._folder and path.is_relative_to(self._folder)
        inside = inside and not any(path.is_relative_to(one) for one in self._governing)
        lexical = self._folder / given
        return inside and not any(
            self._places.find_refusal(one, writing=True) for one in (path, lexical)
        )
