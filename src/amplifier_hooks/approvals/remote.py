"""Asking people elsewhere: through a store on this machine, a database, or a server."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError

from amplifier_core.approval import (
    ApprovalAnswer,
    ApprovalQuestion,
    ApprovalTimeout,
    allows,
    read_option,
)
from amplifier_core.errors import ApprovalError
from amplifier_core.events import TOOL_PRE
from amplifier_core.models import Decision
from amplifier_core.utils import digest
from amplifier_hooks.approvals.change import list_once, word_edit
from amplifier_hooks.approvals.errors import BadRequest, StoreError, StoreUnavailable
from amplifier_hooks.approvals.link import AgentLink
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalRequest,
    StandingRule,
    describe_invalid,
)
from amplifier_hooks.approvals.request import Asker, Scrub, make_key, write_request
from amplifier_hooks.approvals.retry import retry
from amplifier_hooks.approvals.stores.scopes import covers
from amplifier_hooks.text.short_ids import shorten_id

T = TypeVar("T")

# Seconds of one long poll, between attempts to reach a store that does not answer, and that a
# question ends before the kernel's own deadline, so that it closes with a word instead of a cut.
POLL = 30.0
LONGEST_PAUSE = 2.0
MARGIN = 1.0
# A link that answers at once though nothing has changed must not keep a processor busy.
LEAST_WAIT = 0.02


class LeftOpen(ApprovalTimeout):
    """Nobody waits here any more, and the question still waits for a person elsewhere."""

    def __init__(self, approval: Approval, seconds: float) -> None:
        super().__init__(f"nobody decided so far; it waits for a person for {seconds:.0f} s more")
        self.approval = approval
        self.seconds = seconds


class PutQuestion:
    """The life of one question at a link.

    `call` names the call that would run, `number` gives the attempts that are still free, and
    `report` hears of a store that does not answer, and that it does again; `announce`, of the
    approval that now waits for a person. After `patience` seconds it is left open; `found` was.
    """

    def __init__(
        self,
        link: AgentLink,
        question: ApprovalQuestion,
        call: str,
        *,
        write: Callable[[float], Awaitable[ApprovalRequest]],
        number: Callable[[int], int],
        report: Callable[[str | None], Awaitable[None]],
        announce: Callable[[Approval], Awaitable[None]],
        patience: float | None = None,
        found: Approval | None = None,
    ) -> None:
        self._link = link
        self._question = question
        self._call = call
        self._write = write
        self._number = number
        self._report = report
        self._announce = announce
        now = time.monotonic()
        self._closes = now + question.timeout - min(MARGIN, question.timeout / 4)
        self._deadline = self._closes if patience is None else min(self._closes, now + patience)
        self._request: ApprovalRequest | None = None
        self._approval = found

    @property
    def approval(self) -> Approval | None:
        """As the store has it, once it is there."""
        return self._approval

    @property
    def _left(self) -> float:
        return self._deadline - time.monotonic()

    @property
    def _open_for(self) -> float:
        return self._closes - time.monotonic()

    async def answer(self) -> ApprovalAnswer:
        """What a person says; ApprovalTimeout or ApprovalError if nobody does."""
        if self._left <= 0:
            raise ApprovalTimeout("there was no time to decide")
        try:
            approval = self._approval or await self._ask(await self._write(self._open_for))
            await self._announce(approval)
            while approval.status == "pending":
                approval = await self._wait(approval)
        except StoreUnavailable as error:
            raise ApprovalError(f"nobody elsewhere could be asked: {error}") from error
        except StoreError as error:
            raise ApprovalError(f"the question was not taken: {error}") from error
        return self.read_answer(approval)

    async def withdraw(
        self, *, by: str = "", option: str = "", reason: str = ""
    ) -> Approval | None:
        """Stop asking; how it ended, or None if it was never asked. StoreError if that fails.

        A request whose answer never came may have arrived: the same key finds it.
        """
        approval = self._approval
        if approval is None and self._request is not None:
            approval = await self._link.request(self._request)
        if approval is None:
            return None
        self._approval = await self._link.withdraw(approval.id, by=by, option=option, reason=reason)
        return self._approval

    def read_answer(self, approval: Approval) -> ApprovalAnswer:
        """The answer that a decided approval gives."""
        if approval.status == "expired":
            raise ApprovalTimeout("nobody decided in time")
        if approval.status not in ("approved", "denied"):
            raise ApprovalError(f"the question was closed elsewhere: it is {approval.status!r}")
        edited = approval.edited_input
        option = approval.option
        comment = approval.comment
        if edited is not None:
            option = self._choose_once(option)
            words = word_edit(edited, self._question.tool_name)
            comment = "; ".join(filter(None, (comment, words)))
        by = f"{approval.decided_by} via {approval.decided_via}"
        return ApprovalAnswer(option, by=by, comment=comment or None, edited_input=edited)

    def _choose_once(self, option: str) -> str:
        """An edited input is allowed this once, whatever the label says of later."""
        once = [one for one in list_once(self._question) if read_option(one).allows]
        return option if option in once or not once else once[0]

    async def _ask(self, first: ApprovalRequest) -> Approval:
        """The row of this question: one that waits or was allowed and not used, or a new one."""
        attempt = 0
        while self._left > 0:
            attempt = self._number(attempt + 1)
            key = make_key(self._question, self._call, attempt)
            self._request = first.model_copy(update={"key": key, "timeout": self._open_for})
            approval = await self._put(self._request)
            if approval.status in ("pending", "approved"):
                self._approval = approval
                return approval
        raise ApprovalTimeout("there was no time to ask")

    async def _put(self, request: ApprovalRequest) -> Approval:
        """Put the question; a link that tries for longer than there is time has not put it."""
        try:
            # A little longer than it is tried: what the store says of it tells more than silence.
            async with asyncio.timeout(self._left + LEAST_WAIT):
                return await self._try(partial(self._link.request, request))
        except TimeoutError:
            raise StoreUnavailable("there was no answer in time") from None

    async def _wait(self, approval: Approval) -> Approval:
        if self._left <= 0:
            if self._open_for > 1.0 and approval.seconds_left > 1.0:
                raise LeftOpen(approval, approval.seconds_left)
            closed = await self.withdraw(reason="nobody decided in time")
            if closed is None or closed.status == "cancelled":
                raise ApprovalTimeout("nobody decided in time")
            return closed
        began = time.monotonic()
        seconds = min(POLL, self._left)
        found = await self._try(partial(self._link.wait, approval.id, seconds))
        if found.status == "pending" and time.monotonic() - began < LEAST_WAIT:
            await asyncio.sleep(LEAST_WAIT)
        return found

    async def _try(self, act: Callable[[], Awaitable[T]]) -> T:
        """Do it, again and again while the store does not answer and there is time."""
        done = await retry(act, self._left, longest=LONGEST_PAUSE, on_failure=self._report_failure)
        await self._report(None)
        return done

    async def _report_failure(self, error: Exception) -> None:
        await self._report(str(error))


async def find_standing_answer(
    link: AgentLink, question: ApprovalQuestion, request: ApprovalRequest
) -> ApprovalAnswer | None:
    """The answer of a rule that holds for this request; its use is counted where it is kept."""
    if not any(option.allows for option in request.options) or question.default == "allow":
        return None
    rule = await link.find_rule(request)
    # A rule for a folder is judged here again, where its files and links are.
    if rule is None or not await asyncio.to_thread(covers, rule, request):
        return None
    return answer_by_rule(question, rule)


def answer_by_rule(question: ApprovalQuestion, rule: StandingRule) -> ApprovalAnswer:
    """A yes for this time, by the rule: it is looked up again the next time."""
    once = [one for one in question.options if _is_once(one)]
    option = once[0] if once else "Allow once"
    return ApprovalAnswer(option, by=f"rule:standing {rule.id}")


def _is_once(option: str) -> bool:
    meaning = read_option(option)
    return meaning.allows and not meaning.remembered


@dataclass(slots=True)
class _Run:
    """One call under an id, from its first question to its end."""

    number: int
    digest: str
    shown: set[str] = field(default_factory=set)
    is_edited: bool = False
    is_over: bool = False
    name: str = ""
    """Of an earlier call that did not run, and is tried again by this one."""


class CallNames:
    """Gives every call of a session a name of its own: of its id and its input, and a number.

    The first call of an id with an input has the same name after this process was killed and
    another goes on, so that an approval is found again; and no other call of that id is in its way.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], _Run] = {}
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def name(self, session_id: str, call_id: str, digest: str) -> str:
        """The name for a question: of the call that is being asked about, or of a new one.

        Another input under the same id is another call, unless a person made the change.
        """
        run = self._runs.get((session_id, call_id))
        if run is None or run.is_over or not (run.is_edited or digest in run.shown or not digest):
            again = self._counts[(session_id, call_id, digest)]
            run = self._runs[(session_id, call_id)] = _Run(again + 1, digest)
            self._counts[(session_id, call_id, digest)] += 1
        run.shown.add(digest)
        return _write_name(call_id, run)

    def try_again(self, session_id: str, call_id: str, digest: str, name: str) -> bool:
        """Have a call be the earlier one of that name; False if it was asked about as another."""
        known = self.find(session_id, call_id)
        if known is None:
            self._runs[(session_id, call_id)] = _Run(1, digest, {digest}, name=name)
        return known in (None, name)

    def find(self, session_id: str, call_id: str) -> str | None:
        """The name under which a call was asked about; None if it was not, or is over."""
        run = self._runs.get((session_id, call_id))
        return None if run is None or run.is_over else _write_name(call_id, run)

    def note_edit(self, session_id: str, call_id: str) -> None:
        """A person changed the input: what comes next under this id is the same call."""
        if run := self._runs.get((session_id, call_id)):
            run.is_edited = True

    def end(self, session_id: str, call_id: str) -> None:
        """The call is refused, or has started: what comes next under this id is another one."""
        if run := self._runs.get((session_id, call_id)):
            run.is_over = True


