"""What each key of a bundle is for, in a sentence that an editor shows."""

from __future__ import annotations

Meanings = dict[str, str]

BUNDLE: Meanings = {
    "name": "What the bundle is called.",
    "description": "What it is for.",
    "include": "A file or a list of files, relative to this one. This file overrides them.",
    "inherit": "false: take nothing from the layers below, except what is locked there.",
    "session": "The loop, the context, limits and budgets.",
    "providers": "Models. The first one that is available is used.",
    "tools": "What the agent can use.",
    "hooks": "What watches, stops, changes and explains what the agent does.",
    "agents": "Sub-agents, by name.",
    "approval": "Who answers questions, and how long they wait.",
    "audit": "The audit trail.",
    "sandbox": "What commands can do.",
}
MODULE: Meanings = {
    "module": "The id of a module, or the path of a file or folder.",
    "name": "Distinguishes two entries of the same module.",
    "instance_id": "For providers: the name that this instance is mounted under.",
    "source": "Where the module is: a file or folder, relative to the bundle.",
    "config": "Options of the module.",
    "priority": "For hooks: lower runs first. It replaces the priority that the module chose.",
    "enabled": "false removes the entry; empty counts as false.",
    "required": "true: the session does not start without it. false: it is reported and left out.",
    "locked": "true: layers above and hooks cannot change or remove this entry.",
}
HOOK: Meanings = {
    **MODULE,
    "mode": "shadow: what its hooks answer is recorded and counted, and has no effect.",
}
SESSION: Meanings = {
    "orchestrator": "The loop: loop-streaming or loop-basic.",
    "context": "Where the conversation is kept.",
    "injection_budget_per_turn": "Tokens that hooks may inject in one turn; null is unlimited.",
    "injection_size_limit": "Bytes of one injection; null is unlimited.",
    "injection_over_budget": "drop, or warn to inject anyway.",
    "max_turns": "Requests to the model for one prompt.",
    "turn_timeout": "Seconds that one prompt may take in total; null is unlimited.",
    "tool_result_limit": "Characters of one tool result that the model sees; null is all of it.",
    "instructions": "The system prompt.",
    "limits": "How many sub-agents there may be, and how many calls at once.",
    "debug": "Show what each hook injects, under its name.",
    "run_all": "true: hooks behind one that denies still run and are recorded, without effect.",
    "evaluate_only": "true: shadow mode. Hooks run and are recorded; none has an effect.",
    "ungoverned": "Agents of a framework that a tool starts without hooks: warn, or deny.",
}
LIMITS: Meanings = {
    "agent_depth": "How deep sub-agents may start sub-agents.",
    "agent_count": "How many sub-agents one session may start in total.",
    "tool_calls_at_once": "How many tool calls run at once; null is unlimited.",
}
AGENT: Meanings = {
    "description": "When to use it.",
    "instructions": "Its system prompt.",
    "tools": "Names of tools (Read) or module entries; by default, all tools of the parent.",
    "hooks": "Additional hooks; those of the parent always apply.",
    "providers": "Instead of the parent's.",
    "session": "Instead of the parent's settings.",
}
APPROVAL: Meanings = {
    "mode": "ask a person; deny: every question is answered with no.",
    "timeout": "The longest time that any question waits, in seconds.",
    "via": "Where people are asked: terminal, store, server, or a list: the first answer counts.",
    "store": "For via: store. A file, or postgresql://…; by default, your own store.",
    "server": "For via: server. The address of `amplifier serve`.",
    "token": "For via: server. A token with the scope agent, such as ${AMPLIFIER_TOKEN}.",
    "persons": "How many different people elsewhere must allow; one is enough to refuse.",
    "requester_may_approve": "false: whoever runs the agent cannot allow what it asks.",
    "scope": "A scope that who allows it must have, such as release.",
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
    "witness": "The address of `amplifier serve`, which keeps the trail's checkpoints.",
    "witness_token": "For witness. A token with the scope agent, such as ${AMPLIFIER_TOKEN}.",
    "socket": "The socket of a separate writer process: amplifier audit serve.",
    "server_user": "The user that this process must run as.",
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
