"""What is known of the server: its session, the version that was agreed on, its tools' headers."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

from amplifier_hooks.guards.mcp.frames import Frame, write_frame
from amplifier_hooks.mcp.gateway.http.mirrored_headers import SESSION, VERSION, list_mirrored
from amplifier_hooks.mcp.gateway.http.outgoing.failures import WireError
from amplifier_hooks.mcp.gateway.http.param_headers import ParamHeaders
from amplifier_hooks.mcp.gateway.http.sse import KIND

logger = logging.getLogger(__name__)

INITIALIZE = "initialize"
_SESSION = re.compile(r"[\x21-\x7e]{1,1024}")


class Conversation:
    """Grows with the answers; says which headers a message needs."""

    def __init__(self) -> None:
        self.session = ""
        self.version = ""
        self._params = ParamHeaders()

    def list_headers(self, frame: Frame) -> dict[str, str]:
        """The headers of a message, from what is sent now."""
        if frame.method == INITIALIZE:
            return {}
        mirrored = list_mirrored(frame)
        if mirrored:
            return {**mirrored, **self._params.list_headers(frame)}
        return self.list_session_headers()

    def list_session_headers(self) -> dict[str, str]:
        """Those that every request of a session needs."""
        found = {SESSION: self.session, VERSION: self.version}
        return {name: value for name, value in found.items() if value}

    def list_stream_headers(self, last_id: str) -> dict[str, str]:
        """Those of a request for a stream, which goes on after an event if one is named."""
        resumed = {"Last-Event-ID": last_id} if last_id else {}
        return {"Accept": KIND, **resumed, **self.list_session_headers()}

    def learn(self, request: Frame, answer: Frame, headers: Mapping[str, str]) -> Frame:
        """Note what an answer says; return it, without tools that may not be used over HTTP."""
        result = answer.message.get("result")
        if not isinstance(result, dict):
            return answer
        if request.method == INITIALIZE:
            self._begin(result, headers)
        elif request.method == "tools/list" and isinstance(result.get("tools"), list):
            return self._learn_tools(answer, result)
        return answer

    def _begin(self, result: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        session = headers.get(SESSION.lower(), "")
        if session and not _SESSION.fullmatch(session):
            raise WireError("the server names its session with characters that HTTP does not allow")
        self.session = session
        version = result.get("protocolVersion")
        self.version = version if isinstance(version, str) and _SESSION.fullmatch(version) else ""

    def _learn_tools(self, answer: Frame, result: Mapping[str, Any]) -> Frame:
        refused = self._params.learn(result["tools"])
        for name, reason in refused.items():
            logger.warning("the tool %.100r is left out: %s", name, reason)
        if not refused:
            return answer
        kept = [
            one
            for one in result["tools"]
            if not (isinstance(one, dict) and one.get("name") in refused)
        ]
        return write_frame({**answer.message, "result": {**result, "tools": kept}})
