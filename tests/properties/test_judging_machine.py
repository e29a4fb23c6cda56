"""Judging over HTTP against a model of a few lines: a real server, a real trail, any order.

A program opens a session, has calls judged, repeats itself, reports, polls, is lost or ends; a
person in another process answers. The model knows what may be allowed, and how each call ends.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
import threading
import uuid
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from amplifier_hooks.approvals.models import ApprovalFilter, Choice, Decider
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.server.judging.host import JudgeHost
from amplifier_hooks.server.settings import JudgeSettings
from tests.hooks.server.judging.scene import TOKEN, list_ends, run_judge, write_project

TOOLS = ("Plain", "Change", "Deny", "Break", "Ask")
NUMBERS = st.integers(1, 6)
SECONDS = 60


def answer_questions(store_path: str, pipe: Connection) -> None:
    """A person in a process of their own: answers whatever waits in a session, when told to."""

    async def main() -> None:
        async with await open_store(store_path) as store:
            while (told := await asyncio.to_thread(pipe.recv)) is not None:
                session, label = told
                wanted = ApprovalFilter(("pending",), session_id=session)
                asked = (await store.approvals.list(wanted))[0]
                for one in asked:
                    option = next(o.id for o in one.request.options if o.label == label)
                    choice = Choice(option=option, nonce=one.nonce, key=uuid.uuid4().hex)
                    await store.approvals.decide(one.id, choice, Decider("ann", "cli"))
                pipe.send([one.request.tool_call_id.partition("@")[0] for one in asked])

    asyncio.run(main())


class Running:
    """The server on a loop of its own, its store, and the person."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "store.db"
        self.loop = asyncio.new_event_loop()
        self.address = ""
        self.host: JudgeHost | None = None
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self.loop.run_until_complete(self._serve())
        self.loop.close()

    async def _serve(self) -> None:
        project = write_project(self.folder / "project")
        async with (
            await open_store(self.path) as store,
            run_judge(JudgeSettings(folder=project), store) as scene,
        ):
            self.address = scene.address
            self.host = scene.judge
            self._ready.set()
            await self._stop.wait()

    def start(self) -> None:
        """Serve."""
        self._thread.start()
        assert self._ready.wait(SECONDS)
        context = multiprocessing.get_context("spawn")
        self.person, there = context.Pipe()
        self.process = context.Process(target=answer_questions, args=(str(self.path), there))
        self.process.start()

    def stop(self) -> None:
        """End both."""
        self.person.send(None)
        self.process.join(SECONDS)
        self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(SECONDS)

    def list_pending(self, session: str) -> int:
        """How many questions of a session wait."""

        async def look() -> int:
            async with await open_store(self.path) as store:
                wanted = ApprovalFilter(("pending",), session_id=session)
                return len((await store.approvals.list(wanted))[0])

        return asyncio.run(look())

    def lapse(self, session: str) -> None:
        """Have the lease run out, as its timer does."""
        host = self.host
        assert host is not None
        judged = host._open[session]
        asyncio.run_coroutine_threadsafe(host._end(judged, "timeout"), self.loop).result(SECONDS)


