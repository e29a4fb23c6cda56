"""What a bundle may say."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_core.mount_plan import LISTS, WAYS
from amplifier_hooks.agent.bundles.container_rules import (
    either,
    listing,
    mapping,
    optional,
    several,
    table,
)
from amplifier_hooks.agent.bundles.merge import identify
from amplifier_hooks.agent.bundles.rule import Rule
from amplifier_hooks.agent.bundles.value_rules import (
    any_text,
    anything,
    boolean,
    choice,
    integer,
    private_address,
    seconds,
    switch,
    text,
)
from amplifier_hooks.yaml_files.node import Node, Problem

_ENTRY: dict[str, Rule] = {
    "module": text,
    "name": text,
    "instance_id": text,
    "source": text,
    "config": optional(table(anything)),
    "priority": integer(),
    "enabled": switch,
    "required": boolean,
    "locked": boolean,
}
MODULE: Rule = mapping(_ENTRY, required=["module"])
HOOK: Rule = mapping({**_ENTRY, "mode": choice("enforce", "shadow")}, required=["module"])

LIMITS: Rule = mapping(
    {
        "agent_depth": integer(0),
        "agent_count": integer(0),
        "tool_calls_at_once": optional(integer(1)),
    }
)

_SESSION = {
    "orchestrator": MODULE,
    "context": MODULE,
    "injection_budget_per_turn": optional(integer(0)),
    "injection_size_limit": optional(integer(0)),
    "injection_over_budget": choice("drop", "warn"),
    "max_turns": integer(1),
    "turn_timeout": optional(seconds),
    "tool_result_limit": optional(integer(1)),
    "instructions": text,
    "limits": LIMITS,
    "debug": boolean,
}
_MODES = {
    "run_all": boolean,
    "evaluate_only": boolean,
    "ungoverned": choice("warn", "deny"),
}

SESSION: Rule = mapping({**_SESSION, **_MODES})

AGENT: Rule = mapping(
    {
        "description": text,
        "instructions": text,
        "tools": listing(either(text, MODULE, "the name of a tool or a module entry")),
        "hooks": listing(HOOK),
        "providers": listing(MODULE),
        "session": mapping(_SESSION),  # what hooks may do in a sub-agent, the session says
    },
    required=["description"],
)

_WAY: Rule = choice(*WAYS)

APPROVAL: Rule = mapping(
    {
        "mode": choice("ask", "deny", "edits"),
        "timeout": seconds,
        "via": either(_WAY, several(_WAY), f"one of {', '.join(WAYS)}, or a list of them"),
        "store": text,
        "server": private_address,
        "token": text,
        "persons": integer(1),
        "requester_may_approve": boolean,
        "scope": any_text,
        "locked": boolean,
    }
)

AUDIT: Rule = mapping(
    {
        "enabled": switch,
        "level": choice("decisions", "normal", "full"),
        "path": text,
        "mode": choice("inline", "commitment"),
        "sign": either(boolean, text, "true, false or the path of a key"),
        "on_failure": choice("deny", "stop", "warn"),
        "anchors": listing(text),
        "witness": private_address,
        "witness_token": text,
        "socket": text,
        "server_user": text,
        "locked": boolean,
    }
)

SANDBOX: Rule = mapping(
    {
        "mode": choice("required", "auto", "off"),
        "network": choice("allow", "ask", "deny"),
        "wall": choice("landlock", "bubblewrap", "auto"),
        "write": listing(text),
        "unix_sockets": choice("allow", "deny"),
        "locked": boolean,
    }
)

_BUNDLE: dict[str, Rule] = {
    "name": text,
    "description": text,
    "include": either(text, listing(text), "a file or a list of files"),
    "inherit": boolean,
    "session": SESSION,
    "providers": listing(MODULE),
    "tools": listing(MODULE),
    "hooks": listing(HOOK),
    "agents": table(AGENT),
    "approval": APPROVAL,
    "audit": AUDIT,
    "sandbox": SANDBOX,
}

BUNDLE: Rule = mapping(_BUNDLE, prefix="x-")

# Plans of the existing ecosystem keep the options of loop and context beside the session, and
# their sources within it; applications find what they wrote under `metadata`.
_PLAN_SESSION = {
    **_SESSION,
    **_MODES,
    "orchestrator_source": optional(text),
    "context_source": optional(text),
    "metadata": optional(table(anything)),
    "raw": boolean,
}
MOUNT_PLAN: Rule = mapping(
    {
        **_BUNDLE,
        "session": mapping(_PLAN_SESSION),
        "orchestrator": table(anything),
        "context": table(anything),
    },
    prefix="x-",
)


def find_problems(document: Node, rule: Rule = BUNDLE) -> Iterator[Problem]:
    """Everything that is wrong with one bundle document."""
    yield from rule(document, "")
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
