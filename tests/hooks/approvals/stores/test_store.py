"""Opening a store: by path, by address, or the person's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.store import find_store, open_store
from tests.support.stores import ask


async def test_without_a_name_it_is_the_person_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below their data folder, or where the environment says; private in any case."""
    monkeypatch.delenv("AMPLIFIER_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    own = tmp_path / "amplifier" / "store" / "store.db"
    assert find_store() == str(own)
    async with await open_store():
        assert own.stat().st_mode & 0o777 == 0o600
        assert own.parent.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("AMPLIFIER_STORE", str(tmp_path / "other.db"))
    async with await open_store():
        assert (tmp_path / "other.db").exists()


async def test_all_spellings_of_a_path_open_the_same_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Absolute, relative, as an address, and with characters that an address escapes."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a b.db"
    async with await open_store(path) as store:
        await ask(store)
    for spelling in (str(path), "a b.db", f"sqlite://{tmp_path}/a%20b.db"):
        async with await open_store(spelling) as store:
            assert len((await store.approvals.list())[0]) == 1


async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Here a file stands where the folder should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        await open_store(tmp_path / "file" / "store.db")


async def test_postgresql_without_its_driver_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a command to paste."""
    import builtins

    real: Any = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if "postgres" in name:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(StoreUnavailable, match=r"needs psycopg: .+ install .+postgres"):
        await open_store("postgresql://host/db")
