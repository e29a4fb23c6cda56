"""The presenter for a bundle."""

from __future__ import annotations

import pytest

from amplifier_hooks import load_bundle
from amplifier_hooks.mcp.server.policy.masking import build_presenter
from tests.hooks.mcp.server.world import SECRET, World


def test_what_a_bundle_masks_is_masked_here_and_what_it_switches_off_as_well(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own patterns, variables of the environment, and values that it refers to."""
    monkeypatch.setenv("SHOP_DSN", "db4-of-the-shop")
    monkeypatch.setenv("API_KEY_X", "k" * 12)
    config = {
        "patterns": {"order": "ORD-[0-9]{6}"},
        "environment": ["SHOP_*"],
        "off": ["github-token"],
    }
    world.save_bundle(
        hooks=[{"module": "hooks-redaction", "config": config}],
        providers=[{"module": "provider-scripted", "config": {"key": "${API_KEY_X}"}}],
    )
    presenter = build_presenter(load_bundle())
    shown = presenter.present_text(f"ORD-123456 db4-of-the-shop {'k' * 12} {SECRET}")
    assert shown == ("[REDACTED:order] [REDACTED:env-SHOP_DSN] [secret] [REDACTED:github-token]")


@pytest.mark.parametrize("config", [{"paterns": {}}, {"patterns": {"bad": "("}}])
def test_a_bundle_whose_options_are_wrong_masks_what_we_know_of(
    world: World, config: dict[str, object]
) -> None:
    """No session starts with it, but its trails may still be searched."""
    world.save_bundle(hooks=[{"module": "hooks-redaction", "config": config}])
    shown = build_presenter(load_bundle()).present_text(SECRET)
    assert shown == "[REDACTED:github-token]"
