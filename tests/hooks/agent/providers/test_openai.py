"""provider-openai: which protocol is spoken, to whom, and with which key."""

from __future__ import annotations

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import StreamingProvider
from amplifier_hooks.agent.providers import openai
from tests.support.models import (
    CHAT,
    RESPONSES,
    Protocol,
    make_request,
    mount_provider,
    serve_script,
)


async def test_it_mounts_under_its_name() -> None:
    """Several can be mounted beside one another."""
    async with mount_provider(openai) as provider:
        assert (provider.name, provider.model) == ("openai", "gpt-5.5")
        assert isinstance(provider, StreamingProvider)
    async with mount_provider(openai, {"name": "local", "model": "qwen"}) as provider:
        assert (provider.name, provider.model) == ("local", "qwen")


@pytest.mark.parametrize("protocol", [CHAT, RESPONSES], ids=["chat", "responses"])
async def test_the_option_chooses_the_protocol(protocol: Protocol) -> None:
    """`api` says which of OpenAI's two protocols a server gets."""
    async with serve_script(protocol, [{"text": "Hi."}]) as (provider, server):
        assert (await provider.complete(make_request())).text == "Hi."
    assert [received.path for received in server.requests] == [protocol.path]


async def test_another_protocol_is_refused_at_the_mount() -> None:
    """The message names the option and the value."""
    with pytest.raises(ModuleLoadError, match=r"provider-openai: .*api.*soap"):
        async with mount_provider(openai, {"api": "soap"}):
            raise AssertionError


async def test_headers_and_extra_fields_reach_the_server() -> None:
    """Gateways want headers of their own; new fields need no new release of ours."""
    config = {"headers": {"X-Team": "blue"}, "extra": {"seed": 7}}
    async with serve_script(CHAT, [{}], config) as (provider, server):
        await provider.complete(make_request())
    (received,) = server.requests
    assert (received.headers["x-team"], received.body["seed"]) == ("blue", 7)
    assert received.headers["authorization"] == "Bearer a-key"
