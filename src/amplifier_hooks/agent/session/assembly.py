"""From a bundle to a running session."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from amplifier_core.approval import AnyApprovalSystem
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.dispatch import Follow
from amplifier_core.display import DisplaySystem
from amplifier_core.errors import ModuleLoadError
from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import list_ways, read_entry
from amplifier_core.registration import HookHandler
from amplifier_core.session import AmplifierSession
from amplifier_core.trail import AuditSink
from amplifier_core.utils import resolve
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.agent.session.assembled import (
    AssembledSession,
    explain_stop,
    report_left_out,
    report_shadows,
)
from amplifier_hooks.agent.session.capabilities import (
    Rename,
    hide_secrets,
    offer_wall,
    register_capabilities,
    report_wall,
    share_wall,
)
from amplifier_hooks.agent.session.open_calls import (
    FINISHING_LOOPS,
    complete_state,
    report_unknown_outcomes,
)
from amplifier_hooks.agent.session.origin import record_origin
from amplifier_hooks.agent.session.reload import (
    ASKING,
    ChangePolicy,
    Reloader,
    release_material,
    use_material,
)
from amplifier_hooks.agent.session.sub_agents import Spawner, apply_session_options
from amplifier_hooks.agent.session.trail import SessionTrail, attach_trail, guard_tool_calls
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.guards.model_judge import CAPABILITY, ModelJudge
from amplifier_hooks.guards.model_judge import NAME as JUDGE
from amplifier_hooks.guards.policy.unread_tools import UnreadTools, make_offered

if TYPE_CHECKING:
    from amplifier_hooks.agent.session.remote_approval import Elsewhere

logger = logging.getLogger(__name__)

TOO_LONG = 0.1
"""Seconds; a hook that lets nothing else run for longer is named in a warning."""


def watch_for_slow_hooks(coordinator: SessionCoordinator) -> None:
    """Time the hooks of a session while they run."""
    suspicions = Suspicions()
    coordinator.watch_hooks(lambda: SlowHookWatch(suspicions))


class Suspicions:
    """Which hooks of a session may block the loop, and which are cleared."""

    def __init__(self) -> None:
        self.suspects: set[int] = set()
        self._cleared: set[int] = set()

    def suspect(self, handler: HookHandler) -> None:
        """Note that a hook took long; perhaps it only waited."""
        if handler.id not in self._cleared:
            self.suspects.add(handler.id)

    def settle(self, handler: HookHandler, seconds: float) -> None:
        """Decide on a suspect by its longest step: warn, or clear it."""
        self.suspects.discard(handler.id)
        self._cleared.add(handler.id)
        if seconds > TOO_LONG:
            logger.warning(
                "Hook '%s' on '%s' held the event loop for %d ms; nothing else could run. "
                "Await what is slow, or move it to a thread with asyncio.to_thread",
                handler.name,
                handler.event,
                seconds * 1000,
            )


class SlowHookWatch:
    """Times the hooks of one dispatch, which run one at a time."""

    __slots__ = ("_longest", "_started", "_suspicions")

    def __init__(self, suspicions: Suspicions) -> None:
        self._suspicions = suspicions
        self._longest: float | None = None

    def begin(self, handler: HookHandler) -> Follow | None:
        """Note that a hook begins; returns what times the steps of a suspect."""
        self._started = perf_counter()
        if handler.id not in self._suspicions.suspects:
            return None
        self._longest = 0.0
        return self._follow

    def _follow(self, work: Awaitable[Any]) -> Awaitable[Any]:
        return TimedSteps(work, self._take_step)

    def end(self, handler: HookHandler) -> None:
        """Note that a hook ended."""
        seconds = perf_counter() - self._started
        longest = self._longest
        self._longest = None
        if seconds <= TOO_LONG:
            return
        if longest is None:
            self._suspicions.suspect(handler)
        else:
            # A plain function has no steps: all of its time was one.
            self._suspicions.settle(handler, longest or seconds)

    def _take_step(self, seconds: float) -> None:
        self._longest = max(self._longest or 0.0, seconds)


class TimedSteps:
    """An awaitable that is timed step by step: so long it held the loop between two waits."""

    __slots__ = ("_tell", "_work")

    def __init__(self, work: Awaitable[Any], tell: Callable[[float], None]) -> None:
        self._work = work
        self._tell = tell

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._work.__await__()
        advance: Callable[[], Any] = partial(next, steps)
        while True:
            started = perf_counter()
            try:
                waiting = advance()
            except StopIteration as done:
                return done.value
            finally:
                self._tell(perf_counter() - started)
            try:
                yield waiting
                advance = partial(next, steps)
            except BaseException as error:  # noqa: BLE001 - cancellation too is the hook's to see
                advance = partial(_throw, steps, error)


def _throw(steps: Any, error: BaseException) -> Any:
    return steps.throw(error)


class SessionBuilder:
    """Builds sessions that share one person, one screen and one trail."""

    def __init__(
        self,
        bundle: Bundle,
        folder: Path,
        approval_system: Any,
        display_system: Any,
        audit: AuditSink | None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        mode = bundle.mount_plan["approval"].get("mode")
        if elsewhere is not None and mode != "deny":
            approval_system = elsewhere.place(approval_system)
        if _lists_judge(bundle.mount_plan):
            approval_system = self._consult_judge(approval_system)
        if mode == "edits":
            from amplifier_hooks.approvals import EditsApproval

            approval_system = EditsApproval(folder, approval_system, bundle.watched)
        self._governing: tuple[Path, ...] = getattr(approval_system, "governing_files", ())
        self._bundle = bundle
        self._folder = folder
        self._root: AssembledSession | None = None
        self._shared = {
            "approval_system": None if mode == "deny" else approval_system,
            "display_system": display_system,
            "audit": audit,
        }

    def _consult_judge(self, system: AnyApprovalSystem | None) -> AnyApprovalSystem | None:
        """Ask the model judge before a person; behind a policy, which may ask neither."""
        from amplifier_hooks.approvals.model_judge import JudgedApproval
        from amplifier_hooks.approvals.policy import PolicyApproval

        if isinstance(system, PolicyApproval):
            system.refer(self._consult_judge)
            return system
        return system and JudgedApproval(system, self._find_judge, self._show_judge)

    def _find_judge(self) -> ModelJudge | None:
        """The judge of the session that the person talks to; sub-agents share its budget."""
        if self._root is None:
            return None
        judge: ModelJudge | None = self._root.coordinator.get_capability(CAPABILITY)
        return judge

    async def _show_judge(self, text: str) -> None:
        if self._root is not None:
            await self._root.coordinator.show(text, "info", JUDGE)

    def build_root(
        self,
        plan: Mapping[str, Any],
        session_id: str,
        resume: Mapping[str, Any] | None = None,
        owned: Iterable[Callable[[], Awaitable[Any]]] = (),
        on_rename: Rename | None = None,
        waiting: Mapping[str, str] | None = None,
    ) -> AssembledSession:
        """Build the session that the person talks to, ready to be started.

        `waiting` has the calls that an earlier process asked about and never started.
        """
        loop = read_entry("orchestrator", plan["session"]["orchestrator"])
        finishes = loop.module in FINISHING_LOOPS
        session = AssembledSession(
            plan,
            loader=ModuleLoader(base=self._folder),
            session_id=session_id,
            state=resume and complete_state(resume, waiting, finishes=finishes),
            owned=owned,
            **self._shared,
        )
        self._root = session
        register_capabilities(session, self._folder, on_rename, self._governing)
        offer_wall(session, self._folder)
        hide_secrets(session, self._bundle.secrets)
        watch_for_slow_hooks(session.coordinator)
        Spawner(self.open_child).attach(session)
        return session

    async def open_child(
        self, parent: AmplifierSession, session_id: str, plan: dict[str, Any], below: Spawner
    ) -> AmplifierSession:
        """Start a sub-agent; `below` starts its own sub-agents."""
        child = AssembledSession(
            apply_session_options(plan),
            loader=parent.mounting.loader.copy(),
            session_id=session_id,
            parent_id=parent.session_id,
            parent_hooks=parent.coordinator.hooks,
            **self._shared,
        )
        folder = Path(parent.coordinator.get_capability("session.working_dir"))
        # Without `on_rename`: the name that the person sees is the parent's.
        register_capabilities(child, folder, sealed=self._governing)
        share_wall(parent, child)
        snapshot = parent.coordinator.get_capability("session.snapshot")
        child.coordinator.register_capability("session.snapshot", snapshot)
        show_output = parent.coordinator.get_capability("display.tool_output")
        child.coordinator.register_capability("display.tool_output", show_output)
        hide_secrets(child, self._bundle.secrets)
        for scrub in parent.coordinator.trail.scrubbers:
            child.coordinator.register_scrubber(scrub)
        await child.coordinator.mount(
            "module-source-resolver", parent.coordinator.get("module-source-resolver")
        )
        below.attach(child)
        try:
            await child.start()
        except ModuleLoadError as error:
            raise explain_stop(error, child, self._bundle) from error
        await report_left_out(child, self._bundle)
        return child


def _lists_judge(plan: Mapping[str, Any]) -> bool:
    return any(read_entry("hooks", one).module == JUDGE for one in plan["hooks"])


Prepare = Callable[[AssembledSession], Any]


async def open_session(
    bundle: Bundle,
    *,
    session_id: str | None = None,
    approval_system: AnyApprovalSystem | None = None,
    display_system: DisplaySystem | None = None,
    working_dir: str | Path | None = None,
    resume: Mapping[str, Any] | None = None,
    audit: AuditSink | None = None,
    hot_reload: bool = True,
    material: Material | None = None,
    changes: ChangePolicy = ASKING,
    on_rename: Rename | None = None,
    prepare: Prepare | None = None,
    elsewhere: Elsewhere | None = None,
) -> AssembledSession:
    """Mount the bundle and start; `resume` is what `session.state()` of an earlier run returned.

    Without `audit`, the trail is opened as the bundle says and closed with the session. `prepare`
    gets the session before its first event. A module that does not load is reported and left out; a
    hook that may be a guard stops the start with a ModuleLoadError.

    `material` is what a person has trusted; without it, the files are read now, because the program
    that calls this has chosen them. `changes` says who may have changed files used; a person who is
    asked in `session.reload()` always may. `elsewhere`: who is asked, not whom the bundle names.
    """
    _check_bundle(bundle)
    plan = apply_session_options(bundle.mount_plan)
    own_id = session_id or (resume or {}).get("session_id") or str(uuid.uuid4())
    folder = Path(working_dir or Path.cwd())
    if material is None:
        material = await asyncio.to_thread(collect_material, bundle, folder)
    trail = await attach_trail(plan["audit"], own_id, audit, resumed=bool(resume))
    opened = list(trail.owned)
    async with _close_on_failure(opened):
        people = elsewhere or await reach_elsewhere(plan["approval"], folder)
        sink = _report_to(people, trail, resume, opened)
        builder = SessionBuilder(bundle, folder, approval_system, display_system, sink, people)
        plan = hide_credentials(plan)
        session = builder.build_root(plan, own_id, resume, opened, on_rename, trail.waiting)
        _equip(session, bundle, folder, material, people)
        guard_tool_calls(session.coordinator, trail.sink, plan["audit"].get("on_failure", "deny"))
        await _start(session, bundle, prepare)
    material.snapshot.seal()
    await _report_start(session, bundle, trail)
    if hot_reload:
        session.reloader = Reloader(session, material, changes)
        session.reloader.watch()
    return session


async def reach_elsewhere(
    section: Mapping[str, Any], folder: Path, *, self_test: bool = False
) -> Elsewhere | None:
    """Those whom `approval` names beside the person at the terminal; None if it names nobody."""
    if all(way == "terminal" for way in list_ways(section)):
        return None  # most sessions: they do not import what asks elsewhere
    from amplifier_hooks.agent.session.remote_approval import reach_people

    return await reach_people(section, folder, self_test=self_test)


def hide_credentials(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan without what opens the way to people: modules see the rest of it."""
    section = dict(plan["approval"])
    section.pop("token", None)
    if str(section.get("store") or "").startswith("postgres"):
        section.pop("store")
    return {**plan, "approval": section}


