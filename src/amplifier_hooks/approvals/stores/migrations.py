"""Bringing a database to the newest version, once, whoever else opens it at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.engine import Engine, Transaction


@dataclass(frozen=True, slots=True)
class Step:
    """What leads from the version before to this one."""

    number: int
    name: str
    statements: tuple[str, ...]


_APPROVALS = """
CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    request_key TEXT NOT NULL UNIQUE,
    nonce TEXT NOT NULL,
    status TEXT NOT NULL,
    session_id TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    hook TEXT NOT NULL,
    event TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    machine TEXT NOT NULL,
    requester TEXT NOT NULL,
    digest TEXT NOT NULL,
    default_answer TEXT NOT NULL,
    persons BIGINT NOT NULL,
    request TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    deadline DOUBLE PRECISION NOT NULL,
    updated DOUBLE PRECISION NOT NULL,
    allowed BIGINT,
    option_label TEXT NOT NULL DEFAULT '',
    decided_by TEXT NOT NULL DEFAULT '',
    decided_via TEXT NOT NULL DEFAULT '',
    decided_at DOUBLE PRECISION,
    decision_key TEXT NOT NULL DEFAULT '',
    comment_text TEXT NOT NULL DEFAULT '',
    edited_input TEXT,
    rule_id TEXT NOT NULL DEFAULT '',
    fence BIGINT NOT NULL DEFAULT 0,
    lease_until DOUBLE PRECISION,
    outcome TEXT NOT NULL DEFAULT ''
)
"""
_VOTES = """
CREATE TABLE votes (
    approval_id TEXT NOT NULL REFERENCES approvals (id) ON DELETE CASCADE,
    person TEXT NOT NULL,
    voter TEXT NOT NULL,
    via TEXT NOT NULL,
    voted_at DOUBLE PRECISION NOT NULL,
    option_label TEXT NOT NULL,
    decision_key TEXT NOT NULL,
    PRIMARY KEY (approval_id, person)
)
"""
_RULES = """
CREATE TABLE rules (
    id TEXT PRIMARY KEY,
    author TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    hook TEXT NOT NULL,
    event TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    prompt TEXT NOT NULL,
    scope TEXT NOT NULL,
    digest TEXT NOT NULL,
    working_dir TEXT NOT NULL,
    machine TEXT NOT NULL,
    approval_id TEXT NOT NULL,
    required_scope TEXT NOT NULL,
    uses BIGINT NOT NULL DEFAULT 0,
    uses_left BIGINT,
    last_used DOUBLE PRECISION,
    revoked_by TEXT NOT NULL DEFAULT '',
    revoked_at DOUBLE PRECISION,
    description TEXT NOT NULL DEFAULT ''
)
"""
_TOKENS = """
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION,
    revoked DOUBLE PRECISION,
    last_used DOUBLE PRECISION
)
"""
_CODES = """
CREATE TABLE codes (
    digest TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    expires DOUBLE PRECISION NOT NULL
)
"""
_LOGINS = """
CREATE TABLE logins (
    digest TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL
)
"""
_SESSIONS = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    machine TEXT NOT NULL,
    user_name TEXT NOT NULL,
    name TEXT NOT NULL,
    bundle TEXT NOT NULL,
    working_dir TEXT NOT NULL,
    status TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    updated DOUBLE PRECISION NOT NULL,
    turns BIGINT NOT NULL,
    reply TEXT NOT NULL,
    error TEXT NOT NULL,
    parent_id TEXT NOT NULL,
    hosted BIGINT NOT NULL
)
"""
_TRANSCRIPTS = """
CREATE TABLE transcripts (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    messages TEXT NOT NULL
)
"""
_RECORDS = """
CREATE TABLE records (
    session_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    recorded_at DOUBLE PRECISION NOT NULL,
    type TEXT NOT NULL,
    event TEXT NOT NULL,
    hook TEXT NOT NULL,
    turn BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session_id, number)
)
"""
_FIGURES = """
CREATE TABLE hook_figures (
    hour DOUBLE PRECISION NOT NULL,
    hook TEXT NOT NULL,
    event TEXT NOT NULL,
    action TEXT NOT NULL,
    calls BIGINT NOT NULL,
    milliseconds DOUBLE PRECISION NOT NULL,
    slowest DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (hour, hook, event, action)
)
"""
_HEADS = """
CREATE TABLE heads (
    log TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    size BIGINT NOT NULL,
    root TEXT NOT NULL,
    note TEXT NOT NULL,
    signer TEXT NOT NULL,
    seen DOUBLE PRECISION NOT NULL,
    machine TEXT NOT NULL
)
"""
_HEAD_HISTORY = """
CREATE TABLE head_history (
    log TEXT NOT NULL REFERENCES heads (log) ON DELETE CASCADE,
    size BIGINT NOT NULL,
    root TEXT NOT NULL,
    note TEXT NOT NULL,
    seen DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (log, size)
)
"""
_TOTALS = """
CREATE TABLE hook_totals (
    hook TEXT NOT NULL,
    event TEXT NOT NULL,
    action TEXT NOT NULL,
    first_seen DOUBLE PRECISION NOT NULL DEFAULT 0,
    calls BIGINT NOT NULL,
    milliseconds DOUBLE PRECISION NOT NULL,
    slowest DOUBLE PRECISION NOT NULL,
    failures BIGINT NOT NULL DEFAULT 0,
    timeouts BIGINT NOT NULL DEFAULT 0,
    asked BIGINT NOT NULL DEFAULT 0,
    allowed BIGINT NOT NULL DEFAULT 0,
    refused BIGINT NOT NULL DEFAULT 0,
    expired BIGINT NOT NULL DEFAULT 0,
    overruled BIGINT NOT NULL DEFAULT 0,
    injected_tokens BIGINT NOT NULL DEFAULT 0,
    timed BIGINT NOT NULL DEFAULT 0,
    within_1 BIGINT NOT NULL DEFAULT 0,
    within_5 BIGINT NOT NULL DEFAULT 0,
    within_25 BIGINT NOT NULL DEFAULT 0,
    within_100 BIGINT NOT NULL DEFAULT 0,
    within_500 BIGINT NOT NULL DEFAULT 0,
    within_2500 BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (hook, event, action)
)
"""
_TAKE_TOTALS = """
INSERT INTO hook_totals (hook, event, action, calls, milliseconds, slowest)
SELECT hook, event, action, SUM(calls), 0, MAX(slowest) FROM hook_figures
GROUP BY hook, event, action
"""
_NEW_FIGURES = (
    "failures",
    "timeouts",
    "asked",
    "allowed",
    "refused",
    "expired",
    "overruled",
    "injected_tokens",
    "timed",
    "within_1",
    "within_5",
    "within_25",
    "within_100",
    "within_500",
    "within_2500",
)
_OUTSIDE_FIGURES = ("handed_over", "not_run", "not_known", "contradicted")
_DAYS = f"""
CREATE TABLE hook_days (
    hour DOUBLE PRECISION NOT NULL,
    hook TEXT NOT NULL,
    event TEXT NOT NULL,
    action TEXT NOT NULL,
    calls BIGINT NOT NULL,
    milliseconds DOUBLE PRECISION NOT NULL,
    slowest DOUBLE PRECISION NOT NULL,
    {", ".join(f"{name} BIGINT NOT NULL DEFAULT 0" for name in (*_NEW_FIGURES, *_OUTSIDE_FIGURES))},
    PRIMARY KEY (hour, hook, event, action)
)
"""
_TAKE_DAYS = f"""
INSERT INTO hook_days (
    hour, hook, event, action, calls, milliseconds, slowest,
    {", ".join((*_NEW_FIGURES, *_OUTSIDE_FIGURES))}
)
SELECT CAST(hour AS BIGINT) - CAST(hour AS BIGINT) % 86400, hook, event, action,
    SUM(calls), SUM(milliseconds), MAX(slowest),
    {", ".join(f"SUM({name})" for name in (*_NEW_FIGURES, *_OUTSIDE_FIGURES))}
FROM hook_figures GROUP BY 1, hook, event, action
"""

