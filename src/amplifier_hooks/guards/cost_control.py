"""hooks-cost-control: limit the tokens and the cost of a turn, a session or a day.

Listens to  prompt:submit, provider:response, provider:request
Answers     deny, ask_user, or continue with a warning
Configure   turn, session, day, prices, currency, file, priority, timeout, approval_*
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from amplifier_core.events import PROMPT_SUBMIT, PROVIDER_REQUEST, PROVIDER_RESPONSE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.modules.clock import find_calendar
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.registration import (
    GuardConfig,
    get_base_dir,
    is_own_event,
    register_guards,
)


@dataclass
class Spent:
    """Tokens and money."""

    tokens: int = 0
    money: float = 0.0

    def add(self, tokens: int, money: float) -> None:
        """Count one more call."""
        self.tokens += tokens
        self.money += money


class DayBook:
    """What was spent today by all sessions of this directory, in a small file."""

    def __init__(self, path: Path, get_today: Callable[[], str]) -> None:
        self._path = path
        self._get_today = get_today

    def read(self) -> Spent:
        """Today's sum. A missing file is an empty one, a broken one an error: fail closed."""
        try:
            entry = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return Spent()
        except (OSError, ValueError) as failure:
            raise ValueError(f"{self._path}: {failure}; repair or delete the file") from None
        return self._read_entry(entry)

    def _read_entry(self, entry: Any) -> Spent:
        try:
            spent = Spent(int(entry["tokens"]), float(entry["money"]))
            return spent if entry["date"] == self._get_today() else Spent()
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{self._path} is not a cost file; repair or delete it") from None

    def add(self, tokens: int, money: float) -> None:
        """Add a call, under a lock that other processes respect."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with _FileLock(self._path.with_suffix(".lock")):
            spent = self.read()
            spent.add(tokens, money)
            entry = {
                "date": self._get_today(),
                "tokens": spent.tokens,
                "money": round(spent.money, 6),
            }
            replace_file(self._path, f"{json.dumps(entry)}\n".encode(), sync=False)


class _FileLock:
    """Held by one process at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        self._file = self._path.open("a")
        with suppress(ImportError):  # Windows has none; there the last writer wins
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._file.close()


_MILLION = 1_000_000


class Price(BaseModel):
    """Money for a million tokens. Without their own price, cached tokens cost what input costs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cache_read: float | None = Field(None, ge=0, allow_inf_nan=False)
    cache_write: float | None = Field(None, ge=0, allow_inf_nan=False)


BUILT_IN_PRICES: dict[str, Price] = {
    "claude-opus": Price(input=15, output=75, cache_read=1.5, cache_write=18.75),
    "claude-sonnet": Price(input=3, output=15, cache_read=0.3, cache_write=3.75),
    "claude-haiku": Price(input=1, output=5, cache_read=0.1, cache_write=1.25),
    "claude": Price(input=15, output=75, cache_read=1.5, cache_write=18.75),
    "gpt-5-nano": Price(input=0.05, output=0.4, cache_read=0.005),
    "gpt-5-mini": Price(input=0.25, output=2, cache_read=0.025),
    "gpt-5": Price(input=1.25, output=10, cache_read=0.125),
    "gpt-4.1-nano": Price(input=0.1, output=0.4, cache_read=0.025),
    "gpt-4.1-mini": Price(input=0.4, output=1.6, cache_read=0.1),
    "gpt-4.1": Price(input=2, output=8, cache_read=0.5),
    "gpt-4o-mini": Price(input=0.15, output=0.6, cache_read=0.075),
    "gpt-4o": Price(input=2.5, output=10, cache_read=1.25),
    "gpt": Price(input=10, output=30),
    "o1": Price(input=15, output=60, cache_read=7.5),
    "o3": Price(input=2, output=8, cache_read=0.5),
    "o4-mini": Price(input=1.1, output=4.4, cache_read=0.275),
    "gemini": Price(input=1.25, output=10),
    "scripted": Price(input=0, output=0),
    "local": Price(input=0, output=0),
}
"""List prices in US dollars, for want of better; a bare family name is its dearest model."""


def find_price(model: str | None, prices: dict[str, Price], unknown: Price | None) -> Price | None:
    """The price under the longest prefix of the model's name, a vendor before it or not."""
    name = (model or "").casefold()
    names = {name, name.rpartition("/")[2]}
    table = {**BUILT_IN_PRICES, **{prefix.casefold(): p for prefix, p in prices.items()}}
    fitting = [prefix for prefix in table if any(one.startswith(prefix) for one in names)]
    return table[max(fitting, key=len)] if fitting else unknown


