"""The schema of a mount plan: every key of its sections, declared once.

A declaration is the type of a value, what the value is for, and so the whole schema: bundles are
checked with these models, `amplifier schema` prints them, and the kernel takes from them which keys
it knows. They describe plans as people write them. The sections that the kernel does not read are
declared in the same way by whoever does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError, core_schema

from amplifier_core.utils.text import find_slip

logger = logging.getLogger(__name__)


class Section(BaseModel):
    """A mapping with known keys and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


def optional(description: str) -> Any:
    """A key that may be left out. Whoever reads the plan knows what holds without it."""
    return Field(default=None, description=description)


def _refuse_empty(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("empty", "must not be empty")
    return value


@dataclass(frozen=True, slots=True)
class Expected:
    """Says what would do where a value of several types is none of them."""

    text: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.with_info_wrap_validator_function(self._check, handler(source))

    def _check(self, value: Any, check: Callable[[Any], Any], info: ValidationInfo) -> Any:
        try:
            return check(value)
        except ValidationError as error:
            if _is_unread(error, info.context):
                return value
            wrong = PydanticCustomError("expected", "must be {expected}", {"expected": self.text})
            raise wrong from error


def _is_unread(error: ValidationError, unread: Any) -> bool:
    """Whether one of the types is wrong only in values that are not known yet: the context of a
    check is the type that stands for such values."""
    found: dict[str | int, bool] = {}
    for one in error.errors() if unread is not None else ():
        known = one["type"] == "extra_forbidden" or not isinstance(one["input"], unread)
        found[one["loc"][0]] = found.get(one["loc"][0], True) and not known
    return any(found.values())


Text = Annotated[
    str, AfterValidator(_refuse_empty), WithJsonSchema({"type": "string", "pattern": r"\S"})
]
Count = Annotated[int, Field(ge=0)]
PositiveCount = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Switch = bool | None
"""True, false, or nothing, as `${NAME:+true}` leaves behind."""


class Module(Section):
    """An entry of a list of modules, or the loop, or the context."""

    module: Text = Field(description="The id of a module, or the path of a file or folder.")
    name: Text = optional("Distinguishes two entries of the same module.")
    instance_id: Text = optional("For providers: the name that this instance is mounted under.")
    source: Text = optional("Where the module is: a file or folder, relative to the bundle.")
    config: dict[str, Any] | None = optional("Options of the module.")
    priority: int = optional(
        "For hooks: lower runs first. It replaces the priority that the module chose."
    )
    enabled: Switch = optional("false removes the entry; empty counts as false.")
    required: bool = optional(
        "true: the session does not start without it. false: it is reported and left out."
    )
    locked: bool = optional("true: layers above and hooks cannot change or remove this entry.")


class Hook(Module):
    """An entry of the list of hooks."""

    mode: Literal["enforce", "shadow"] = optional(
        "shadow: what its hooks answer is recorded and counted, and has no effect."
    )


class Limits(Section):
    """`session.limits`."""

    agent_depth: Count = optional("How deep sub-agents may start sub-agents.")
    agent_count: Count = optional("How many sub-agents one session may start in total.")
    tool_calls_at_once: PositiveCount | None = optional(
        "How many tool calls run at once; null is unlimited."
    )


class AgentSession(Section):
    """The settings of a session that a sub-agent may have for itself."""

    orchestrator: Module = optional("The loop: loop-streaming or loop-basic.")
    context: Module = optional("Where the conversation is kept.")
    injection_budget_per_turn: Count | None = optional(
        "Tokens that hooks may inject in one turn; null is unlimited."
    )
    injection_size_limit: Count | None = optional("Bytes of one injection; null is unlimited.")
    injection_over_budget: Literal["drop", "warn"] = optional("drop, or warn to inject anyway.")
    max_turns: PositiveCount = optional("Requests to the model for one prompt.")
    turn_timeout: Seconds | None = optional(
        "Seconds that one prompt may take in total; null is unlimited."
    )
    tool_result_limit: PositiveCount | None = optional(
        "Characters of one tool result that the model sees; null is all of it."
    )
    instructions: Text = optional("The system prompt.")
    limits: Limits = optional("How many sub-agents there may be, and how many calls at once.")
    debug: bool = optional("Show what each hook injects, under its name.")


class Session(AgentSession):
    """All settings of a session; what hooks may do in a sub-agent, the session says."""

    run_all: bool = optional(
        "true: hooks behind one that denies still run and are recorded, without effect."
    )
    evaluate_only: bool = optional(
        "true: shadow mode. Hooks run and are recorded; none has an effect."
    )
    ungoverned: Literal["warn", "deny"] = optional(
        "Agents of a framework that a tool starts without hooks: warn, or deny."
    )


class PlanSession(Session):
    """The session of a plan that is written in code, as the existing ecosystem writes it."""

    orchestrator_source: Text | None = optional("Where the loop is.")
    context_source: Text | None = optional("Where the context is.")
    metadata: dict[str, Any] | None = optional("What applications find again at the start.")
    raw: bool = optional("true: the whole plan is emitted at the start, without secrets.")


_Way = Literal["terminal", "store", "server"]
WAYS: tuple[str, ...] = get_args(_Way)
"""Where people are asked: here, or elsewhere through a store or a server."""

_Ways = Annotated[
    _Way | Annotated[list[_Way], Field(min_length=1)],
    Expected(f"one of {', '.join(WAYS)}, or a list of them"),
]


class Approval(Section):
    """`approval`."""

    mode: Literal["ask", "deny", "edits"] = optional(
        "ask a person; deny: every question is answered with no."
    )
    timeout: Seconds = optional("The longest time that any question waits, in seconds.")
    via: _Ways = optional(
        "Where people are asked: terminal, store, server, or a list: the first answer counts."
    )
    store: Text = optional("For via: store. A file, or postgresql://…; by default, your own store.")
    server: Text = optional("For via: server. The address of `amplifier serve`.")
    token: Text = optional(
        "For via: server. A token with the scope agent, such as ${AMPLIFIER_TOKEN}."
    )
    persons: PositiveCount = optional(
        "How many different people elsewhere must allow; one is enough to refuse."
    )
    requester_may_approve: bool = optional(
        "false: whoever runs the agent cannot allow what it asks."
    )
    scope: str = optional("A scope that who allows it must have, such as release.")
    locked: bool = optional("true: layers above cannot change this section.")


PLAN = frozenset(
    {
        "session",
        "providers",
        "tools",
        "hooks",
        "agents",
        "orchestrator",
        "context",
        "approval",
        "audit",
        "sandbox",
        "name",
        "description",
        "include",
        "inherit",
    }
)
"""The keys of a whole plan. Some sections are declared by whoever reads them; of those, only that
they exist is known here."""
SESSION = frozenset(PlanSession.model_fields)
LIMITS = frozenset(Limits.model_fields)
APPROVAL = frozenset(Approval.model_fields)
ENTRY = frozenset(Hook.model_fields)

_OWN_USE = "x-"
_told: set[str] = set()


def find_misspelt(plan: Mapping[str, Any]) -> str | None:
    """A key of a plan that misspells one of ours, in a sentence; entries are read one by one.

    What it was meant to say would silently not hold. Plans of the ecosystem also carry keys for
    their applications, so any other is kept and told once.
    """
    for where, section, known in _list_sections(plan):
        problem = judge_keys(section, known, where)
        if problem is not None:
            return problem
    return None


def judge_keys(section: Mapping[str, Any], known: frozenset[str], where: str = "") -> str | None:
    """A key that misspells a known one, in a sentence; of others that are not known, warn once."""
    for name in section:
        if name in known or str(name).startswith(_OWN_USE):
            continue
        key = f"{where}.{name}" if where else str(name)
        meant = find_slip(str(name), sorted(known))
        if meant is not None:
            return f"{key}: unknown key {name!r}; did you mean {meant!r}?"
        if key not in _told:
            _told.add(key)
            logger.warning("%s: unknown key %r; have %s", key, name, ", ".join(sorted(known)))
    return None


def _list_sections(
    plan: Mapping[str, Any],
) -> Iterator[tuple[str, Mapping[str, Any], frozenset[str]]]:
    session = plan["session"]
    sections = {
        "": (plan, PLAN),
        "session": (session, SESSION),
        "session.limits": (session.get("limits"), LIMITS),
        "approval": (plan.get("approval"), APPROVAL),
    }
    for where, (section, known) in sections.items():
        if isinstance(section, Mapping):
            yield where, section, known
