"""The commands of a conversation, /audit and /undo among them, and which one was probably meant."""

from __future__ import annotations

import asyncio
import difflib
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from amplifier_audit.errors import AuditError
from amplifier_core.errors import SessionError
from amplifier_core.events import TOOL_POST
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.mount_plan import MountPlan, check_locks
from amplifier_core.mounting import resolve_provider
from amplifier_core.session import AmplifierSession
from amplifier_core.utils.text import find_closest
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.cli.commands.agent import Agent, AgentOptions
from amplifier_hooks.cli.commands.audit.story import Entry, Page, Story
from amplifier_hooks.cli.commands.plan import apply_flags
from amplifier_hooks.cli.display.display import LAST
from amplifier_hooks.cli.text.output import Part, print_line, print_wrapped, shorten_folder
from amplifier_hooks.guards.backup import CONTENT, NAME, Backup, list_backups, locate_store, restore
from amplifier_hooks.guards.policy.paths import resolve
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS, find_path
from amplifier_hooks.text.escape import escape
from amplifier_hooks.text.short_ids import shorten_id

LIST_SECONDS = 5.0
MOST_LISTED = 20


def find_provider(session: AmplifierSession) -> Any:
    """The provider that the session talks to; None if it has none."""
    points = session.coordinator.mount_points
    return resolve_provider(points["providers"], points["orchestrator"])


def name_model(session: AmplifierSession) -> str:
    """The model that answers, and whose it is."""
    provider = find_provider(session)
    if provider is None:
        return "none"
    name = str(getattr(provider, "name", "?"))
    model = getattr(provider, "model", None)
    return name if model in (None, "", name) else f"{model} ({name})"


async def list_models(session: AmplifierSession) -> list[str]:
    """The models that the provider offers; none if it does not say so soon."""
    offer = getattr(find_provider(session), "list_models", None)
    if offer is None:
        return []
    try:
        async with asyncio.timeout(LIST_SECONDS):
            return sorted(str(one.id) for one in await offer())
    except Exception:  # noqa: BLE001 - a list that cannot be had is no reason to stop
        return []


async def describe_models(session: AmplifierSession) -> str:
    """The model that answers, and the others of its provider."""
    found = await list_models(session)
    lines = [f"{name_model(session)} answers. /model NAME or /model PROVIDER/NAME changes it."]
    lines += [f"  {name}" for name in found[:MOST_LISTED]]
    if len(found) > MOST_LISTED:
        lines.append(f"  and {len(found) - MOST_LISTED} more")
    return "\n".join(lines)


async def change_model(session: AssembledSession, provider: str | None, model: str | None) -> str:
    """Have another model answer from the next prompt on; returns what to say about it."""
    plan = apply_flags(dict(session.config), provider, model)
    parsed = MountPlan.parse(plan)
    check_locks(session.config, parsed)
    await _replace_providers(session, parsed)
    session.config = plan
    said = f"{name_model(session)} answers from now on."
    known = await list_models(session)
    if model and len(known) > 1 and model not in known:
        close = find_closest(model, known)
        meant = f" Did you mean {close}?" if close else ""
        return f"{said} The provider does not list a model of that name.{meant}"
    return said


def read_choice(session: AmplifierSession, wanted: str) -> tuple[str | None, str | None]:
    """The provider and the model; names of models may have slashes themselves."""
    provider, slash, model = wanted.partition("/")
    names = _list_provider_names(session.config)
    if slash and provider in names:
        return provider, model or None
    return (wanted, None) if wanted in names else (None, wanted)


def _list_provider_names(plan: Mapping[str, Any]) -> set[str]:
    from amplifier_hooks.cli.commands.plan import ALIASES

    entries = [entry for kind, entry in MountPlan.parse(plan).entries() if kind == "providers"]
    given = {one.name for one in entries} | {one.module for one in entries}
    return {*(name for name in given if name), *ALIASES}


async def _replace_providers(session: AssembledSession, plan: MountPlan) -> None:
    """Mount the providers of a plan instead of those there are; if one fails, put these back."""
    before = [one for one in session.mounting.mounted if one.kind == "providers"]
    wanted = [entry for kind, entry in plan.entries() if kind == "providers"]
    for one in before:
        await session.mounting.unmount(one)
    try:
        for entry in wanted:
            await session.mounting.mount("providers", entry)
    except Exception:
        for one in [one for one in session.mounting.mounted if one.kind == "providers"]:
            await session.mounting.unmount(one)
        for one in before:
            await session.mounting.mount("providers", one.entry)
        raise


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


EDITS_HOOK = "cli-edits"


class EditLog:
    """Notes the edits of the last turn, those of sub-agents included."""

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.first_edits: dict[Path, datetime] = {}
        """When each file was changed first, in the order of that."""
        self._clock = clock

    def watch(self, hooks: HookRegistry) -> None:
        """Listen to the results of tools."""
        # First: a hook that withholds the result does not undo the edit.
        hooks.register(TOOL_POST, self._note, -LAST, EDITS_HOOK)

    def start_turn(self) -> None:
        """Forget the turn before."""
        self.first_edits.clear()

    async def _note(self, event: str, data: Mapping[str, Any]) -> HookResult:
        path = find_path(data.get("tool_input"))
        if path and data.get("tool_name") in EDITING_TOOLS and data.get("success", True):
            self.first_edits.setdefault(resolve(path, Path.cwd()), self._clock())
        return CONTINUE


