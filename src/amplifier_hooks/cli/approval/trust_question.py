"""Asking the person at the terminal whether what lies in a folder may be run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amplifier_core.approval import ApprovalQuestion, ApprovalTimeout
from amplifier_hooks.agent.trust.difference import (
    describe_change,
    describe_first_use,
    find_dead_guards,
)
from amplifier_hooks.agent.trust.material import Material, Untrusted
from amplifier_hooks.cli.approval.terminal_approval import TerminalApproval
from amplifier_hooks.cli.person import refuse_agents
from amplifier_hooks.cli.terminal import NoTerminal
from amplifier_hooks.machine.locations import get_user_name

if TYPE_CHECKING:
    from amplifier_hooks.agent.trust.store import Trusted, TrustStore

WITHOUT_A_TERMINAL = (
    "Without a terminal, amplifier trust --show prints the digest of the content, and "
    "amplifier trust --digest DIGEST trusts exactly that"
)

_REVIEW = "Review and allow it in a terminal with: amplifier trust"
_OPTIONS = ("Allow", "Deny")
_SECONDS = 600.0


async def require_trust(material: Material, store: TrustStore, *, ask: bool = True) -> None:
    """Return when a person has trusted this content, now or before; else raise Untrusted.

    From then on, this content is all that can be loaded.
    """
    if not await asyncio.to_thread(store.is_trusted, material):
        if not ask:
            raise Untrusted(explain(material, store))
        await ask_for_trust(material, store)
    material.snapshot.seal()


async def ask_for_trust(material: Material, store: TrustStore) -> None:
    """Show what would be run, or what has changed, and remember a yes of a person."""
    refuse_agents()
    text = await asyncio.to_thread(describe, material, store)
    question = ApprovalQuestion(text, _OPTIONS, _SECONDS, "deny", hook="trust")
    try:
        answer = await TerminalApproval(base=material.folder).decide(question)
    except NoTerminal as error:
        raise Untrusted(f"{explain(material, store)}. {WITHOUT_A_TERMINAL}") from error
    except ApprovalTimeout as error:
        raise Untrusted(f"{explain(material, store)} ({error})") from error
    if answer.option != _OPTIONS[0]:
        raise Untrusted(f"{material.name} in {material.folder} was not trusted and does not run.")
    await asyncio.to_thread(store.trust, material, get_user_name())


def describe(material: Material, store: TrustStore) -> str:
    """What a person is shown: everything at the first use, later what has changed."""
    last = store.find(material)
    dead = _list_dead_guards(material)
    if last is None:
        damage = store.find_damage(material)
        lost = f"What was trusted here is not known any more: {damage.why}\n\n" if damage else ""
        return f"Trust this folder?\n\n{lost}{dead}{describe_first_use(material)}"
    change = describe_change(store.read_files(last), last.outline, material)
    return f"Trust what has changed since {_describe_time(last)}?\n\n{dead}{change}"


def _list_dead_guards(material: Material) -> str:
    found = find_dead_guards(material)
    lines = ["Guards that would never run:", *(f"  {one}" for one in found), "", ""]
    return "\n".join(lines) if found else ""


def explain(material: Material, store: TrustStore) -> str:
    """Why nothing is run, and the command that would change it."""
    last = store.find(material)
    what = f"{material.name or 'The bundle'} in {material.folder}"
    if damage := store.find_damage(material):
        why = f"is not known to be trusted: its record {damage.path} is damaged ({damage.why})"
        return f"{what} {why}. {_REVIEW}"
    why = "has not been trusted yet" if last is None else f"changed since {_describe_time(last)}"
    return f"{what} {why}. {_REVIEW}"


def _describe_time(trusted: Trusted) -> str:
    return f"{trusted.by} trusted it on {trusted.time}"
