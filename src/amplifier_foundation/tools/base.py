"""What every tool of ours is: a name, a description, a validated input, an answer in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import BaseModel

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Cleanup, Tool
from amplifier_core.models import ToolResult
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.tools.schema import schema_of

I = TypeVar("I", bound=BaseModel)  # noqa: E741 - the input


class Refused(Exception):
    """The input asks for something that cannot be done; the message is the agent's sentence."""


class InputTool(Generic[I]):
    """A tool whose input is a pydantic model. Ordinary mistakes are answers, not exceptions."""

    name: ClassVar[str]
    description: str
    input_model: ClassVar[type[BaseModel]]

    @property
    def input_schema(self) -> dict[str, Any]:
        return schema_of(self.input_model)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        try:
            given: Any = parse_config(self.input_model, input, self.name)
            return await self.run(given)
        except (Refused, ModuleLoadError) as refusal:
            return ToolResult.failed(str(refusal))
        except OSError as failure:  # a full disk, a directory that vanished
            return ToolResult.failed(f"{self.name} could not do it: {failure}")

    async def run(self, given: I) -> ToolResult:
        raise NotImplementedError


class Coordinator(Protocol):
    """As much of the coordinator as a tool needs."""

    hooks: Any

    def get_capability(self, name: str) -> Any: ...
    async def mount(self, point: str, module: Any, name: str | None = None) -> Any: ...
    async def unmount(self, point: str, name: str | None = None) -> Any: ...


async def announce(coordinator: Any, event: str, data: dict[str, Any]) -> None:
    """Tell the hooks what was done; a coordinator that can also carries out what they answer."""
    notify = getattr(coordinator, "notify", None)
    await (coordinator.hooks.emit if notify is None else notify)(event, data)


async def mount_tools(
    coordinator: Coordinator, tools: Iterable[Tool], wanted: Sequence[str] | None, owner: str
) -> Cleanup:
    """Mount the tools, or the wanted ones of them; the result takes them away again."""
    by_name = {tool.name: tool for tool in tools}
    for name in wanted or ():
        if name not in by_name:
            raise ModuleLoadError(f"{owner}: Unknown tool {name!r}; have {sorted(by_name)}")
    mounted = [by_name[name] for name in (by_name if wanted is None else wanted)]
    for tool in mounted:
        await coordinator.mount("tools", tool, name=tool.name)
    return _unmounting(coordinator, [tool.name for tool in mounted])


def _unmounting(coordinator: Coordinator, names: list[str]) -> Callable[[], Any]:
    async def unmount() -> None:
        while names:  # so that a second clean-up finds nothing to do
            await coordinator.unmount("tools", names.pop())

    return unmount
