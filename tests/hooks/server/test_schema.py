"""The whole API against its own description, with requests that nobody thought of."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.server.judging.bodies import NewSession
from amplifier_hooks.server.live import feed
from tests.hooks.server.hosting_project import save_bundle, trust
from tests.hooks.server.world import run_server

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
SECONDS = 60
PEOPLE = ("read", "decide", "admin")


@dataclass
class Running:
    """A server in a thread, its description, and what is in its store."""

    address: str
    description: dict[str, Any]
    tokens: dict[str, str]
    known: list[str]
    session: str
    """Of a program that has events judged."""


@contextmanager
def run_in_thread(folder: Path) -> Iterator[Running]:
    """A server with something in its store, and no room for streams, which never end."""
    ready: Future[Running] = Future()
    stop = asyncio.Event()
    loop = asyncio.new_event_loop()

    async def work() -> None:
        store = await open_store(folder / "store.db")
        served = run_server(store, max_sockets=0, folder=folder / "project")
        async with store, served as world:
            asked = await world.ask()
            await store.sessions.save(SessionEntry(id="session-1", user="bot"))
            tokens = {
                "agent": await world.token("bot", "agent"),
                "person": await world.token("ann", *PEOPLE),
                "runner": await world.token("rob", *PEOPLE, "run"),
                "program": await world.token("shop", "judge"),
            }
            body = NewSession(key="k", program="p")
            opened, _ = await world.services.judge.open(body, "shop")
            known = [asked.id, "session-1"]
            session = json.loads(opened)["session"]
            ready.set_result(Running(world.address, world.app.openapi(), tokens, known, session))
            await stop.wait()

    def run() -> None:
        try:
            loop.run_until_complete(work())
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            raise
        finally:
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield ready.result(SECONDS)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(SECONDS)


def list_cases(operation: Any) -> st.SearchStrategy[Any]:
    """Requests that fit the description, and where something can be wrong, some that do not."""
    right: st.SearchStrategy[Any] = operation.as_strategy()
    if operation.method.upper() != "POST" or not len(operation.body):
        return right
    negative = schemathesis.GenerationMode.NEGATIVE
    wrong: st.SearchStrategy[Any] = operation.as_strategy(generation_mode=negative)
    return right | wrong


def attack(running: Running, examples: int, person: str) -> int:
    """Send generated requests to every operation; how many were sent."""
    config = SchemathesisConfig.from_dict({"base-url": running.address})
    schema = schemathesis.openapi.from_dict(running.description, config=config)
    sent = 0

    def try_operation(operation: Any) -> None:
        is_agent = "/agent/" in operation.path or "/witness" in operation.path
        is_judged = "/judge/" in operation.path
        who = "agent" if is_agent else "program" if is_judged else person
        token = running.tokens[who]

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=list_cases(operation), known=st.sampled_from([None, *running.known]))
        def send(case: Any, known: str | None) -> None:
            nonlocal sent
            if known and "id" in (case.path_parameters or {}):
                case.path_parameters["id"] = known
            if known and "session" in (case.path_parameters or {}):
                case.path_parameters["session"] = running.session
            # Schemathesis may leave a header out or spoil it; then the refusal is looked at.
            headers = {"Authorization": f"Bearer {token}", "Connection": "close"}
            response = case.call(base_url=running.address, headers=headers, timeout=SECONDS)
            case.validate_response(response, checks=CHECKS)
            sent += 1

        send()

    for result in schema.get_all_operations():
        try_operation(cast(Any, result).ok())
    return sent


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """The server; long polls are short."""
    monkeypatch.setattr(feed, "MAX_WAIT", 0.01)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "project").mkdir()
    save_bundle(tmp_path / "project", "Done.")
    trust(tmp_path / "project")
    with run_in_thread(tmp_path) as running:
        yield running


def test_no_request_makes_the_server_fail_or_say_what_it_does_not_describe(running: Running):
    """schemathesis over the whole API: no server error."""
    assert attack(running, examples=3, person="person") >= 2 * 30


@pytest.mark.slow
def test_thousands_of_requests_make_the_server_fail_nowhere(running: Running):
    """The long form, with sessions that are really run."""
    assert attack(running, examples=150, person="runner") > 2000
