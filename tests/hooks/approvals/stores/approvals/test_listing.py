"""Lists of approvals: found by an index, and never more than a page."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.stores.approval_rows import list_approvals
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ManualClock, ask


async def test_a_page_that_is_just_full_is_the_last(store: Store, clock: ManualClock) -> None:
    """There is no empty page after it."""
    for _ in range(4):
        clock.advance(1)
        await ask(store)
    page, after = await store.approvals.list(ApprovalFilter(limit=4))
    assert (len(page), after) == (4, "")
    page, after = await store.approvals.list(ApprovalFilter(limit=3))
    rest, end = await store.approvals.list(ApprovalFilter(limit=3, after=after))
    assert (len(page), len(rest), end) == (3, 1, "")


async def test_values_are_never_part_of_a_statement(store: Store) -> None:
    """Whatever a filter holds, it is a value."""
    hostile = "x'; DROP TABLE approvals; --"
    await ask(store, hook=hostile)
    seen: list[str] = []

    def work(transaction: Any) -> Any:
        class Recording:
            def run(self, statement: str, **values: Any) -> Any:
                seen.append(statement)
                return transaction.run(statement, **values)

        return list_approvals(Recording(), ApprovalFilter(hook=hostile))  # type: ignore[arg-type]

    page, _ = await store.engine.read(work)
    assert [one.request.hook for one in page] == [hostile]
    assert not any("DROP" in statement for statement in seen)
