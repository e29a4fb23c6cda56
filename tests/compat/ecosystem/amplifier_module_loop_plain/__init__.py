"""loop-plain: asks for a whole reply and runs its tool calls one after the other.

It emits the events of a turn by itself, and places by itself what hooks inject for one request.
"""

from amplifier_core import ChatRequest, HookResult, Message, ToolResult, ToolSpec
from amplifier_core.events import (
    ORCHESTRATOR_COMPLETE,
    PROMPT_COMPLETE,
    PROMPT_SUBMIT,
    PROVIDER_REQUEST,
    PROVIDER_RESPONSE,
    TOOL_POST,
    TOOL_PRE,
)

__amplifier_module_type__ = "orchestrator"


class PlainLoop:
    def __init__(self, config):
        self.max_iterations = config.get("max_iterations", 10)

    async def execute(self, *, prompt, context, providers, tools, hooks, coordinator=None):
        result = await self._emit(hooks, coordinator, PROMPT_SUBMIT, {"prompt": prompt})
        if result.action == "deny":
            return f"Operation denied: {result.reason}"
        notes = [result]
        await context.add_message({"role": "user", "content": prompt})

        reply, status, iteration = "", "incomplete", 0
        while status == "incomplete" and iteration < self.max_iterations:
            if coordinator and coordinator.cancellation.is_cancelled:
                status = "cancelled"
                break
            iteration += 1
            provider = next(iter(providers.values()))
            asked = {"provider": provider.name, "iteration": iteration}
            result = await self._emit(hooks, coordinator, PROVIDER_REQUEST, asked)
            if result.action == "deny":
                return f"Operation denied: {result.reason}"
            messages = list(await context.get_messages_for_request(provider=provider))
            for note in [*notes, result]:
                place(note, messages)
            response = await provider.complete(build_request(messages, tools))
            await hooks.emit(
                PROVIDER_RESPONSE,
                {"provider": provider.name, "response": response, "usage": response.usage},
            )
            reply = "".join(block.text for block in response.content if block.type == "text")
            calls = provider.parse_tool_calls(response)
            await context.add_message(build_reply(reply, calls))
            notes = []
            for call in calls:
                content, note = await self._call(call, tools, hooks, coordinator)
                notes.append(note)
                await context.add_message(
                    {"role": "tool", "name": call.name, "tool_call_id": call.id, "content": content}
                )
            status = status if calls else "success"

        await hooks.emit(PROMPT_COMPLETE, {"prompt": prompt, "response": reply})
        await hooks.emit(
            ORCHESTRATOR_COMPLETE,
            {"orchestrator": "loop-plain", "turn_count": iteration, "status": status},
        )
        return reply

    async def _emit(self, hooks, coordinator, event, data):
        result = await hooks.emit(event, data)
        if coordinator:
            result = await coordinator.process_hook_result(result, event, "orchestrator")
        return result

    async def _call(self, call, tools, hooks, coordinator):
        data = {"tool_name": call.name, "tool_call_id": call.id, "tool_input": call.arguments}
        before = await self._emit(hooks, coordinator, TOOL_PRE, data)
        if before.action == "deny":
            return f"Denied by hook: {before.reason}", HookResult()
        tool = tools.get(call.name)
        if tool is None:
            result = ToolResult(success=False, error={"message": f"No tool {call.name}"})
        else:
            try:
                result = await tool.execute(call.arguments)
            except Exception as error:  # noqa: BLE001 - the agent reads it
                result = ToolResult(success=False, error={"message": str(error)})
        after = await hooks.emit(TOOL_POST, {**data, "tool_result": result.model_dump()})
        if coordinator:
            await coordinator.process_hook_result(after, TOOL_POST, call.name)
        return result.get_serialized_output(), after


def build_request(messages, tools):
    specs = [
        ToolSpec(name=tool.name, description=tool.description, parameters=tool.input_schema)
        for tool in tools.values()
    ]
    return ChatRequest(messages=[Message(**one) for one in messages], tools=specs or None)


def build_reply(text, calls):
    message: dict = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "tool": call.name, "arguments": call.arguments} for call in calls
        ]
    return message


def place(result, messages):
    """Put what a hook injects for one request behind the last tool result, or at the end."""
    text = result.context_injection
    if result.action != "inject_context" or not result.ephemeral or not text:
        return
    if result.append_to_last_tool_result and messages and messages[-1]["role"] == "tool":
        last = messages[-1]
        messages[-1] = {**last, "content": f"{last['content']}\n\n{text}"}
    else:
        messages.append({"role": result.context_injection_role, "content": text})


async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", PlainLoop(config or {}))
