"""The address of a store: which one is meant, and on which database it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.stores.address import find_store, names_postgres, read_path


@pytest.mark.parametrize(
    "url", ["", ":memory:", "sqlite:///:memory:", "mysql://host/db", "sqlite://relative.db", "a\0"]
)
def test_what_is_no_store_is_refused_with_what_would_be(url: str) -> None:
    """Before anything is opened."""
    with pytest.raises(BadRequest, match="use a path"):
        read_path(url)


def test_the_environment_names_the_store_before_the_persons_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, it lies below their data folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("AMPLIFIER_STORE", "postgresql://host/base")
    assert find_store() == "postgresql://host/base"
    monkeypatch.delenv("AMPLIFIER_STORE")
    assert find_store() == str(tmp_path / "amplifier" / "store" / "store.db")


def test_only_an_address_of_postgresql_is_one() -> None:
    """A path is a file, whatever it is called."""
    assert names_postgres("postgres://host/base")
    assert names_postgres("postgresql://host/base")
    assert not names_postgres("postgresql")
    assert not names_postgres(Path("postgresql://host"))
