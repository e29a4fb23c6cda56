"""What the commands around the server share."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.cli.commands import serve
from amplifier_hooks.cli.commands.serve import require_server, use_store
from amplifier_hooks.cli.person import NotAPerson


def test_missing_packages_are_named_with_what_installs_them(monkeypatch: pytest.MonkeyPatch):
    """The server is an extra."""
    require_server()
    monkeypatch.setattr(serve, "_PACKAGES", ("fastapi", "no_such_package"))
    with pytest.raises(click.ClickException, match=r"no_such_package.*\[web\]"):
        require_server()


def test_a_store_is_opened_and_closed_around_the_work(tmp_path: Path):
    """Also when the work fails."""
    held: list[Store] = []

    async def work(store: Store) -> int:
        held.append(store)
        return len(await store.access.list_tokens())

    assert use_store(str(tmp_path / "store.db"), work) == 0

    async def fail(store: Store) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        use_store(str(tmp_path / "store.db"), fail)


def test_an_agents_own_command_makes_no_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """With a token or a code of its own it could answer what people are asked about it."""

    async def work(store: Store) -> None:
        raise AssertionError("it was opened")

    monkeypatch.setenv("AMPLIFIER_COMMAND_ID", "/abc")
    with pytest.raises(NotAPerson):
        use_store(str(tmp_path / "store.db"), work)
