"""Random edits of a random project: what runs is always exactly a content that a person allowed.

The project has one part of each kind that can be swapped. Each says its version when it runs; a
model remembers which versions were allowed last.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amplifier_core.models import CONTINUE, HookResult
from amplifier_hooks.agent.session.reload import ChangePolicy
from amplifier_hooks.agent.trust.material import collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from tests.support.modules import imports_undone
from tests.support.project import Project

FILE = """
from amplifier_core.models import HookResult

async def on_prompt_submit(event, data):
    return HookResult(user_message="file=@;")
"""
PACKAGE = """
from amplifier_core.models import HookResult

async def on_prompt_submit(event, data):
    from .part import VERSION
    return HookResult(user_message=f"package={VERSION};")
"""


def make_settings(kind: str, *commands: str) -> str:
    """Settings of another agent, with these commands and one that says a version."""
    lines = [*commands, make_command(kind)]
    return json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [{"command": c} for c in lines]}]}})


def make_command(kind: str) -> str:
    return f'echo \'{{"systemMessage": "{kind}=@;"}}\''


PARTS = {
    # Each part with its file, and the text of that, in which @ is the version.
    "file": ("hook.py", FILE),
    "package": ("pack/part.py", "VERSION = @\n"),
    "rules": (
        "rules.yaml",
        "- {name: r, action: continue, event: 'prompt:submit', user_message: 'rules=@;'}\n",
    ),
    "script": ("tools/check.sh", make_command("script")),
    "beside": ("tools/lib.sh", make_command("beside")),
    "included": ("part.yaml", "session: {injection_size_limit: @}\n"),
    "settings": (
        ".claude/settings.json",
        make_settings("settings", "tools/check.sh", 'bash -c ". tools/lib.sh"'),
    ),
    "more": (".claude/more.json", make_settings("more")),
}
FIRST = 100
"""The first version of each; the part `more` is not there at first, the others always are."""


class World:
    """The project, what is on its disk, and what a person has allowed of it."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder)
        self.store = TrustStore(folder / "trust")
        self.disk = {part: FIRST for part in PARTS if part != "more"}
        self.project.write("pack/__init__.py", PACKAGE)
        for part in self.disk:
            self.write(part, FIRST)
        shell = {"module": "hooks-shell", "config": {"settings": [".claude/*.json"]}}
        rules = {"module": "hooks-rules", "config": {"file": "rules.yaml"}}
        hooks = ["./hook.py", "./pack", rules, shell]
        self.bundle = self.project.bundle(include="part.yaml", hooks=hooks)
        self.trusted = self.used = dict(self.disk)
        self.during: Callable[[], None] | None = None
        self.refused = False
        """Whether the person has just refused here what they had trusted elsewhere."""

    def write(self, part: str, version: int, how: str = "write") -> None:
        """Put a version on the disk, as an agent might."""
        name, text = PARTS[part]
        path, content = self.project.folder / name, text.replace("@", str(version))
        if part == "more" and how == "remove":
            path.unlink(missing_ok=True)
            if self.disk.pop(part, None) is not None:
                self.refused = False
            return
        self.refused = False  # files that are touched are looked at again
        if how == "link":
            other = self.project.write(f"elsewhere/{part}-{version}{path.suffix}", content)
            path.unlink(missing_ok=True)
            path.symlink_to(other)
        else:
            if how == "replace" or path.is_symlink():
                path.unlink(missing_ok=True)
            self.project.write(name, content)
        if path.suffix == ".sh":
            path.chmod(0o755)
        self.disk[part] = version

    async def request_approval(self, prompt: str, options: list[str], *rest: Any) -> str:
        """A person who answers, and an agent who uses the time."""
        if self.during is not None:
            self.during()
        return self.answer

    answer = "Deny"

    def look(self) -> Any:
        return collect_material(self.bundle.reload(), self.project.folder)

    async def run(self, steps: list[tuple[str, Any]]) -> None:
        material = self.look()
        self.store.trust(material, "p")
        changes = ChangePolicy(
            accepts=self.store.is_trusted, on_allowed=lambda seen: self.store.trust(seen, "p")
        )
        with material.hold(), imports_undone():
            async with self.project.session(
                material.bundle, material=material, changes=changes, approval_system=self
            ) as session:
                session.coordinator.hooks.register("provider:request", self._use_the_time)
                for step, given in steps:
                    await getattr(self, f"do_{step}")(session, given)
                await self.do_turn(session, None)

    async def _use_the_time(self, event: str, data: dict[str, Any]) -> HookResult:
        if self.during is not None:
            self.during()
        return CONTINUE

    async def do_edit(self, session: Any, edit: tuple[str, int, str]) -> None:
        self.write(*edit)

    async def do_trust(self, session: Any, given: None) -> None:
        """The person looks at the folder in another terminal."""
        self.store.trust(self.look(), "p")
        self.trusted = dict(self.disk)

    async def do_reload(self, session: Any, given: tuple[str, tuple[str, int, str]]) -> None:
        self.answer, edit = given
        read = dict(self.disk)
        if self.answer == "Deny" and read != self.used:
            self.refused = read == self.trusted
        self.during = lambda: self.write(*edit)
        await session.reload()
        self.during = None
        if self.answer == "Allow" and read != self.used:
            self.used = self.trusted = read

    async def do_turn(self, session: Any, edit: tuple[str, int, str] | None) -> None:
        if self.disk == self.trusted and not self.refused:
            self.used = dict(self.disk)
        tampered = self.disk["beside"] != self.used["beside"]
        self.during = None if edit is None else lambda: self.write(*edit)
        self.project.screen.messages.clear()
        reply = await session.execute("go")
        self.during = None
        said = " ".join(self.project.shown_by_hooks())
        found = {kind: int(number) for kind, number in re.findall(r"(\w+)=(\d+);", said)}
        found["included"] = session.config["session"]["injection_size_limit"]
        expected = dict(self.used)
        if tampered:  # the hook that names it did not run, and let nothing pass
            assert "is not what it was when a person allowed the hook" in reply
            expected = {kind: expected[kind] for kind in found}
            assert "beside" not in found
        assert found == expected, (found, expected, reply)


EDITS = st.tuples(
    st.sampled_from(sorted(PARTS)),
    st.integers(FIRST, FIRST + 2),
    st.sampled_from(["write", "replace", "link", "remove"]),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("edit"), EDITS),
        st.tuples(st.just("turn"), st.none() | EDITS),
        st.tuples(st.just("reload"), st.tuples(st.sampled_from(["Allow", "Deny"]), EDITS)),
        st.tuples(st.just("trust"), st.none()),
    ),
    max_size=8,
)


def check(steps: list[tuple[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(World(Path(folder)).run(steps))


EDITED = ("edit", ("beside", 101, "write"))
REFUSED = ("reload", ("Deny", ("more", 100, "remove")))
TRUSTED = ("trust", None)


@settings(max_examples=12)
@given(STEPS)
@example([EDITED, TRUSTED, REFUSED])  # the no that was said here is the newer word
@example([EDITED, REFUSED, TRUSTED])
def test_what_runs_is_what_was_allowed(steps: list[tuple[str, Any]]) -> None:
    """Whatever is written, linked, planted or put back, between turns and during them."""
    check(steps)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(max_examples=400)
@given(STEPS)
def test_what_runs_is_what_was_allowed_in_many_orders(steps: list[tuple[str, Any]]) -> None:
    """The same, for as long as one likes."""
    check(steps)
