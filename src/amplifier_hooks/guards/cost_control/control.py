"""Counts what models cost, and decides whether there may be one more call."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Any

from amplifier_core.events import PROMPT_SUBMIT, PROVIDER_REQUEST, PROVIDER_RESPONSE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.cost_control.config import NAME, Config, Limits, Span
from amplifier_hooks.guards.cost_control.day_book import DayBook, Spent
from amplifier_hooks.guards.cost_control.price import compute_cost, find_price
from amplifier_hooks.modules.clock import find_calendar
from amplifier_hooks.modules.guarding import get_base_dir, register_guards
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.subscription import is_own_event

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
