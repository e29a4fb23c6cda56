"""The session of a bundle: it continues while hooks ask for more, and closes its trail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Protocol

from amplifier_core import events
from amplifier_core.errors import ModuleError, ModuleLoadError, ModuleNotFound, SessionStateError
from amplifier_core.mount_plan import ModuleEntry, MountPlan, read_entry
from amplifier_core.mounting import Mounted
from amplifier_core.payloads import EndReason
from amplifier_core.records import SessionSuspended
from amplifier_core.session import AmplifierSession
from amplifier_core.utils import describe_error, get_current_task
from amplifier_core.utils.text import suggest
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.agent.loops.model_call import compact_now
from amplifier_hooks.modules.observers import may_guard, require_guards

MOST_CONTINUATIONS = 8
"""How often hooks may keep the agent from stopping after one prompt."""

MOST_CAUSES = 16
"""How far the causes of an error are followed; they may go in a circle."""


class Reloads(Protocol):
    """Puts changed files in use when a person allows it."""

    async def reload(self) -> bool: ...

    async def check(self) -> bool: ...

    def watch(self) -> None: ...


class AssembledSession(AmplifierSession):
    """A session that also closes what was opened for it."""

    def __init__(
        self,
        config: Mapping[str, Any],
        *,
        owned: Iterable[Callable[[], Awaitable[Any]]] = (),
        **options: Any,
    ) -> None:
        super().__init__(config, **options)
        self._owned = list(owned)
        self._wanted_next: list[str] = []
        self._continued = 0
        self.reloader: Reloads | None = None

    async def reload(self) -> bool:
        """Show the person what has changed in the files of the session, and ask whether to use it.

        Returns whether the session now has something new.
        """
        if self._worker is get_current_task():
            raise SessionStateError("A turn is under way; nothing can be reloaded meanwhile")
        async with self._turn:
            return self.reloader is not None and await self.reloader.reload()

    async def check_files(self) -> bool:
        """Use changed files that may be used without asking; nothing else goes on meanwhile.

        Returns whether the session now has something new.
        """
        return self.reloader is not None and await self.reloader.check()

    async def compact(self) -> bool:
        """Make the conversation smaller now; False if a hook denied it or nothing could go."""
        if self._worker is get_current_task():
            raise SessionStateError("A turn is under way; the context makes room by itself")
        async with self._turn:
            return await compact_now(self.context)

    @property
    def failures(self) -> list[str]:
        """Modules that were left out, each with its reason."""
        return [one.error for one in self.mounting.mounted if one.error is not None]

    async def _mount_difference(self, plan: MountPlan) -> list[Mounted]:
        """Mount a plan, also one that hooks changed; what may be a guard must not fail."""
        return await super()._mount_difference(require_guards(plan))

    async def _mount(self) -> None:
        await super()._mount()
        self._check_ready()

    async def _announce(self) -> None:
        await super()._announce()
        self._check_ready()

    def _check_ready(self) -> None:
        """Some modules register their hooks only when everything is mounted: guards must have."""
        for one in self.mounting.mounted:
            error = self.mounting.unready.get(one.id)
            if one.kind == "hooks" and one.entry.required and error is not None:
                message = f"Module '{one.id}': on_session_ready failed: {describe_error(error)}"
                stop = ModuleLoadError(message, module_id=one.id)
                stop.entry_name = one.entry.name or one.entry.instance_id
                raise stop from error

    def keep_working(self, reason: str, event: str = events.ORCHESTRATOR_COMPLETE) -> str | None:
        """Do not let the agent stop after this prompt; the reason is its next prompt.

        Returns why it stops all the same, if it does.
        """
        if event != events.ORCHESTRATOR_COMPLETE:
            return "a sub-agent that has ended cannot go on"
        if self._continued >= MOST_CONTINUATIONS:
            return f"hooks kept the agent working {MOST_CONTINUATIONS} times in a row; it stops now"
        self._wanted_next.append(reason)
        return None

    async def execute(self, prompt: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Process a prompt, and what hooks want done before the agent may stop."""
        try:
            return await self._execute(prompt, metadata)
        except Exception as error:
            self._scrub_error(error)
            raise

    async def _execute(self, prompt: str, metadata: Mapping[str, Any] | None) -> str:
        self._wanted_next.clear()
        self._continued = 0
        reply = await super().execute(prompt, metadata)
        while self._wanted_next and self.status == "idle":
            wanted = "\n\n".join(self._wanted_next)
            self._wanted_next.clear()
            self._continued += 1
            reply = await super().execute(wanted, {"source": "stop_hook"})
        return reply

    def _scrub_error(self, error: BaseException | None) -> None:
        """Applications show what went wrong: an error, too, leaves the session scrubbed."""
        for _ in range(MOST_CAUSES):
            if error is None:
                break
            error.args = tuple(self.coordinator.scrub(list(error.args)))
            error = error.__cause__ or error.__context__

    async def state(self) -> dict[str, Any]:
        """Everything another process needs to go on, as it may leave the session: scrubbed."""
        clean: dict[str, Any] = self.coordinator.scrub(await super().state())
        return clean

    async def read_messages(self) -> list[dict[str, Any]]:
        """The conversation as it is now."""
        return await self._read_messages()

    def own(self, close: Callable[[], Awaitable[Any]]) -> None:
        """Close something with the session, before its trail."""
        self._owned.append(close)

    async def suspend(self) -> None:
        """Close everything without ending the session: another process goes on with it."""
        self.coordinator.trail.write(SessionSuspended())
        self.initialized = False
        await self.cleanup()

    async def cleanup(self, reason: EndReason = "complete") -> None:
        """End the session, then close the trail, so that the end is recorded."""
        await super().cleanup(reason)
        while self._owned:
            await self._owned.pop()()


