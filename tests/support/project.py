"""A project folder with a bundle, and sessions that are opened from it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from amplifier_foundation.bundles import Bundle, load_bundle
from amplifier_foundation.session.assembled import AssembledSession
from amplifier_foundation.session.assembly import open_session


class Screen:
    """What the person sees."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str, str]] = []

    def show_message(self, message: str, level: str, source: str) -> None:
        self.shown.append((level, source, message))

    def of(self, source: str) -> list[str]:
        return [message for _, origin, message in self.shown if origin == source]


class Person:
    """Gives one answer to everything, after a while."""

    def __init__(self, answer: str = "Allow", delay: float = 0.0) -> None:
        self.answer = answer
        self.delay = delay
        self.asked: list[str] = []

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        import asyncio

        self.asked.append(prompt)
        await asyncio.sleep(self.delay)
        return self.answer


class Workshop:
    """Writes files, loads the bundle, opens sessions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self.home = folder / "home"
        self.screen = Screen()
        self.plan: dict[str, Any] = {
            "inherit": False,
            "session": {"orchestrator": "loop-basic", "context": "context-simple"},
            "providers": [{"module": "provider-scripted", "config": {"script": []}}],
        }

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def bundle(self, **sections: Any) -> Bundle:
        self.save(**sections)
        return load_bundle(project_dir=self.folder, env={"HOME": str(self.home), "KEY_X": "k" * 12})

    def save(self, **sections: Any) -> None:
        self.plan = {**self.plan, **sections}
        self.write("amplifier.yaml", yaml.safe_dump(self.plan))

    @asynccontextmanager
    async def session(
        self, bundle: Bundle | None = None, **options: Any
    ) -> AsyncIterator[AssembledSession]:
        found = bundle or self.bundle()
        options = {"display_system": self.screen, "working_dir": self.folder, **options}
        session = await open_session(found, **options)
        try:
            yield session
        finally:
            await session.cleanup()


def script(*replies: dict[str, Any] | str, **config: Any) -> list[dict[str, Any]]:
    """The `providers` section of a scripted model."""
    lines = [{"text": one} if isinstance(one, str) else one for one in replies]
    return [{"module": "provider-scripted", "config": {"script": lines, **config}}]


def calls(tool: str, **given: Any) -> dict[str, Any]:
    """A reply that calls a tool."""
    return {"tool_calls": [{"name": tool, "input": given}]}
