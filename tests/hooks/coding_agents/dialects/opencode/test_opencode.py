"""OpenCode's dialect: a plugin's, in both directions."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.opencode import DIALECT
from amplifier_hooks.coding_agents.dialects.opencode.events import EVENTS
from tests.hooks.coding_agents.dialects.conversation import TOOL, make_call


def test_the_dialect_is_found_under_its_name() -> None:
    """As the plugin gives it to the client."""
    assert DIALECTS["opencode"] is DIALECT


@pytest.mark.parametrize("native", sorted(EVENTS))
def test_every_event_says_where_it_belongs(native: str) -> None:
    """Session, folder and event."""
    payload = DIALECT.build_payload(make_call(native, TOOL))
    assert payload["session_id"] == "session-1"
    assert payload["cwd"] == "/project"
    assert payload["hook_event_name"] == native


def test_a_plugin_has_no_environment_of_its_own() -> None:
    """Scripts look nothing up."""
    assert DIALECT.build_environment(make_call("dispose")) == {}


def test_what_can_be_denied_is_a_gate() -> None:
    """A result, too: it is withheld where nobody could look at it."""
    gates = {name for name, row in EVENTS.items() if row.gate}
    assert gates == {name for name, row in EVENTS.items() if "deny" in row.powers}
    assert gates == {
        "tool.execute.before",
        "tool.execute.after",
        "chat.message",
        "command.execute.before",
    }
