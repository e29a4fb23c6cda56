"""hooks-notify: notify the user on the desktop or through a webhook.

Listens to  user:notification, orchestrator:complete, or what `events` names
Answers     continue; delivery happens beside the agent
Configure   name, events, types, desktop, webhooks, page, include_data, and how often
"""

from __future__ import annotations

import asyncio
import html
import logging
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote, urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core.events import ORCHESTRATOR_COMPLETE, POLICY_VIOLATION, USER_NOTIFICATION
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult, Level
from amplifier_core.utils import timestamp
from amplifier_hooks.machine.background import BackgroundTasks
from amplifier_hooks.machine.http import HttpError, check_url, ensure_available, post_json
from amplifier_hooks.machine.text import encode_json, to_one_line
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import (
    get_session_id,
    is_own_event,
    matches_any,
    subscribe,
)
from amplifier_hooks.sandbox.process import run_command

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


NAME = "hooks-notify"
logger = logging.getLogger(__name__)
_LONGEST = 300
_GRACE = 2.0
_DESKTOP_SECONDS = 5.0
_FINDING = 10.0  # seconds until a question that is being asked has its place on the page
_LEVELS: dict[str, Level] = {"error": "error", "approval_required": "warning"}


class WebhookConfig(BaseModel):
    """One address that gets a JSON document per notification."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    shape: Shape = "generic"
    headers: dict[str, str] = Field(default_factory=dict)
    timeout: float = Field(5.0, gt=0, le=60)
    retry_delay: float = Field(1.0, ge=0, le=60)

    @field_validator("url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        return check_url(value)

    @field_validator("headers")
    @classmethod
    def _check_headers(cls, value: dict[str, str]) -> dict[str, str]:
        if not all(
            f"{name}{text}".isascii() and f"{name}{text}".isprintable()
            for name, text in value.items()
        ):
            raise ValueError("a header must be one line of ASCII")
        return value


class Config(BaseModel):
    """The options of hooks-notify."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("Amplifier", min_length=1, max_length=60)
    events: tuple[str, ...] = (USER_NOTIFICATION, ORCHESTRATOR_COMPLETE)
    types: frozenset[str] = frozenset({"approval_required", "error", "alert"})
    desktop: bool = True
    webhooks: tuple[WebhookConfig, ...] = ()
    page: str | None = None
    min_turn_seconds: float = Field(10.0, ge=0)
    min_interval: float = Field(1.0, ge=0)
    include_data: bool = False
    sub_agents: bool = False
    priority: int = 90

    @field_validator("page")
    @classmethod
    def _check_page(cls, value: str | None) -> str | None:
        return None if value is None else check_url(value).rstrip("/")


@dataclass(frozen=True, slots=True)
class Notification:
    """What the user is told."""

    title: str
    message: str
    level: Level


def compose(event: str, data: dict[str, Any], name: str = "Amplifier") -> Notification:
    """The words for an event; events nobody thought of are named."""
    kind, message, level = _find_words(event, data)
    return Notification(f"{to_one_line(name, 60)}: {kind}", to_one_line(message, _LONGEST), level)


def _find_words(event: str, data: dict[str, Any]) -> tuple[str, Any, Level]:
    if event == USER_NOTIFICATION:
        kind = to_one_line(data.get("notification_type") or "alert", 40)
        level = _LEVELS.get(kind, "info")
        return kind.replace("_", " "), data.get("message") or kind, level
    if event == ORCHESTRATOR_COMPLETE:
        return _find_completion(data)
    message = data.get("message") or data.get("reason") or data.get("prompt") or event
    if event == POLICY_VIOLATION:
        who = to_one_line(data.get("hook") or "a hook", 60)
        return "denied", f"{who}: {to_one_line(message, _LONGEST)}", "warning"
    return to_one_line(event, 60), message, "error" if "error" in event else "info"


def _find_completion(data: dict[str, Any]) -> tuple[str, str, Level]:
    status = to_one_line(data.get("status") or "success", 40)
    final = data.get("final_message")
    said = final.get("content") if isinstance(final, dict) else None
    text = said if isinstance(said, str) and said.strip() else "The agent has finished."
    return ("done", text, "info") if status == "success" else (status, text, "error")


def list_facts(event: str, session: str, data: dict[str, Any] | None) -> dict[str, Any]:
    """What a generic webhook gets beside the words."""
    facts: dict[str, Any] = {"event": event, "session_id": session, "timestamp": timestamp()}
    return facts if data is None else {**facts, "data": data}


