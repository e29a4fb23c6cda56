"""The face of the package: one place to import from, which loads only what is asked for."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import amplifier_audit
from amplifier_audit import errors

FACE = Path(amplifier_audit.__file__)


def test_what_users_need_comes_from_the_package_itself(tmp_path: Path) -> None:
    """A signed log, an anchor elsewhere, and the verdict."""
    from amplifier_audit import (
        AuditLog,
        AuditSettings,
        anchor_to_file,
        create_key,
        load_verifier,
        parse_notes,
        verify,
    )

    signer = create_key(tmp_path / "key")

    async def write() -> None:
        anchors = (anchor_to_file(tmp_path / "anchors"),)
        log = await AuditLog.open(
            tmp_path / "log", AuditSettings(level="full"), signer=signer, anchors=anchors
        )
        await log.commit(log.append("dispatch", {"n": 1}))
        await log.close()

    asyncio.run(write())
    notes = parse_notes((tmp_path / "anchors").read_text())
    report = verify(tmp_path / "log", anchors=notes, key=load_verifier(signer.public))
    assert (report.verdict, report.size) == ("proven", 4)


def test_every_name_is_there_and_shows_up_in_dir() -> None:
    """Whoever explores the package in a prompt finds them."""
    for name in amplifier_audit.__all__:
        assert getattr(amplifier_audit, name) is not None
    assert set(amplifier_audit.__all__) <= set(dir(amplifier_audit))


def test_what_type_checkers_see_is_what_runs() -> None:
    """The imports for them, the list of homes and `__all__` name the same, in the same places."""
    tree = ast.parse(FACE.read_text("utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: (node.module or "").removeprefix("amplifier_audit.")
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == amplifier_audit._HOMES
    assert sorted(seen) == sorted(amplifier_audit.__all__)


def test_the_docstring_lists_every_name() -> None:
    """It is the one place where the face is documented."""
    words = set((amplifier_audit.__doc__ or "").replace(",", " ").replace(";", " ").split())
    words = {word.rstrip(":.") for word in words}
    assert set(amplifier_audit.__all__) <= words


def test_all_errors_are_on_the_face() -> None:
    """Whoever catches one need not know where it lives."""
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, errors.AuditError):
            assert getattr(amplifier_audit, name) is kind


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As with any module."""
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        amplifier_audit.nothing  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError):
        from amplifier_audit import nothing  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import amplifier_audit", {"asyncio", "sqlite3", "cryptography", "pydantic_core"}),
        (
            "from amplifier_audit import verify, read_records, load_verifier, read_checkpoints",
            {"asyncio", "sqlite3", "cryptography", "pydantic_core", "pydantic"},
        ),
        (
            "from amplifier_audit import AuditLog, AuditSettings, create_key, anchor_to_file",
            {"cryptography", "pydantic", "yaml"},
        ),
    ],
)
def test_importing_a_name_loads_no_more_than_it_needs(statement: str, absent: set[str]) -> None:
    """Reading does not load what writes; signing loads cryptography when it signs."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded & absent == set()
    assert "amplifier_core" not in loaded
