"""An agent at the command line: a session with its display, its approvals and its file."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_core.events import APPROVAL_REQUIRED, EXECUTION_COMPLETE, PROVIDER_RESPONSE
from amplifier_core.hooks import HookRegistry
from amplifier_core.llm_errors import LLMError
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.mount_plan import list_ways
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.session.reload import ChangePolicy
from amplifier_hooks.agent.session.saved_sessions import SavedSession, SessionInfo, SessionStore
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.approval.terminal_approval import TerminalApproval
from amplifier_hooks.cli.approval.trust_question import require_trust
from amplifier_hooks.cli.commands.plan import apply_flags, apply_shadow
from amplifier_hooks.cli.commands.resume import (
    list_news,
    mark_plan,
    name_bundle,
    prepare_resume,
)
from amplifier_hooks.cli.display.display import LAST, Display, choose_mode, make_display, observe
from amplifier_hooks.cli.display.narration import OWN
from amplifier_hooks.cli.early_signals import answers
from amplifier_hooks.machine.locations import get_user_name
from amplifier_hooks.modules.conversation import explain_cut, read_finish_reason
from amplifier_hooks.yaml_files.node import BundleError, Place, Problem

if TYPE_CHECKING:
    from amplifier_core.approval import AnyApprovalSystem

RULES = "rules:"


def apply_mode(plan: dict[str, Any], approve: str | None) -> dict[str, Any]:
    """The plan with the mode of the flag; BundleError where the bundle does not let it."""
    section: Mapping[str, Any] = plan.get("approval") or {}
    mode = section.get("mode") or "ask"
    if approve in (None, mode):
        return plan
    if approve != "deny" and (mode == "deny" or section.get("locked")):
        why = "is locked" if section.get("locked") else "cannot be loosened by a flag"
        message = f"{mode!r} {why}; leave out --approve {approve}, or use --approve deny"
        raise BundleError([Problem(Place("The bundle"), "approval.mode", message)])
    # A refusal, and rules, are approval systems of their own; the plan lets them be asked.
    wanted = "edits" if approve == "edits" else "ask"
    return {**plan, "approval": {**section, "mode": wanted}}


def make_approval(
    approve: str | None, asking: AnyApprovalSystem, folder: Path
) -> AnyApprovalSystem:
    """The approval system of a session: the person at the terminal, or what decides before them."""
    if approve == "deny":
        from amplifier_hooks.approvals import RefusingApproval

        return RefusingApproval()
    if approve is not None and approve.startswith(RULES):
        from amplifier_hooks.approvals import RulesApproval

        return RulesApproval(Path(approve.removeprefix(RULES)), folder, asking)
    return asking


ENDED_EARLY = frozenset({"interrupted", "error", "cancelled", "incomplete"})
"""How loops, ours and others, call a turn that did not come to its end."""


class TurnEnd:
    """What is known about the end of the last turn of one session; sub-agents do not count."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._session = ""
        self._outcome = "success"

    def follow(self, hooks: HookRegistry, session_id: str) -> None:
        """Hear of each reply, and of the end of each turn."""
        self._session = session_id
        hooks.register(PROVIDER_RESPONSE, self._note_reply, priority=LAST, name="cli-run")
        hooks.register(EXECUTION_COMPLETE, self._note_outcome, priority=LAST, name="cli-run")

    def forget(self) -> None:
        """A new turn begins."""
        self.finish_reason = None
        self._outcome = "success"

    @property
    def is_early(self) -> bool:
        """Whether the turn did not come to its end."""
        return self._outcome in ENDED_EARLY

    @property
    def is_cut(self) -> bool:
        """Whether the last reply of the model is not whole."""
        return explain_cut(self.finish_reason) is not None

    def check(self, reply: str) -> None:
        """Raise if the model was cut off before it said anything; our loops do so themselves."""
        if self.is_cut and not (self.is_early or reply.strip()):
            raise LLMError(f"The reply of the model is empty: {explain_cut(self.finish_reason)}")

    def describe_cut(self) -> str:
        """What a person should know about a reply that is not whole."""
        return f"The reply is cut off: {explain_cut(self.finish_reason)}."

    async def _note_reply(self, event: str, data: Mapping[str, Any]) -> HookResult:
        if data.get("session_id") == self._session:
            self.finish_reason = read_finish_reason(data)
        return CONTINUE

    async def _note_outcome(self, event: str, data: Mapping[str, Any]) -> HookResult:
        if data.get("session_id") == self._session:
            self._outcome = str(data.get("status"))
        return CONTINUE


class Terminated(click.ClickException):
    """The process was told to end."""

    exit_code = exit_codes.TERMINATED

    def __init__(self) -> None:
        super().__init__("Ended by SIGTERM.")