WITHOUT = (
    "the session does not start without it, because it may be a guard; "
    "`required: false` in its entry would leave it out"
)


async def report_left_out(session: AssembledSession, bundle: Bundle) -> None:
    """Show the person every module that was left out, and why."""
    agent = session.parent_id is not None
    for mounted in session.mounting.mounted:
        if mounted.failure is not None:
            text = f"Left out: {add_place(mounted.failure, bundle, agent=agent)}"
            await session.coordinator.show(text, "warning", "modules")


async def report_shadows(session: AssembledSession) -> None:
    """Show the person which hooks only watch: whoever believes that they hold must not be wrong."""
    names = [one.id for one in session.mounting.mounted if one.shadows and one.failure is None]
    if names and session.parent_id is None:
        text = f"In shadow mode, recorded and without effect: {', '.join(names)}"
        await session.coordinator.show(text, "warning", "session")


def explain_stop(
    error: ModuleLoadError, session: AssembledSession, bundle: Bundle
) -> ModuleLoadError:
    """Why a session does not start: the module, the line that asks for it, and what would do."""
    agent = session.parent_id is not None
    message = add_place(error, bundle, agent=agent)
    if _is_required_as_guard(error, session):
        message += f" — {WITHOUT}"
    told = ModuleLoadError(message, module_id=error.module_id, reason_code=error.reason_code)
    told.entry_name = error.entry_name
    told.option = error.option
    return told


def add_place(failure: ModuleError, bundle: Bundle, *, agent: bool = False) -> str:
    """What went wrong, after the file and line of the option or of the module, if known."""
    module = failure.module_id
    why = _explain(failure)
    if module is None:
        return why
    place = bundle.place_of(module, failure.entry_name, agent, failure.option)
    return why if place is None else f"{place}: {why}"


def _explain(failure: ModuleError) -> str:
    # One that ends the start was made from the one that says what is there instead.
    unknown = failure.__cause__ if isinstance(failure, ModuleLoadError) else failure
    if isinstance(unknown, ModuleNotFound) and unknown.known:
        wanted = str(failure.module_id)
        return f"Unknown module {wanted!r}; {suggest(wanted, unknown.known)}"
    return str(failure)


def _is_required_as_guard(error: ModuleLoadError, session: AssembledSession) -> bool:
    """Whether only the rule for guards requires the module, not its entry."""
    entries = [read_entry("hooks", one) for one in session.config.get("hooks") or ()]
    return any(
        _is_meant(entry, error) and may_guard(entry) and not entry.required for entry in entries
    )


def _is_meant(entry: ModuleEntry, error: ModuleLoadError) -> bool:
    name = entry.name or entry.instance_id
    return (entry.module, name) == (error.module_id, error.entry_name)