class Notifier:
    """Decides in the hook, delivers in tasks of its own."""

    def __init__(
        self, coordinator: Host, config: Config, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._coordinator = coordinator
        self._config = config
        self._clock = clock
        self._last: tuple[Notification, float] | None = None
        self.tasks = BackgroundTasks(NAME)

    async def on_event(self, event: str, data: dict[str, Any]) -> HookResult:
        if matches_any(self._config.events, event) and self._is_due(event, data):
            clean = self._scrub(data)
            note = compose(event, clean, self._config.name)
            if not self._is_echo(note):
                self._deliver(note, event, clean)
        return HookResult(action="continue")

    def _scrub(self, data: dict[str, Any]) -> dict[str, Any]:
        clean = self._coordinator.scrub(data)
        return clean if isinstance(clean, dict) else {"message": clean}

    def _is_due(self, event: str, data: dict[str, Any]) -> bool:
        if event == USER_NOTIFICATION:
            return to_one_line(data.get("notification_type"), 40) in self._config.types
        if not self._config.sub_agents and not is_own_event(self._coordinator, data):
            return False
        if event != ORCHESTRATOR_COMPLETE:
            return True
        took = data.get("duration_ms")
        return isinstance(took, int | float) and took >= 1000 * self._config.min_turn_seconds

    def _is_echo(self, note: Notification) -> bool:
        """The same words again within a moment."""
        now = self._clock()
        last = self._last
        self._last = (note, now)
        return last is not None and last[0] == note and now - last[1] < self._config.min_interval

    def _deliver(self, note: Notification, event: str, data: dict[str, Any]) -> None:
        if self._config.desktop and (program := shutil.which("notify-send")):
            self.tasks.start(show_on_desktop(program, note))
        if self._config.webhooks:
            self.tasks.start(self._post_all(note, event, data))

    async def _post_all(self, note: Notification, event: str, data: dict[str, Any]) -> None:
        link = await self._find_link(data)
        session = get_session_id(self._coordinator, data)
        facts = list_facts(event, session, data if self._config.include_data else None)
        hooks = self._config.webhooks
        await asyncio.gather(*(send(hook, note, link, facts) for hook in hooks))

    async def _find_link(self, data: dict[str, Any]) -> str:
        """Where a waiting approval is shown; a link decides nothing."""
        find = self._coordinator.get_capability("approval.find")
        if self._config.page is None or find is None:
            return ""
        if data.get("notification_type") != "approval_required":
            return ""
        about = data.get("metadata")
        hook = about.get("hook") if isinstance(about, dict) else None
        found = await find(str(hook), str(data.get("message")), _FINDING)
        return f"{self._config.page}/approvals/{found}" if found else self._config.page


async def show_on_desktop(program: str, note: Notification) -> None:
    """Through notify-send, which reads mark-up in the message."""
    urgency = "critical" if note.level == "error" else "normal"
    await run_command(
        [
            program,
            "--app-name=Amplifier",
            f"--urgency={urgency}",
            "--",
            note.title,
            html.escape(note.message),
        ],
        timeout=_DESKTOP_SECONDS,
    )


async def send(hook: WebhookConfig, note: Notification, link: str, facts: dict[str, Any]) -> None:
    """Post; try once more if that may help; else leave a line in the program's log."""
    url, document = write_document(
        hook.shape, hook.url, note.title, note.message, level=note.level, link=link, facts=facts
    )
    body = encode_json(document)
    try:
        await _post(hook, url, body)
    except HttpError as failure:
        if not failure.temporary:
            logger.warning("%s: %s", NAME, failure)
            return
    else:
        return
    await asyncio.sleep(hook.retry_delay)
    try:
        await _post(hook, url, body)
    except HttpError as failure:
        logger.warning("%s: %s (tried twice)", NAME, failure)


async def _post(hook: WebhookConfig, url: str, body: bytes) -> None:
    await post_json(url, body, timeout=hook.timeout, headers=hook.headers, owner=NAME)


def _choose_events(events: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns may overlap, and one event is one notification: then listen once, to everything."""
    exact = not any(set("*?[") & set(pattern) for pattern in events)
    return tuple(dict.fromkeys(events)) if exact else ("*",)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen; clean-up gives deliveries under way a moment and ends the rest."""
    settings = await parse_known(coordinator, Config, config, NAME)
    if settings.webhooks:
        await asyncio.to_thread(ensure_available, NAME)  # importing it takes a moment
    notifier = Notifier(coordinator, settings)
    remove = subscribe(
        coordinator,
        NAME,
        settings.priority,
        [(event, notifier.on_event) for event in _choose_events(settings.events)],
    )

    async def cleanup() -> None:
        remove()
        await notifier.tasks.close(grace=_GRACE)

    return cleanup
