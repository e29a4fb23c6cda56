"""What is remembered of trust, and what a damaged memory means."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks import load_bundle
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from tests.support.project import Project

KEY = "a-token-in-a-variable"


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "trust")


def look(project: Project, **sections: Any) -> Material:
    return collect_material(project.bundle(**sections), project.folder)


def test_exactly_the_content_that_was_trusted_is_trusted(
    project: Project, store: TrustStore
) -> None:
    """One byte more is another content; the same bytes again are the same."""
    path = project.write("h.py", "x = 1\n")
    first = look(project, hooks=["./h.py"])
    assert not store.is_trusted(first)
    store.trust(first, "ann")
    assert store.is_trusted(look(project))
    path.write_text("x = 1\n\n")
    assert not store.is_trusted(look(project))
    path.write_text("x = 1\n")
    assert store.is_trusted(look(project))


def test_of_several_contents_only_the_last_is_trusted(project: Project, store: TrustStore) -> None:
    """An older one, put back, may lack a guard that came later."""
    old = look(project, hooks=[])
    store.trust(old, "ann")
    store.trust(look(project, hooks=["hooks-notify"]), "ann")
    project.save(hooks=[])
    assert not store.is_trusted(look(project))
    last = store.find(old)
    assert last is not None
    assert list(store.read_files(last)) == ["amplifier.yaml"]
    assert b"hooks-notify" in store.read_files(last)["amplifier.yaml"]


def test_each_bundle_of_a_folder_is_trusted_by_itself(project: Project, store: TrustStore) -> None:
    """And each folder; taking trust back is for a whole folder."""
    other = project.write("other.yaml", "name: other\n")
    store.trust(look(project), "ann")
    second = collect_material(load_bundle(other, project_dir=project.folder), project.folder)
    assert not store.is_trusted(second)
    store.trust(second, "ann")
    assert [one.bundle for one in store.list()] == ["amplifier.yaml", "other.yaml"]
    elsewhere = collect_material(second.bundle, project.folder.parent)
    assert not store.is_trusted(elsewhere)
    assert len(store.revoke(project.folder)) == 2
    assert store.list() == []
    assert list((store.root / "contents").iterdir()) == []


def test_a_folder_that_runs_nothing_needs_no_trust(project: Project, store: TrustStore) -> None:
    """Such as one that has no bundle."""
    env = {"HOME": str(project.home)}
    nothing = collect_material(load_bundle(project_dir=project.folder, env=env), project.folder)
    assert not nothing.files
    assert store.is_trusted(nothing)


def test_no_secret_is_written_beside_the_files(project: Project, store: TrustStore) -> None:
    """The file says ${TOKEN}; what the variable held is kept nowhere."""
    hook = {"module": "hooks-notify", "config": {"webhook": "https://x/${ANY_NAME}"}}
    project.save(hooks=[hook])
    env = {"HOME": str(project.home), "ANY_NAME": KEY}
    bundle = load_bundle(project_dir=project.folder, env=env)
    assert KEY in json.dumps(bundle.mount_plan)
    store.trust(collect_material(bundle, project.folder), "ann")
    kept = [path.read_text() for path in store.root.rglob("*") if path.is_file()]
    assert kept
    assert not any(KEY in text for text in kept)
    assert all(path.stat().st_mode & 0o77 == 0 for path in store.root.rglob("*") if path.is_file())


def _forge(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def _replace(path: Path, make: Callable[[Path], None]) -> None:
    path.unlink()
    make(path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_text("{"),
        lambda path: path.write_text("[]"),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_text('{"folder": "x"}'),
        lambda path: _forge(path, at=5),
        lambda path: _forge(path, at="yesterday"),
        lambda path: _forge(path, files={"a": None}),
        lambda path: _forge(path, files=[]),
        lambda path: _forge(path, files={"a": "../../etc/passwd"}),
        lambda path: _forge(path, outline={}),
        lambda path: _forge(path, outline={"session": []}),
        lambda path: _forge(path, folder="/another/folder"),
        lambda path: _forge(path, more=1),
        lambda path: _replace(path, os.mkfifo),
        lambda path: _replace(path, os.mkdir),
    ],
)
def test_a_damaged_record_trusts_nothing(project: Project, store: TrustStore, damage: Any) -> None:
    """And can be replaced by asking again."""
    store.trust(look(project), "ann")
    [path] = store.root.glob("*.json")
    damage(path)
    assert store.list() == []
    assert not store.is_trusted(look(project))
    [damaged] = store.list_damaged()
    assert damaged.path == path
    assert damaged.why
    assert store.find_damage(look(project)) == damaged
    if not path.is_dir():
        store.trust(look(project), "ann")
        assert store.is_trusted(look(project))
        assert store.list_damaged() == ()


def test_no_record_is_no_damage(project: Project, store: TrustStore) -> None:
    """Nothing was trusted, and that is all."""
    assert store.find_damage(look(project)) is None
    assert store.list_damaged() == ()


def test_what_cannot_be_read_back_is_not_said_to_be_trusted(
    project: Project, store: TrustStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is the cause: a disk that lies, or a record that we ourselves would refuse."""

    def refuse(outline: object) -> None:
        raise ValueError("approval.timeout: a positive number")

    monkeypatch.setattr("amplifier_hooks.agent.trust.store.check_outline", refuse)
    with pytest.raises(OSError, match=r"cannot be read back: approval\.timeout: a positive"):
        store.trust(look(project), "ann")
    monkeypatch.undo()
    monkeypatch.setattr("amplifier_hooks.agent.trust.store.replace_file", lambda *a, **k: None)
    with pytest.raises(OSError, match="cannot be read back: it is not what was written"):
        store.trust(look(project, hooks=[]), "ann")


def test_a_lost_or_changed_content_is_shown_as_new(project: Project, store: TrustStore) -> None:
    """What cannot be compared must not look unchanged."""
    trusted = store.trust(look(project), "ann")
    [kept] = (store.root / "contents").iterdir()
    kept.write_text("something else")
    assert store.read_files(trusted) == {"amplifier.yaml": b""}
    kept.unlink()
    assert store.read_files(trusted) == {"amplifier.yaml": b""}


def test_single_contents_are_known_in_their_folder_only(
    project: Project, store: TrustStore
) -> None:
    """For commands that run one file by itself."""
    project.write("h.py", "x = 1\n")
    store.trust(look(project, hooks=["./h.py"]), "ann")
    assert store.has_seen(project.folder, [b"x = 1\n"])
    assert not store.has_seen(project.folder, [b"x = 1\n", b"x = 2\n"])
    assert not store.has_seen(project.folder.parent, [b"x = 1\n"])


def test_names_that_are_no_text_can_be_trusted(project: Project, store: TrustStore) -> None:
    """Linux allows any bytes in the name of a file."""
    project.write("pack/__init__.py", "")
    (project.folder / "pack" / os.fsdecode(b"h\xff.py")).write_text("x = 1\n")
    material = look(project, hooks=["./pack"])
    assert len(material.files) == 3
    store.trust(material, "ann")
    assert store.is_trusted(look(project))


def test_trust_that_cannot_be_saved_says_where(project: Project, tmp_path: Path) -> None:
    """The bare error of the system would not say what was being done."""
    (tmp_path / "file").touch()
    store = TrustStore(tmp_path / "file" / "trust")
    with pytest.raises(OSError, match=r"What you trust cannot be saved in .*file/trust: Not a dir"):
        store.trust(look(project), "ann")
