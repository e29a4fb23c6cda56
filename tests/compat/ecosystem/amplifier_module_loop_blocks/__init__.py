"""loop-blocks: tells of each block of a reply as it comes, and runs its tool calls side by side."""

import asyncio

from amplifier_core import ChatRequest, HookResult, Message, ToolSpec
from amplifier_core import events as ev

__amplifier_module_type__ = "orchestrator"


class BlocksLoop:
    def __init__(self, config):
        self.max_iterations = config.get("max_iterations", -1)

    async def execute(
        self, prompt, context, providers, tools, hooks, coordinator=None, **kwargs
    ) -> str:
        submitted = await self._emit(hooks, coordinator, ev.PROMPT_SUBMIT, {"prompt": prompt})
        if submitted.action == "deny":
            return f"Operation denied: {submitted.reason}"
        await hooks.emit(ev.EXECUTION_START, {"prompt": prompt})
        await context.add_message({"role": "user", "content": prompt})
        passing: list = []
        reply, turns, status = "", 0, "completed"
        try:
            while turns != self.max_iterations:
                if coordinator is not None and coordinator.cancellation.is_cancelled:
                    status = "cancelled"
                    break
                turns += 1
                reply, calls = await self._ask(
                    context, providers, tools, hooks, coordinator, passing
                )
                if not calls:
                    break
                passing = await self._run(calls, context, tools, hooks, coordinator)
        finally:
            await hooks.emit(ev.EXECUTION_END, {"response": reply, "status": status})
            await hooks.emit(
                ev.ORCHESTRATOR_COMPLETE,
                {"orchestrator": "loop-blocks", "turn_count": turns, "status": status},
            )
        return reply

    async def _emit(self, hooks, coordinator, event, data):
        result = await hooks.emit(event, data)
        if coordinator is None:
            return result
        return await coordinator.process_hook_result(result, event, "orchestrator")

    async def _ask(self, context, providers, tools, hooks, coordinator, passing):
        name, provider = next(iter(providers.items()))
        asked = await self._emit(hooks, coordinator, ev.PROVIDER_REQUEST, {"provider": name})
        if asked.action == "deny":
            return f"Operation denied: {asked.reason}", []
        messages = list(await context.get_messages_for_request(provider=provider))
        for result in [*passing, asked]:
            messages = self._place(result, messages)
        specs = [
            ToolSpec(
                name=tool.name,
                description=tool.description,
                parameters=getattr(tool, "input_schema", {}),
            )
            for tool in tools.values()
        ]
        request = ChatRequest(messages=[Message(**one) for one in messages], tools=specs)
        response = await provider.complete(request)
        total = len(response.content)
        for index, block in enumerate(response.content):
            start = {"block_type": block.type, "block_index": index, "total_blocks": total}
            await hooks.emit(ev.CONTENT_BLOCK_START, start)
            end = {"block_index": index, "total_blocks": total, "block": block.model_dump()}
            await hooks.emit(ev.CONTENT_BLOCK_END, {**end, "usage": response.usage})
        text = "".join(block.text for block in response.content if block.type == "text")
        calls = provider.parse_tool_calls(response)
        message: dict = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {"id": call.id, "tool": call.name, "arguments": call.arguments} for call in calls
            ]
        await context.add_message(message)
        return text, calls

    def _place(self, result, messages):
        text = result.context_injection
        if result.action != "inject_context" or not result.ephemeral or not text:
            return messages
        if result.append_to_last_tool_result:
            for index in range(len(messages) - 1, -1, -1):
                if messages[index]["role"] == "tool":
                    content = f"{messages[index]['content']}\n\n{text}"
                    changed = {**messages[index], "content": content}
                    return [*messages[:index], changed, *messages[index + 1 :]]
        return [*messages, {"role": result.context_injection_role, "content": text}]

    async def _run(self, calls, context, tools, hooks, coordinator):
        done = await asyncio.gather(
            *(self._call(call, tools, hooks, coordinator) for call in calls)
        )
        for call, (content, _) in zip(calls, done, strict=True):
            await context.add_message({"role": "tool", "tool_call_id": call.id, "content": content})
        return [after for _, after in done]

    async def _call(self, call, tools, hooks, coordinator):
        data = {"tool_name": call.name, "tool_call_id": call.id, "tool_input": call.arguments}
        before = await self._emit(hooks, coordinator, ev.TOOL_PRE, data)
        if before.action == "deny":
            return f"Denied by hook: {before.reason}", HookResult()
        result = await tools[call.name].execute(call.arguments)
        after = await hooks.emit(ev.TOOL_POST, {**data, "result": result.model_dump()})
        if coordinator is not None:
            await coordinator.process_hook_result(after, ev.TOOL_POST, call.name)
        return result.get_serialized_output(), after


async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", BlocksLoop(config or {}))
