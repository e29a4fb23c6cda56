"""Registering hooks, and what guards share: failing closed, questions, globs of tools."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core.events import spellings
from amplifier_core.interfaces import Host
from amplifier_core.models import Decision, HookResult
from amplifier_core.utils import safe_repr

Handler = Callable[[str, dict[str, Any]], Awaitable[HookResult]]
Removal = Callable[[], None]


def subscribe(
    host: Host, owner: str, priority: int, handlers: Iterable[tuple[str, Handler]]
) -> Removal:
    """Register every handler under the module's name; the returned call removes them all."""
    return combine_removals(
        [
            host.hooks.register(event, handler, priority=priority, name=owner)
            for event, handler in handlers
        ]
    )


def combine_removals(removals: Iterable[Removal]) -> Removal:
    """Combine removals into one call, which makes them in reverse order; a second does nothing."""
    pending = list(removals)

    def remove() -> None:
        while pending:
            pending.pop()()

    return remove


def get_session_id(host: Host, data: dict[str, Any]) -> str:
    """The id of an event's session: a sub-agent's events reach its parent's hooks too."""
    session = data.get("session_id") or host.session_id or "unknown"
    return session if isinstance(session, str) else safe_repr(session)


def is_own_event(host: Host, data: dict[str, Any]) -> bool:
    """Whether an event belongs to the session that mounted the hook, not to a sub-agent."""
    own = host.session_id
    return own is None or get_session_id(host, data) == str(own)


def get_working_dir(host: Host) -> str:
    """The working directory of the session; that of the process if it has none."""
    return str(host.get_capability("session.working_dir") or ".")


ALLOW_OR_DENY = ("Allow once", "Allow always", "Deny")
LONGEST = 2_000
MOST_LISTED = 20
_DIGEST_DIGITS = 32

Reply = HookResult | Awaitable[HookResult]
"""Guards answer at once what needs no waiting: a time limit on a coroutine costs a task."""

GuardHandler = Callable[[str, dict[str, Any]], Reply]


class GuardConfig(BaseModel):
    """The options that every guard has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    priority: int = 900  # behind the hooks that change the call: what is judged is what runs
    timeout: float = Field(10.0, gt=0, allow_inf_nan=False)
    approval_options: list[str] = Field(default_factory=lambda: list(ALLOW_OR_DENY), min_length=1)
    approval_timeout: float = Field(300.0, gt=0, allow_inf_nan=False)
    approval_default: Decision = "deny"

    @field_validator("approval_options")
    @classmethod
    def _check_options(cls, value: list[str]) -> list[str]:
        if any(not option.strip() for option in value):
            raise ValueError("an option is empty")
        return value

    def ask_user(self, prompt: str, reason: str) -> HookResult:
        """Ask the person, with the options that the user configured."""
        return HookResult(
            action="ask_user",
            approval_prompt=prompt,
            approval_options=list(self.approval_options),
            approval_timeout=self.approval_timeout,
            approval_default=self.approval_default,
            reason=reason,
        )

    def ask_or_deny(
        self, action: Literal["ask_user", "deny"], prompt: str, reason: str
    ) -> HookResult:
        """Ask or deny, as configured."""
        if action == "deny":
            return HookResult(action="deny", reason=reason)
        return self.ask_user(prompt, reason)


def register_guards(
    host: Host,
    owner: str,
    handlers: Iterable[tuple[str, GuardHandler]],
    *,
    priority: int,
    timeout: float,
) -> Removal:
    """Register handlers whose failure of any kind is a deny; the returned call removes them all."""
    return combine_removals(
        [
            host.hooks.register(
                event, handler, priority=priority, name=owner, on_error="deny", timeout=timeout
            )
            for event, handler in handlers
        ]
    )


def get_base_dir(host: Host) -> Path:
    """The folder that relative paths of the session start from."""
    return Path(get_working_dir(host)).resolve()


def read_command(value: Any) -> str | None:
    """The text of a command; a list of words is one, too. None for anything else."""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return shlex.join(value)
    return value if isinstance(value, str) else None


def shorten(text: str, limit: int = LONGEST) -> str:
    """The whole text, or its beginning with the length of the rest and a digest of the whole.

    With the digest two texts that begin alike are still two questions.
    """
    if len(text) <= limit:
        return text
    missing = len(text) - limit
    return f"{text[:limit]}… ({missing} more characters; SHA-256 of all: {digest_text(text)})"


def list_lines(lines: Sequence[str], most: int = MOST_LISTED) -> str:
    """All lines for a question, or the first ones with the number and digest of the others."""
    shown = [f"- {line}" for line in lines[:most]]
    if rest := lines[most:]:
        shown.append(f"- and {len(rest)} more (SHA-256 of those: {digest_text(chr(0).join(rest))})")
    return "\n".join(shown)


def digest_text(text: str) -> str:
    """A digest that is long enough that nobody finds a second text with the same one."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGEST_DIGITS]


def matches_any(patterns: Iterable[str], event: str) -> bool:
    """Whether a pattern matches the event under any of its spellings."""
    return _matches_any(tuple(patterns), event)


@lru_cache(maxsize=4096)
def _matches_any(patterns: tuple[str, ...], event: str) -> bool:
    names = spellings(event)
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)


T = TypeVar("T")


def fits_glob(tool: str, glob: str) -> bool:
    """Whether a glob names the tool, whatever the letter case of either."""
    return fnmatchcase(tool, glob) or fnmatchcase(tool.casefold(), glob.casefold())


def look_up_tool(table: Mapping[str, T], tool: str) -> T | None:
    """What the first glob that fits says; if none does, letter case makes no difference.

    A tool that somebody calls `bash` is not to pass a guard of `Bash`.
    """
    for glob, entry in table.items():
        if fnmatchcase(tool, glob):
            return entry
    return next((entry for glob, entry in table.items() if fits_glob(tool, glob)), None)
