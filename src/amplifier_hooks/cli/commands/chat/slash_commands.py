"""The commands of a conversation: what each does, and which one was probably meant."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

from amplifier_core.errors import SessionError
from amplifier_core.utils.text import find_closest
from amplifier_hooks.cli.commands.agent import Agent, AgentOptions
from amplifier_hooks.cli.commands.chat.edit_log import EditLog
from amplifier_hooks.cli.commands.chat.greeting import count_turns
from amplifier_hooks.cli.commands.chat.model_choice import (
    change_model,
    describe_models,
    name_model,
    read_choice,
)
from amplifier_hooks.cli.commands.chat.session_story import tell_story
from amplifier_hooks.cli.commands.chat.undo import (
    NO_BACKUPS,
    describe_undo,
    find_store,
    find_undo,
    put_back,
)


class Talk(Protocol):
    """What a command may do to the conversation."""

    agent: Agent
    edits: EditLog
    options: AgentOptions

    def leave(self) -> None: ...
    def start_over(self) -> None: ...
    def tell_agent(self, text: str) -> None: ...
    async def ask(self, question: str) -> bool: ...


class SlashCommand(NamedTuple):
    """A command: its argument as /help shows it, what it does, and the function that does it."""

    argument: str
    about: str
    run: Callable[[Talk, str], Awaitable[None]]


async def run_command(talk: Talk, line: str) -> None:
    """Carry out a line that begins with a slash."""
    name, _, rest = line.partition(" ")
    known = COMMANDS.get(name.lower())
    if known is not None:
        await known.run(talk, rest.strip())
        return
    close = find_closest(name.lower(), COMMANDS)
    meant = f"did you mean {close}? " if close else ""
    talk.agent.notify(f"No command {name}; {meant}/help lists them.", "warning")


async def _help(talk: Talk, rest: str) -> None:
    rows = [(f"{name} {one.argument}".strip(), one.about) for name, one in COMMANDS.items()]
    width = max(len(usage) for usage, _ in rows)
    listed = "\n".join(f"{usage:<{width}}  {about}" for usage, about in rows)
    keys = "Esc or Ctrl-C stops the agent. Alt-Enter starts a new line. Tab completes a command."
    talk.agent.notify(f"Commands\n{listed}\n{keys}")


async def _status(talk: Talk, rest: str) -> None:
    agent = talk.agent
    calls = agent.session.stats["tool_invocations"]
    failures = agent.session.stats.get("hook_failures", 0)
    failed = f", {failures} hook failure{'s' * (failures != 1)}" if failures else ""
    talk.agent.notify(
        f"{agent.session.session_id} ({agent.info.name or 'not named yet'})\n"
        f"{name_model(agent.session)}\n"
        f"{count_turns(agent)}, {calls} tool call{'s' * (calls != 1)}{failed}, "
        f"last turn {agent.display.state.summarize()}"
    )


async def _hooks(talk: Talk, rest: str) -> None:
    handlers = talk.agent.session.coordinator.hooks.list_handlers()
    # What this command listens with itself is nobody's hook.
    named = {
        event: [name for name in names if not name.startswith("cli-")]
        for event, names in sorted(handlers.items())
    }
    rows = [f"{event}: {', '.join(names)}" for event, names in named.items() if names]
    talk.agent.notify("\n".join(rows) or "No hooks.")


async def _name(talk: Talk, rest: str) -> None:
    if not rest:
        talk.agent.notify(f"This session is called {talk.agent.info.name or 'nothing yet'}.")
        return
    talk.agent.rename(rest)
    talk.agent.notify(f"This session is now called {rest}.")


async def _model(talk: Talk, rest: str) -> None:
    session = talk.agent.session
    if not rest:
        talk.agent.notify(await describe_models(session))
        return
    provider, model = read_choice(session, rest)
    talk.agent.notify(await change_model(session, provider, model))
    talk.options = replace(talk.options, provider=provider or talk.options.provider, model=model)


async def _clear(talk: Talk, rest: str) -> None:
    talk.start_over()


async def _compact(talk: Talk, rest: str) -> None:
    try:
        if not await talk.agent.session.compact():
            talk.agent.notify("There is nothing to shorten yet.")
    except SessionError as error:
        talk.agent.notify(str(error), "warning")


async def _undo(talk: Talk, rest: str) -> None:
    agent, edits = talk.agent, talk.edits.first_edits
    store = find_store(agent.session)
    if store is None:
        agent.notify(NO_BACKUPS, "warning")
        return
    if not edits:
        agent.notify("The last turn edited no file.")
        return
    undo = await asyncio.to_thread(find_undo, store, edits)
    agent.notify(agent.session.coordinator.scrub(describe_undo(undo)))
    count = len(undo.copies)
    if not count or not await talk.ask(f"Put back {count} file{'s' * (count != 1)}?"):
        agent.notify("Nothing was changed.")
        return
    names = ", ".join(await asyncio.to_thread(put_back, undo))
    talk.edits.start_turn()
    talk.tell_agent(f"[I have undone your last changes to {names}.]")
    agent.notify(f"Put back {names}. The agent is told with your next prompt.")


async def _audit(talk: Talk, rest: str) -> None:
    await tell_story(talk.agent)


async def _reload(talk: Talk, rest: str) -> None:
    await talk.agent.session.reload()


async def _exit(talk: Talk, rest: str) -> None:
    talk.leave()


COMMANDS: dict[str, SlashCommand] = {
    "/help": SlashCommand("", "this list", _help),
    "/status": SlashCommand("", "session, model, tokens, cost", _status),
    "/model": SlashCommand("[NAME]", "show or change the model", _model),
    "/hooks": SlashCommand("", "the active hooks, by event", _hooks),
    "/audit": SlashCommand("", "what happened in this session", _audit),
    "/undo": SlashCommand("", "restore the files that the last turn overwrote", _undo),
    "/compact": SlashCommand("", "drop the oldest messages, to make room", _compact),
    "/clear": SlashCommand("", "start over; this session stays saved", _clear),
    "/name": SlashCommand("[NAME]", "show or change the name of this session", _name),
    "/reload": SlashCommand("", "review and use changes of the bundle", _reload),
    "/exit": SlashCommand("", "leave; the session is saved", _exit),
    "/quit": SlashCommand("", "the same as /exit", _exit),
}