STEPS = (
    Step(
        1,
        "approvals, standing rules and access",
        (
            _APPROVALS,
            "CREATE INDEX approvals_by_deadline ON approvals (status, deadline)",
            "CREATE INDEX approvals_by_time ON approvals (created, id)",
            "CREATE INDEX approvals_by_call ON approvals (session_id, tool_call_id)",
            "CREATE INDEX approvals_by_session ON approvals (session_id, status, deadline)",
            "CREATE INDEX approvals_by_updated ON approvals (updated)",
            "CREATE INDEX approvals_by_fence ON approvals (fence) WHERE fence > 0",
            _VOTES,
            "CREATE TABLE fences (name TEXT PRIMARY KEY, last BIGINT NOT NULL)",
            "INSERT INTO fences (name, last) VALUES ('claims', 0)",
            _RULES,
            "CREATE INDEX rules_by_hook ON rules (hook, tool_name)",
            _TOKENS,
            _CODES,
            _LOGINS,
        ),
    ),
    Step(
        2,
        "sessions, their records, statistics, and heads of trails",
        (
            _SESSIONS,
            "CREATE INDEX sessions_by_time ON sessions (created, id)",
            "CREATE INDEX sessions_by_updated ON sessions (updated)",
            "CREATE INDEX sessions_by_status ON sessions (status, updated)",
            _TRANSCRIPTS,
            _RECORDS,
            _FIGURES,
            _HEADS,
            _HEAD_HISTORY,
        ),
    ),
    Step(
        3,
        "whose requests a standing rule is for",
        ("ALTER TABLE rules ADD COLUMN requester TEXT NOT NULL DEFAULT ''",),
    ),
    Step(
        4,
        "failures, times and questions of hooks, and their sums over all time",
        (
            *(
                f"ALTER TABLE hook_figures ADD COLUMN {name} BIGINT NOT NULL DEFAULT 0"
                for name in _NEW_FIGURES
            ),
            _TOTALS,
            _TAKE_TOTALS,
            "CREATE INDEX hook_totals_by_time ON hook_totals (first_seen, hook, event, action)",
        ),
    ),
    Step(
        5,
        "what is known of questions that other programs ask, and denials that were not obeyed",
        tuple(
            f"ALTER TABLE {table} ADD COLUMN {name} BIGINT NOT NULL DEFAULT 0"
            for table in ("hook_figures", "hook_totals")
            for name in ("handed_over", "not_run", "not_known", "contradicted")
        ),
    ),
    Step(
        6,
        "which question a standing rule answers",
        ("ALTER TABLE rules ADD COLUMN question TEXT NOT NULL DEFAULT ''",),
    ),
    Step(
        7,
        "approvals of one hook, machine or tool, and how people answered, without reading all",
        (
            # What is counted for each hook stands in the index, so that no row is read for it.
            "CREATE INDEX approvals_by_hook ON approvals "
            "(hook, created, id, status, allowed, session_id)",
            "CREATE INDEX approvals_by_machine ON approvals (machine, created, id)",
            "CREATE INDEX approvals_by_tool ON approvals (tool_name, created, id)",
        ),
    ),
    Step(
        8,
        "figures of hooks by the day, and whose a session is by an index",
        (
            _DAYS,
            _TAKE_DAYS,
            "CREATE INDEX approvals_by_owner ON approvals (session_id, requester)",
            # What waits in a session: an index of the few that do, not of all that ever did.
            "DROP INDEX approvals_by_session",
            "CREATE INDEX approvals_waiting ON approvals (session_id, deadline) "
            "WHERE status = 'pending'",
        ),
    ),
)