def _write_name(call_id: str, run: _Run) -> str:
    if run.name:
        return run.name
    name = f"{call_id}@{run.digest[:12]}" if run.digest else call_id
    return name if run.number == 1 else f"{name}#{run.number}"


MOST_WAITING = 200


class WaitingList:
    """Finds the id of an approval by what a hook asked; offered as `approval.find`."""

    def __init__(self) -> None:
        self._ids: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._news = asyncio.Event()

    def add(self, approval: Approval) -> None:
        """An approval waits now."""
        key = (approval.request.hook, approval.request.prompt)
        self._ids[key] = approval.id
        self._ids.move_to_end(key)
        if len(self._ids) > MOST_WAITING:
            self._ids.popitem(last=False)
        self._news.set()
        self._news = asyncio.Event()

    async def find(self, hook: str, prompt: str, seconds: float) -> str | None:
        """The id of what this hook asks, once it is known; None if it is not in that time.

        Whoever hears of a question hears of it before it is asked, so the next one is meant.
        """
        before = self._ids.get((hook, prompt))
        try:
            async with asyncio.timeout(seconds):
                while (found := self._ids.get((hook, prompt))) in (None, before):
                    await self._news.wait()
        except TimeoutError:
            return before
        return found


Tell = Callable[[str], Awaitable[Any]]

