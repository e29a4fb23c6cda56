"""docs/reference is what the source says, and has every name that programs may import."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from scripts.documentation.api_names import ELSEWHERE, FACES, PAGES
from scripts.documentation.signatures import write_default, write_signature, write_type
from tests.support.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
Mode = Literal["on", "off"]


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """The script, as a module."""
    return load_script(ROOT / "scripts" / "reference")


def test_the_pages_are_those_that_the_script_writes(
    reference: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """To renew them: .venv/bin/python scripts/reference."""
    code = reference.main(["--check"])
    assert capsys.readouterr().err == ""
    assert code == 0


def test_every_public_name_is_on_one_page() -> None:
    """Whoever exports a name says on which page it is."""
    described = [one for page in PAGES for one in page.list_names()]
    assert len(described) == len(set(described))
    for face in FACES:
        here = {name for module, name in described if module == face}
        left = set(import_module(face).__all__) - here - set(ELSEWHERE.get(face, "").split())
        assert left == set()


def test_a_page_that_is_stale_missing_or_left_over_is_named(
    reference: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the command that renews it."""
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    (tmp_path / "stale.md").write_text("old")
    (tmp_path / "left.md").write_text("")
    assert reference.check({"stale.md": "new", "missing.md": ""}) == 1
    said = capsys.readouterr().err.splitlines()
    assert [line.split(" ", 1)[0] for line in said] == [
        "docs/reference/left.md",
        "docs/reference/missing.md",
        "docs/reference/stale.md",
    ]
    assert "scripts/reference" in said[0]


async def example(first: int, /, mode: Mode = "on", *rest: str, limit: int = 3) -> str | None:
    """Has a parameter of every kind but the last."""


def plain(one, *, two=(), **more):  # type: ignore[no-untyped-def]
    """Without types."""


def test_a_signature_is_written_as_in_the_source() -> None:
    """With its marks, its defaults and the choices of a short Literal."""
    assert write_signature("example", example) == (
        "async example(\n"
        "    first: int,\n"
        "    /,\n"
        "    mode: 'on' | 'off' = 'on',\n"
        "    *rest: str,\n"
        "    limit: int = 3,\n"
        ") -> str | None"
    )
    assert write_signature("plain", plain) == "plain(one, *, two=(), **more)"
    assert write_signature("plain", plain, bound=True) == "plain(*, two=(), **more)"


def test_what_cannot_be_typed_in_again_is_written_as_dots() -> None:
    """No address of an object gets onto a page."""
    assert write_default(object()) == "..."
    assert write_default([object()]) == "..."
    assert write_default({"a": 1}) == "{'a': 1}"
    assert write_type("Unknown | None", {}) == "Unknown | None"
