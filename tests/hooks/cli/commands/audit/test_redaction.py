"""amplifier audit redact."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import AuditLog, AuditSettings, load_signer
from tests.hooks.cli.program import Outcome, invoke

APART = AuditSettings(values="committed")


def audit(*arguments: object) -> Outcome:
    return invoke("audit", *arguments)


def read_text(log: Path, *options: str) -> Any:
    record = audit("show", log, "--type", "user_message", "--json", *options).stdout
    return json.loads(record)["body"]["text"]


async def test_a_value_is_deleted_and_the_trail_says_by_whom(tmp_path: Path) -> None:
    """A signed log wants its key; afterwards it still verifies."""
    key, log = tmp_path / "key", tmp_path / "log"
    audit("create-key", key)
    trail = await AuditLog.open(log, APART, signer=load_signer(key))
    await trail.commit(trail.append("user_message", {"text": "very secret"}))
    await trail.close()
    assert read_text(log, "--reveal") == "very secret"
    commitment = read_text(log)["$commitment"]
    words = ("redact", log, commitment, "--by", "ann", "--reason", "r")
    refused = await asyncio.to_thread(audit, *words)
    assert refused.code == 2
    assert "is signed with" in refused.stderr
    done = await asyncio.to_thread(audit, *words, "--key-file", key)
    assert done.code == 0, done.output
    assert done.stdout.startswith("Redacted; record ")
    assert read_text(log, "--reveal")["redacted"] is True
    assert audit("verify", log, "--key", key).code == 3


async def test_a_log_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    """One writer at a time."""
    trail = await AuditLog.open(tmp_path / "log", APART)
    words = ("redact", tmp_path / "log", "x", "--by", "a", "--reason", "b")
    done = await asyncio.to_thread(audit, *words)
    assert done.code == 2
    assert "Another writer" in done.stderr
    await trail.close()


@pytest.mark.parametrize("letter", ["U", "h", "-"])
async def test_a_commitment_may_begin_with_a_dash(tmp_path: Path, letter: str) -> None:
    """One in 64 does; it is no option, wherever it stands."""
    trail = await AuditLog.open(tmp_path / "log", APART)
    await trail.close()
    commitment = f"-{letter}{'x' * 41}"
    words = ("redact", tmp_path / "log", commitment, "--by", "ann", "--reason", "r")
    done = await asyncio.to_thread(audit, *words)
    assert done.code != 0
    assert commitment in done.stderr
    assert "option" not in done.stderr
