"""Stores of approvals and of what was seen of sessions, for one machine or many."""

PUBLIC_MODULES = (
    "access",
    "address",
    "approval_rows",
    "checks",
    "engine",
    "ownership",
    "postgres_connection",
    "scopes",
    "sqlite",
    "sqlite_connection",
    "statistics",
    "store",
)
