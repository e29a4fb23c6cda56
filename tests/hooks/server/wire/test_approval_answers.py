"""The shape of answers about approvals is what is really answered."""

from __future__ import annotations

from amplifier_hooks.approvals.models import ApprovalPage, DescribedApproval, RuleList
from amplifier_hooks.server.answers import ConflictAnswer
from tests.hooks.server.world import World, allow


async def test_answers_fit_their_description(world: World):
    """Clients are written by the description."""
    asked = await world.ask()
    async with await world.person() as person:
        page = ApprovalPage.model_validate_json((await person.get("/approvals")).text)
        path = f"/approvals/{asked.id}/decision"
        decision = allow(asked, standing={"scope": "exact"})
        decided = await person.post(path, json=decision)
        late = await person.post(path, json=allow(asked, key="later"))
        rules = RuleList.model_validate_json((await person.get("/rules")).text)
    assert page.approvals[0].scopes[0].id == "exact"
    described = DescribedApproval.model_validate_json(decided.text)
    assert (described.status, described.scopes) == ("approved", ())
    assert ConflictAnswer.model_validate_json(late.text).approval.id == asked.id
    assert rules.rules[0].approval_id == asked.id
