"""Standing decisions: what a person allowed for always, beyond one session."""

from __future__ import annotations

import asyncio

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, read_option
from amplifier_hooks.approvals.stores.link import AgentLink
from amplifier_hooks.approvals.stores.scopes import covers
from amplifier_hooks.approvals.stores.values.approval import ApprovalRequest
from amplifier_hooks.approvals.stores.values.rule import StandingRule


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
