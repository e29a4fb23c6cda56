"""A session's trail is witnessed by a real server, and proven against it from the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.cli import exit_codes
from tests.hooks.cli.program import run_amplifier
from tests.hooks.server.world import run_server
from tests.support.project import Project, script


async def test_a_trail_is_proven_against_the_server_that_witnessed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the agent's own token; and a trail that was cut afterwards is found."""
    project = Project(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    async with await open_store(tmp_path / "store.db") as store, run_server(store) as world:
        token = await world.token("bot", "agent")
        audit = {
            "enabled": True,
            "path": str(project.home / "trails"),
            "witness": world.address,
            "witness_token": token,
        }
        bundle = project.bundle(providers=script("Hello."), audit=audit)
        async with project.session(bundle, session_id="seen") as session:
            await session.execute("hello")
        trail = locate_trail(bundle.mount_plan["audit"], "seen")
        head = (await store.heads.list("seen"))[0]
        assert head.size > 5
        assert head.machine == "bot"

        def verify() -> tuple[int, str]:
            command = ("audit", "verify", str(trail), "--witness", world.address)
            done = run_amplifier(*command, AMPLIFIER_TOKEN=token)
            return done.code, done.stdout + done.stderr

        code, said = await asyncio.to_thread(verify)
        assert code == 0, said
        assert "proven" in said.lower()
        assert token not in said
        segment = trail / "00000000.jsonl"
        segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:4]))
        (trail / "state").unlink()
        code, said = await asyncio.to_thread(verify)
        assert code == exit_codes.DENIED, said
