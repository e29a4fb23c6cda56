"""What another product says of texts; runs in that product's own environment, without a network.

Each product is used as its documentation says, with its defaults. A text is a string to all of
them: nothing of it is run, and an attempt to run or to connect to anything ends this program.

Usage: python rival_runner.py PRODUCT KIND < TEXTS    lists as JSON; KIND is commands, secrets, ...
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

Judge = Callable[[str], bool]
"""Whether a text is stopped, asked about or found."""

_STARTS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"}
_LOOKS = ("git", "rev-parse")
_ENDS = 70


def main(product: str, kind: str) -> None:
    """Print an answer for each text."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    judge = JUDGES[product, kind]()
    sys.addaudithook(_refuse)
    texts = json.loads(sys.stdin.read())
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        found = judge_all(judge, texts)
    print(json.dumps(found))


def judge_all(judge: Judge, texts: Sequence[str]) -> list[bool]:
    """An answer for each text; a product that fails on one is taken to stop it."""
    found = []
    failures = 0
    for text in texts:
        try:
            found.append(judge(text))
        except Exception:
            failures += 1
            if failures * 100 > len(texts):
                raise
            found.append(True)
    return found


def _refuse(event: str, details: Sequence[Any]) -> None:
    """End the program before it runs or connects to anything; git may look for the project."""
    if event in _STARTS and tuple(details[1] if len(details) > 1 else ())[:2] != _LOOKS:
        _end(event, details)
    if event == "socket.connect" and isinstance(details[1], tuple):
        _end(event, details)


def _end(event: str, details: Sequence[Any]) -> None:
    os.write(2, f"refused: {event} {details!r}\n".encode())
    os._exit(_ENDS)


def _call(main: Callable[[], Any], *words: str) -> str:
    """What a command line prints, in this process."""
    before = sys.argv
    sys.argv = [*words]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            main()
    finally:
        sys.argv = before
    return said.getvalue()


def _make_nah() -> Judge:
    main: Any = import_module("nah.cli").main

    def judge(command: str) -> bool:
        said = _call(main, "nah", "test", "--defaults", "--json", "--", command)
        return bool(json.loads(said)["decision"] != "allow")

    return judge


def _make_agentwall() -> Judge:
    engine = import_module("agentfirewall.engine")
    config = import_module("agentfirewall.schema").default_config()
    evaluate = engine.Engine(config).evaluate_command
    return lambda command: bool(evaluate(command).blocked)


def _make_agentfirewall(kind: str) -> Judge:
    evaluate = import_module("agentfirewall").create_firewall().evaluate
    describe = getattr(import_module("agentfirewall.events").EventContext, kind)
    return lambda text: bool(evaluate(describe(text)).action.value in {"block", "review"})


def _make_toolgovern() -> Judge:
    govern = import_module("toolgovern")
    scope = govern.ScopeDeclaration(network=True, filesystem=[str(Path.cwd())])

    def judge(command: str) -> bool:
        call = govern.RuleContext("agent", "session", "shell", {"command": command}, scope)
        return bool(govern.classify(call).decision != "allow")

    return judge


def _make_shellguard() -> Judge:
    main: Any = import_module("shellguard.cli").cli

    def judge(text: str) -> bool:
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            said = _call(main, "shellguard", "scan", "--json-output", file.name)
            return bool(json.loads(said, strict=False))

    return judge


def _make_agt_commands() -> Judge:
    system = import_module("agent_os")
    engine = system.SemanticPolicyEngine()

    def judge(command: str) -> bool:
        try:
            engine.check("bash", {"command": command})
        except system.PolicyDenied:
            return True
        return False

    return judge


def _make_agt_secrets() -> Judge:
    return lambda text: bool(
        import_module("agent_os").CredentialRedactor.contains_credentials(text)
    )


def _make_agt_injections() -> Judge:
    detector = import_module("agent_os").PromptInjectionDetector()
    return lambda text: bool(detector.detect(text, source="tool").is_injection)


def _make_agt_responses() -> Judge:
    scanner = import_module("agent_os").MCPResponseScanner()
    return lambda text: not scanner.scan_response(text).is_safe


def _make_detect_secrets() -> Judge:
    collection = import_module("detect_secrets").SecretsCollection
    settings = import_module("detect_secrets.settings").default_settings

    def judge(text: str) -> bool:
        with tempfile.TemporaryDirectory() as folder, settings():
            path = Path(folder, "text.txt")
            path.write_text(text, encoding="utf-8")
            found = collection()
            found.scan_file(str(path))
            return bool(found)

    return judge


def _make_invariant() -> Judge:
    policy = import_module("invariant.analyzer").LocalPolicy.from_string(
        "from invariant.detectors import secrets\n"
        'raise "a secret" if:\n    (output: ToolOutput)\n    len(secrets(output)) > 0\n'
    )
    call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": {}}}
    asked = {"role": "assistant", "content": "", "tool_calls": [call]}
    return lambda text: bool(
        policy.analyze([asked, {"role": "tool", "tool_call_id": "1", "content": text}]).errors
    )


def _make_nemo() -> Judge:
    config = import_module("nemoguardrails").RailsConfig.from_content(
        yaml_content="models: []\nrails:\n  config:\n    injection_detection:\n"
        "      injections: [code, sqli, template, xss]\n      action: reject\n"
        "  output:\n    flows: [injection detection]\n"
    )
    detect = import_module("nemoguardrails.library.injection_detection.actions").injection_detection
    return lambda text: bool(asyncio.run(detect(text, config)).metadata["is_injection"])


def _make_defender() -> Judge:
    defense = import_module("stackone_defender").create_prompt_defense(block_high_risk=True)
    defense.warmup_tier2()
    return lambda text: not defense.defend_tool_result(text, "read_text").allowed


def _make_injectguard() -> Judge:
    scan = import_module("injectguard").scan
    return lambda text: bool(scan(text).is_injection)


JUDGES: dict[tuple[str, str], Callable[[], Judge]] = {
    ("nah", "commands"): _make_nah,
    ("agentwall", "commands"): _make_agentwall,
    ("agentfirewall", "commands"): partial(_make_agentfirewall, "command"),
    ("agentfirewall", "injections"): partial(_make_agentfirewall, "prompt"),
    ("toolgovern-cli", "commands"): _make_toolgovern,
    ("shellguard", "commands"): _make_shellguard,
    ("agent-governance-toolkit", "commands"): _make_agt_commands,
    ("agent-governance-toolkit", "secrets"): _make_agt_secrets,
    ("agent-governance-toolkit", "injections"): _make_agt_injections,
    ("agent-governance-toolkit, responses", "injections"): _make_agt_responses,
    ("shellguard", "secrets"): _make_shellguard,
    ("detect-secrets", "secrets"): _make_detect_secrets,
    ("invariant-ai", "secrets"): _make_invariant,
    ("nemoguardrails", "injections"): _make_nemo,
    ("stackone-defender", "injections"): _make_defender,
    ("injectguard", "injections"): _make_injectguard,
}

if __name__ == "__main__":
    main(*sys.argv[1:3])
