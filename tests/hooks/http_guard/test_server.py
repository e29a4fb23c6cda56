"""How uvicorn runs an application behind the guard."""

from __future__ import annotations

import re

import pytest

from amplifier_hooks.http_guard.server import CannotListen, bind


def test_a_port_that_another_program_has_is_named():
    """Before a client is told to come."""
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"Port {port} is in use.*; choose another one"):
            bind("127.0.0.1", port)


def test_an_address_of_another_machine_is_named():
    """With the reason of the system."""
    with pytest.raises(CannotListen, match=re.escape("Cannot listen on 192.0.2.1 port 80: ")):
        bind("192.0.2.1", 80)
