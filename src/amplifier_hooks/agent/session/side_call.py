"""A question to the session's model that is not part of the conversation."""

from __future__ import annotations

from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import SessionError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_core.mounting import resolve_provider


async def ask_model(
    coordinator: SessionCoordinator,
    prompt: str,
    system: str | None,
    max_output_tokens: int,
    provider_name: str | None = None,
) -> str:
    """Ask, and return the answer; there is no event, and nothing is added to the conversation."""
    provider = _find_provider(coordinator, provider_name)
    prompt, system = coordinator.scrub([prompt, system])  # no hook sees it on its way out
    messages = [Message(role="user", content=prompt)]
    if system:
        messages.insert(0, Message(role="system", content=system))
    request = ChatRequest(messages=messages, max_output_tokens=max_output_tokens)
    text: str = (await provider.complete(request)).text
    return text


def _find_provider(coordinator: SessionCoordinator, name: str | None) -> Any:
    providers, loop = coordinator.get("providers"), coordinator.get("orchestrator")
    if name is not None and name not in (providers or {}):
        have = ", ".join(sorted(providers or {})) or "none"
        raise SessionError(f"No provider {name!r} is mounted; there are: {have}")
    found = resolve_provider(providers, loop) if name is None else providers[name]
    if found is None:
        raise SessionError("No provider is mounted; there is no model to ask")
    if not getattr(found, "answers_side_calls", True):
        raise SessionError("A scripted model plays its script and answers nothing else")
    return found