def compute_cost(usage: dict[str, Any], price: Price | None) -> tuple[int, float]:
    """Tokens and money of one call."""
    given = _read_count(usage, "input_tokens")
    made = _read_count(usage, "output_tokens")
    read = _read_count(usage, "cache_read_tokens")
    written = _read_count(usage, "cache_write_tokens")
    total = max(given + made, _read_count(usage, "total_tokens"))
    if price is None:
        return total, 0.0
    plain = max(given - read - written, 0)
    read_price = price.input if price.cache_read is None else price.cache_read
    write_price = price.input if price.cache_write is None else price.cache_write
    money = plain * price.input + read * read_price + written * write_price + made * price.output
    return total, money / _MILLION


def _read_count(usage: dict[str, Any], name: str) -> int:
    value = usage.get(name)
    if not isinstance(value, int | float) or not 0 < value < float("inf"):
        return 0
    return int(value)


NAME = "hooks-cost-control"
Span = Literal["turn", "session", "day"]
SPANS: tuple[Span, ...] = ("turn", "session", "day")


class Limits(BaseModel):
    """What a turn, a session or a day may take, and what happens when it is used up."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: int | None = Field(None, gt=0)
    money: float | None = Field(None, gt=0, allow_inf_nan=False)
    over: Literal["warn", "ask_user", "deny"] = "deny"
    warn_at: float = Field(0.8, gt=0, le=1)

    @model_validator(mode="after")
    def _check_limits(self) -> Limits:
        if self.tokens is None and self.money is None:
            raise ValueError("needs 'tokens' or 'money'")
        return self


class Config(GuardConfig):
    """The options of hooks-cost-control."""

    priority: int = 950
    turn: Limits | None = None
    session: Limits | None = None
    day: Limits | None = None
    prices: dict[str, Price] = Field(default_factory=dict)
    unknown_price: Price | None = None
    currency: str = "USD"
    file: str = ".amplifier/cost.json"

    def list_limits(self) -> Iterator[tuple[Span, Limits]]:
        """The spans that have a limit."""
        for span in SPANS:
            found: Limits | None = getattr(self, span)
            if found is not None:
                yield span, found


_ROUNDING = 1e-9
_CONTINUE = HookResult(action="continue")


class CostControl:
    """Counts after each reply, decides before each request."""

    def __init__(self, coordinator: Host, config: Config, book: DayBook) -> None:
        self._coordinator = coordinator
        self._config = config
        self._book = book
        self._turn = Spent()
        saved = coordinator.session_state.get(NAME)
        self._session = Spent(**saved) if isinstance(saved, dict) else Spent()
        self._unsaved = Spent()
        self._warned: set[Span] = set()
        self._unpriced: set[str] = set()

    async def on_prompt(self, event: str, data: dict[str, Any]) -> HookResult:
        """A new turn; the prompts of sub-agents belong to the turn that started them."""
        if is_own_event(self._coordinator, data):
            self._turn = Spent()
            self._warned.discard("turn")
        return HookResult(action="continue")

    async def on_response(self, event: str, data: dict[str, Any]) -> HookResult:
        if data.get("judged_again"):  # counted before the wait
            return _CONTINUE
        model = data.get("model") or data.get("provider")
        price = find_price(model, self._config.prices, self._config.unknown_price)
        tokens, money = compute_cost(_read_usage(data), price)
        self._turn.add(tokens, money)
        self._session.add(tokens, money)
        self._coordinator.session_state[NAME] = asdict(self._session)
        if self._config.day is not None and (trouble := await self._write_to_book(tokens, money)):
            return _warn([trouble])
        return self._warn_of_missing_price(str(model)) if price is None and tokens else _CONTINUE

    async def _write_to_book(self, tokens: int, money: float) -> str | None:
        """Write it into the day's book; what cannot be written still counts in this session."""
        self._unsaved.add(tokens, money)
        try:
            await asyncio.to_thread(self._book.add, self._unsaved.tokens, self._unsaved.money)
        except (OSError, ValueError) as failure:
            return f"The cost of this day cannot be saved: {failure}"
        self._unsaved = Spent()
        return None

    def _warn_of_missing_price(self, model: str) -> HookResult:
        limited = any(limits.money is not None for _, limits in self._config.list_limits())
        if model in self._unpriced or not limited:
            return _CONTINUE
        self._unpriced.add(model)
        message = f"There is no price for {model!r}, so it counts for token limits only."
        return HookResult(action="continue", user_message=message, user_message_level="warning")

    async def on_request(self, event: str, data: dict[str, Any]) -> HookResult:
        warnings: list[str] = []
        for span, limits in self._config.list_limits():
            spent = await self._get_spent(span)
            share, words = self._measure_share(span, limits, spent)
            if share >= 1 - _ROUNDING and limits.over != "warn":
                return self._config.ask_or_deny(limits.over, f"{words}. Continue anyway?", words)
            if share >= limits.warn_at and span not in self._warned:
                self._warned.add(span)
                warnings.append(words)
        return _warn(warnings) if warnings else _CONTINUE

    async def _get_spent(self, span: Span) -> Spent:
        if span == "day":
            spent = await asyncio.to_thread(self._book.read)
            spent.add(self._unsaved.tokens, self._unsaved.money)
            return spent
        return self._turn if span == "turn" else self._session

    def _measure_share(self, span: Span, limits: Limits, spent: Spent) -> tuple[float, str]:
        """How much of the limit is used, and the sentence about the part that is used most."""
        shares = []
        if limits.tokens is not None:
            used = f"{spent.tokens:,} of {limits.tokens:,} tokens"
            shares.append((spent.tokens / limits.tokens, used))
        if limits.money is not None:
            used = f"{spent.money:.4f} of {limits.money:.2f} {self._config.currency}"
            shares.append((spent.money / limits.money, used))
        share, used = max(shares)
        return share, f"This {span} has used {used}"


def _warn(sentences: list[str]) -> HookResult:
    text = "; ".join(sentences)
    return HookResult(action="continue", user_message=text, user_message_level="warning")


def _read_usage(data: dict[str, Any]) -> dict[str, Any]:
    """The usage of the event, or of the response inside it."""
    response = data.get("response")
    inner = response.get("usage") if isinstance(response, dict) else None
    usage = data.get("usage") or inner
    return usage if isinstance(usage, dict) else {}


def _open_book(coordinator: Host, config: Config) -> DayBook:
    get_now = find_calendar(coordinator)
    path = get_base_dir(coordinator) / Path(config.file).expanduser()
    return DayBook(path, lambda: get_now().date().isoformat())


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to count and to limit."""
    settings = parse_config(Config, config, NAME)
    control = CostControl(coordinator, settings, _open_book(coordinator, settings))
    handlers = [
        (PROMPT_SUBMIT, control.on_prompt),
        (PROVIDER_RESPONSE, control.on_response),
        (PROVIDER_REQUEST, control.on_request),
    ]
    return register_guards(
        coordinator,
        NAME,
        handlers,
        priority=settings.priority,
        timeout=settings.timeout,
    )
