"""The server: an HTTP API, live updates and a page, in front of a store of approvals.

Nothing is imported here: the command line must start without FastAPI.
"""

PUBLIC_MODULES = (
    "judge_server",
    "logs",
    "server",
    "settings",
)
