"""The process that hooks are tried in."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from amplifier_hooks.insight import worker
from amplifier_hooks.insight.worker import Message, Messages, Send, WorkerError, run_worker
from amplifier_hooks.sandbox.protection import examine_machine


def test_messages_are_put_together_from_pieces() -> None:
    """A pipe cuts lines anywhere; what is said on standard error is none."""
    received: list[Message] = []
    messages = Messages(received.append)
    messages.read("stderr", "a warning\n")
    for piece in ('{"kind": "a"', "}\n{", '"kind": "b"}\n{"kind": "done"}', "\n"):
        messages.read("stdout", piece)
    assert [one["kind"] for one in received] == ["a", "b"]
    assert (messages.done, messages.disturbed) == (True, False)


@pytest.mark.parametrize("line", ["hello", "[]", "{}", "7", '{"kind": "odd"}'])
def test_what_is_no_message_disturbs(line: str) -> None:
    """A hook has written into the pipe: nothing in it is relied on."""

    def receive(message: Message) -> None:
        raise KeyError(message["kind"])

    messages = Messages(receive)
    messages.read("stdout", f"{line}\n")
    assert messages.disturbed


def test_what_hooks_print_does_not_mix_with_messages(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Lines of JSON, and nothing else."""

    def work(job: Message, send: Send) -> None:
        os.write(1, b"a hook prints\n")
        send({"kind": "found", "job": job})

    module: Any = ModuleType("tried")
    module.work = work
    monkeypatch.setitem(sys.modules, "tried", module)
    monkeypatch.setattr(sys, "argv", ["worker", "tried"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps({"n": 1}).encode())))
    monkeypatch.setattr("logging.disable", lambda level: None)
    before = os.dup(1)
    try:
        worker.main()
    finally:
        os.dup2(before, 1)
        os.close(before)
    lines = capfd.readouterr().out.splitlines()
    assert list(map(json.loads, lines)) == [{"kind": "found", "job": {"n": 1}}, {"kind": "done"}]


async def test_a_process_that_does_not_do_its_job_is_an_error(tmp_path: Path) -> None:
    """With its last words; the folders that it was given are gone."""
    given: list[Path] = []
    received: list[Message] = []

    def make_job(scratch: Path) -> Message:
        given.append(scratch)
        assert scratch.is_dir()
        return {}

    with pytest.raises(WorkerError, match=r"has ended: ModuleNotFoundError: .*no_such_module"):
        await run_worker("no_such_module", tmp_path, examine_machine(), make_job, received.append)
    assert received == []
    (scratch,) = given
    assert not scratch.parent.exists()
