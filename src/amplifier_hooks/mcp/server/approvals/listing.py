"""list_approvals and get_approval: what waits for a person, and what people decided."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from pydantic import Field

from amplifier_hooks.approvals.models import Approval, ApprovalFilter, Status
from amplifier_hooks.approvals.stores.approval_rows import list_approvals, load_approvals
from amplifier_hooks.approvals.stores.checks import Position
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.machine.text import count_noun
from amplifier_hooks.mcp.server.approvals.store import ApprovalStore
from amplifier_hooks.mcp.server.approvals.view import ShownApproval, show_approval
from amplifier_hooks.mcp.server.bounds import BRIEF, FULL
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.presenting import DATA, Presenter
from amplifier_hooks.mcp.server.scope import Scope
from amplifier_hooks.mcp.server.tool import Arguments, Result

MOST_APPROVALS = 100
PAGE_BYTES = 60_000
_PORTION, _MOST_PORTIONS = 200, 50
_SHORTEST_ID = 4

_ELSEWHERE = "Questions that went to the server of the bundle are not among them."

MakePresenter = Callable[[], Awaitable[Presenter]]
Found = list[Approval]  # within the class, `list` is a method


class ApprovalsArguments(Arguments):
    """Which approvals, and how many."""

    status: list[Status] = Field(
        default=[], max_length=9, description="Only these; none given: all. pending: they wait."
    )
    session: str = Field("", max_length=200, description="Only those of this session.")
    tool: str = Field("", max_length=200, description="Only questions about this tool.")
    hook: str = Field("", max_length=200, description="Only questions of this hook.")
    limit: int = Field(20, ge=1, le=MOST_APPROVALS, description="How many at most.")
    cursor: str = Field("", max_length=200, description="The next_cursor of the page before.")


class ApprovalsResult(Result):
    """A page of approvals, the newest first."""

    approvals: list[ShownApproval]
    next_cursor: str | None = Field(description="For the page behind this one; null at the end.")
    note: str


class ApprovalArguments(Arguments):
    """Which approval."""

    id: str = Field(
        min_length=_SHORTEST_ID, max_length=100, description="Its id, or the beginning of it."
    )


class ApprovalResult(Result):
    """One approval in full."""

    approval: ShownApproval
    note: str


@dataclass(frozen=True, slots=True)
class ApprovalList:
    """Reads the approvals of a scope."""

    store: ApprovalStore
    scope: Scope
    make_presenter: MakePresenter

    async def list(self, given: ApprovalsArguments) -> ApprovalsResult:
        """The newest first."""
        presenter = await self.make_presenter()
        wanted = self._restrict(
            ApprovalFilter(
                status=tuple(given.status),
                session_id=given.session,
                tool=given.tool,
                hook=given.hook,
                after=given.cursor,
            )
        )
        found = await self.store.read(lambda transaction: self._collect(transaction, wanted, given))
        page = _write_page(*(found or ([], "")), presenter)
        if not await self.store.asks_elsewhere():
            return page
        return page.model_copy(update={"summary": f"{page.summary} {_ELSEWHERE}"})

    async def get(self, given: ApprovalArguments) -> ApprovalResult:
        """One of the scope; Refused if there is none of that id."""
        presenter = await self.make_presenter()
        found = await self.store.read(lambda transaction: self._find(transaction, given.id)) or []
        if len(found) > 1:
            ids = ", ".join(one.id for one in found[:5])
            raise Refused(f"Several approvals begin with {given.id!r}: {ids}")
        if not found:
            raise Refused(f"No approval {given.id!r} in {self.scope}; list_approvals shows them")
        shown = show_approval(found[0], presenter, FULL)
        return ApprovalResult(summary="The approval in full.", approval=shown, note=DATA)

    def _restrict(self, wanted: ApprovalFilter) -> ApprovalFilter:
        """A store on a server has approvals of other machines, with folders of the same name."""
        machine = "" if self.scope.folder is None else platform.node()
        return replace(wanted, machine=machine, newest_first=True, limit=_PORTION)

    def _collect(
        self, transaction: Transaction, wanted: ApprovalFilter, given: ApprovalsArguments
    ) -> tuple[Found, str]:
        """As many of the scope as are wanted, and where the next ones begin."""
        found: Found = []
        for _ in range(_MOST_PORTIONS):
            page, after = list_approvals(transaction, wanted)
            found += [one for one in page if self.scope.covers(one.request.working_dir)]
            if len(found) > given.limit:
                return found[: given.limit], _mark(found[given.limit - 1])
            if not after:
                break
            wanted = replace(wanted, after=after)
        return found, after

    def _find(self, transaction: Transaction, start: str) -> Found:
        exact = load_approvals(transaction, [start])
        if not exact:
            pattern = re.sub(r"[\\%_]", r"\\\g<0>", start)
            rows = transaction.run(
                "SELECT id FROM approvals WHERE id LIKE :pattern ESCAPE '\\' LIMIT 50",
                pattern=f"{pattern}%",
            )
            exact = load_approvals(transaction, [row["id"] for row in rows])
        machine = "" if self.scope.folder is None else platform.node()
        return [
            one
            for one in exact
            if self.scope.covers(one.request.working_dir) and machine in ("", one.request.machine)
        ]


def _mark(approval: Approval) -> str:
    return str(Position(approval.created, approval.id))


def _write_page(found: list[Approval], after: str, presenter: Presenter) -> ApprovalsResult:
    shown: list[ShownApproval] = []
    size = 0
    for number, approval in enumerate(found, 1):
        shown.append(show_approval(approval, presenter, BRIEF))
        size += len(json.dumps(shown[-1].model_dump(), default=str))
        if size > PAGE_BYTES and number < len(found):
            after = _mark(approval)
            break
    waiting = sum(one.status == "pending" for one in shown)
    return ApprovalsResult(
        summary=f"{count_noun(len(shown), 'approval')}, {waiting} waiting for a person.",
        approvals=shown,
        next_cursor=after or None,
        note=DATA,
    )
