"""The face of the package: the one place to import from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import amplifier_hooks
from amplifier_hooks import load_bundle, open_session


@pytest.mark.parametrize("name", amplifier_hooks.__all__)
def test_every_announced_name_is_there(name: str) -> None:
    """What the face announces can be imported from it, and shows up in a listing."""
    assert getattr(amplifier_hooks, name).__name__ == name
    assert name in dir(amplifier_hooks)


def test_a_name_that_is_not_announced_is_an_attribute_error() -> None:
    """A misspelt name fails as on any other module."""
    with pytest.raises(AttributeError, match="no attribute 'open_sesion'"):
        amplifier_hooks.open_sesion  # type: ignore[attr-defined]  # noqa: B018


def test_importing_the_package_alone_loads_nothing_of_it() -> None:
    """Hook modules live below this package; none of them pays for sessions and YAML."""
    program = "import sys, amplifier_hooks; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "amplifier_hooks" in loaded
    assert loaded.isdisjoint({"yaml", "pydantic", "amplifier_core.session"})


async def test_two_names_are_enough_to_run_a_bundle(tmp_path: Path) -> None:
    """Load a bundle, open a session, talk to it."""
    (tmp_path / "amplifier.yaml").write_text(
        "inherit: false\n"
        "session: {orchestrator: loop-basic, context: context-simple}\n"
        "providers: [{module: provider-scripted, config: {script: [{text: Hello.}]}}]\n"
    )
    bundle = load_bundle(project_dir=tmp_path, env={"HOME": str(tmp_path)})
    async with await open_session(bundle, working_dir=tmp_path) as session:
        assert await session.execute("Say hello.") == "Hello."
