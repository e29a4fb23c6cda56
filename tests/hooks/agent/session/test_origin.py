"""Where a session comes from, as its trail says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit import AuditLog
from amplifier_hooks import load_bundle, open_session
from amplifier_hooks.agent.session.origin import Origin, digest_hooks, find_origin, read_origin

BUNDLE = """
name: mine
providers:
  - module: provider-scripted
    config: {script: [{text: Hello.}]}
audit: {path: ./trails}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose trails lie in it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "amplifier.yaml").write_text(BUNDLE)
    return tmp_path


async def test_a_trail_says_where_its_session_comes_from(folder: Path) -> None:
    """At every level, before anything is mounted."""
    bundle = load_bundle(project_dir=folder)
    session = await open_session(bundle, working_dir=folder, session_id="s1")
    await session.cleanup()
    expected = Origin(str(folder), "mine", str(folder / "amplifier.yaml"))
    assert read_origin(folder / "trails" / "s1") == expected
    assert find_origin(bundle, folder) == expected


async def test_the_packaged_bundle_alone_has_no_file(folder: Path) -> None:
    """Wherever it is installed."""
    (folder / "amplifier.yaml").unlink()
    assert find_origin(load_bundle(project_dir=folder), folder).file == ""


def test_the_digest_of_hooks_is_of_nothing_else(folder: Path) -> None:
    """Another model is another bundle with the same hooks."""
    bundle = load_bundle(project_dir=folder)
    other = bundle.changed(lambda plan: {**plan, "providers": []})
    assert (other.digest != bundle.digest, digest_hooks(other)) == (True, digest_hooks(bundle))
    fewer = bundle.changed(lambda plan: {**plan, "hooks": plan["hooks"][1:]})
    assert digest_hooks(fewer) != digest_hooks(bundle)


async def test_a_trail_that_does_not_say_it_has_no_origin(tmp_path: Path) -> None:
    """An older one, or none at all."""
    log = await AuditLog.open(tmp_path / "log")
    await log.close()
    assert read_origin(tmp_path / "log") is None
    assert read_origin(tmp_path / "nowhere") is None
