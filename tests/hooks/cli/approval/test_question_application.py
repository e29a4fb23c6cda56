"""The application of a question: what each key does, and what counts as seen."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from prompt_toolkit.input.typeahead import clear_typeahead

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.cli.approval.choice import Choice
from amplifier_hooks.cli.approval.question import (
    READ_FIRST,
    REFUSE_AGAIN,
    QuestionContent,
    QuestionState,
)
from amplifier_hooks.cli.approval.question_application import make_application
from amplifier_hooks.cli.terminal import Terminal

OPTIONS = ("Allow once", "Allow always", "Deny")
SHORT = "Go?"
NEVER = 1000.0
SETTLING = 0.3
LONG = "\n".join(f"line {number}" for number in range(100))


class Asking:
    """A question in a pseudo-terminal of this process."""

    def __init__(self, prompt: str, settling: float, escape_seconds: float) -> None:
        question = ApprovalQuestion(prompt, OPTIONS, 60, "deny", hook="guard")
        content = QuestionContent(question, None, OPTIONS)
        self.state = QuestionState(content, Choice.among(OPTIONS))
        self.remaining = 60.0
        self.settling, self.escape_seconds = settling, escape_seconds
        self.master, self.slave = os.openpty()
        termios.tcsetwinsize(self.slave, (24, 80))
        self.output = b""
        self.running: asyncio.Task[None]
        self.drawn_at = 0.0

    async def run(self) -> None:
        """Until it is decided."""
        with (
            open(self.slave, closefd=False) as reading,
            open(self.slave, "w", closefd=False) as writing,
        ):
            terminal = Terminal(reading, writing)
            application = make_application(
                terminal,
                self.state,
                lambda: self.remaining,
                settling=self.settling,
                escape_seconds=self.escape_seconds,
            )
            try:
                await application.run_async(handle_sigint=False, set_exception_handler=False)
            finally:
                # It is kept by the number of the file, which the next question may have as well.
                clear_typeahead(application.input)

    def type(self, keys: str) -> None:
        """All at once, as a paste or an impatient person does."""
        os.write(self.master, keys.encode())

    def has_unread_keys(self) -> bool:
        """Whether something that was typed still waits in the terminal."""
        return bool(select.select([self.slave], [], [], 0)[0])

    def read(self) -> None:
        """Keep the terminal from filling up."""
        self.output += os.read(self.master, 65536)

    def read_the_rest(self) -> None:
        """What was written last may not have been read yet when the question ends."""
        os.set_blocking(self.master, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.read()

    async def wait_until(self, is_so: Callable[[QuestionState], bool]) -> None:
        """For the next state that fits."""
        async with asyncio.timeout(50):
            while not is_so(self.state):
                await asyncio.sleep(0.01)


@asynccontextmanager
async def asking(
    prompt: str = SHORT,
    *,
    settled: bool = True,
    escape_seconds: float = NEVER,
    settling: float = 0.0,
    typed: str = "",
) -> AsyncIterator[Asking]:
    """A running question; settled: keys count."""
    question = Asking(prompt, settling if settled else NEVER, escape_seconds)
    question.type(typed)
    loop = asyncio.get_running_loop()
    loop.add_reader(question.master, question.read)
    running = question.running = asyncio.create_task(question.run())
    try:
        await question.wait_until(lambda _: b"Approval needed" in question.output)
        question.drawn_at = loop.time()
        await question.wait_until(lambda state: state.settled == settled)
        yield question
        if question.state.choice.decision is None and not running.done():
            question.type("\x03")
        async with asyncio.timeout(50):
            await running
    finally:
        running.cancel()
        await asyncio.wait([running])
        loop.remove_reader(question.master)
        question.read_the_rest()
        os.close(question.master)
        os.close(question.slave)


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        ("a", "Allow once"),
        ("1", "Allow once"),
        ("\x1b[B\r", "Allow once"),
        ("\t\r", "Allow once"),
        ("\x1b[A\r", "Allow always"),
        ("\x1b[Z\r", "Allow always"),
        ("l\r", "Allow always"),
        ("d", "Deny"),
        ("\r", "Deny"),
    ],
)
async def test_keys_decide(keys: str, decision: str) -> None:
    """Letters, digits, arrows and Tab with Enter."""
    async with asking() as question:
        question.type(keys)
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == decision
    assert not question.state.interrupted


async def test_an_arrow_that_arrives_in_pieces_is_no_escape() -> None:
    """Over a slow line; only an Escape that nothing follows refuses."""
    async with asking() as question:
        for piece in ("\x1b", "[", "B"):
            question.type(piece)
            await question.wait_until(lambda _: not question.has_unread_keys())
            assert question.state.choice.decision is None
        await question.wait_until(lambda state: state.choice.selected == 0)
        question.type("\r")
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == "Allow once"


async def test_two_escapes_that_nothing_follows_refuse() -> None:
    """After a moment, because it could be the first byte of another key."""
    async with asking(escape_seconds=0.01) as question:
        question.type("\x1b")
        await question.wait_until(lambda state: state.hint == REFUSE_AGAIN)
        assert question.state.choice.decision is None
        question.type("\x1b")
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == "Deny"
    assert not question.state.interrupted


async def test_a_key_before_the_question_has_settled_is_none() -> None:
    """Who is typing when the question appears has not answered it; Ctrl-C counts at once."""
    async with asking(settled=False) as question:
        question.type("a\x03")
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == "Deny"
    assert question.state.interrupted


async def test_no_key_counts_while_somebody_who_was_typing_goes_on() -> None:
    """A sentence that is longer than the first moment does not answer with one of its letters."""
    async with asking(typed="b", settling=SETTLING) as question:
        assert asyncio.get_running_loop().time() - question.drawn_at > 2 * SETTLING
        question.type("a")
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == "Allow once"


async def test_only_what_was_drawn_counts_as_seen() -> None:
    """The end and a yes in one stroke: the yes came before the end was on the screen."""
    async with asking(LONG) as question:
        question.type("\x1b[Fa")
        await question.wait_until(lambda state: state.seen_to_end)
        assert question.state.choice.decision is None
        assert question.state.hint == READ_FIRST
        question.type("a")
        await question.wait_until(lambda state: state.choice.decision is not None)
    assert question.state.choice.decision == "Allow once"


@pytest.mark.parametrize(
    ("keys", "is_so"),
    [
        (" ", lambda state: state.top > 0),
        ("\x1b[6~", lambda state: state.top > 0),
        ("\x1b[F", lambda state: state.view.shows_end),
        ("\x1b[F\x1b[H", lambda state: state.top == 0),
        ("  \x1b[5~", lambda state: 0 < state.top < 18),
        ("v", lambda state: state.exact),
        ("vv", lambda state: not state.exact),
        ("c", lambda state: state.commenting),
    ],
)
async def test_other_keys_page_switch_the_view_and_comment(
    keys: str, is_so: Callable[[QuestionState], bool]
) -> None:
    """None of them decides."""
    async with asking(LONG) as question:
        question.type(keys)
        await question.wait_until(is_so)
        assert question.state.choice.decision is None


async def test_while_commenting_keys_are_text() -> None:
    """Letters and digits of options, a paste, Backspace; Enter keeps what was typed."""
    async with asking() as question:
        question.type("c")
        await question.wait_until(lambda state: state.commenting)
        question.type("a1lx\x7f\x1b[200~, d\n\x1b[201~")
        await question.wait_until(lambda state: state.comment == "a1l, d\n")
        question.type("\r")
        await question.wait_until(lambda state: not state.commenting)
        assert (question.state.comment, question.state.choice.decision) == ("a1l, d", None)


async def test_escape_drops_a_comment_and_does_not_refuse() -> None:
    """One step back, not two."""
    async with asking(escape_seconds=0.01) as question:
        question.type("cx")
        await question.wait_until(lambda state: state.comment == "x")
        question.type("\x1b")
        await question.wait_until(lambda state: not state.commenting)
        assert (question.state.comment, question.state.choice.decision) == ("", None)


async def test_when_time_is_up_it_ends_undecided() -> None:
    """Nobody's decision is made up."""
    async with asking() as question:
        question.remaining = 0.0
        async with asyncio.timeout(50):
            await question.running
        assert question.state.choice.decision is None
        assert not question.state.interrupted


async def test_nothing_of_it_stays_on_the_terminal() -> None:
    """It is erased when it ends."""
    import pyte

    async with asking() as question:
        question.type("d")
        await question.wait_until(lambda state: state.choice.decision is not None)
    screen = pyte.Screen(80, 24)
    pyte.ByteStream(screen).feed(question.output)
    assert not "".join(screen.display).strip()
