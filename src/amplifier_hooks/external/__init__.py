"""A session of ours behind each run of another loop: shared by all adapters."""

PUBLIC_MODULES = (
    "calling",
    "client_messages",
    "conversation",
    "coverage_gaps",
    "governor",
    "half_calls",
    "handover",
    "incoming",
    "inner_agents",
    "loops",
    "messages",
    "model_side",
    "opening",
    "plan",
    "run",
    "session",
    "tool_calls",
    "verdicts",
)
