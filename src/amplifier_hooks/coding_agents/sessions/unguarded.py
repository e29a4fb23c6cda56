"""Prompts of an agent that was started in a way in which it asks no hook before tools.

The command line of its process shows that, and other events still arrive: so the prompt is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import PROMPT_SUBMIT
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.modes import can_be_unguarded, find_unguarded
from amplifier_hooks.external.conversation import current_event

NAME = "guest-modes"
_FIRST = -900
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox"})
_MOST_ANCESTORS = 16


def refuse_prompts(coordinator: SessionCoordinator, agent: str) -> None:
    """Guard the sessions of an agent that has a mode in which it runs tools unasked."""
    if not can_be_unguarded(agent):
        return

    async def judge(event: str, data: dict[str, Any]) -> HookResult:
        under_way = current_event.get()
        mode = None if under_way is None else find_unguarded(agent, under_way.host)
        if mode is None:
            return HookResult()
        reason = (
            f"amplifier: this was started as {mode.start}, where {agent} runs tools without asking "
            "any hook, so nothing could be judged and no prompt is accepted. Start it in a "
            f"terminal or with -p, or use another agent here; 'amplifier guard {agent} --remove' "
            "takes the guard away"
        )
        # An editor shows nothing of a denied prompt, but keeps what the agent says as its log.
        return HookResult(
            action="deny", reason=reason, user_message=reason, user_message_level="error"
        )

    remove = coordinator.hooks.register(PROMPT_SUBMIT, judge, _FIRST, NAME, on_error="deny")
    coordinator.register_cleanup(remove)


def read_host_arguments(client: int, processes: Path = Path("/proc")) -> tuple[str, ...]:
    """The command line of the agent that started a client; empty if the system does not show it.

    Agents run the lines in their settings by a shell, and some start themselves once more with the
    same arguments: the nearest process that is no shell is the agent.
    """
    for process in _list_ancestors(client, processes):
        words = _read_words(process, processes)
        if words and PurePath(words[0].removeprefix("-")).name not in _SHELLS:
            return words
    return ()


def _list_ancestors(process: int, processes: Path) -> Iterator[int]:
    for _ in range(_MOST_ANCESTORS):
        parent = _read_parent(process, processes)
        if parent <= 1:
            return
        yield parent
        process = parent


def _read_parent(process: int, processes: Path) -> int:
    try:
        facts = (processes / str(process) / "stat").read_bytes()
        # The name of the program stands in parentheses, and may hold anything.
        return int(facts.rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _read_words(process: int, processes: Path) -> tuple[str, ...]:
    try:
        line = (processes / str(process) / "cmdline").read_bytes()
    except OSError:
        return ()
    words = line.decode("utf-8", "replace").rstrip("\0").split("\0")
    return tuple(words) if any(words) else ()
