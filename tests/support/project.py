"""A project folder with a bundle, and sessions that are opened from it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from amplifier_core.testing import RecordingDisplay
from amplifier_hooks import AssembledSession, Bundle, load_bundle, open_session
from amplifier_hooks.agent.session.reload import ChangePolicy

SECRET = "k" * 12
"""The value of the variable KEY_X, which its name says is secret."""


class Project:
    """Writes files, loads the bundle, opens sessions; `screen` has what the person saw."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self.home = folder / "home"
        self.screen = RecordingDisplay()
        self.plan: dict[str, Any] = {
            "inherit": False,
            "session": {"orchestrator": "loop-basic", "context": "context-simple"},
            "providers": [{"module": "provider-scripted", "config": {"script": []}}],
        }

    def write(self, name: str, text: str) -> Path:
        """A file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def save(self, **sections: Any) -> Path:
        """Write the bundle file, with these sections in place of what it had."""
        self.plan = {**self.plan, **sections}
        return self.write("amplifier.yaml", yaml.safe_dump(self.plan))

    def bundle(self, **sections: Any) -> Bundle:
        """Save the bundle file and load it, as its user would."""
        self.save(**sections)
        env = {"HOME": str(self.home), "KEY_X": SECRET}
        return load_bundle(project_dir=self.folder, env=env)

    @asynccontextmanager
    async def session(
        self, bundle: Bundle | None = None, **options: Any
    ) -> AsyncIterator[AssembledSession]:
        """A running session of this bundle, or of the project's; ended at the end."""
        options = {"display_system": self.screen, "working_dir": self.folder, **options}
        session = await open_session(bundle or self.bundle(), **options)
        try:
            yield session
        finally:
            await session.cleanup()

    def dev_session(
        self, bundle: Bundle | None = None, **options: Any
    ) -> AbstractAsyncContextManager[AssembledSession]:
        """The session of a person who edits hooks all day."""
        return self.session(bundle, changes=ChangePolicy(dev=True), **options)

    def shown(self, source: str) -> list[str]:
        """What the person saw of one source."""
        return [message for message, _, origin in self.screen.messages if origin == source]

    def shown_by_hooks(self) -> list[str]:
        """What the person saw of all hooks."""
        return [text for text, _, origin in self.screen.messages if origin.startswith("hook:")]


def script(*replies: dict[str, Any] | str, **config: Any) -> list[dict[str, Any]]:
    """The `providers` section of a scripted model."""
    lines = [{"text": one} if isinstance(one, str) else one for one in replies]
    return [{"module": "provider-scripted", "config": {"script": lines, **config}}]


def messages_of(session: AssembledSession, role: str) -> list[str]:
    """What one role said in a session's conversation."""
    return [one["content"] for one in session.context.get_messages() if one["role"] == role]
