"""Other products on the same texts: those that pip installs and that need no network and no key.

Each is in an environment of its own, below .venvs/rivals or in the folder that AMPLIFIER_RIVALS
names, and is asked there by `rival_runner.py`.

Usage: python -m benchmarks.security.rivals [NAME ...]    build the environments, or some
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

from amplifier_core.events import TOOL_POST
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.guards.injection_guard import mount
from amplifier_hooks.guards.policy.secrets import SHAPES, Redactor
from benchmarks.security.commands import STRICT
from benchmarks.security.compared_texts import KINDS, Kind, TextSet, list_sets
from benchmarks.security.judge import judge_commands, make_project
from benchmarks.security.table import compute_share

FOLDER = "AMPLIFIER_RIVALS"
"""The variable that names the folder of the environments."""

OURSELVES = "amplifier-hooks"
_ROOT = Path(__file__).resolve().parents[2]
_RUNNER = Path(__file__).with_name("rival_runner.py")
_PATIENCE = 1800
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR")


@dataclass(frozen=True, slots=True)
class Rival:
    """A product: what pip installs, and how it is asked about texts of a kind."""

    name: str
    version: str
    asked: Mapping[Kind, str]
    extra: str = ""
    besides: tuple[str, ...] = ()
    part: str = ""

    @property
    def title(self) -> str:
        """The product, and which part of it if it has several for one kind."""
        return f"{self.name}, {self.part}" if self.part else self.name

    @property
    def requirements(self) -> list[str]:
        """What pip installs."""
        return [f"{self.name}{self.extra}=={self.version}", *self.besides]


RIVALS = (
    Rival("nah", "0.11.0", {"commands": "`nah test --defaults`, in the project; ask and block"}),
    Rival(
        "toolgovern-cli",
        "0.2.0",
        {"commands": "`classify`, scope: the project's folder and the network"},
    ),
    Rival("agentwall", "0.3.6", {"commands": "`Engine(default_config()).evaluate_command`"}),
    Rival(
        "agentfirewall",
        "1.2.0",
        {
            "commands": "`create_firewall().evaluate`, as a command; block and review",
            "injections": "`create_firewall().evaluate`, as a prompt; block and review",
        },
    ),
    Rival(
        "agent-governance-toolkit",
        "4.1.0",
        {
            "commands": "`SemanticPolicyEngine().check`; it ships no other rules for commands",
            "secrets": "`CredentialRedactor.contains_credentials`",
            "injections": "`PromptInjectionDetector().detect`",
        },
        extra="[full]",
    ),
    Rival(
        "agent-governance-toolkit",
        "4.1.0",
        {"injections": "`MCPResponseScanner().scan_response`"},
        extra="[full]",
        part="responses",
    ),
    Rival(
        "shellguard",
        "0.1.0",
        {"commands": "`shellguard scan`, any finding", "secrets": "`shellguard scan`, any finding"},
    ),
    Rival("detect-secrets", "1.5.0", {"secrets": "`scan_file` with `default_settings()`"}),
    Rival("invariant-ai", "0.3.5", {"secrets": "a policy of one rule with its `secrets` detector"}),
    Rival(
        "stackone-defender",
        "0.9.4",
        {"injections": "`defend_tool_result`, `block_high_risk=True`; a small model in its wheel"},
        extra="[onnx]",
    ),
    Rival("injectguard", "0.1.1", {"injections": "`scan`"}),
    Rival(
        "nemoguardrails",
        "0.24.1",
        {"injections": "the rail `injection detection`, all four rule sets (code, not wording)"},
        besides=("yara-python==4.5.4",),
    ),
)

NOT_COMPARED = {
    "guardrails-ai": "its validators come from a hub and need a key",
    "rebuff": "needs keys of OpenAI and Pinecone",
    "llamafirewall, pytector, prompt-armor": "fetch a model when they are first used",
    "langkit, deepteam": "need a model",
    "llm-guard": "fetches a model for injections; for secrets it asks detect-secrets",
    "agentarmor": "works only inside the clients of OpenAI, Anthropic and Google",
    "prompt-injection-detector": "its pickled model is of another scikit-learn",
    "trufflehog3, whispers": "read repositories and settings files, not texts",
    "ggshield, mcp-scan": "send texts to a service",
    "NeMo Guardrails' jailbreak heuristics": "need GPT-2",
    "vigil, dcg (destructive command guard)": "not on PyPI; `dcg` there is something else",
}
"""What was looked at and left out, and why."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What one product made of the sets of a kind, in percent of each."""

    kind: Kind
    name: str
    version: str
    asked: str
    shares: Mapping[str, float] = field(default_factory=dict)
    missing: str = ""


class RivalFailed(Exception):
    """A product that gave no answers."""


def compare() -> Iterator[Compared]:
    """Ourselves and every rival, kind by kind."""
    for kind in KINDS:
        sets = list_sets(kind)
        texts = [text for one in sets for text in one.texts]
        for title, (asked, ask_ourselves) in OURS[kind].items():
            shares = _measure(sets, ask_ourselves(texts))
            yield Compared(kind, title, version(OURSELVES), asked, shares)
        for rival in RIVALS:
            if kind in rival.asked:
                yield _compare_one(rival, kind, sets, texts)


