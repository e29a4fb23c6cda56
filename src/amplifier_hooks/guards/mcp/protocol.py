"""Names: what parts of an MCP server are called in a session, and the event of its lists."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, NotRequired
from urllib.parse import urlsplit, urlunsplit

from amplifier_core.events import Event, EventData
from amplifier_core.utils import digest

CALL = "tools/call"
READ = "resources/read"
GET = "prompts/get"
SAMPLE = "sampling/createMessage"
ELICIT = "elicitation/create"

METHODS = frozenset(
    {
        *(CALL, READ, GET, SAMPLE, ELICIT),
        *("initialize", "server/discover", "ping", "tools/list", "prompts/list", "roots/list"),
        *("resources/list", "resources/templates/list", "resources/subscribe"),
        *("resources/unsubscribe", "completion/complete", "logging/setLevel"),
        *("tasks/get", "tasks/result", "tasks/update", "tasks/list", "tasks/cancel"),
        *("notifications/cancelled", "notifications/initialized", "notifications/progress"),
        *("notifications/message", "notifications/tasks/status", "notifications/tasks"),
    }
)
"""Methods of the protocol; one that could be taken for one of them is none."""

LONGEST = 64
"""Of a tool's name: models take no longer ones."""

_PREFIX = "mcp__"
_FITTING = re.compile(r"[A-Za-z0-9_-]+")
_SERVER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,30}[A-Za-z0-9-])?")
_DIGITS = 8
_MARKED = re.compile(r"_[0-9a-f]{8}\Z")
"""As if it had been shortened: it could be the name that another tool was given."""


def fold_name(name: str) -> str:
    """What is left of a name for readers who do not mind case, width and signs."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(one for one in plain if one.isalnum())


def explain_odd_name(name: str) -> str | None:
    """Why readers may take a name for another one; None if all of them read the same.

    Blanks at its ends are often cut off, signs that nobody sees are dropped, and letters of other
    widths are folded to plain ones.
    """
    if not name or name != name.strip():
        return "is empty, or begins or ends with blanks"
    if any(unicodedata.category(one) in _UNSEEN for one in name):
        return "has characters that nobody sees"
    if unicodedata.normalize("NFKC", name) != name:
        return "has letters that some readers take for others"
    return None


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def check_server_name(name: str) -> str:
    """The name; ValueError if tools could not be told from those of another server by it."""
    if not _SERVER.fullmatch(name) or "__" in name:
        raise ValueError(
            f"{name!r} is no name for a server: use up to 32 letters, digits, '-' and single '_', "
            "with a letter or a digit first and no '_' last"
        )
    return name


def make_server_name(name: str) -> str:
    """A name like that, for a server that somebody else has called something."""
    plain = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_-]", "-", name)).strip("_-")
    if plain == name and _SERVER.fullmatch(plain):
        return name
    return f"{plain[:20].rstrip('_-') or 'server'}-{digest(name)[:_DIGITS]}"


def name_tool(server: str, tool: str) -> str:
    """The name of a server's tool: `mcp__server__tool`.

    One that models would not take is shortened or written otherwise, and keeps apart from all
    others by digits that depend on its full name.
    """
    full = f"{_PREFIX}{server}__{tool}"
    if len(full) <= LONGEST and _FITTING.fullmatch(full) and not _MARKED.search(full):
        return full
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", full)[: LONGEST - _DIGITS - 1]
    return f"{plain}_{digest(tool)[:_DIGITS]}"


def name_method(server: str, method: str) -> str:
    """The name of what is no tool, such as `mcp__server__resources/read`; no tool is called so."""
    return f"{_PREFIX}{server}__{method}"


def identify_address(url: str) -> str:
    """An address with a digest in the place of what is often a key: people read it in lists."""
    try:
        parts = urlsplit(url)
    except ValueError:  # nothing can be sent to it either
        return digest(url)
    user, _, host = parts.netloc.rpartition("@")
    secret = [user, parts.query, parts.fragment]
    plain = urlunsplit(parts._replace(netloc=host, query="", fragment=""))
    return f"{plain}#{digest(secret)[:12]}" if any(secret) else plain


class ListData(EventData):
    """A server has said what it offers: tools, resources, prompts, or how to use it."""

    server: str
    method: str
    """What was asked for: tools/list, resources/list, resources/templates/list, prompts/list,
    initialize or server/discover."""
    items: list[dict[str, Any]]
    """As the server describes them, on this page of the list; with initialize and server/discover,
    what it says of itself."""
    instructions: NotRequired[str]
    """What the server tells the model about itself, with initialize and server/discover."""


LIST = Event[ListData]("mcp:list")
"""`deny` withholds all of it, `modify` changes `items` and `instructions`."""
