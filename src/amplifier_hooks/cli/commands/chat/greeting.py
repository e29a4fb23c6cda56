"""The first and the last lines of a conversation."""

from __future__ import annotations

import sys
from pathlib import Path

from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.cli.commands.agent import Agent
from amplifier_hooks.cli.commands.chat.model_choice import name_model
from amplifier_hooks.cli.text.escape import escape
from amplifier_hooks.cli.text.output import Part, print_line, print_wrapped
from amplifier_hooks.cli.text.words import shorten_folder
from amplifier_hooks.text.short_ids import shorten_id

_LABEL_WIDTH = 9


def greet(agent: Agent) -> None:
    """Say who answers, where, under which hooks and in which session."""
    if not sys.stdin.isatty():
        return
    _print_fact("model", name_model(agent.session))
    _print_fact("folder", shorten_folder(str(Path.cwd())))
    _print_fact("hooks", ", ".join(list_hooks(agent)) or "none")
    _print_fact("session", describe_session(agent))
    print_line(("dim", "/help lists the commands. Esc stops the agent, Ctrl-D leaves."))
    print_line("")


def say_goodbye(agent: Agent) -> None:
    """Say how to come back."""
    if sys.stdin.isatty():
        short = _shorten_session(agent)
        print_line(("dim", "Saved. To continue: "), ("tool", f"amplifier chat --resume {short}"))


def list_hooks(agent: Agent) -> list[str]:
    """The names of the hook modules that are at work."""
    mounted = [one for one in agent.session.mounting.mounted if one.kind == "hooks"]
    names = [one.entry.name or one.id for one in mounted if one.error is None]
    return [name.removeprefix("hooks-") for name in names]


def describe_session(agent: Agent) -> str:
    """The session's short id, its name, and how far it has come."""
    name = f" {agent.info.name}" if agent.info.name else ""
    resumed = f", resumed after {count_turns(agent)}" if agent.session.is_resumed else ""
    return f"{_shorten_session(agent)}{name}{resumed}"


def _shorten_session(agent: Agent) -> str:
    """As much of its id as tells it from the other saved sessions."""
    return shorten_id(agent.session.session_id, (one.id for one in SessionStore().list()))


def count_turns(agent: Agent) -> str:
    """In words."""
    return f"{agent.turns} turn{'s' * (agent.turns != 1)}"


def _print_fact(label: str, fact: str) -> None:
    name: Part = ("dim", f"{label:<{_LABEL_WIDTH}}")
    print_wrapped(0, name, ("", escape(fact)))