def _report_to(
    people: Elsewhere | None,
    trail: SessionTrail,
    resume: Mapping[str, Any] | None,
    opened: list[Callable[[], Awaitable[Any]]],
) -> AuditSink | None:
    """The sink of a session; what people elsewhere need of it passes through theirs."""
    if people is None:
        return trail.sink
    opened.append(people.close)
    return people.report(trail.sink, resume)


def _equip(
    session: AssembledSession,
    bundle: Bundle,
    folder: Path,
    material: Material,
    people: Elsewhere | None,
) -> None:
    """Let the session know where it comes from and whom it asks, and load only what was read."""
    if people is not None:
        people.attach(session, bundle)
    record_origin(session, bundle, folder)
    use_material(session, material)
    session.own(partial(release_material, session))


def _check_bundle(bundle: object) -> None:
    """A plan that is a plain dict has not been checked."""
    if not isinstance(bundle, Bundle):
        given = type(bundle).__name__
        raise TypeError(
            f"A session is opened from a Bundle, got {given}; bundle_from_plan makes one"
        )


@asynccontextmanager
async def _close_on_failure(opened: Sequence[Callable[[], Awaitable[Any]]]) -> AsyncIterator[None]:
    """Close what was opened for a session that does not start."""
    try:
        yield
    except BaseException:
        for close in reversed(opened):
            await close()
        raise


async def _start(session: AssembledSession, bundle: Bundle, prepare: Prepare | None) -> None:
    if prepare is not None:
        await resolve(prepare(session))
    try:
        await session.start()
    except ModuleLoadError as error:
        raise explain_stop(error, session, bundle) from error


async def _report_start(session: AssembledSession, bundle: Bundle, trail: SessionTrail) -> None:
    """Tell the person what went wrong at the start, and what an earlier process left behind."""
    # A copy: a trail that cannot be written to raises its next alarm while this one is shown.
    for alarm in tuple(trail.alarms):
        await session.coordinator.show(alarm, "error", "audit")
    await report_wall(session)
    await report_left_out(session, bundle)
    await report_shadows(session)
    await _report_unread_tools(session)
    await report_unknown_outcomes(session, trail.unknown)


async def _report_unread_tools(session: AssembledSession) -> None:
    """Say which tools no guard can read; a sub-agent has tools of its parent."""
    if session.parent_id is None:
        tools: Mapping[str, Any] = session.coordinator.get("tools") or {}
        offered = [make_offered(name, tool) for name, tool in tools.items()]
        await UnreadTools(session.coordinator).report(offered)