class Sigterm:
    """Whether the signal came, and what stops the work that is under way."""

    def __init__(self) -> None:
        self.told = False
        self.before: Any = signal.SIG_DFL
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Callable[[], Any] = lambda: None

    def stop_with(self, stop: Callable[[], Any] | None) -> None:
        """Call this in the running loop when the signal comes; None raises `Terminated` at once."""
        self._stop = stop or self._stop
        self._loop = asyncio.get_running_loop() if stop else None

    def check(self) -> None:
        """Raise `Terminated` if the signal came."""
        if self.told:
            raise Terminated

    def receive(self, *_: object) -> None:
        """Stop the work; a second signal interrupts how it is ended, a third one does not wait."""
        if self.told:
            signal.signal(signal.SIGTERM, self.before)
            raise KeyboardInterrupt
        self.told = True
        if self._loop is None:
            raise Terminated
        # The loop may be asleep: what a signal's handler schedules does not wake it otherwise.
        self._loop.call_soon_threadsafe(self._stop)


@contextmanager
def handle_interrupts() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt inside, where there is something to end in order."""
    if not answers(signal.SIGINT):
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def handle_sigterm() -> Iterator[Sigterm]:
    """Let SIGTERM end what is inside; where that cannot be arranged, it kills as ever."""
    sigterm = Sigterm()
    with suppress(ValueError):  # not in the main thread
        sigterm.before = signal.signal(signal.SIGTERM, sigterm.receive)
    try:
        yield sigterm
    except (asyncio.CancelledError, KeyboardInterrupt):
        sigterm.check()
        raise
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGTERM, sigterm.before)


STOPPED = "Stopped, as requested."
NOBODY = "A hook asked, but nobody can answer here, so the answer is no."
EMPTY = "The model ended its turn without saying anything."


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What the flags of `run` and `chat` say."""

    bundle: Path | None = None
    provider: str | None = None
    model: str | None = None
    resume: str | None = None
    as_json: bool = False
    verbose: bool = False
    approve: str | None = None
    dev: bool = False
    shadow: bool = False
    save: bool = True

    def __post_init__(self) -> None:
        # Paths are meant from where the person is; a resumed session may work elsewhere.
        if self.bundle is not None:
            object.__setattr__(self, "bundle", self.bundle.absolute())
        if self.approve is not None and self.approve.startswith(RULES):
            path = Path(self.approve.removeprefix(RULES)).absolute()
            object.__setattr__(self, "approve", f"{RULES}{path}")


def _name_ways(approve: str | None) -> str:
    """What would decide without a terminal, beside the mode that is in use."""
    if approve is not None and approve.startswith(RULES):
        return "A rule that matches it would decide."
    also = "" if approve == "edits" else "`--approve edits` or "
    elsewhere = "`approval: {via: store}` in the bundle waits for a person elsewhere."
    return f"{also}`--approve rules:FILE` decides without a terminal; {elsewhere}"


