"""Parameters of a request's address: one that nobody reads is a mistake of who wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from fastapi import HTTPException, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute


async def refuse_unknown_parameters(request: Request) -> None:
    """A dependency: `?stattus=pending` would list everything."""
    route = request.scope.get("route")
    if not request.query_params or not isinstance(route, APIRoute):
        return
    known = tuple(_list_aliases(route.dependant))
    for name in request.query_params:
        if name not in known:
            raise HTTPException(422, _describe(name[:100], known))


def _list_aliases(dependant: Dependant) -> Iterator[str]:
    yield from (field.alias for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _list_aliases(inner)


def _describe(name: str, known: tuple[str, ...]) -> str:
    if not known:
        return f"{name!r} is no parameter; there are none here"
    near = get_close_matches(name, known, n=1)
    if near:
        return f"{name!r} is no parameter; did you mean {near[0]!r}?"
    return f"{name!r} is no parameter; there are: {', '.join(sorted(known))}"