class Machine(RuleBasedStateMachine):
    """One session, and what the model knows of it."""

    running: Running

    @initialize()
    def open(self) -> None:
        """A session."""
        self.client = httpx2.Client(
            base_url=f"{self.running.address}/api/v1/judge",
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=30,
            trust_env=False,
        )
        body = {"key": uuid.uuid4().hex, "program": "machine"}
        first = self.client.post("/sessions", json=body)
        assert self.client.post("/sessions", json=body).content == first.content
        self.id: str = first.json()["session"]
        self.calls: dict[str, str] = {}
        """The tool of each call that was sent, by its id."""
        self.said_yes: set[str] = set()
        """What the person allowed, of calls that ask."""
        self.answers: dict[str, bytes] = {}
        """What was answered for good."""
        self.reported: set[str] = set()
        self.ended = ""

    def send(self, body: dict[str, Any]) -> httpx2.Response:
        """An event."""
        return self.client.post(f"/sessions/{self.id}/events", json=body)

    def look_at(self, call: str, response: httpx2.Response) -> None:
        """A yes needs a judgement; and what was said once is said again, byte for byte."""
        if self.ended:
            assert response.status_code == 409
            assert response.json()["error"]["code"] == "session_ended"
            return
        assert response.status_code == 200, response.text
        decision = response.json()["decision"]
        tool = self.calls[call]
        if tool == "Ask":
            known = call in self.answers
            assert decision != "allow" or call in self.said_yes
            assert decision in ("allow", "deny") if known else True
        else:
            assert decision == ("allow" if tool in ("Plain", "Change") else "deny")
        if decision != "pending":
            assert self.answers.setdefault(call, response.content) == response.content

    def is_allowed(self, call: str) -> bool:
        """Whether the program was told yes."""
        return b'"decision":"allow"' in self.answers.get(call, b"")

    @rule(number=NUMBERS, tool=st.sampled_from(TOOLS))
    def judge(self, number: int, tool: str) -> None:
        """A call that is new, a retry, or another body under the same id."""
        call = f"c{number}"
        before = self.calls.get(call)
        response = self.send({"event": "call", "id": call, "tool": tool, "input": {"n": number}})
        if not self.ended and before not in (None, tool):
            assert response.json()["error"]["code"] == "key_reused"
            return
        if not self.ended:
            self.calls[call] = tool
        self.look_at(call, response)

    @rule(number=NUMBERS)
    def poll(self, number: int) -> None:
        """Look how a call stands."""
        call = f"c{number}"
        response = self.client.get(f"/sessions/{self.id}/events/{call}")
        if not self.ended and call not in self.calls:
            assert response.json()["error"]["code"] == "no_event"
            return
        self.look_at(call, response)

    @rule(number=NUMBERS, attempt=st.integers(1, 2), how=st.sampled_from(["output", "not_run"]))
    def report(self, number: int, attempt: int, how: str) -> None:
        """Only of what was allowed, and once."""
        call = f"c{number}"
        body = {"event": "result", "id": f"r{number}.{attempt}{how}", "call": call, how: "done"}
        response = self.send(body)
        if self.ended:
            assert response.json()["error"]["code"] == "session_ended"
        elif body["id"] in self.answers:
            assert response.content == self.answers[body["id"]]
        elif response.status_code == 200:
            # Decided by now, though nobody has polled for it yet.
            assert self.is_allowed(call) or call in self.said_yes
            assert call not in self.reported
            self.reported.add(call)
            self.answers[body["id"]] = response.content
        else:
            assert response.json()["error"]["code"] == "no_call"
            assert not self.is_allowed(call) or call in self.reported

    @precondition(lambda self: "Ask" in self.calls.values())
    @rule(label=st.sampled_from(["Allow", "Deny"]))
    def decide(self, label: str) -> None:
        """A person in another process answers what waits."""
        self.running.person.send((self.id, label))
        assert self.running.person.poll(SECONDS)
        asked = self.running.person.recv()
        assert not (asked and self.ended)
        if label == "Allow":
            self.said_yes |= set(asked)
        for call in asked:
            response = self.client.get(f"/sessions/{self.id}/events/{call}", params={"wait": 30})
            self.look_at(call, response)
            assert response.json()["decision"] == ("allow" if label == "Allow" else "deny")

    @rule(how=st.sampled_from(["complete", "user_exit", "timeout"]))
    def end(self, how: str) -> None:
        """The program ends it, or is lost."""
        if how == "timeout" and not self.ended:
            self.running.lapse(self.id)
        elif how != "timeout":
            self.client.post(f"/sessions/{self.id}/end", json={"reason": how})
        self.ended = self.ended or how

    def teardown(self) -> None:
        """Every call that was allowed has one end; no question is left."""
        if not hasattr(self, "id"):
            return
        self.end("complete")
        state = self.client.get(f"/sessions/{self.id}").json()
        allowed = {one for one in self.calls if self.is_allowed(one)}
        assert state["reason"] == self.ended
        assert set(state["unreported"]) == allowed - self.reported
        ends = list_ends(self.id)
        assert ends.keys() == allowed
        for call, found in ends.items():
            assert len(found) == 1
            assert (found == ["unknown"]) == (call not in self.reported), call
        assert self.running.list_pending(self.id) == 0
        self.client.close()


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The server, in a home of its own."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        monkeypatch.setenv("HOME", place)
        monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        monkeypatch.setenv("AMPLIFIER_STORE", str(folder / "store.db"))
        running = Running(folder)
        running.start()
        try:
            yield type("Judging", (Machine,), {"running": running})
        finally:
            running.stop()


def test_nothing_is_allowed_without_a_judgement(machine: Any) -> None:
    """In no order of what a program, a person and time may do."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=8,
            stateful_step_count=15,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
