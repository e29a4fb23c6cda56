"""Asking the person at the terminal.

Listens to  the kernel, which hands in the final question
Answers     one of the options, or a refusal; ApprovalTimeout when nobody decided
Needs       the controlling terminal; without one it raises at once, and the kernel denies
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from amplifier_core.approval import (
    ApprovalAnswer,
    ApprovalQuestion,
    ApprovalTimeout,
    read_option,
)
from amplifier_core.models import Decision
from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.terminal import DEVICE, NoTerminal, Terminal, is_ascii_only, open_terminal
from amplifier_hooks.machine.locations import get_user_name

if TYPE_CHECKING:
    from amplifier_hooks.cli.approval.question import QuestionState


# A person who is typing when the question appears must not have answered it.
SETTLING_SECONDS = 0.25

EDITED = "This is your version. If you allow it, the hooks judge it before it runs."


class Pausable(Protocol):
    """A live display that lets go of the terminal for a while."""

    def pause(self) -> AbstractContextManager[None]: ...


def read_boot_clock() -> float:
    """Seconds that go on while the machine sleeps, so that a deadline does not wait for it."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class TerminalApproval:
    """The approval system of the command line: one question at a time, on the terminal itself."""

    def __init__(
        self,
        *,
        base: Path | None = None,
        display: Pausable | None = None,
        device: str = DEVICE,
        clock: Callable[[], float] = read_boot_clock,
        settling: float = SETTLING_SECONDS,
        on_interrupt: Callable[[], None] | None = None,
        on_nobody: Callable[[str], None] | None = None,
    ) -> None:
        self._base = base or Path.cwd()
        self._display = display
        self._device = device
        self._clock = clock
        self._settling = settling
        self._on_interrupt = on_interrupt
        self._on_nobody = on_nobody
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str:
        """The short form: a prompt and its options."""
        question = ApprovalQuestion(prompt, tuple(options), timeout, default, hook="")
        return (await self._ask(question, commentable=False)).option

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The whole question, with the final tool call."""
        return await self._ask(question, commentable=True)

    async def _ask(self, question: ApprovalQuestion, *, commentable: bool) -> ApprovalAnswer:
        """Wait for the questions before this one, then ask; the time runs while waiting, too."""
        deadline = self._clock() + _clean_timeout(question.timeout)
        try:
            with open_terminal(self._device):
                pass
        except NoTerminal as error:
            self._warn_once(str(error))
            if question.default == "deny":
                raise
            # The kernel applies the default to an error; an answer nobody offered is a no.
            return ApprovalAnswer(str(error))
        self._waiting += 1
        try:
            async with asyncio.timeout(_to_delay(deadline - self._clock())):
                async with self._turn:
                    return await self._show_and_wait(question, deadline, commentable)
        except TimeoutError as error:
            raise ApprovalTimeout(f"Nobody decided in {question.timeout:g} seconds.") from error
        finally:
            self._waiting -= 1

    def _warn_once(self, why: str) -> None:
        """Say that nobody can be asked, the first time that somebody should be."""
        tell = self._on_nobody
        self._on_nobody = None
        if tell is not None:
            tell(why)

    async def _show_and_wait(
        self, question: ApprovalQuestion, deadline: float, commentable: bool
    ) -> ApprovalAnswer:
        """Show the question and wait for the decision."""
        state = await asyncio.to_thread(_make_state, question, self._base, commentable)
        pause = self._display.pause() if self._display else nullcontext()
        with pause, open_terminal(self._device) as terminal:
            await self._show(terminal, state, deadline)
            while state.wants_editor:
                state = await self._edit(terminal, question, state)
                await self._show(terminal, state, deadline)
        if state.interrupted and self._on_interrupt:
            self._on_interrupt()
        if state.choice.decision is None or self._clock() >= deadline:
            raise TimeoutError
        allows = read_option(state.choice.decision).allows
        return ApprovalAnswer(
            state.choice.decision,
            by=get_user_name(),
            comment=_word_comment(state) if allows else state.comment or None,
            edited_input=state.edited_input if allows else None,
        )

    async def _edit(
        self, terminal: Terminal, question: ApprovalQuestion, state: QuestionState
    ) -> QuestionState:
        """The question anew, about what the person made of its input in an editor."""
        from amplifier_hooks.cli.approval.editor import BadEdit, NoEditor, edit_text

        before = state.editable
        if before is None:
            return state
        try:
            text = await edit_text(before.text, before.suffix, terminal)
            edited = before.apply(text)
        except NoEditor as error:
            return replace(state, wants_editor=False, settled=False, hint=str(error))
        except BadEdit as error:
            kept = replace(before, text=text)
            return replace(state, wants_editor=False, settled=False, editable=kept, hint=str(error))
        if edited == (state.edited_input or question.tool_input):
            return replace(state, wants_editor=False, settled=False)
        return await asyncio.to_thread(_make_edited_state, question, self._base, state, edited)

    async def _show(self, terminal: Terminal, state: QuestionState, deadline: float) -> None:
        from amplifier_hooks.cli.approval.question_application import get_content_width

        # Laying out a megabyte takes a moment; the loop goes on meanwhile.
        columns, _ = os.get_terminal_size(terminal.writing.fileno())
        await asyncio.to_thread(state.content.lay_out, get_content_width(columns or 80))
        state.waiting = self._waiting - 1
        await self._run(terminal, state, deadline)

    async def _run(self, terminal: Terminal, state: QuestionState, deadline: float) -> None:
        from prompt_toolkit.input.typeahead import clear_typeahead

        from amplifier_hooks.cli.approval.question_application import make_application

        application = make_application(
            terminal, state, lambda: deadline - self._clock(), settling=self._settling
        )
        clear_typeahead(application.input)
        terminal.discard_typeahead()
        try:
            await application.run_async(handle_sigint=False, set_exception_handler=False)
        finally:
            # Keys after the decision belong to nobody: least of all to the next question.
            clear_typeahead(application.input)


def _clean_timeout(timeout: float) -> float:
    return 0.0 if math.isnan(timeout) else max(0.0, timeout)


def _to_delay(seconds: float) -> float | None:
    return None if math.isinf(seconds) else seconds


def _word_comment(state: QuestionState) -> str | None:
    """What the person said, and that another input ran: the agent would be puzzled otherwise."""
    changed = ""
    if state.edited_input is not None and state.editable is not None:
        text = state.edited_input.get("command") if state.editable.is_line else None
        if text:
            changed = f"I changed the command to: {text}"
        else:
            changed = "I edited the input before it ran"
    return "; ".join(filter(None, (state.comment, changed))) or None


def _make_state(question: ApprovalQuestion, base: Path, commentable: bool) -> QuestionState:
    """Read files and prepare the call; slow for big inputs, so not on the event loop."""
    import prompt_toolkit.application  # takes half a second the first time
    import prompt_toolkit.output.vt100  # noqa: F401

    from amplifier_hooks.cli.approval.editor import EditableInput
    from amplifier_hooks.cli.approval.preview import make_preview
    from amplifier_hooks.cli.approval.question import QuestionContent, QuestionState

    tool = question.tool_name
    preview = make_preview(tool, question.tool_input, base) if tool else None
    choice = Choice.among(question.options)
    content = QuestionContent(question, preview, choice.rows, ascii_only=is_ascii_only())
    editable = EditableInput.of(question) if commentable else None
    return QuestionState(content, choice, commentable, editable=editable)


def _make_edited_state(
    question: ApprovalQuestion, base: Path, before: QuestionState, edited: dict[str, Any]
) -> QuestionState:
    """The question about an edited input: nothing of it has been read, or can be remembered."""
    from amplifier_hooks.approvals.change import list_once
    from amplifier_hooks.cli.approval.question import QuestionWords

    prompt = QuestionWords.of(question).prompt  # without the input that does not hold any more
    once = replace(
        question, prompt=prompt, options=list_once(question), tool_input=edited, digest=""
    )
    state = _make_state(once, base, commentable=True)
    state.comment = before.comment
    state.edited_input = edited
    state.hint = EDITED
    return state
