"""AGENT-HOOKS 0.1, both ways and offline: one session as a host, one as a guest."""

import asyncio

from agent_hooks import (
    AgentContextBuilder,
    ApprovalOutcome,
    ApprovalResolution,
    InterceptionBlocked,
    InterceptionEmitter,
    Verdict,
)

from amplifier_core import AmplifierSession, HookRegistry, HookResult
from amplifier_hooks.frameworks.agent_hooks import AmplifierInterceptor, host_interceptors


class KeepThePin:
    """An interceptor of the contract: it knows nothing of this project."""

    async def intercept(self, context):
        answer = context.get("output", {}).get("content", "")
        if "4711" in answer:
            return Verdict.deny(reason="policy:pin", message="the answer has the PIN in it")
        return Verdict.allow()


SCRIPT = [{"text": "The PIN is 4711."}, {"text": "Ask your bank."}]
PLAN = {
    "session": {"orchestrator": "loop-basic", "context": "context-simple"},
    "providers": [{"module": "provider-scripted", "config": {"script": SCRIPT}}],
}


async def be_a_host():
    """A session of ours, judged by interceptors of the contract."""
    session = AmplifierSession(PLAN)
    host = host_interceptors(session, [KeepThePin()])
    async with session:
        for prompt in ("What is the PIN?", "And now?"):
            print("host: ", prompt, "→", await session.execute(prompt))
    for record in host.records:
        if not record.proceeds:
            print("record", record.interception_point.value, record.verdict.reason)


hooks = HookRegistry()


@hooks.register("tool:pre", on_error="deny", name="keep-files")
async def keep_files(event, data):
    path = data["tool_input"]["path"]
    if path.startswith("/etc"):
        return HookResult(action="deny", reason=f"{path} belongs to the system")
    return HookResult(action="ask_user", approval_prompt=f"Delete {path}?")


class Resolver:
    """Stands for whoever lifts denials in that host."""

    def resolve(self, request):
        print("asked:", request.verdict.message)
        return ApprovalResolution(
            ApprovalOutcome.APPROVE, request.context_identity, Verdict.allow()
        )


async def be_a_guest():
    """Any host of the contract, judged by our hooks; this one only deletes files."""
    interceptor = AmplifierInterceptor(hooks)
    emitter = InterceptionEmitter(resolver=Resolver()).register(interceptor, name="amplifier")
    host = AgentContextBuilder(agent_id="cleaner", framework="my-own", session_id="s1")
    await emitter.emit(host.agent_startup(tools_registered=["delete"]))
    for number, path in enumerate(("/etc/passwd", "notes.txt")):
        try:
            await emitter.emit(
                host.pre_tool_call(call_id=str(number), name="delete", args={"path": path})
            )
            print("guest: deletes", path)
        except InterceptionBlocked as error:
            print("guest: does not delete", path, "-", error.result.verdict.message)
    await emitter.emit_unchecked(host.agent_shutdown(reason="completed"))


asyncio.run(be_a_host())
asyncio.run(be_a_guest())
