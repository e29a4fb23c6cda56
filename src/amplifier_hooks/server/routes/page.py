"""The page and its files, as they are in the package."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response
from starlette.routing import Match

router = APIRouter(include_in_schema=False)

_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}
_ROOT_FILES = frozenset({"manifest.webmanifest", "favicon.svg", "service-worker.js"})
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page, read once."""

    content: bytes
    type: str
    tag: str


@cache
def read_file(path: str) -> PageFile | None:
    """A file of the page by its path, or None; there is no way out of the page's folder."""
    parts = path.split("/")
    kind = _TYPES.get(path.rpartition(".")[2])
    if kind is None or any(part in ("", ".", "..") or "\\" in part for part in parts):
        return None
    place: Traversable = files("amplifier_hooks.server") / "page"
    for part in parts:
        place = place / part
    if not place.is_file():
        return None
    content = place.read_bytes()
    return PageFile(content, kind, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


@router.get("/static/{path:path}")
async def get_static(path: str, request: Request) -> Response:
    """A module, a style or a picture."""
    return _send(path, request)


@router.get("/{path:path}")
async def get_page(path: str, request: Request) -> Response:
    """The document, for every view of the page."""
    if path in _ROOT_FILES:
        return _send(path, request)
    if path == "api" or path.startswith("api/"):
        raise _refuse_api(request)
    if "." in path.rpartition("/")[2] or path.count("/") >= _DEEPEST:
        raise HTTPException(404, "There is no such page.")
    return _send("index.html", request)


@router.post("/{path:path}")
async def refuse_post(path: str, request: Request) -> Response:
    """Nothing is changed outside of the API."""
    if path == "api" or path.startswith("api/"):
        raise _refuse_api(request)
    raise HTTPException(405, "Not with this method.", {"allow": "GET"})


def _refuse_api(request: Request) -> HTTPException:
    """What the API does not have, also if it has it with another method."""
    other = "GET" if request.method == "POST" else "POST"
    scope = {**request.scope, "method": other}
    others = (route for route in request.app.routes if route not in router.routes)
    if any(route.matches(scope)[0] is Match.FULL for route in others):
        return HTTPException(405, f"Not with this method; there is {other}.", {"allow": other})
    return HTTPException(404, "There is no such thing in the API.")


def _send(path: str, request: Request) -> Response:
    found = read_file(path) if len(path) <= 200 else None
    if found is None:
        raise HTTPException(404, "There is no such file.")
    headers = {"etag": found.tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    return Response(found.content, media_type=found.type, headers=headers)
