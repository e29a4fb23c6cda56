"""What each key of a bundle is for, in a sentence that an editor shows."""

from __future__ import annotations

Meanings = dict[str, str]

BUNDLE: Meanings = {
    "name": "What the bundle is called.",
    "description": "What it is for.",
    "include": "A file or a list of files, relative to this one. They lie below it.",
    "inherit": "false: nothing from the layers below but what is locked there.",
    "session": "The loop, the context, limits and budgets.",
    "providers": "Models. The first one that is there answers.",
    "tools": "What the agent can use.",
    "hooks": "What watches, stops, changes and explains what the agent does.",
    "agents": "Sub-agents, by name.",
    "approval": "How questions are put to a person.",
    "audit": "The audit trail.",
    "sandbox": "What commands can do.",
}
MODULE: Meanings = {
    "module": "The id of a module, or the path of a file or folder.",
    "name": "Tells two entries of one module apart.",
    "instance_id": "For providers: the name that this instance is mounted under.",
    "source": "Where the module is: a file or folder, relative to the bundle.",
    "config": "Options of the module.",
    "priority": "For hooks: lower runs first. It replaces the priority that the module chose.",
    "enabled": "false removes the entry; empty counts as false.",
    "required": "true: the session does not start without it. false: it is reported and left out.",
    "locked": "true: layers above and hooks cannot change or remove this entry.",
}
SESSION: Meanings = {
    "orchestrator": "The loop: loop-streaming or loop-basic.",
    "context": "Where the conversation is kept.",
    "injection_budget_per_turn": "Tokens that hooks may inject in one turn; null is unlimited.",
    "injection_size_limit": "Bytes of one injection; null is unlimited.",
    "injection_over_budget": "drop, or warn to inject all the same.",
    "max_turns": "Requests to the model for one prompt.",
    "turn_timeout": "Seconds that one prompt may take in all; null is unlimited.",
    "tool_result_limit": "Characters of one tool result that the model sees; null is all of it.",
    "instructions": "The system prompt.",
    "limits": "How many sub-agents there may be, and how many calls at once.",
    "debug": "Show what each hook injects, under its name.",
}
LIMITS: Meanings = {
    "agent_depth": "How deep sub-agents may start sub-agents.",
    "agent_count": "How many sub-agents one session may start in all.",
    "tool_calls_at_once": "How many tool calls run at once; null is unlimited.",
}
AGENT: Meanings = {
    "description": "When to use it.",
    "instructions": "Its system prompt.",
    "tools": "Names of tools (Read) or module entries; all tools of the parent if missing.",
    "hooks": "Hooks of its own, beside those of the parent.",
    "providers": "Instead of the parent's.",
    "session": "Instead of the parent's settings.",
}
APPROVAL: Meanings = {
    "mode": "ask a person; deny: every question is answered with no.",
    "timeout": "The most seconds that any question waits.",
    "locked": "true: layers above cannot change this section.",
}
AUDIT: Meanings = {
    "enabled": "Write a trail.",
    "level": "decisions, normal or full.",
    "path": "The folder of the trails, relative to the bundle.",
    "mode": "inline, or commitment for contents that can be redacted later.",
    "sign": "true, or the path of an Ed25519 key.",
    "on_failure": "What happens when the trail cannot be written: deny, stop or warn.",
    "anchors": "Files outside the trail that keep its checkpoints.",
    "socket": "A writer of its own that keeps the trail: amplifier audit serve.",
    "server_user": "The user that this writer runs as.",
    "locked": "true: layers above cannot change this section.",
}
SANDBOX: Meanings = {
    "mode": "required: no session without a sandbox. auto: use one if there is one. off.",
    "network": "allow; ask: only what a person grants; deny.",
    "wall": "landlock, bubblewrap, or auto: the first that this machine has.",
    "write": "More folders that commands may write, relative to the bundle.",
    "unix_sockets": "allow, or deny: no services of this machine, such as docker or tmux.",
    "locked": "true: layers above cannot change this section.",
}
