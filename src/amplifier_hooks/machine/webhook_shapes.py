"""The documents that services take through a webhook: one text with a title, and perhaps a link.

generic   title, message and link as they are, with the facts of the caller
slack     an incoming webhook of Slack, also understood by Mattermost
teams     a workflow of Microsoft Teams that posts a card
ntfy      a topic of an ntfy server, https://ntfy.sh/TOPIC
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import unquote, urlsplit, urlunsplit

Shape = Literal["generic", "slack", "teams", "ntfy"]
Document = dict[str, Any]

_PRIORITIES = {"error": 5, "warning": 4}
_CARD = "application/vnd.microsoft.card.adaptive"


def write_document(
    shape: Shape,
    url: str,
    title: str,
    message: str,
    *,
    level: str = "info",
    link: str = "",
    facts: Mapping[str, Any] | None = None,
) -> tuple[str, Document]:
    """The address to post to, and what to post."""
    if shape == "slack":
        return url, _write_slack(title, message, link)
    if shape == "teams":
        return url, _write_teams(title, message, link)
    if shape == "ntfy":
        return _write_ntfy(url, title, message, level, link)
    plain = {"text": f"{title}: {message}", "title": title, "message": message, "level": level}
    return url, {**plain, **(facts or {}), **({"link": link} if link else {})}


def _write_slack(title: str, message: str, link: str) -> Document:
    text = f"*{_escape_slack(title)}*\n{_escape_slack(message)}"
    return {"text": f"{text}\n<{_escape_slack(link)}|Open it>" if link else text}


def _escape_slack(text: str) -> str:
    """What Slack would read as a link, a mention or a channel."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _write_teams(title: str, message: str, link: str) -> Document:
    # Text blocks read Markdown; a runs-of-text block shows its text as it is.
    body = [_write_run(title, bold=True), _write_run(message)]
    actions = [{"type": "Action.OpenUrl", "title": "Open it", "url": link}] if link else []
    card = {"type": "AdaptiveCard", "version": "1.4", "body": body, "actions": actions}
    return {"type": "message", "attachments": [{"contentType": _CARD, "content": card}]}


def _write_run(text: str, *, bold: bool = False) -> Document:
    run = {"type": "TextRun", "text": text, **({"weight": "Bolder"} if bold else {})}
    return {"type": "RichTextBlock", "inlines": [run]}


def _write_ntfy(url: str, title: str, message: str, level: str, link: str) -> tuple[str, Document]:
    """Documents go to the server's root, with the topic in them."""
    parts = urlsplit(url)
    folder, _, topic = parts.path.rstrip("/").rpartition("/")
    root = urlunsplit((parts.scheme, parts.netloc, f"{folder}/", parts.query, ""))
    document: Document = {
        "topic": unquote(topic),
        "title": title,
        "message": message,
        "priority": _PRIORITIES.get(level, 3),
    }
    return root, {**document, **({"click": link} if link else {})}
