"""A person with an empty home and a project whose model is scripted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.trust import trust_project

Project = Callable[..., Path]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing set, nothing saved; the current folder is the home."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AMPLIFIER_PROVIDER", "AMPLIFIER_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def project(home: Path) -> Project:
    """Writes ./amplifier.yaml with a script for the model, and trusts it unless told not to."""

    def write(*script: dict[str, Any], trusted: bool = True, **more: Any) -> Path:
        provider = {
            "module": "provider-scripted",
            "config": {"script": list(script), "when_done": "repeat"},
        }
        bundle = {"name": "test", "providers": [provider], **more}
        path = home / "amplifier.yaml"
        path.write_text(yaml.safe_dump(bundle, sort_keys=False))
        if trusted:
            trust_project(home)
        return path

    return write


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody at a terminal, who types what is given as the answer."""
    monkeypatch.setattr("amplifier_hooks.cli.person.is_at_terminal", lambda shown=None: True)
