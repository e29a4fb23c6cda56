"""What the gateway does by itself to go on: a new session, a new look at the tools."""

from __future__ import annotations

from collections.abc import Mapping

from amplifier_hooks.guards.mcp.frames import Frame, read_frames, write_frame
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.outgoing.conversation import INITIALIZE, Conversation
from amplifier_hooks.mcp.gateway.http.outgoing.exchange import Exchange, SessionExpired
from amplifier_hooks.mcp.gateway.http.outgoing.wire import Wire

_PAGES = 100
_ID = "amplifier-gateway-tools"


async def begin_again(
    wire: Wire, conversation: Conversation, handshake: Mapping[str, Frame]
) -> None:
    """Start a session as the client had started the last one; WireError if that does not work.

    The client is not told what the server says about itself this time, so it must agree on the
    same version.
    """
    version = conversation.version
    for frame in handshake.values():
        await Exchange(frame, wire, conversation, _Answers()).run()
        if frame.method == INITIALIZE and conversation.version != version:
            raise SessionExpired(
                f"{wire.host} has ended the session and now speaks {conversation.version!r:.40}; "
                "start the client again"
            )


async def learn_tools(call: Frame, wire: Wire, conversation: Conversation) -> None:
    """List the tools in the name of who sent the call, to learn which headers they want."""
    cursor: str | None = None
    for _ in range(_PAGES):
        params = {"_meta": call.params.get("_meta", {})} | ({"cursor": cursor} if cursor else {})
        request = write_frame(
            {"jsonrpc": "2.0", "id": _ID, "method": "tools/list", "params": params}
        )
        answers = _Answers()
        await Exchange(request, wire, conversation, answers).run()
        cursor = answers.find_cursor()
        if not cursor:
            return


class _Answers:
    """What came for a message of the gateway's own; nobody else sees it."""

    def __init__(self) -> None:
        self._found: list[bytes] = []

    async def __call__(self, message: bytes | ChannelError) -> None:
        if isinstance(message, bytes):
            self._found.append(message)

    def find_cursor(self) -> str | None:
        """Where the list goes on."""
        results = [frame.message.get("result") for raw in self._found for frame in read_frames(raw)]
        found = next((one.get("nextCursor") for one in results if isinstance(one, dict)), None)
        return found if isinstance(found, str) else None
