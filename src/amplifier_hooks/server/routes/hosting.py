"""The routes of sessions that the server runs: start one, prompt it, stop it, end it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import Field
from starlette.responses import Response

from amplifier_hooks.server.answers import DescribedSession
from amplifier_hooks.server.bodies import STORABLE, Body, Id, Name
from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.encoding import answer
from amplifier_hooks.server.routes.sessions import describe_session
from amplifier_hooks.server.services import Services, Shared, require

MAX_PROMPT = 1_000_000

router = APIRouter(prefix="/sessions", tags=["hosted sessions"])
Runner = Annotated[Caller, Depends(require("run"))]
Prompt = Annotated[str, Field(max_length=MAX_PROMPT), STORABLE]


class NewSession(Body):
    """A session to start."""

    prompt: Annotated[Prompt, Field(description="The first prompt; without it, it waits.")] = ""
    name: Name = ""


class NextPrompt(Body):
    """What to do next."""

    prompt: Annotated[Prompt, Field(min_length=1)]


@router.post("", status_code=201, responses={201: {"model": DescribedSession}})
async def create_session(body: NewSession, caller: Runner, services: Shared) -> Response:
    """Start a session of the server's bundle, in the server's folder.

    Wait for it with `GET /sessions/{id}?wait=60&while=running`. While its status is `waiting`, the
    answer has the approvals that it waits for as `approval_required`.
    """
    session_id = await services.host.create(body.prompt, body.name, caller.name)
    return await _describe(services, session_id, 201)


@router.post("/{id}/prompts", status_code=202, responses={202: {"model": DescribedSession}})
async def prompt_session(body: NextPrompt, caller: Runner, services: Shared, id: Id) -> Response:
    """Give it the next prompt; 409 while it works on one."""
    await services.host.prompt(id, body.prompt, caller.name)
    return await _describe(services, id, 202)


@router.post("/{id}/interruption", responses={200: {"model": DescribedSession}})
async def interrupt_session(_: Runner, services: Shared, id: Id) -> Response:
    """Stop what it is doing; what was said stays."""
    await services.host.interrupt(id)
    return await _describe(services, id, 200)


@router.post("/{id}/end", responses={200: {"model": DescribedSession}})
async def end_session(_: Runner, services: Shared, id: Id) -> Response:
    """End it for good."""
    await services.host.end(id)
    return await _describe(services, id, 200)


async def _describe(services: Services, session_id: str, status: int) -> Response:
    entry = await services.store.sessions.get(session_id)
    return answer(await describe_session(services, entry), status)
