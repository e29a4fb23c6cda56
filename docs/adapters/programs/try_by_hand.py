"""A loop without any framework, with hooks in front of its tools."""

import asyncio

from amplifier_core import HookRegistry, HookResult
from amplifier_core.models import ToolResult
from amplifier_hooks.coverage import ALL, Coverage
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.frameworks import govern

hooks = HookRegistry()


@hooks.register("tool:pre", on_error="deny", name="keep-files")
async def keep_files(event, data):
    if data["tool_name"] == "delete":
        return HookResult(action="deny", reason="files stay where they are")
    return HookResult(action="continue")


# What this loop shows to hooks, and what their answers can do there.
MINE = Coverage(
    name="mine",
    framework="my loop",
    package="amplifier-hooks",
    module="__main__",
    attach="govern(hooks)",
    events={"prompt:submit": ALL, "prompt:answer": ALL, "tool:pre": ALL, "tool:post": ALL},
    unseen=("requests to the model",),
)

TOOLS = {"read": lambda path: f"text of {path}", "delete": lambda path: f"{path} is gone"}


async def call(run, name, **arguments):
    """One tool call of the loop: through the hooks, and only then to the tool."""
    wanted = Wanted(
        name,
        arguments,
        call_id="",
        handler=lambda given: TOOLS[name](**given),
        read=lambda value: ToolResult(output=value),
    )
    return (await run.call(wanted)).text


async def main():
    async with govern(hooks) as governor:
        run, verdict = await governor.begin(MINE, "Clean up my notes.")
        assert run is not None, verdict.text
        print("read:  ", await call(run, "read", path="notes.txt"))
        print("delete:", await call(run, "delete", path="notes.txt"))
        print("answer:", (await run.answer("I only looked.")).text)
        await run.end()


asyncio.run(main())