# Seconds for a withdrawal nobody waits for; after them the row expires by itself.
WITHDRAWING = 10.0
GRACE = 3.0
# Seconds for a look at the rules; a person is asked after them.
RULE_SECONDS = 3.0
CLAIM_SECONDS = 10.0


async def tell_nobody(text: str) -> None:
    """Where there is no screen."""


@dataclass(slots=True)
class Patience:
    """How long a question about a call is waited for where nobody sits in front of the agent.

    After that it is refused, and left open. When the agent does exactly the same again, in the
    same place, it is the same question, and an answer that came meanwhile is used: a yes for one
    run. `kept` is part of the session's state.
    """

    seconds: float
    kept: dict[str, Any]
    find_place: Callable[[], str] = str
    is_part: Callable[[ApprovalQuestion], bool] = lambda question: False
    """Whether a question is about a part of a call, whose start nobody reports."""
    tell: Callable[[LeftOpen], None] = lambda left: None

    def covers(self, question: ApprovalQuestion) -> bool:
        """Whether it is about a call, and its time being over is no yes."""
        is_call = question.event == TOOL_PRE and bool(question.tool_call_id)
        return is_call and question.default == "deny"

    def keep(self, question: ApprovalQuestion, approval: Approval, *, is_open: bool) -> None:
        """Remember what was asked, for when it is asked again."""
        call = approval.request.tool_call_id
        self.kept[self._name(question)] = {"id": approval.id, "call": call, "open": is_open}

    def take(self, question: ApprovalQuestion) -> dict[str, Any] | None:
        """What was asked before about exactly this; two calls at once cannot both have it."""
        found = self.kept.pop(self._name(question), None)
        return found if isinstance(found, dict) else None

    def _name(self, question: ApprovalQuestion) -> str:
        about = (question.hook, question.event, question.tool_name, question.prompt)
        who = (question.session_id, question.agent_id, self.find_place())
        return digest([*about, *question.options, question.digest, *who])