MOST_ENTRIES = 200
MOST_SECONDS = 5.0


async def print_story(agent: Agent) -> None:
    """Print the story of the session, the last entries of a long one."""
    options = agent.session.config.get("audit") or {}
    if not options.get("enabled"):
        agent.notify("This bundle keeps no trail: `audit: {enabled: true}` would.", "warning")
        return
    with suppress(AuditError, TimeoutError):  # then the trail tells what it has
        async with asyncio.timeout(MOST_SECONDS):
            await agent.session.coordinator.trail.sink.commit()  # of what was just said, too
    log = locate_trail(options, agent.session.session_id)
    entries = await asyncio.to_thread(_read_story, log)
    page = Page()
    for entry in entries[-MOST_ENTRIES:]:
        page.print_entry(entry)
    if len(entries) > MOST_ENTRIES:
        agent.notify(f"{len(entries) - MOST_ENTRIES} earlier entries: amplifier audit show")


def _read_story(log: Path) -> list[Entry]:
    from amplifier_audit import read_records
    from amplifier_audit.log_directory import open_readable

    story = Story()
    return [
        entry for record in read_records(open_readable(log)) for entry in story.describe(record)
    ]


MOST_DIFF_LINES = 40
_MOST_BYTES = 1_000_000

NO_BACKUPS = (
    "There are no copies to put back: this bundle has no hooks-backup. With `- hooks-backup` under "
    "`hooks:` in amplifier.yaml, files are copied before they are overwritten."
)


@dataclass(frozen=True, slots=True)
class Undo:
    """What can be put back of a turn, and what was new with it."""

    store: Path
    copies: tuple[Backup, ...]
    created: tuple[Path, ...]


def find_store(session: AmplifierSession) -> Path | None:
    """Where this session's copies are; None if it makes none."""
    for one in session.mounting.mounted:
        if one.id == NAME and one.error is None:
            given = one.entry.config.get("directory") or one.entry.config.get("backup_dir")
            return resolve(given, Path.cwd()) if given else locate_store(Path.cwd())
    return None


def find_undo(store: Path, first_edits: Mapping[Path, datetime]) -> Undo:
    """For each file the copy that was made before its first edit."""
    backups = list_backups(store)
    copies: list[Backup] = []
    created: list[Path] = []
    for path, edited in first_edits.items():
        older = (one for one in backups if one.path == str(path) and one.created <= edited)
        newest = next(older, None)
        if newest is None:
            created.append(path)
        else:
            copies.append(newest)
    return Undo(store, tuple(copies), tuple(created))


def describe_undo(undo: Undo) -> str:
    """What would change, file by file, as a diff."""
    lines: list[str] = []
    for copy in undo.copies:
        lines += [_name_file(Path(copy.path)), *_compare(undo.store, copy)]
    for path in undo.created:
        lines.append(
            f"{_name_file(path)} has no copy (it was new, or could not be copied) and stays"
        )
    return "\n".join(lines)


def restore_copies(undo: Undo) -> list[str]:
    """Restore every copy; what is there now is copied first. Returns the names of the files."""
    return [
        _name_file(restore(undo.store, copy.id, within=Path.cwd().resolve()))
        for copy in undo.copies
    ]


def _name_file(path: Path) -> str:
    base = Path.cwd().resolve()
    return str(path.relative_to(base)) if path.is_relative_to(base) else str(path)


def _compare(store: Path, copy: Backup) -> Iterable[str]:
    now = _read(Path(copy.path))
    then = _read(store / copy.id / CONTENT)
    if now is None or then is None:
        return [f"  back to the {copy.size} bytes of {copy.created.astimezone():%H:%M:%S}"]
    if now == then:
        return ["  is as it was already"]
    found = list(difflib.unified_diff(now, then, lineterm="", n=1))[2:]
    shown = [f"  {line}" for line in found[:MOST_DIFF_LINES]]
    more = len(found) - MOST_DIFF_LINES
    return [*shown, f"  … {more} more lines"] if more > 0 else shown


def _read(path: Path) -> list[str] | None:
    """The lines of a text; None for what is none, or too long to compare."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None


class Talk(Protocol):
    """What a command may do to the conversation."""

    agent: Agent
    edits: EditLog
    options: AgentOptions

    def leave(self) -> None: ...
    def start_over(self) -> None: ...
    def add_to_next_prompt(self, text: str) -> None: ...
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
    agent = talk.agent
    edits = talk.edits.first_edits
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
    names = ", ".join(await asyncio.to_thread(restore_copies, undo))
    talk.edits.start_turn()
    talk.add_to_next_prompt(f"[I have undone your last changes to {names}.]")
    agent.notify(f"Put back {names}. The agent is told with your next prompt.")


async def _audit(talk: Talk, rest: str) -> None:
    await print_story(talk.agent)


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
