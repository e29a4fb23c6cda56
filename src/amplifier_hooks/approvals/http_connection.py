"""One server, spoken to over HTTP: no redirects, no proxies, no secret in any address or error."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import ValidationError

from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.approvals.errors import (
    BadRequest,
    Conflict,
    NotAllowed,
    NotFound,
    StoreError,
    StoreUnavailable,
    TooMany,
)
from amplifier_hooks.approvals.models import Approval, Value, describe_invalid
from amplifier_hooks.machine.http import check_private_url
from amplifier_hooks.modules.installation import require

V = TypeVar("V", bound=Value)

if TYPE_CHECKING:
    import httpx2


_KINDS: Mapping[int, type[StoreError]] = {
    400: BadRequest,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    413: BadRequest,
    415: BadRequest,
    422: BadRequest,
    429: TooMany,
}
_CONFLICT = 409
_SERVER_ERROR = 500
_LONGEST = 2000


def read_failure(host: str, status: int, body: Any) -> StoreError:
    """The error for an answer that is none; `body` is its JSON, if it has any."""
    given = body if isinstance(body, dict) else {}
    error = given.get("error")
    said = str(error.get("message", ""))[:_LONGEST] if isinstance(error, dict) else ""
    if status == _CONFLICT:
        return Conflict(said or f"{host} answered 409", _read_approval(given))
    if kind := _KINDS.get(status):
        return kind(f"{host}: {said}" if said else f"{host} answered {status}")
    if status < _SERVER_ERROR:
        return StoreUnavailable(
            f"{host} answered {status}; check that the address is that of `amplifier serve`"
        )
    return StoreUnavailable(f"{host}: {said}" if said else f"{host} answered {status}")


def _read_approval(body: Mapping[str, Any]) -> Approval | None:
    try:
        return Approval.model_validate(body["approval"])
    except (KeyError, ValueError):
        return None


API = "/api/v1"
SECONDS = 15.0
_MOST = 64 * 1024 * 1024


class Connection:
    """Requests with a bearer token; httpx2 is imported with the first one."""

    def __init__(self, url: str, token: str) -> None:
        self._base = _check_address(url)
        self._token = _check_token(token)
        self.host = urlsplit(self._base).netloc
        self._client: httpx2.AsyncClient | None = None

    async def get(self, path: str, kind: type[V], *, seconds: float = SECONDS, **query: Any) -> V:
        """What is at a path, validated; parameters without a value are left out."""
        given = {key: value for key, value in query.items() if value not in ("", None, ())}
        return self._validate(kind, await self._exchange("GET", path, seconds, params=given))

    async def post(self, path: str, body: Any, kind: type[V], *, seconds: float = SECONDS) -> V:
        """What the server answers to a JSON document, validated."""
        content = encode_body(body)
        headers = {"Content-Type": "application/json"}
        answer = await self._exchange("POST", path, seconds, content=content, headers=headers)
        return self._validate(kind, answer)

    async def stream(self, path: str, kind: type[V]) -> AsyncIterator[V | None]:
        """The events of an answer that does not end, and None for each other sign of life.

        Silence for a minute is a failure.
        """
        http = self._load()
        try:
            async with self._open().stream("GET", f"{API}{path}", timeout=60) as response:
                if not response.is_success:
                    raise read_failure(
                        self.host, response.status_code, _parse(await _read(response))
                    )
                async for line in response.aiter_lines():
                    if not line.startswith("data: "):
                        yield None
                        continue
                    event = _parse(line.removeprefix("data: ").encode())
                    yield self._validate(kind, event)
        except (http.HTTPError, OSError) as failure:
            raise self._describe(failure) from None

    def _validate(self, kind: type[V], answer: Any) -> V:
        try:
            return kind.model_validate(answer)
        except ValidationError as error:
            raise StoreUnavailable(
                f"{self.host} answered with something else than {kind.__name__}: "
                f"{describe_invalid(error)}"
            ) from error

    async def close(self) -> None:
        """End all connections."""
        if self._client is not None:
            client = self._client
            self._client = None
            await client.aclose()

    async def _exchange(self, method: str, path: str, seconds: float, **more: Any) -> Any:
        http = self._load()
        try:
            async with asyncio.timeout(seconds):
                request = self._open().stream(method, f"{API}{path}", **more)
                async with request as response:
                    body = _parse(await _read(response))
        except TimeoutError:
            raise StoreUnavailable(f"{self.host} took longer than {seconds:g} seconds") from None
        except (http.HTTPError, OSError) as failure:
            raise self._describe(failure) from None
        if not response.is_success:
            raise read_failure(self.host, response.status_code, body)
        if not isinstance(body, dict):
            raise StoreUnavailable(f"{self.host} did not answer with a JSON object")
        return body

    def _describe(self, failure: Exception) -> StoreUnavailable:
        """Without the words of the failure where they could quote a header."""
        if isinstance(failure, self._load().LocalProtocolError):
            return StoreUnavailable(f"{self.host}: the request could not be sent")
        return StoreUnavailable(
            f"{self.host} does not answer: {str(failure) or type(failure).__name__}"
        )

    def _load(self) -> Any:
        return require("httpx2", "approval by a server", "http")

    def _open(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = self._load().AsyncClient(
                base_url=self._base,
                headers={"Authorization": f"Bearer {self._token}", "Accept-Encoding": "identity"},
                verify=ssl.create_default_context(),
                trust_env=False,
                follow_redirects=False,
                timeout=None,
            )
        assert self._client is not None
        return self._client


def encode_body(value: Any) -> bytes:
    """A value as it travels."""
    try:
        return to_json(value).encode()
    except ValueError as error:
        raise BadRequest(f"It cannot be sent as JSON: {error}") from error


async def _read(response: httpx2.Response) -> bytes:
    received = bytearray()
    async for chunk in response.aiter_raw():
        received += chunk
        if len(received) > _MOST:
            raise StoreUnavailable(f"The server answered with more than {_MOST} bytes")
    return bytes(received)


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def _check_address(url: str) -> str:
    try:
        parts = urlsplit(check_private_url(url))
    except ValueError as error:
        raise BadRequest(f"The address of the server {error}") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadRequest("The address of the server is like https://host:port, without a secret")
    if parts.path.strip("/"):
        raise BadRequest("The address of the server has no path; write https://host:port")
    return f"{parts.scheme}://{parts.netloc}"


def _check_token(token: str) -> str:
    if not token:
        raise BadRequest("The server needs a token; `amplifier tokens add` makes one")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise BadRequest("The token has characters that no token has; copy it again")
    return token
