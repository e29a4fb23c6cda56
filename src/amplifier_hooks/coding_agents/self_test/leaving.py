"""The end of a check: what is left of its session is the trail, whose name says what it is."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from amplifier_core.errors import SessionStateError
from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.coding_agents.client.launch import read_launch
from amplifier_hooks.coding_agents.self_test.host import Host
from amplifier_hooks.coding_agents.self_test.ticket import Ticket
from amplifier_hooks.coding_agents.sessions.opening import name_session
from amplifier_hooks.machine.locations import find_data_home


def leave(host: Host, ticket: Ticket, folder: Path) -> None:
    """End the session as the agent would, and remove what could be gone on with."""
    try:
        host.end_session()
    finally:
        ticket.remove()
    with contextlib.suppress(OSError, ValueError, SessionStateError):
        home = find_data_home(read_launch(os.fsencode(folder)).env)
        store = SessionStore(home / "amplifier" / "guests" / "sessions")
        store.delete(name_session(host.dialect.name, ticket.session_id))
