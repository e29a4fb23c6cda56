"""One prompt on its way through its hooks and the loop to the reply."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from amplifier_core import events, payloads
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import DataT, EventOf
from amplifier_core.records import ErrorNoted
from amplifier_core.utils import describe_error
from amplifier_core.utils.calling import list_parameters

STOPPED_AT_ONCE = "Stopped at once, as requested."


class PromptRun:
    """Takes one prompt to its reply, or to the reason why there is none."""

    reply = ""
    status: Literal["idle", "running", "denied", "interrupted", "error"] = "running"
    _accepted = _stopped = False

    def __init__(
        self, coordinator: SessionCoordinator, prompt: str, task: asyncio.Task[Any]
    ) -> None:
        self._coordinator = coordinator
        self._prompt = prompt
        self._task = task
        # Loops of the ecosystem tell of prompts by themselves; once is enough.
        loop = coordinator.mount_points["orchestrator"]
        self._tells = getattr(loop, "leaves_prompt_events", False) is True

    async def execute(self, metadata: dict[str, Any], seconds: float | None) -> str:
        """Process the prompt to the end, for so many seconds at most."""
        token = self._coordinator.cancellation
        forget = token.on_cancel(self._stop)
        try:
            if await self._submit(metadata):
                self._accepted = True
                self.reply = await self._run_loop(seconds)
                await self._judge_reply(self.reply)
            if self._stopped:  # while nothing was waited for: taken here, not by what comes after
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.status = "interrupted"
            # A second cancellation is somebody else's, who waits for it.
            if not self._stopped or self._task.cancelling() > 1:
                raise
            self.reply = STOPPED_AT_ONCE
        finally:
            forget()
            if self._stopped:
                self._task.uncancel()
        if token.is_cancelled:
            self.status = "interrupted"
            at_once = token.is_immediate
            done = payloads.CancelCompletedData(immediate=at_once, was_immediate=at_once)
            await self._coordinator.notify(events.CANCEL_COMPLETED, done)
        if self._accepted:
            await self._finish()
        return self.reply

    def _stop(self) -> None:
        if self._coordinator.cancellation.is_immediate and not self._stopped:
            self._stopped = self._task.cancel()

    async def _submit(self, metadata: dict[str, Any]) -> bool:
        """Take the prompt through its hooks, if the loop leaves that to us; False if one denies."""
        if not self._tells:
            return True
        submitted = payloads.PromptSubmitData(prompt=self._prompt, metadata=metadata)
        wanted = await self._judge(events.PROMPT_SUBMIT, submitted, "prompt", self._prompt)
        self._prompt = self._prompt if wanted is None else wanted
        return wanted is not None

    async def _judge(
        self, event: EventOf[DataT], data: DataT, key: str, missing: str | None = None
    ) -> str | None:
        """The text that the hooks leave; None, and the reason as the reply, if one denies it."""
        outcome = await self._coordinator.judge(event, data)
        text = (outcome.data or {}).get(key, missing)
        if outcome.allowed and isinstance(text, str):
            return text
        self.status = "denied"
        unusable = f"A hook left no usable {key}: {type(text).__name__}"
        self.reply = unusable if outcome.allowed else outcome.denial
        return None

    async def _judge_reply(self, said: str) -> None:
        """Take what the loop said through its hooks, and keep no more of it than they leave."""
        loop = self._coordinator.mount_points["orchestrator"]
        answer = payloads.PromptAnswerData(
            prompt=self._prompt, response=said, streamed=getattr(loop, "streamed", False) is True
        )
        self.reply = STOPPED_AT_ONCE  # unless it is judged to the end
        try:
            left = await self._judge(events.PROMPT_ANSWER, answer, "response")
            self.reply = self.reply if left is None else left
        finally:
            if self.reply != said:
                await self._coordinator.replace_answer(said, self.reply)

    async def _run_loop(self, seconds: float | None) -> str:
        try:
            said = await (self._start_loop() if seconds is None else self._run_for(seconds))
        except Exception as error:
            self.status = "error"
            await self._report_error(error)
            raise
        if isinstance(said, str):
            return said
        if said is None:
            return ""
        return str(said)

    async def _run_for(self, seconds: float) -> Any:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await self._start_loop()
        except Exception as error:
            if limit.expired() and not error.args:
                error.args = (f"The turn took longer than {seconds} s (session.turn_timeout)",)
            raise

    def _start_loop(self) -> Any:
        points = self._coordinator.mount_points
        execute = points["orchestrator"].execute
        given = {
            "prompt": self._prompt,
            "context": points["context"],
            "providers": points["providers"],
            "tools": points["tools"],
            "hooks": self._coordinator.hooks,
            "coordinator": self._coordinator,
        }
        known = list_parameters(execute)
        if known is not None and "**" not in known:
            given = {name: one for name, one in given.items() if name in known}
        return execute(**given)

    async def _report_error(self, error: Exception) -> None:
        why = describe_error(error)
        self._coordinator.trail.write(ErrorNoted(what="turn", error=why))
        details: payloads.ErrorDetails = {"type": type(error).__name__, "message": str(error)}
        failed = payloads.ErrorOrchestrationData(error=details)
        await self._coordinator.notify(events.ERROR_ORCHESTRATION, failed)
        await self._notify_user("error", why)

    async def _finish(self) -> None:
        if self.status == "running":
            self.status = "idle"
        if self._tells:
            complete = payloads.PromptCompleteData(prompt=self._prompt, response=self.reply)
            await self._coordinator.notify(events.PROMPT_COMPLETE, complete)
        await self._notify_user("awaiting_input", "The agent waits for the next prompt.")

    async def _notify_user(self, kind: payloads.NotificationType, message: str) -> None:
        news = payloads.UserNotificationData(notification_type=kind, message=message, metadata={})
        await self._coordinator.notify(events.USER_NOTIFICATION, news)
