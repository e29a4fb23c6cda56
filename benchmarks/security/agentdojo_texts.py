"""AgentDojo's attacks as texts, and what its tools say in honest tasks; no model takes part.

Runs in an environment of its own that has agentdojo 0.1, and prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

VERSION = "v1.2.2"
ATTACKS = (
    "important_instructions",
    "tool_knowledge",
    "direct",
    "system_message",
    "ignore_previous",
    "injecagent",
)


def main() -> None:
    """Print the texts of each attack, and the results of the honest tasks."""
    yaml: Any = import_module("yaml")
    yaml.safe_load = lambda text: yaml.load(text, yaml.CSafeLoader)  # several times as fast
    suites = import_module("agentdojo.task_suite.load_suites").get_suites(VERSION)
    texts = {name: list(dict.fromkeys(_list_attacks(name, suites))) for name in ATTACKS}
    print(json.dumps({**texts, "results": list(dict.fromkeys(_list_results(suites)))}))


def _list_attacks(name: str, suites: Any) -> Iterator[str]:
    """What the attack writes for each goal, at the first place that the first task reads."""
    pipeline = import_module("agentdojo.agent_pipeline").GroundTruthPipeline(None)
    pipeline.name = "local"
    load = import_module("agentdojo.attacks.attack_registry").load_attack
    for suite in suites.values():
        attack = load(name, suite, pipeline)
        task = next(
            one for one in suite.user_tasks.values() if attack.get_injection_candidates(one)
        )
        for goal in suite.injection_tasks.values():
            yield next(iter(attack.attack(task, goal).values()))


def _list_results(suites: Any) -> Iterator[str]:
    sys.path.append(str(Path(__file__).parent))
    sessions: Any = import_module("agentdojo_sessions")
    for name, suite in suites.items():
        for task_id, task in suite.user_tasks.items():
            calls = sessions.list_calls(name, task_id, suite, task, {})
            yield from (one["result"] for one in sessions.run(suite, task, {}, calls))


if __name__ == "__main__":
    main()
