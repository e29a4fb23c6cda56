"""The tools of a server, and one call of them: its time limit, its progress, its end."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, Field

from amplifier_core.interfaces import Host
from amplifier_core.message_models import ImageBlock
from amplifier_core.models import ToolResult
from amplifier_core.utils import describe_error
from amplifier_hooks.agent.tools.base import InputTool
from amplifier_hooks.agent.tools.live_output import follow_output
from amplifier_hooks.agent.tools.mcp.client import Client, JsonObject, OnProgress, ServerError
from amplifier_hooks.agent.tools.mcp.connection import Connection, Unavailable
from amplifier_hooks.guards.mcp.definitions import Definition
from amplifier_hooks.guards.mcp.protocol import LIST, ListData, name_tool
from amplifier_hooks.guards.mcp.results import hide_bulk, read_call
from amplifier_hooks.guards.policy.unread_tools import says_read_only
from amplifier_hooks.machine.pipes import OnOutput

SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What models take."""

_LARGEST = 7_000_000
"""Characters of base64: models take no larger images."""
_MOST = 20


def read_tool_answer(result: JsonObject) -> ToolResult:
    """What a tool has answered; sounds, files and odd images are described in its text."""
    return _add_images(read_call(result), result.get("content"))


def read_parts(parts: Any) -> ToolResult:
    """What a resource or a prompt consists of."""
    return _add_images(ToolResult(output=hide_bulk(parts)), parts)


def _add_images(result: ToolResult, parts: Any) -> ToolResult:
    images = list(_find_images(parts))[:_MOST]
    if not images or not result.success:
        return result
    return result.model_copy(update={"content": images})


def _find_images(value: Any) -> Iterator[ImageBlock]:
    if isinstance(value, list):
        for one in value:
            yield from _find_images(one)
    elif isinstance(value, dict):
        data = value.get("data", value.get("blob"))
        if value.get("mimeType") in SHOWN and isinstance(data, str) and len(data) <= _LARGEST:
            yield _make_image(str(value["mimeType"]), data)
        else:
            for name in ("resource", "content"):
                yield from _find_images(value.get(name))


def _make_image(kind: str, data: str) -> ImageBlock:
    return ImageBlock(source={"type": "base64", "media_type": kind, "data": data})


_INTERVAL = 0.1
"""Seconds between two lines of progress."""

Request = Callable[[Client, OnProgress], Awaitable[JsonObject]]


class Caller:
    """Sends requests of one session to one server."""

    def __init__(self, host: Host, connection: Connection, timeout: float) -> None:
        self._host = host
        self._connection = connection
        self._timeout = timeout

    async def ask(
        self, name: str, about: str, request: Request, read: Callable[[JsonObject], ToolResult]
    ) -> ToolResult:
        """Make a request; whatever goes wrong is a result that says so, and nothing is repeated.

        Cancelling this cancels the request at the server.
        """
        server = self._connection.name
        try:
            client = await self._connection.acquire()
        except Unavailable as reason:
            return self._fail(f"The MCP server {server!r} is not available: {reason}")
        limit = self._timeout
        try:
            with follow_output(self._host, name, about) as show:
                async with asyncio.timeout(limit) as deadline:
                    return read(await request(client, make_progress(show, deadline, limit)))
        except TimeoutError:
            return self._fail(
                f"The MCP server {server!r} did not answer within {limit:g} seconds, and the call "
                "was cancelled there. It may have had effects; look before you call it again."
            )
        except ServerError as error:
            return self._explain(error)

    def _explain(self, error: ServerError) -> ToolResult:
        server = self._connection.name
        if not error.lost:
            return self._fail(f"The MCP server {server!r} refused: {error}")
        return self._fail(
            f"The MCP server {server!r} ended during this call, so there is no result. The call "
            "may have had effects and is not repeated by itself; look before you call it again."
        )

    def _fail(self, sentence: str) -> ToolResult:
        return ToolResult.failed(self._connection.hide(sentence))


class Deadline(Protocol):
    """The end of a call's time, which can be moved."""

    def expired(self) -> bool: ...
    def reschedule(self, when: float | None) -> None: ...


