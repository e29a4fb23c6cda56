"""A Python that has imported what the `amplifier` command needs, and forks a program when asked.

    python -m tests.support.fork_server DESCRIPTOR

A program takes most of a second of work to import its packages; one that is forked from here finds
them there. `tests.support.forked_programs` is the other end of the socket DESCRIPTOR.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import io
import json
import os
import runpy
import signal
import socket
import struct
import sys
import tempfile
import termios
import time
from typing import Any, NoReturn, TextIO

LENGTH = struct.Struct("!I")
DESCRIPTORS = 4  # those of a program: 0, 1, 2, and the socket on which its end is told
# What sessions in a terminal import. The main module is not among them: it is run, not imported.
PACKAGES = (
    "amplifier_hooks.cli.approval.terminal_approval",
    "amplifier_hooks.cli.approval.trust_question",
    "amplifier_hooks.cli.commands.agent",
    "amplifier_hooks.cli.commands.approvals.view",
    "amplifier_hooks.cli.commands.audit.records",
    "amplifier_hooks.cli.commands.chat",
    "amplifier_hooks.cli.commands.demo.session",
    "amplifier_hooks.cli.commands.run",
    "amplifier_hooks.cli.lazy_group",
    "amplifier_hooks.cli.lazy_group",
    "amplifier_audit.line_maker",
    "amplifier_audit.recovery",
    "amplifier_hooks.agent.bundles.load",
    "amplifier_hooks.agent.contexts.simple",
    "amplifier_hooks.guards.command_guard",
    "amplifier_hooks.guards.cost_control",
    "amplifier_hooks.guards.logging",
    "amplifier_hooks.guards.production_guard",
    "amplifier_hooks.guards.progress_monitor",
    "amplifier_hooks.guards.redaction",
    "amplifier_hooks.guards.rules",
    "amplifier_hooks.sandbox.protection",
    "amplifier_hooks.agent.loops.basic",
    "amplifier_hooks.agent.loops.streaming",
    "amplifier_hooks.agent.providers.scripted",
    "amplifier_hooks.agent.session.inspection.effective_hooks",
    "amplifier_hooks.agent.session.open_calls",
    "amplifier_hooks.agent.session.saved_sessions",
    "amplifier_hooks.approvals.stores.approvals",
    "amplifier_hooks.approvals.stores.sqlite",
    "amplifier_hooks.approvals.stores.store",
    "amplifier_hooks.agent.tools.bash",
    "amplifier_hooks.agent.tools.delegate",
    "amplifier_hooks.agent.tools.filesystem",
    "amplifier_hooks.agent.tools.mcp",
    "amplifier_hooks.agent.tools.search",
    "amplifier_hooks.agent.tools.todo",
)
OURS = "tests"


def main(descriptor: int) -> None:
    """Serve until the other end is closed; then, or as the program that was asked for, end."""
    prepare()
    for name in [name for name in sys.modules if name.partition(".")[0] == OURS]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=descriptor) as control:
        order, descriptors = wait_for_program(control)
    if order is not None:
        become_program(order, descriptors)


def prepare() -> None:
    """Import, and work out what every program that redacts a stream works out first."""
    for name in PACKAGES:
        importlib.import_module(name)
    from amplifier_hooks.guards.policy.secrets import SHAPES
    from amplifier_hooks.guards.policy.secrets.stream import build_holds
    from amplifier_hooks.guards.redaction import NAME

    build_holds(SHAPES, NAME)


def wait_for_program(control: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Returns in a program's own process with what it is, and here once nobody asks any more."""
    while True:
        header, descriptors, _, _ = socket.recv_fds(control, LENGTH.size, DESCRIPTORS)
        if not header:
            return None, []
        order = json.loads(receive(control, LENGTH.unpack(header)[0]))
        if not os.fork():
            break
        for one in descriptors:
            os.close(one)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        report_end(child, descriptors)
    return order, descriptors


def receive(control: socket.socket, length: int) -> bytes:
    """So many bytes."""
    data = b""
    while len(data) < length:
        data += control.recv(length - len(data))
    return data


def report_end(child: int, descriptors: list[int]) -> NoReturn:
    """Tell the other end the process id, and how it ended."""
    *streams, told = descriptors
    for one in streams:
        os.close(one)
    try:
        os.write(told, LENGTH.pack(child))
        _, status = os.waitpid(child, 0)
        os.write(told, struct.pack("!i", os.waitstatus_to_exitcode(status)))
    finally:
        os._exit(0)  # the rest of this process is the server's


def become_program(order: dict[str, Any], descriptors: list[int]) -> None:
    """What a new interpreter has: streams, signals, folder, variables, arguments."""
    os.setsid()
    for number, one in enumerate(descriptors[:3]):
        os.dup2(one, number)
    for one in descriptors:
        os.close(one)
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    tempfile.tempdir = None
    open_streams()
    sys.path[0] = order["cwd"]
    sys.argv = ["", *order["arguments"]]
    runpy.run_module(order["module"], run_name="__main__", alter_sys=True)


def open_streams() -> None:
    """Anew: whether a stream is a terminal is asked when it is opened."""
    sys.stdin, sys.stdout, sys.stderr = map(reopen, (sys.stdin, sys.stdout, sys.stderr), range(3))
    sys.__dict__.update(__stdin__=sys.stdin, __stdout__=sys.stdout, __stderr__=sys.stderr)


def reopen(stream: TextIO, descriptor: int) -> TextIO:
    """With the encoding that it had, and written when an interpreter writes it."""
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    mode, buffering = "wb" if descriptor else "rb", 0 if at_once and descriptor else -1
    opened = io.TextIOWrapper(
        os.fdopen(descriptor, mode, buffering, closefd=False),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=not at_once and (descriptor == 2 or os.isatty(descriptor)),
        write_through=at_once,
    )
    vars(opened)["mode"] = stream.mode
    return opened


if __name__ == "__main__":
    main(int(sys.argv[1]))
