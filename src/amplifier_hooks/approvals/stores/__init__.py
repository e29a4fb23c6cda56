"""Where approvals and what was seen of sessions are kept, for one machine or many."""

PUBLIC_MODULES = (
    "access",
    "address",
    "approval_rows",
    "checks",
    "engine",
    "postgres_connection",
    "scopes",
    "sqlite",
    "sqlite_connection",
    "statistics",
    "store",
)