class Agent:
    """Takes prompts, shows what happens, can be interrupted, and is saved after each turn."""

    session: AssembledSession

    def __init__(self, display: Display, store: SessionStore, saved: SavedSession | None) -> None:
        self.display = display
        self.info = saved.info if saved else SessionInfo("")
        self.turns = self.info.turns
        self.resumed_from = saved
        self._state = saved.state if saved else None
        self._plan: dict[str, Any] = {}
        self._bundle_file = ""
        self._given_name = ""
        self._renamed = False
        self.end = TurnEnd()
        self._store = store
        self._pending: set[asyncio.Task[None]] = set()

    async def open(self, material: Material, trust: TrustStore, options: AgentOptions) -> None:
        """Start the session, with this display looking on."""
        # People elsewhere are asked whether or not somebody sits at this terminal.
        alone = list_ways(material.bundle.mount_plan["approval"]) == ("terminal",)
        # An agent that asks again and again must not keep a person from stopping it.
        asking = TerminalApproval(
            base=Path.cwd(),
            display=self.display,
            on_interrupt=self._stop_after_step,
            on_nobody=partial(self._warn_nobody_answers, options.approve) if alone else None,
        )
        approval = await asyncio.to_thread(make_approval, options.approve, asking, Path.cwd())
        changes = ChangePolicy(
            accepts=trust.is_trusted,
            on_allowed=lambda seen: trust.trust(seen, get_user_name()),
            dev=options.dev,
        )
        self.session = await open_session(
            material.bundle,
            material=material,
            changes=changes,
            approval_system=approval,
            display_system=self.display,
            resume=self._state,
            on_rename=self._accept_name,
        )
        self._plan = mark_plan(material)
        self._bundle_file = name_bundle(material)
        if self.info.name:
            self.rename(self.info.name, self.info.description)
        coordinator = self.session.coordinator
        observe(coordinator.hooks, self.display, coordinator.scrub)
        self.display.show_outputs(coordinator)
        self.end.follow(coordinator.hooks, self.session.session_id)
        if options.save:
            coordinator.hooks.register(
                APPROVAL_REQUIRED, self._save_with_question, priority=LAST, name="cli-save"
            )

    def _warn_nobody_answers(self, approve: str | None, why: str) -> None:
        self.notify(f"{NOBODY} {_name_ways(approve)} ({why})", "warning")

    async def _save_with_question(self, event: str, data: Mapping[str, Any]) -> HookResult:
        """Save while a person is asked: whatever ends this process, the question can be resumed."""
        if data.get("session_id") == self.session.session_id:
            await self.save()
        return CONTINUE

    async def run_turn(self, prompt: str) -> str:
        """One prompt from start to end."""
        self.display.start()
        self.end.forget()
        failed_before = self._count_hook_failures()
        try:
            with self._handle_interrupts():
                reply = await self.session.execute(prompt)
            self.end.check(reply)
            if self.status == "done":
                self.display.show_reply(self.session.coordinator.scrub(reply))
        finally:
            self.display.state.hook_failures = self._count_hook_failures() - failed_before
            self.display.stop()
        self.turns += 1
        return reply

    def _count_hook_failures(self) -> int:
        return int(self.session.stats.get("hook_failures", 0))

    def make_remark(self, reply: str) -> tuple[str, str] | None:
        """What to add to the reply of the last turn, and at which level."""
        status = self.session.status
        if status == "denied":
            return reply, "error"
        if status == "interrupted":
            return STOPPED, "warning"
        if not reply.strip():
            return EMPTY, "warning"
        return (self.end.describe_cut(), "warning") if self.end.is_cut else None

    def notify(self, message: str, level: str = "info") -> None:
        """Show a message of the command itself."""
        self.display.show_message(message, level, OWN)

    @property
    def status(self) -> str:
        """How the last turn ended; "stopped" means early, by a limit or a denied request."""
        if self.session.status != "idle":
            return self.session.status
        return "stopped" if self.end.is_early else "done"

    @property
    def exit_code(self) -> int:
        """How the last turn ended, for the shell."""
        outcomes = {
            "denied": exit_codes.DENIED,
            "interrupted": exit_codes.INTERRUPTED,
            "stopped": exit_codes.FAILED,
        }
        return outcomes.get(self.status, exit_codes.DONE)

    async def save(self) -> SessionInfo:
        """Write the session to its file."""
        self._state = state = await self.session.state()
        stats = state["stats"]
        self.info = SessionInfo(
            id=self.session.session_id,
            name=self.info.name,
            description=self.info.description,
            created=self.info.created,
            turns=self.turns,
            messages=len(state["messages"]),
            tokens=stats.get("total_tokens", 0),
            working_dir=str(Path.cwd()),
            bundle=self._bundle_file,
        )
        return await self._write()

    async def _write(self) -> SessionInfo:
        return await asyncio.to_thread(self._store.save, self.info, self._state or {}, self._plan)

    async def save_name(self) -> None:
        """Save once more if the session was named while it ended."""
        if self._renamed:
            await self._write()

    def rename(self, name: str, description: str = "") -> None:
        """Give the session the name that lists show; no hook will give it another."""
        self._given_name = name
        self.session.coordinator.session_state["named_by"] = "person"
        self.session.coordinator.get_capability("session.rename")(name, description)

    def _accept_name(self, name: str, description: str = "") -> None:
        if self._given_name in ("", name):
            self.info = replace(self.info, name=name, description=description)
            self._renamed = True

    @contextmanager
    def _handle_interrupts(self) -> Iterator[None]:
        """Ctrl-C stops the turn, not the program."""
        loop = asyncio.get_running_loop()
        before = signal.getsignal(signal.SIGINT)
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(signal.SIGINT, self.stop_turn)
        try:
            yield
        finally:
            with suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(signal.SIGINT)
                # Removing it puts Python's own handler there, not the one that asyncio had set.
                signal.signal(signal.SIGINT, before)

    def stop_turn(self) -> None:
        """Stop the turn at once: what is running is ended, what was said stays."""
        self.display.state.stop()
        self._request_cancel(immediate=True)

    def _stop_after_step(self) -> None:
        """Stop once the refusal of the question that was just answered has been recorded."""
        self._request_cancel(immediate=False)

    def _request_cancel(self, *, immediate: bool) -> None:
        task = asyncio.ensure_future(self.session.coordinator.request_cancel(immediate=immediate))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)


@asynccontextmanager
async def open_agent(options: AgentOptions, display: Display | None = None) -> AsyncIterator[Agent]:
    """A session from its bundle and the flags, started; ended and saved on the way out."""
    store = SessionStore()
    resumption = await prepare_resume(store, options.resume, options.bundle)
    bundle = await asyncio.to_thread(load_bundle, resumption.bundle)
    bundle = bundle.changed(lambda plan: apply_flags(plan, options.provider, options.model))
    bundle = bundle.changed(lambda plan: apply_mode(plan, options.approve))
    bundle = bundle.changed(lambda plan: apply_shadow(plan, options.shadow))
    material = await asyncio.to_thread(collect_material, bundle, Path.cwd())
    trust = TrustStore()
    await require_trust(material, trust, ask=options.approve != "deny")
    display = display or make_display(choose_mode(as_json=options.as_json), verbose=options.verbose)
    agent = Agent(display, store, resumption.saved)
    keep = options.save
    with material.hold():
        await agent.open(material, trust, options)
        for text, level in list_news(resumption, material):
            agent.notify(text, level)
        async with agent.session:
            try:
                yield agent
            finally:
                if keep and agent.turns:
                    await agent.save()
    if keep and agent.turns:
        await agent.save_name()
