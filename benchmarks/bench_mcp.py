"""What the gateway adds to one tool call of an MCP server, beyond a relay that only copies lines.

Client, server and messages are the same on every way, and the ways are measured in turn, call by
call, in one run. The relay waits for either end and copies what comes. Of a call, the ratio is the
milliseconds that the gateway takes longer than the relay. The goal is for the median; the quickest
tenth, which the rest of the machine disturbed least, and the 99th percentile are beside it.
Starting is from nothing to the list of tools, against the server alone; many calls at once are
against the relay.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from amplifier_hooks.agent.trust.store import TrustStore
from benchmarks.harness import Row, report
from tests.support.trust import look_at

CALLS = int(os.environ.get("CALLS", "400"))
STARTS = 5
MANY = 1_000
MILLISECOND = 1e-3
RELAY = "relay"
ALONE = "alone"
SERVER = Path(__file__).parents[1] / "tests" / "support" / "mcp" / "tiny_server.py"
BARE = """\
name: bare
inherit: false
session: {orchestrator: loop-basic, context: context-simple}
"""
BUNDLES: Mapping[str, str] = {
    "no hooks and no trail": BARE + "audit: {enabled: false}\n",
    "no hooks": BARE + "audit: {enabled: true, level: normal, mode: inline, on_failure: deny}\n",
    "the default bundle": "name: usual\n",
}

Message = dict[str, Any]


class Way:
    """A process that is spoken to like a server, by a client that waits for each answer."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=folder, bufsize=0
        )
        assert self._process.stdin
        assert self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout
        self._buffer = b""
        self._id = 0

    def ask(self, method: str, params: Message) -> float:
        """Seconds from a request to its answer."""
        line = self._write_request(method, params)
        start = perf_counter()
        self._input.write(line)
        answer = self._read_line()
        spent = perf_counter() - start
        said = json.loads(answer)
        if said.get("id") != self._id or "result" not in said:
            raise SystemExit(f"{method} failed: {answer[:500]!r}")
        return spent

    def start(self) -> None:
        """Shake hands, and have the tools listed, as clients do."""
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b"}}
        self.ask("initialize", hello | {"clientInfo": {"name": "bench", "version": "1"}})
        self._input.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self.ask("tools/list", {})

    def call(self) -> float:
        """Seconds of one tool call."""
        return self.ask("tools/call", self._make_call())

    def call_many(self, count: int) -> float:
        """Seconds of so many calls, all sent before any answer is read."""
        waiting = [self._write_request("tools/call", self._make_call()) for _ in range(count)]
        todo, left = b"".join(waiting), count
        start = perf_counter()
        while left:
            readable, writable, _ = select.select([self._output], [self._input] if todo else [], [])
            if writable:
                todo = todo[os.write(self._input.fileno(), todo[:4096]) :]
            if readable:
                left -= os.read(self._output.fileno(), 1 << 20).count(b"\n")
        return perf_counter() - start

    def close(self) -> None:
        """Let it end."""
        self._input.close()
        self._process.wait(30)
        self._output.close()

    def _make_call(self) -> Message:
        # Never the same twice: hooks may ask about an agent that does the same again and again.
        return {"name": "echo", "arguments": {"text": f"hello {self._id}"}}

    def _write_request(self, method: str, params: Message) -> bytes:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"

    def _read_line(self) -> bytes:
        while b"\n" not in self._buffer:
            more = os.read(self._output.fileno(), 1 << 20)
            if not more:
                raise SystemExit("a process ended before it answered; see above")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