def _compare_one(
    rival: Rival, kind: Kind, sets: Sequence[TextSet], texts: Sequence[str]
) -> Compared:
    one = Compared(kind, rival.title, rival.version, rival.asked[kind])
    if not _find_python(rival).is_file():
        return replace(one, missing="not installed (make bench-rivals)")
    try:
        return replace(one, shares=_measure(sets, ask(rival, kind, texts)))
    except RivalFailed as failure:
        return replace(one, missing=f"failed: {failure}")


def _measure(sets: Sequence[TextSet], found: Sequence[bool]) -> dict[str, float]:
    """The share of each set that was found; the answers are in the order of the sets."""
    shares = {}
    at = 0
    for one in sets:
        answers = found[at : at + len(one.texts)]
        shares[one.name] = compute_share(sum(answers), len(answers))
        at += len(one.texts)
    return shares


def ask(rival: Rival, kind: Kind, texts: Sequence[str]) -> list[bool]:
    """What a rival says of each text: whether it stops it, asks about it or finds something."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    command = [str(_find_python(rival)), "-I", str(_RUNNER), rival.title, kind]
    with make_project() as folder:
        done = subprocess.run(
            command,
            input=json.dumps(texts),
            cwd=folder,
            env={**kept, "HOME": os.environ["HOME"]},
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    if done.returncode:
        raise RivalFailed((done.stderr.strip().splitlines() or [str(done.returncode)])[-1][:200])
    found: list[bool] = json.loads(done.stdout)
    return found


def _judge_commands(bundle: str, texts: Sequence[str]) -> list[bool]:
    return [one.action in {"deny", "ask_user"} for one in judge_commands(texts, bundle=bundle)]


def _find_secrets(texts: Sequence[str]) -> list[bool]:
    redactor = Redactor(SHAPES, "benchmark", "[REDACTED:{name}]")
    return [redactor.redact_text(text) != text for text in texts]


def _find_injections(texts: Sequence[str]) -> list[bool]:
    return asyncio.run(_ask_injection_guard(texts))


async def _ask_injection_guard(texts: Sequence[str]) -> list[bool]:
    host = TestCoordinator(session_id="compared")
    await mount(host, {})
    found = []
    for number, text in enumerate(texts):
        result = {"success": True, "output": text, "error": None}
        data = {"tool_name": "read_text", "tool_input": {}, "tool_call_id": str(number)}
        answer = await host.hooks.emit(
            TOOL_POST, {**data, "tool_result": result, "success": True, "duration_ms": 1}
        )
        found.append(answer.action != "continue")
    return found


OURS: Mapping[Kind, Mapping[str, tuple[str, Callable[[Sequence[str]], list[bool]]]]] = {
    "commands": {
        OURSELVES: ("the default bundle, for Claude Code", partial(_judge_commands, "")),
        f"{OURSELVES}, careful": (
            "the same with `profile: careful`",
            partial(_judge_commands, "name: careful\nprofile: careful\n"),
        ),
        f"{OURSELVES}, strict": (
            "the same with `profile: strict`",
            partial(_judge_commands, STRICT),
        ),
    },
    "secrets": {OURSELVES: ("hooks-redaction, as in the default bundle", _find_secrets)},
    "injections": {
        OURSELVES: ("hooks-injection-guard, not in the default bundle", _find_injections)
    },
}
"""How we are asked, by kind and by name."""


def _find_python(rival: Rival) -> Path:
    folder = Path(os.environ.get(FOLDER) or _ROOT / ".venvs" / "rivals")
    return folder / rival.name / "bin" / "python"


def install(rival: Rival) -> str:
    """Build its environment, unless it has this version; answers with why it failed."""
    python = _find_python(rival)
    stamp = python.parents[1] / "installed.txt"
    wanted = "\n".join(rival.requirements)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return ""
    print(f"Preparing {rival.name} (once) ...", flush=True)
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(python.parents[1])],
        [str(python), "-m", "pip", "install", "--quiet", *rival.requirements],
    ):
        with tempfile.TemporaryFile("w+") as said:
            if subprocess.run(command, stderr=said, check=False).returncode:
                said.seek(0)
                return (said.read().strip().splitlines() or ["no reason given"])[-1]
    stamp.write_text(wanted, encoding="utf-8")
    return ""


def main(names: Sequence[str]) -> int:
    """Build the environments; 1 if one failed, 2 for an unknown name."""
    if unknown := set(names) - {one.name for one in RIVALS}:
        print(f"no product {sorted(unknown)}", file=sys.stderr)
        return 2
    wanted = [one for one in RIVALS if not names or one.name in names]
    failed = {one.name: why for one in wanted if (why := install(one))}
    for name, why in failed.items():
        print(f"{name} could not be installed: {why}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
