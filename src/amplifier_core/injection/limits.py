"""How much hooks may inject, and in what form it reaches the conversation."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from amplifier_core.errors import InjectionTooLarge
from amplifier_core.models import Role
from amplifier_core.utils import timestamp

logger = logging.getLogger(__name__)

MAX_INJECTION_SIZE = 10_240
INJECTION_BUDGET_PER_TURN = 10_000

_HEADING = "Hook feedback:"
_LINE_ENDS = re.compile("([\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029])")
_FRAME = re.compile(
    r"[\W_]*(hook[\W_]*feedback[\W_]*:|from\b.*\(\s*\d+\s*bytes?\s*\)\s*:)", re.IGNORECASE
)
_UNSEEN = frozenset(("Cc", "Cf", "Me", "Mn"))
_BLANK = dict.fromkeys((0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0), " ")
_LOOKALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0441\u0443\u043a\u043c\u0442\u04bb\u0455\u0501\u03bf\u03ba"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0421\u0422\u0423\u0405"
    "\u0391\u0392\u0395\u0397\u039a\u039c\u039f\u03a4\u03a5\u03dc",
    "aeocykmthsdokABEKMHOCTYSABEHKMOTYF",
)
"""Cyrillic and Greek letters that look like those of the frame."""
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]+")


@dataclass(frozen=True, slots=True)
class Injection:
    """One hook's text on its way into the conversation."""

    hook: str
    event: str
    text: str
    role: Role = "system"
    ephemeral: bool = False
    append_to_last_tool_result: bool = False

    @property
    def size(self) -> int:
        return len(self.text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class InjectionLimits:
    """What a session allows; None is unlimited."""

    size: int | None = MAX_INJECTION_SIZE
    budget: int | None = INJECTION_BUDGET_PER_TURN
    over_budget: Literal["drop", "warn"] = "drop"

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> InjectionLimits:
        """The limits in the `session` section of a mount plan."""
        over = settings.get("injection_over_budget", "drop")
        if over not in ("drop", "warn"):
            raise ValueError(f"injection_over_budget must be 'drop' or 'warn', got {over!r}")
        return cls(
            _limit(settings, "injection_size_limit", MAX_INJECTION_SIZE),
            _limit(settings, "injection_budget_per_turn", INJECTION_BUDGET_PER_TURN),
            over,
        )


def _limit(settings: Mapping[str, Any], key: str, default: int) -> int | None:
    value = settings.get(key, default)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{key} must be a whole number of at least 0 or null, got {value!r}")
    return value


class InjectionBudget:
    """The tokens that hooks injected in the running turn."""

    def __init__(self, limits: InjectionLimits, count: Callable[[str], int] | None = None) -> None:
        self.limits = limits
        self.used = 0
        self.count = count or estimate_tokens

    def tokens(self, text: str) -> int:
        """What a text costs; a counter that fails or talks nonsense is not asked again."""
        try:
            found: Any = self.count(text)
        except Exception as error:  # noqa: BLE001 - a provider's code
            found = error
        if type(found) is int and found >= 0:
            return found
        logger.error("A token count of %r; from now on four characters are one", found)
        self.count = estimate_tokens
        return estimate_tokens(text)

    def check_size(self, injection: Injection) -> None:
        """Raise when one injection is over the size limit."""
        limit = self.limits.size
        if limit is not None and injection.size > limit:
            raise InjectionTooLarge(
                f"Context injection of hook '{injection.hook}' exceeds {limit} bytes: "
                f"it has {injection.size}"
            )

    def spend(self, tokens: int) -> bool:
        """Count tokens; False, and nothing counted, if they do not fit and must be dropped."""
        limit = self.limits.budget
        fits = limit is None or self.used + tokens <= limit
        if not fits and self.limits.over_budget == "drop":
            return False
        self.used += tokens
        return True

    def exceeded(self) -> bool:
        """Whether the soft limit has been passed."""
        return self.limits.budget is not None and self.used > self.limits.budget

    def reset(self) -> None:
        """A new turn begins."""
        self.used = 0


def estimate_tokens(text: str) -> int:
    """Four characters are a token, and a started one counts."""
    return -(-len(text) // 4)


def unforgeable(text: str) -> str:
    """The text with lines that look like the frame of a hook's feedback indented."""
    pieces = _LINE_ENDS.split(text)
    return "".join(f"    {piece}" if _looks_like_a_frame(piece) else piece for piece in pieces)


def _looks_like_a_frame(line: str) -> bool:
    """As a reader sees it: lookalikes are letters, what cannot be seen is not there."""
    if not line.isascii() or not line.isprintable():
        plain = unicodedata.normalize("NFKC", line.translate(_BLANK)).translate(_LOOKALIKE)
        line = "".join(
            one for one in plain if one.isspace() or unicodedata.category(one) not in _UNSEEN
        )
    return _FRAME.match(line) is not None


def messages(injections: Iterable[Injection]) -> list[dict[str, Any]]:
    """One message per role: a hook alone speaks plainly, several are framed with their names."""
    by_role: dict[str, list[Injection]] = {}
    for injection in injections:
        by_role.setdefault(injection.role, []).append(injection)
    return [_message(role, group) for role, group in by_role.items()]


def _message(role: str, group: list[Injection]) -> dict[str, Any]:
    names = [injection.hook for injection in group]
    return {
        "role": role,
        "content": unforgeable(group[0].text) if len(group) == 1 else _batched(group),
        "metadata": {
            "source": "hook",
            "hook_name": ", ".join(names),
            "hooks": names,
            "event": group[0].event,
            "timestamp": timestamp(),
            **({"ephemeral": True} if group[0].ephemeral else {}),
        },
    }


def _batched(group: Iterable[Injection]) -> str:
    frames = (
        f"From {_CONTROL.sub(' ', one.hook)} ({one.size} bytes):\n{unforgeable(one.text)}"
        for one in group
    )
    return "\n\n".join([_HEADING, *frames])


def with_ephemeral(
    history: list[dict[str, Any]], injections: Iterable[Injection]
) -> list[dict[str, Any]]:
    """The messages of one request: the history, which stays as it is, and what is for now only."""
    result, behind = list(history), []
    for injection in injections:
        last = result[-1] if result else {}
        if injection.append_to_last_tool_result and last.get("role") == "tool":
            result[-1] = {**last, "content": _appended(last.get("content"), injection)}
        else:
            behind.append(injection)
    return [*result, *(message for one in behind for message in messages([one]))]


def _appended(content: Any, injection: Injection) -> Any:
    text = unforgeable(injection.text)
    if isinstance(content, list):
        return [*content, {"type": "text", "text": text}]
    return f"{content or ''}\n\n{text}"
