"""The sink protocol, and the sink that keeps everything in memory."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from amplifier_audit import RECORD_TYPES, AuditSink, MemoryAudit, Verifier
from amplifier_audit.errors import AuditUnavailable

SOURCE = Path(__file__).parents[2] / "src"


async def test_memory_keeps_a_real_chain() -> None:
    """An in-memory sink with real chain behaviour."""
    sink = MemoryAudit("full", "warn")
    assert isinstance(sink, AuditSink)
    assert (sink.level, sink.on_failure) == ("full", "warn")
    assert [sink.append("dispatch", {"n": n}, session="s") for n in range(3)] == [0, 1, 2]
    sink.append("error", {})
    verifier = Verifier()
    for line in sink.lines:
        verifier.feed(line)
    assert verifier.finish().verdict == "consistent"
    assert [record["body"]["n"] for record in sink.of_type("dispatch")] == [0, 1, 2]


async def test_commit_says_how_far_one_may_rely_on_it() -> None:
    """Durable up to that record, or all."""
    sink = MemoryAudit()
    for _ in range(3):
        sink.append("error", {})
    await sink.commit(1)
    assert sink.durable == 2
    await sink.commit()
    await sink.commit(0)
    assert sink.durable == 3


async def test_a_failed_or_closed_sink_takes_nothing() -> None:
    """Raises AuditUnavailable once the log has failed."""
    for end in (lambda sink: sink.fail("no space"), lambda sink: setattr(sink, "closed", True)):
        sink = MemoryAudit()
        end(sink)
        with pytest.raises(AuditUnavailable):
            sink.append("error", {})
        with pytest.raises(AuditUnavailable):
            await sink.commit()
    sink = MemoryAudit()
    await sink.close()
    with pytest.raises(AuditUnavailable, match="closed"):
        sink.append("error", {})


def test_what_the_log_says_of_itself_nobody_else_can_say() -> None:
    """Records are written only by the log: a caller cannot forge a checkpoint or a recovery."""
    sink = MemoryAudit()
    for type in ("checkpoint", "recovered", "broken", "dispatch", "my_own"):
        sink.append(type, {})
    sink.append("x" * 999, {})
    sink.append(["odd"], {})  # type: ignore[arg-type]
    types = [record["type"] for record in sink.records]
    assert types[5:] == ["x" * 256, "['odd']"]
    assert types[:5] == ["x_checkpoint", "x_recovered", "x_broken", "dispatch", "my_own"]
    assert len(RECORD_TYPES) == len(set(RECORD_TYPES)) >= 37


def test_hooks_and_tools_do_not_import_the_trail() -> None:
    """The coordinator writes to it; hooks and tools cannot reach it."""
    islands = [SOURCE / "amplifier_foundation" / name for name in ("hooks", "tools")]
    files = [path for island in islands for path in island.rglob("*.py")]
    assert files
    for path in files:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = _imported(node)
            assert not any("audit" in name or ".stores" in name for name in names), path


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