class RemoteApproval:
    """Puts questions where people elsewhere find them, and waits for their decision.

    `scrub` masks what must not leave the session, `tell` reaches the person in front of it.
    """

    def __init__(
        self,
        link: AgentLink,
        asker: Asker,
        *,
        scrub: Scrub = lambda value: value,
        tell: Tell = tell_nobody,
    ) -> None:
        self.scrub = scrub
        self.tell = tell
        self.on_waiting: Callable[[Approval], None] = lambda approval: None
        self.leaves_open = False
        """Whether questions stay open when nobody waits for them here: they are resumed."""
        self.patience: Patience | None = None
        self.link = link
        self.asker = asker
        self.names = CallNames()
        self._attempts: dict[str, int] = {}
        self._withdrawing: set[asyncio.Task[None]] = set()
        self._troubled = False

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """What a standing rule says, or a person; ApprovalError if nobody could be asked."""
        patience = self.patience
        if patience is not None and patience.covers(question):
            return await self._decide_soon(question, patience)
        asked = self.put(question, alone=True)
        rule = await self.find_standing(question)
        return await self._decide(question, asked) if rule is None else rule

    async def _decide_soon(self, question: ApprovalQuestion, patience: Patience) -> ApprovalAnswer:
        rule = await self.find_standing(question)
        if rule is not None:
            return rule
        found = await self._find_left_open(question, patience)
        asked = self.put(question, alone=True, patience=patience.seconds, found=found)
        try:
            answer = await self._decide(question, asked)
        except LeftOpen as left:
            patience.keep(question, left.approval, is_open=True)
            patience.tell(left)
            raise
        if allows(answer.option) and asked.approval is not None:
            await self._keep_allowed(question, asked.approval, patience)
        return answer

    async def _keep_allowed(
        self, question: ApprovalQuestion, approval: Approval, patience: Patience
    ) -> None:
        """Keep a yes until the call runs: it may be refused by who is asked next.

        Of a part of a call nothing shows that it runs, so its yes is used up now.
        """
        if not patience.is_part(question):
            patience.keep(question, approval, is_open=False)
            return
        request = approval.request
        self.forget(question)
        try:
            claim = await self.link.claim(
                request.session_id, request.tool_call_id, request.digest, CLAIM_SECONDS
            )
            if claim is not None:
                await self.link.finish(claim, "executed")
        except StoreError as error:
            raise ApprovalError(f"the answer could not be used: {error}") from error

    async def _find_left_open(
        self, question: ApprovalQuestion, patience: Patience
    ) -> Approval | None:
        """The approval that was left open about exactly this, and has not been used."""
        left = patience.take(question)
        if left is None:
            return None
        try:
            found = await self.link.wait(str(left.get("id")), 0)
        except StoreError:
            return None
        usable = {"pending", "approved", "denied"} if left.get("open") else {"approved"}
        session = question.session_id or ""
        request = found.request
        if (request.session_id, request.digest) != (session, question.digest):
            return None
        if found.status not in usable:
            return None
        call = (session, question.tool_call_id, question.digest, request.tool_call_id)
        return found if self.names.try_again(*call) else None

    async def _decide(self, question: ApprovalQuestion, asked: PutQuestion) -> ApprovalAnswer:
        try:
            return self.note(question, await asked.answer())
        except asyncio.CancelledError:
            self.withdraw_later(asked, "the agent stopped asking")
            self.forget(question)
            raise
        except ApprovalError:
            self.forget(question)
            raise

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: Decision
    ) -> str:
        """The short form: a prompt and its options."""
        question = ApprovalQuestion(prompt, tuple(options), timeout, default, hook="")
        return (await self.decide(question)).option

    async def find_standing(self, question: ApprovalQuestion) -> ApprovalAnswer | None:
        """What a standing rule says; None also where nobody can be asked about rules just now."""
        try:
            request = await self._write(question, "", question.timeout)
            async with asyncio.timeout(min(RULE_SECONDS, question.timeout / 4)):
                return await find_standing_answer(self.link, question, request)
        except (StoreUnavailable, TimeoutError) as error:
            # A link may try again for as long as the question waits, and say nothing meanwhile.
            await self._report(str(error) or "there is no answer yet")
        except StoreError:
            pass  # the same is said when the question is put
        return None

    def put(
        self,
        question: ApprovalQuestion,
        *,
        alone: bool = False,
        patience: float | None = None,
        found: Approval | None = None,
    ) -> PutQuestion:
        """A question on its way; its time begins to run. `alone`: it is on no screen here."""
        call = ""
        session = question.session_id or ""
        if question.event == TOOL_PRE and question.tool_call_id:
            call = self.names.name(session, question.tool_call_id, question.digest)
        return PutQuestion(
            self.link,
            question,
            call,
            write=partial(self._write, question, call),
            number=partial(self._count, make_key(question, call, 0) if call else ""),
            report=self._report,
            announce=partial(self._announce, alone),
            patience=patience,
            found=found,
        )

    def note(self, question: ApprovalQuestion, answer: ApprovalAnswer) -> ApprovalAnswer:
        """The answer, after what follows from it for the call is known here."""
        if not allows(answer.option):
            self.forget(question)
        elif answer.edited_input is not None:
            self.names.note_edit(question.session_id or "", question.tool_call_id)
        return answer

    def forget(self, question: ApprovalQuestion) -> None:
        """The call does not run, so that its id may come again for another one."""
        self.names.end(question.session_id or "", question.tool_call_id)

    def withdraw_later(self, asked: PutQuestion, reason: str) -> None:
        """Close a question that nobody waits for any more, without being waited for either."""
        if self.leaves_open:
            return
        task = asyncio.ensure_future(_withdraw(asked, reason))
        self._withdrawing.add(task)
        task.add_done_callback(self._withdrawing.discard)

    async def close(self) -> None:
        """Give withdrawals under way a moment; what stays open ends with its deadline."""
        left = tuple(self._withdrawing)
        if left:
            _, late = await asyncio.wait(left, timeout=GRACE)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _write(
        self, question: ApprovalQuestion, call: str, seconds: float
    ) -> ApprovalRequest:
        work = partial(write_request, question, self.asker, self.scrub)
        try:
            return await asyncio.to_thread(work, call=call, seconds=seconds)
        except ValidationError as error:
            raise BadRequest(describe_invalid(error)) from error

    def _count(self, about: str, least: int) -> int:
        """The number of this attempt, higher than any of this process for the same question."""
        if not about:
            return least
        self._attempts[about] = max(least, self._attempts.get(about, 0) + 1)
        return self._attempts[about]

    async def _announce(self, alone: bool, approval: Approval) -> None:
        """Say that an approval waits, and where, if no screen here shows it."""
        if approval.status != "pending":
            return
        self.on_waiting(approval)
        if alone:
            short = shorten_id(approval.id)
            await self.tell(f"Waiting for an answer elsewhere: amplifier approvals show {short}")

    async def _report(self, trouble: str | None) -> None:
        """Say once that nobody elsewhere can be asked, and once that they can again."""
        if (trouble is not None) == self._troubled:
            return
        self._troubled = trouble is not None
        if trouble is not None:
            await self.tell(f"Nobody elsewhere can be asked at the moment: {trouble}")
        else:
            await self.tell("People elsewhere can be asked again.")


async def _withdraw(asked: PutQuestion, reason: str) -> None:
    """Withdraw, again and again for a while; after that its deadline closes it."""
    with suppress(StoreError, TimeoutError):
        async with asyncio.timeout(WITHDRAWING):
            await retry(partial(asked.withdraw, reason=reason), WITHDRAWING)