def copy_lines(command: Sequence[str]) -> None:
    """Be the relay: copy what comes from either end to the other, and nothing else."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert server.stdin
    assert server.stdout
    ways = {0: server.stdin.fileno(), server.stdout.fileno(): 1}
    while True:
        for source in select.select(list(ways), [], [])[0]:
            if not (piece := os.read(source, 1 << 20)):
                return
            os.write(ways[source], piece)


def prepare(place: Path) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The command of each way, and the environment of them all."""
    trusted = TrustStore(place / ".local" / "share" / "amplifier" / "trust")
    server = [sys.executable, "-I", "-S", str(SERVER), os.devnull]
    relay = [sys.executable, "-m", "benchmarks.bench_mcp", "--copy", *server]
    ways = {ALONE: server, RELAY: relay}
    for number, (name, text) in enumerate(BUNDLES.items()):
        bundle = place / f"bundle-{number}" / "amplifier.yaml"
        bundle.parent.mkdir()
        bundle.write_text(text)
        trusted.trust(look_at(place, bundle), "bench")
        gateway = [sys.executable, "-m", "amplifier_hooks.cli.main", "mcp", "gateway"]
        ways[name] = [*gateway, "--name", "tiny", "--bundle", str(bundle), "--", *server]
    root = str(Path(__file__).parents[1])
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "PYTHONPATH": root}
    return ways, env


@contextmanager
def open_way(command: Sequence[str], env: Mapping[str, str], folder: Path) -> Iterator[Way]:
    """A way with hands shaken, until the block ends."""
    way = Way(command, env, folder)
    try:
        way.start()
        yield way
    finally:
        way.close()


def time_start(command: Sequence[str], env: Mapping[str, str], folder: Path) -> float:
    """Seconds from nothing to the list of tools."""
    start = perf_counter()
    with open_way(command, env, folder):
        return perf_counter() - start


def measure(place: Path) -> list[Row]:
    """All rows, in a folder that is empty."""
    commands, env = prepare(place)
    with ExitStack() as stack:
        ways = {
            name: stack.enter_context(open_way(command, env, place))
            for name, command in commands.items()
        }
        rows = compare_calls(ways) + compare_many(ways)
    starts = {
        name: [time_start(command, env, place) for _ in range(STARTS)]
        for name, command in commands.items()
    }
    return rows + [
        compare(f"From the start to the list of tools: {name}, against the server alone", a, b)
        for name in BUNDLES
        for a, b in [(median(starts[ALONE]), median(starts[name]))]
    ]


def compare_calls(ways: Mapping[str, Way]) -> list[Row]:
    """One call at a time, on each way in turn."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(CALLS + CALLS // 10):
        for name, way in ways.items():
            seconds = way.call()
            if number >= CALLS // 10:  # those before have warmed up
                spent[name].append(seconds)
    return [
        compare_added(f"Milliseconds added to a call: {name}, {what}", *sides, at_most)
        for name in BUNDLES
        for what, find, at_most in (
            ("quickest tenth", find_p10, None),
            ("median", median, 1),
            ("p99", find_p99, None),
        )
        for sides in [(find(spent[RELAY]), find(spent[name]))]
    ]


def compare_many(ways: Mapping[str, Way]) -> list[Row]:
    """Many calls at once."""
    spent = {name: min(way.call_many(MANY) for _ in range(3)) / MANY for name, way in ways.items()}
    return [
        compare(f"{MANY:,} calls at once: {name}, against the relay", spent[RELAY], spent[name])
        for name in BUNDLES
    ]


def find_p10(times: Sequence[float]) -> float:
    """What one of ten stays below."""
    return quantiles(times, n=10)[0]


def find_p99(times: Sequence[float]) -> float:
    """What 99 of 100 stay below."""
    return quantiles(times, n=100)[98]


def compare_added(what: str, base: float, cost: float, at_most: float | None) -> Row:
    """What is added, in milliseconds."""
    return Row(what, (cost - base) / MILLISECOND, at_most, base * 1e6, cost * 1e6)


def compare(what: str, base: float, cost: float) -> Row:
    """How many times the one is the other."""
    return Row(what, cost / base, None, base * 1e6, cost * 1e6)


def main() -> None:
    """Measure and report; with `--copy COMMAND`, be the relay."""
    if sys.argv[1:2] == ["--copy"]:
        copy_lines(sys.argv[2:])
        return
    with tempfile.TemporaryDirectory(prefix="amplifier-") as name:
        rows = measure(Path(name).resolve())
    report("The gateway before an MCP server", rows)


if __name__ == "__main__":
    main()
