"""What the modules of a session may ask it for, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplifier_foundation.session.assembled import AssembledSession
from amplifier_foundation.session.side_call import ask_model

Rename = Callable[[str, str], Any]


def register_capabilities(
    session: AssembledSession, folder: Path, on_rename: Rename | None = None
) -> None:
    """Offer `session.working_dir`, `.rename`, `.model_call` and `.keep_working`."""
    coordinator = session.coordinator

    def rename(name: str, description: str = "") -> Any:
        coordinator.session_state["name"] = name
        coordinator.session_state["description"] = description
        return None if on_rename is None else on_rename(name, description)

    async def model_call(
        prompt: str, system: str | None = None, max_output_tokens: int = 200
    ) -> str:
        return await ask_model(coordinator, prompt, system, max_output_tokens)

    coordinator.register_capability("session.working_dir", str(folder.absolute()))
    coordinator.register_capability("session.rename", rename)
    coordinator.register_capability("session.model_call", model_call)
    coordinator.register_capability("session.keep_working", session.keep_working)


def hide_secrets(session: AssembledSession, secrets: frozenset[str]) -> None:
    """Keep the secrets of a bundle out of everything that is shown or recorded."""

    def scrub(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, "[secret]")
        return text

    if secrets:
        session.coordinator.register_scrubber(scrub)