async def migrate(
    engine: Engine, preamble: Sequence[str] = (), steps: Sequence[Step] = STEPS
) -> int:
    """Run the steps that the database has not seen, all in one transaction; returns its version."""
    return await engine.write(lambda transaction: _run(transaction, preamble, steps))


def _run(transaction: Transaction, preamble: Sequence[str], steps: Sequence[Step]) -> int:
    for statement in preamble:
        transaction.run(statement)
    transaction.run(
        "CREATE TABLE IF NOT EXISTS schema_steps "
        "(number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied DOUBLE PRECISION NOT NULL)"
    )
    version = read_version(transaction)
    newest = steps[-1].number
    if version > newest:
        raise StoreUnavailable(
            f"The store was made by a newer version of Amplifier: it has schema {version}, and "
            f"this installation knows schemas up to {newest}; upgrade this installation"
        )
    for step in steps:
        if step.number > version:
            _apply(transaction, step)
    return newest


def read_version(transaction: Transaction) -> int:
    """The number of the last step that was run; 0 before the first."""
    found = transaction.run("SELECT COALESCE(MAX(number), 0) AS version FROM schema_steps")
    return int(found[0]["version"])


def _apply(transaction: Transaction, step: Step) -> None:
    for statement in step.statements:
        transaction.run(statement)
    transaction.run(
        "INSERT INTO schema_steps (number, name, applied) VALUES (:number, :name, unix_now())",
        number=step.number,
        name=step.name,
    )


SQLITE: tuple[str, ...] = ()
"""Nothing: whoever writes is alone, and the engine brings the clock."""

POSTGRES: tuple[str, ...] = (
    "SELECT pg_advisory_xact_lock(7158232184)",
    # STABLE, so that an index serves comparisons with it.
    """
    DO $do$ BEGIN
        IF to_regprocedure('unix_now()') IS NULL THEN
            CREATE FUNCTION unix_now() RETURNS DOUBLE PRECISION LANGUAGE sql STABLE
            AS 'SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)';
        END IF;
    END $do$
    """,
)


def check_version(transaction: Transaction, address: str) -> None:
    """Raise StoreUnavailable unless the store has the version that this installation knows."""
    version = read_version(transaction)
    known = STEPS[-1].number
    if version > known:
        raise StoreUnavailable(
            f"The store {address} was made by a newer version of Amplifier: it has schema "
            f"{version}, and this installation knows schemas up to {known}; upgrade it"
        )
    if version < known:
        raise StoreUnavailable(
            f"The store {address} has schema {version}, which is older than this installation's "
            f"{known}; `amplifier approvals list` upgrades it"
        )