def make_progress(show: OnOutput | None, deadline: Deadline, limit: float) -> OnProgress:
    """Shows progress, and gives a call that goes on its time anew."""
    clock = asyncio.get_running_loop().time
    last = 0.0

    async def take(progress: float, total: float | None, message: str | None) -> None:
        nonlocal last
        now = clock()
        if not deadline.expired():
            deadline.reschedule(now + limit)
        is_end = total is not None and progress >= total
        if show is not None and (is_end or now - last >= _INTERVAL):
            last = now
            show("stdout", f"{_write_progress(progress, total, message)}\n")

    return take


def _write_progress(progress: float, total: float | None, message: str | None) -> str:
    count = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
    return f"{count} {message}" if message else count


def describe_input(input: dict[str, Any]) -> str:
    """What a call is about in a line, for whoever looks on."""
    return ", ".join(f"{name}={value!r:.60}" for name, value in input.items())[:200]


_NOTHING_SAID = "The server says nothing about this tool."


def read_description(tool: Definition) -> str:
    """What a tool does, as far as its server says so."""
    said = tool.get("description") or tool.get("title")
    return said if isinstance(said, str) and said.strip() else _NOTHING_SAID


def read_schema(tool: Definition) -> dict[str, Any]:
    """The schema of its input; models want an object."""
    found = tool.get("inputSchema")
    schema = dict(found) if isinstance(found, dict) else {}
    return schema if schema.get("type") == "object" else {**schema, "type": "object"}


