"""WebSocket connections that can be cut off."""

from __future__ import annotations

import logging

import pytest
from websockets.exceptions import InvalidStatus

from amplifier_apps.web.connection import AbortableWebSocket
from tests.apps.web.live_client import connect_live, join_live
from tests.apps.web.world import World


async def test_the_app_can_end_a_connection_at_once(served: World):
    """Without a goodbye, for those who would not read it."""
    async with join_live(served) as client:
        await client.hear("pending")
        (connection,) = [
            one
            for one in served.server.server_state.connections
            if isinstance(one, AbortableWebSocket)
        ]
        connection.scope["state"]["abort"]()
        assert await client.wait_closed() == 1006


async def test_a_refused_handshake_is_no_error_of_the_app(
    served: World, caplog: pytest.LogCaptureFixture
):
    """Whoever knocks at the door does not fill the log."""
    with caplog.at_level(logging.WARNING), pytest.raises(InvalidStatus) as refused:
        async with connect_live(served):
            pass
    assert refused.value.response.status_code == 401
    assert caplog.records == []
