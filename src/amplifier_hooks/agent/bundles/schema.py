"""What a bundle may say: the sections of a mount plan, and those that only sessions from bundles
have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from amplifier_core.mount_plan import LISTS
from amplifier_core.mount_plan.schema import (
    AgentSession,
    Expected,
    Hook,
    Module,
    PlanSession,
    Section,
    Session,
    Switch,
    Text,
    optional,
)
from amplifier_core.mount_plan.schema import Approval as PlanApproval
from amplifier_hooks.agent.bundles.merge import identify
from amplifier_hooks.guards.policy.profile import Profile
from amplifier_hooks.machine.http import check_private_url
from amplifier_hooks.yaml_files.checking import OWN_USE, find_mistakes
from amplifier_hooks.yaml_files.node import Node, Problem


def _check_address(value: str) -> str:
    try:
        return check_private_url(value)
    except ValueError as wrong:
        message = f"{wrong}, such as http://127.0.0.1:8411"
        raise PydanticCustomError("address", "{message}", {"message": message}) from wrong


PrivateAddress = Annotated[
    Text,
    AfterValidator(_check_address),
    WithJsonSchema({"type": "string", "pattern": r"^https?://|\$\{"}),
]
"""The address of a server on this machine, or of one that is reached through TLS."""


class Agent(Section):
    """An entry of `agents`."""

    description: Text = Field(description="When to use it.")
    instructions: Text = optional("Its system prompt.")
    tools: list[Annotated[Text | Module, Expected("the name of a tool or a module entry")]] = (
        optional("Names of tools (Read) or module entries; by default, all tools of the parent.")
    )
    hooks: list[Hook] = optional("Additional hooks; those of the parent always apply.")
    providers: list[Module] = optional("Instead of the parent's.")
    session: AgentSession = optional("Instead of the parent's settings.")


class Approval(PlanApproval):
    """`approval`, with a server that nobody on the way reads."""

    server: PrivateAddress = optional(PlanApproval.model_fields["server"].description or "")


class Audit(Section):
    """`audit`."""

    enabled: Switch = optional("Write a trail.")
    level: Literal["decisions", "normal", "full"] = optional("decisions, normal or full.")
    path: Text = optional("The folder of the trails, relative to the bundle.")
    mode: Literal["inline", "commitment"] = optional(
        "inline, or commitment for contents that can be redacted later."
    )
    sign: Annotated[bool | Text, Expected("true, false or the path of a key")] = optional(
        "true, or the path of an Ed25519 key."
    )
    on_failure: Literal["deny", "stop", "warn"] = optional(
        "What happens when the trail cannot be written: deny, stop or warn."
    )
    anchors: list[Text] = optional("Files outside the trail that keep its checkpoints.")
    witness: PrivateAddress = optional(
        "The address of `amplifier serve`, which keeps the trail's checkpoints."
    )
    witness_token: Text = optional(
        "For witness. A token with the scope agent, such as ${AMPLIFIER_TOKEN}."
    )
    socket: Text = optional("The socket of a separate writer process: amplifier audit serve.")
    server_user: Text = optional("The user that this process must run as.")
    locked: bool = optional("true: layers above cannot change this section.")


class Sandbox(Section):
    """`sandbox`."""

    mode: Literal["required", "auto", "off"] = optional(
        "required: no session without a sandbox. auto: use one if there is one. off."
    )
    network: Literal["allow", "ask", "deny"] = optional(
        "allow; ask: only what a person grants; deny."
    )
    wall: Literal["landlock", "bubblewrap", "auto"] = optional(
        "landlock, bubblewrap, or auto: the first that this machine has."
    )
    write: list[Text] = optional("More folders that commands may write, relative to the bundle.")
    unix_sockets: Literal["allow", "deny"] = optional(
        "allow, or deny: no services of this machine, such as docker or tmux."
    )
    locked: bool = optional("true: layers above cannot change this section.")


class BundleFile(Section):
    """A whole bundle, in its long form."""

    model_config = ConfigDict(json_schema_extra={"patternProperties": {f"^{OWN_USE}": {}}})

    name: Text = optional("What the bundle is called.")
    description: Text = optional("What it is for.")
    include: Annotated[Text | list[Text], Expected("a file or a list of files")] = optional(
        "A file or a list of files, relative to this one. This file overrides them."
    )
    inherit: bool = optional(
        "false: take nothing from the layers below, except what is locked there."
    )
    session: Session = optional("The loop, the context, limits and budgets.")
    providers: list[Module] = optional("Models. The first one that is available is used.")
    tools: list[Module] = optional("What the agent can use.")
    hooks: list[Hook] = optional("What watches, stops, changes and explains what the agent does.")
    secrets: Literal["hidden", "ask", "open"] = optional(
        "Files with secrets: hidden (unread), ask a person, or open. Short for hooks-secret-guard."
    )
    rules: list[dict[str, Any]] = optional(
        "Rules, such as {path: .env, action: deny, reason: …}. Short for hooks-rules."
    )
    agents: dict[str, Agent] = optional("Sub-agents, by name.")
    approval: Approval = optional("Who answers questions, and how long they wait.")
    audit: Audit = optional("The audit trail.")
    sandbox: Sandbox = optional("What commands can do.")
    profile: Profile = optional(
        "How much the guards ask: calm, about consequences; careful, also about what cannot be "
        "read; strict, only listed programs run."
    )


class Plan(BundleFile):
    """A plan written in code. Those of the existing ecosystem keep some options elsewhere."""

    session: PlanSession = optional("The loop, the context, limits and budgets.")
    orchestrator: dict[str, Any] = optional("Options of the loop.")
    context: dict[str, Any] = optional("Options of the context.")


def find_problems(document: Node, model: type[Section] = BundleFile) -> Iterator[Problem]:
    """Everything that is wrong with one bundle document."""
    yield from find_mistakes(document, model)
    for key in LISTS:
        yield from _find_repeated(document.mapping().get(key), key)


def _find_repeated(entries: Node | None, key: str) -> Iterator[Problem]:
    first: dict[str, Node] = {}
    for at, entry in enumerate(entries.items() if entries is not None else ()):
        name = identify(entry)
        if name is not None and name in first:
            line = first[name].place
            message = f"{name!r} is listed twice, first in {line}; give one of them a name"
            yield Problem(entry.place, f"{key}[{at}]", message)
        elif name is not None:
            first[name] = entry
