"""Asking through the agent's own prompt, where it has one."""

from __future__ import annotations

from amplifier_core.approval import ApprovalQuestion, HandedOver
from amplifier_core.approval.meaning import read_option
from amplifier_core.errors import ApprovalError
from amplifier_hooks.external.conversation import current_event


class HostPrompt:
    """Hands the question over: the answer is the agent's to get, and a no keeps the tool away."""

    def __init__(self, agent: str) -> None:
        self._agent = agent

    async def decide(self, question: ApprovalQuestion) -> HandedOver:
        """Let it pass here, so that the agent asks before it goes on."""
        event = current_event.get()
        if event is None or "ask" not in event.powers:
            raise ApprovalError("nobody can be asked at this event of the agent")
        options = (one for one in question.options if read_option(one).allows)
        once = next((one for one in options if not read_option(one).remembered), None)
        if once is None:
            raise ApprovalError(f"none of {', '.join(question.options)} allows it once")
        said = [event.question] if event.question else []
        event.question = "\n".join([*said, question.prompt])
        return HandedOver(self._agent, goes_on=True)
