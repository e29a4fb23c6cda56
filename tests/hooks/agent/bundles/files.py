"""Bundle files for tests: written, loaded, and looked into."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.bundles import Bundle, BundleError, load_bundle

ALONE = "inherit: false\nsession: {orchestrator: loop-basic, context: context-simple}\n"
"""The least that a bundle which stands alone must say."""


def load(folder: Path, text: str, env: dict[str, str] | None = None, **options: Any) -> Bundle:
    """The bundle of a file with this text, in a world with no other variables."""
    path = folder / "amplifier.yaml"
    path.write_text(text)
    return load_bundle(path, env={"HOME": str(folder / "home"), **(env or {})}, **options)


def complaint(path: Path, **options: Any) -> str:
    """What is said about a file that cannot be loaded."""
    with pytest.raises(BundleError) as caught:
        load_bundle(path, env={"HOME": "/nowhere"}, **options)
    return str(caught.value)


def modules(bundle: Bundle, section: str = "hooks") -> list[str]:
    """The ids of a section's modules, in their order."""
    return [entry["module"] for entry in bundle.mount_plan[section]]


def config(bundle: Bundle, module: str) -> dict[str, Any]:
    """The options of one hook."""
    entries = {entry["module"]: entry for entry in bundle.mount_plan["hooks"]}
    found: dict[str, Any] = entries[module]["config"]
    return found


Mistake = tuple[str, int, str]
"""A file's text, the line of its mistake, and what is said behind `FILE:LINE: `."""


def check_mistake(folder: Path, mistake: Mistake) -> None:
    """Compare what is said about a file with what should be."""
    content, line, rest = mistake
    path = folder / "amplifier.yaml"
    path.write_text(content)
    expected = rest.replace("{file}", str(path)).replace("{folder}", str(folder))
    assert complaint(path) == f"{path}:{line}: {expected}"
