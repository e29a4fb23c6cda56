"""provider-openai: OpenAI models, and any server with a compatible API.

Mounts      a provider, by default under the name "openai"
Configure   model, api (chat or responses), api_key, base_url, max_output_tokens, temperature,
            timeout, system_messages, headers, extra, name
"""

from __future__ import annotations

from typing import Any, Literal

from amplifier_core.interfaces import Cleanup, Host
from amplifier_hooks.agent.providers.openai_chat import Chat
from amplifier_hooks.agent.providers.openai_responses import Responses
from amplifier_hooks.agent.providers.remote import (
    SYNONYMS,
    RemoteConfig,
    RemoteProvider,
    Vendor,
    mount_remote,
)
from amplifier_hooks.modules.options import parse_known

# Local servers such as Ollama, vLLM and LM Studio want no key.
_VENDOR = Vendor(
    "openai",
    "AsyncOpenAI",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OpenAI",
    key_optional_elsewhere=True,
)


class OpenAIConfig(RemoteConfig):
    """The options of provider-openai."""

    name: str = "openai"
    model: str = "gpt-5.5"
    api: Literal["chat", "responses"] = "chat"


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup | None:
    """Mount the provider under its configured name."""
    options = await parse_known(coordinator, OpenAIConfig, config, "provider-openai", SYNONYMS)
    wire = Chat() if options.api == "chat" else Responses()
    return await mount_remote(coordinator, RemoteProvider(options, _VENDOR, wire))
