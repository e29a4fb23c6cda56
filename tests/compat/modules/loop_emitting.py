"""A loop that emits by itself and hands each result to process_hook_result."""

from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_core.models import HookResult, ToolResult


class EmittingLoop:
    def __init__(self, config):
        self.config = config

    async def execute(self, prompt, context, providers, tools, hooks, coordinator=None):
        result = await hooks.emit("prompt:submit", {"prompt": prompt})
        if coordinator:
            result = await coordinator.process_hook_result(result, "prompt:submit", "orchestrator")
            if result.action == "deny":
                return f"Operation denied: {result.reason}"
        await hooks.emit("execution:start", {"prompt": prompt})
        await context.add_message({"role": "user", "content": prompt})
        provider = next(iter(providers.values()))
        reply = ""
        for iteration in range(1, 6):
            if coordinator and coordinator.cancellation.is_cancelled:
                break
            messages = await context.get_messages()
            request = ChatRequest(
                messages=[Message(**message) for message in messages],
                tools=[
                    ToolSpec(name=t.name, description=t.description, parameters=t.input_schema)
                    for t in tools.values()
                ],
            )
            data = {"provider": provider.name, "iteration": iteration, "messages": messages}
            asked = await hooks.emit("provider:request", data)
            assert asked.data is None or asked.data.get("messages", messages) is messages
            await coordinator.process_hook_result(asked, "provider:request", "orchestrator")
            response = await provider.complete(request)
            await hooks.emit("provider:response", {"response": response, "usage": response.usage})
            calls = provider.parse_tool_calls(response)
            if not calls:
                reply = response.text
                await context.add_message({"role": "assistant", "content": reply})
                break
            await context.add_message(
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {"id": c.id, "name": c.name, "arguments": c.arguments} for c in calls
                    ],
                }
            )
            for call in calls:
                result = await self._run(call, tools, hooks, coordinator)
                await context.add_message(
                    {
                        "role": "tool",
                        "tool_call_id": call.id,
                        "content": result.get_serialized_output(),
                    }
                )
        await hooks.emit("execution:end", {"response": reply, "status": "completed"})
        await hooks.emit(
            "orchestrator:complete", {"orchestrator": "loop-emitting", "turn_count": iteration}
        )
        return reply

    async def _run(self, call, tools, hooks, coordinator):
        pre = await hooks.emit(
            "tool:pre",
            {"tool_name": call.name, "tool_call_id": call.id, "tool_input": call.arguments},
        )
        if coordinator:
            pre = await coordinator.process_hook_result(pre, "tool:pre", call.name)
        if pre.action == "deny":
            return ToolResult(success=False, error={"message": f"Denied by hook: {pre.reason}"})  # type: ignore[arg-type]
        arguments = (pre.data or {}).get("tool_input", call.arguments)
        tool = tools.get(call.name)
        if tool is None:
            return ToolResult(success=False, error={"message": f"Tool '{call.name}' not found"})  # type: ignore[arg-type]
        result = await tool.execute(arguments)
        post = await hooks.emit(
            "tool:post",
            {"tool_name": call.name, "tool_input": arguments, "result": result.model_dump()},
        )
        if coordinator:
            await coordinator.process_hook_result(post, "tool:post", call.name)
        return result


async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", EmittingLoop(config or {}))
    assert HookResult().action == "continue"