class McpTool:
    """One tool as its server has defined it. Another definition is another object.

    So a call that waits for a person is denied when the definition changes meanwhile.
    """

    def __init__(self, name: str, tool: str, digest: str, caller: Caller) -> None:
        self.name = name
        self.digest = digest
        """Of the definition that the server has given last."""
        self._tool = tool
        self._caller = caller
        self._shown: Definition = {}

    def show(self, definition: Definition) -> None:
        """Have models see this definition: the one that a person allowed, as hooks left it."""
        self._shown = definition

    @property
    def description(self) -> str:
        return read_description(self._shown)

    @property
    def input_schema(self) -> dict[str, Any]:
        return read_schema(self._shown)

    @property
    def only_reads(self) -> bool:
        """Whether its server says that it changes nothing."""
        return says_read_only(self._shown.get("annotations"))

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Call it at the server."""

        async def request(client: Client, on_progress: OnProgress) -> JsonObject:
            return await client.call(self._tool, input, on_progress)

        about = describe_input(input)
        return await self._caller.ask(self.name, about, request, read_tool_answer)


logger = logging.getLogger(__name__)

Item = dict[str, Any]


class Withheld(Exception):
    """A hook keeps a list from the model, and why."""


async def judge_list(host: Host, server: str, method: str, items: Sequence[Item]) -> list[Item]:
    """What the hooks leave of a list; Withheld if they leave nothing, or cannot judge it."""
    input: ListData = {"server": server, "method": method, "items": [dict(one) for one in items]}
    # A coordinator of the ecosystem can only emit, and puts no question to a person.
    judge: Any = getattr(host, "execute_with_hooks", host.hooks.emit)
    try:
        answer = await judge(LIST, input)
    except Exception as error:
        raise Withheld(f"the hooks could not judge it: {describe_error(error)}") from error
    if answer.action in ("deny", "ask_user"):
        raise Withheld(str(answer.reason or "a hook denied it"))
    left = (answer.data or input).get("items")
    if not isinstance(left, list) or not all(isinstance(one, dict) for one in left):
        raise Withheld("a hook left no usable list")
    return left


class NothingInput(BaseModel):
    """What a tool is told that needs nothing."""


class ReadInput(BaseModel):
    """What read_resource is told."""

    uri: str = Field(min_length=1, description="The address of the resource, as listed")


class PromptInput(BaseModel):
    """What get_prompt is told."""

    name: str = Field(min_length=1, description="The name of the prompt, as listed")
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="What is filled in, by the names that the list has"
    )


class _ExtraTool(InputTool[Any]):
    """Of one server; named like its own tools, and out of their way."""

    about: ClassVar[str]

    def __init__(self, host: Host, server: str, kind: str, name: str, caller: Caller) -> None:
        self.name: str = name  # type: ignore[misc]
        self.kind = kind
        """What `tools` and `exclude` of a bundle call it."""
        self.description = f"{self.about} Of the MCP server {server!r}."
        self._host = host
        self._server = server
        self._caller = caller

    async def ask(
        self, about: str, request: Callable[[Client], Any], read: Callable[[JsonObject], ToolResult]
    ) -> ToolResult:
        async def send(client: Client, on_progress: OnProgress) -> JsonObject:
            found: JsonObject = await request(client)
            return found

        return await self._caller.ask(self.name, about, send, read)


class _Lister(_ExtraTool):
    """Shows lists of the server, as hooks leave them."""

    input_model: ClassVar[type[BaseModel]] = NothingInput
    methods: ClassVar[tuple[str, ...]]

    async def run(self, input: NothingInput) -> ToolResult:
        """All of them, in one list."""

        async def collect(client: Client) -> JsonObject:
            return {"items": [one async for one in self._iterate(client)]}

        try:
            return await self.ask("", collect, lambda found: ToolResult(output=found["items"]))
        except Withheld as reason:
            return ToolResult.failed(f"The list is withheld: {reason}")

    async def _iterate(self, client: Client) -> Any:
        for method in self.methods:
            found = await client.list(method)
            for one in await judge_list(self._host, self._server, method, found):
                yield one


class ResourceLister(_Lister):
    """Lists resources, and templates of their addresses."""

    about = "List the resources that can be read, and the templates of their addresses."
    methods = ("resources/list", "resources/templates/list")


class PromptLister(_Lister):
    """Lists prompts."""

    about = "List the prepared prompts with their arguments."
    methods = ("prompts/list",)


class ResourceReader(_ExtraTool):
    """Reads one resource."""

    about = "Read one resource by its address."
    input_model: ClassVar[type[BaseModel]] = ReadInput

    async def run(self, input: ReadInput) -> ToolResult:
        """Its parts; a single text as it is."""
        return await self.ask(input.uri, lambda client: client.read(input.uri), _read_resource)


class PromptGetter(_ExtraTool):
    """Gets one prompt."""

    about = "Get one prepared prompt, filled in."
    input_model: ClassVar[type[BaseModel]] = PromptInput

    async def run(self, input: PromptInput) -> ToolResult:
        """Its messages."""
        words = {name: _write_argument(value) for name, value in input.arguments.items()}
        return await self.ask(
            input.name,
            lambda client: client.get_prompt(input.name, words),
            lambda found: read_parts(found.get("messages")),
        )


def _write_argument(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _read_resource(found: JsonObject) -> ToolResult:
    parts = found.get("contents")
    if isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0].get("text"), str):
        return ToolResult(output=parts[0]["text"])
    return read_parts(parts)


_METHODS = {"resources": ResourceLister.methods, "prompts": PromptLister.methods}
_KINDS: dict[str, tuple[tuple[str, type[_ExtraTool]], ...]] = {
    "resources": (("list_resources", ResourceLister), ("read_resource", ResourceReader)),
    "prompts": (("list_prompts", PromptLister), ("get_prompt", PromptGetter)),
}


EXTRA_TOOLS = [name for tools in _KINDS.values() for name, _ in tools]
"""What these tools are called behind the name of a server."""


async def find_extra_tools(client: Client) -> list[str]:
    """What a server has beside tools; many say that they have something and list nothing."""
    return [kind for kind, methods in _METHODS.items() if await _has_any(client, kind, methods)]


async def _has_any(client: Client, kind: str, methods: Sequence[str]) -> bool:
    for method in methods if client.offers(kind) else ():
        try:
            if await client.list(method):
                return True
        except ServerError as error:
            if error.lost:
                raise
    return False


def make_extra_tools(
    host: Host, server: str, kinds: Iterable[str], caller: Caller, taken: Collection[str]
) -> Iterator[_ExtraTool]:
    """The tools for what a server offers beside its own, whose names are `taken`."""
    for name, make in (one for kind in kinds for one in _KINDS[kind]):
        ours = [name_tool(server, one) for one in (name, f"mcp_{name}")]
        if free := next((one for one in ours if one not in taken), None):
            yield make(host, server, name, free, caller)
