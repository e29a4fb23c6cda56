"""Ways out of the wall around a command, as scripts that try them.

A script that gets out prints ESCAPED, changes $OUT/victim or leaves a file in $OUT. It is given
$OUT (a folder outside), $HIDDEN (a hidden one with `key`), $AGENT (the id of the agent), $SERVICE and
$DATAGRAMS (Unix sockets of a service outside), $ABSTRACT (an abstract one), $PORT (TCP and UDP).
"""

# ruff: noqa: E501 - a script is easier to read in one line

from __future__ import annotations

import shlex

_PYTHON = """
import ctypes, fcntl, os, resource, signal, socket, sys, traceback
libc = ctypes.CDLL(None, use_errno=True)
E, SUPERVISOR = os.environ, os.getppid()
def escaped(what=''): print('ESCAPED', what)
for name, attack in {attacks!r}.items():
    print({mark!r} + name, flush=True)
    child = os.fork()
    if child == 0:
        code = 0
        try:
            exec(attack)
        except BaseException as refusal:
            print(repr(refusal))
            code = 1
        sys.stdout.flush()
        os._exit(code)
    print({end!r}, os.waitpid(child, 0)[1], flush=True)
"""
MARK, END = "== attack ", "== ended"

SHELL: dict[str, str] = {
    "write directly": "echo x > $OUT/victim",
    "make a new file": "echo x > $OUT/new",
    "append": "echo x >> $OUT/victim",
    "through a symbolic link": "ln -s $OUT/victim link; echo x > link",
    "through a link to a folder": "ln -s $OUT folder; echo x > folder/victim",
    "through a hard link": "ln $OUT/victim hard && echo x > hard",
    "move away": "mv $OUT/victim moved",
    "move over": "echo x > mine; mv mine $OUT/victim",
    "move the folder": "mv $OUT elsewhere",
    "remove": "rm -f $OUT/victim",
    "make a folder": "mkdir $OUT/folder",
    "make a pipe": "mkfifo $OUT/pipe",
    "copy over": "echo x > mine; cp mine $OUT/victim",
    "by the root of this process": "echo x > /proc/self/root$OUT/victim",
    "by the folder of this process": "echo x > /proc/self/cwd/../../../outside/victim",
    "by the root of the agent": "echo x > /proc/$AGENT/root$OUT/victim",
    "by the folder of the agent": "cd /proc/$AGENT/cwd && echo ESCAPED",
    "from inside another folder": "cd $OUT && echo x > victim",
    "in /tmp": "echo x > /tmp/new && echo ESCAPED",
    "in shared memory": "echo x > /dev/shm/new && echo ESCAPED",
    "by shell start-up files": "echo x >> ~/.bashrc && echo ESCAPED",
    "read what is hidden": "cat $HIDDEN/key && echo ESCAPED",
    "read it through a link": "ln -s $HIDDEN/key k; cat k && echo ESCAPED",
    "read it through a hard link": "ln $HIDDEN/key k && cat k && echo ESCAPED",
    "read it by the root of this process": "cat /proc/self/root$HIDDEN/key && echo ESCAPED",
    "pack it": "tar cf packed -C $HIDDEN key && echo ESCAPED",
    "move it here": "mv $HIDDEN here && echo ESCAPED",
    "run it": "bash $HIDDEN/key && echo ESCAPED",
    "read the agent's environment": "cat /proc/$AGENT/environ && echo ESCAPED",
    "read the supervisor's environment": "cat /proc/$PPID/environ && echo ESCAPED",
    "look at the agent's descriptors": "readlink /proc/$AGENT/fd/* && echo ESCAPED",
    "look at the supervisor's descriptors": "readlink /proc/$PPID/fd/* && echo ESCAPED; cat /proc/$PPID/fd/* && echo ESCAPED",
    "look at its threads": "cat /proc/$PPID/task/*/environ && echo ESCAPED",
    "end the agent": "kill -9 $AGENT && echo ESCAPED",
    "stop the agent": "kill -STOP $AGENT && echo ESCAPED",
    "end the supervisor": "kill -9 $PPID && echo ESCAPED",
    "ask whether the agent is there": "kill -0 $AGENT && echo ESCAPED",
    "own namespaces": "unshare -Ur true && echo ESCAPED",
    "mount": "mount -t tmpfs none . && echo ESCAPED",
    "mount in a namespace": "unshare -Urm mount --bind $OUT . && echo ESCAPED",
    "change the root": "unshare -Ur chroot / true && echo ESCAPED",
    "a multiplexer": "tmux -S sock new -d true && echo ESCAPED",
    "a service manager": "systemd-run --user true && echo ESCAPED",
    "a job for later": "echo true | at now && echo ESCAPED; (crontab -l; echo x) | crontab - && echo ESCAPED",
    "talk in a terminal of the person": "for t in /dev/pts/[0-9]* /dev/tty*; do echo x > $t && echo ESCAPED; done",
    "open the disk": "for d in /dev/[svx]d[a-z] /dev/nvme*; do head -c1 $d && echo ESCAPED; done",
    "leftover descriptors": "for f in /proc/$$/fd/*; do case ${f##*/} in 0|1|2|255) ;; *) readlink $f && echo ESCAPED;; esac; done",
}

PYTHON: dict[str, str] = {
    "an unnamed file that gets a name": (
        "f = os.open(E['OUT'], os.O_TMPFILE | os.O_WRONLY)\n"
        "os.link(f'/proc/self/fd/{f}', E['OUT'] + '/new')\nescaped()"
    ),
    "link an unnamed file of ours": (
        "f = os.open('.', os.O_TMPFILE | os.O_WRONLY)\n"
        "os.link(f'/proc/self/fd/{f}', E['OUT'] + '/new')\nescaped()"
    ),
    "truncate": "os.truncate(E['OUT'] + '/victim', 0)\nescaped()",
    "truncate by opening": "os.open(E['OUT'] + '/victim', os.O_RDONLY | os.O_TRUNC)\nescaped()",
    "open for writing again": (
        "f = os.open(E['OUT'] + '/victim', os.O_RDONLY)\n"
        "os.write(os.open(f'/proc/self/fd/{f}', os.O_WRONLY), b'x')"
    ),
    "the agent's memory": "open(f\"/proc/{E['AGENT']}/mem\", 'r+b')\nescaped()",
    "the supervisor's memory": "open(f'/proc/{SUPERVISOR}/mem', 'r+b')\nescaped()",
    "the memory of its threads": (
        "for tid in os.listdir(f'/proc/{SUPERVISOR}/task'):\n"
        "    try: open(f'/proc/{SUPERVISOR}/task/{tid}/mem', 'r+b'); escaped()\n"
        "    except OSError: pass"
    ),
    "trace the agent": "if libc.ptrace(16, int(E['AGENT']), 0, 0) == 0: escaped()",
    "trace the supervisor": "if libc.ptrace(16, SUPERVISOR, 0, 0) == 0: escaped()",
    "trace its threads": (
        "for tid in os.listdir(f'/proc/{SUPERVISOR}/task'):\n"
        "    if libc.ptrace(16, int(tid), 0, 0) == 0: escaped()"
    ),
    "read the agent's memory by a call": (
        "b = ctypes.create_string_buffer(16)\n"
        "class V(ctypes.Structure): _fields_ = [('a', ctypes.c_void_p), ('n', ctypes.c_size_t)]\n"
        "v, w = V(ctypes.addressof(b), 1), V(0x400000, 1)\n"
        "r = libc.process_vm_readv(int(E['AGENT']), ctypes.byref(v), 1, ctypes.byref(w), 1, 0)\n"
        "if r >= 0 or ctypes.get_errno() not in (1, 3, 38): escaped(ctypes.get_errno())"
    ),
    "a descriptor of the agent": (
        "p = os.pidfd_open(int(E['AGENT']))\nif libc.syscall(438, p, 0, 0) >= 0: escaped()"
    ),
    "a signal by a descriptor": "signal.pidfd_send_signal(os.pidfd_open(int(E['AGENT'])), 0)\nescaped()",
    "limits of the agent": "resource.prlimit(int(E['AGENT']), resource.RLIMIT_FSIZE, (0, 0))\nescaped()",
    "a service": "s = socket.socket(socket.AF_UNIX); s.connect(E['SERVICE']); escaped()",
    "a service by datagrams": (
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "a.sendto(b'run', E['DATAGRAMS'])\nescaped()"
    ),
    "a service by a raw pair": (
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)\na.sendto(b'run', E['DATAGRAMS'])\nescaped()"
    ),
    "a service by a pair": ("a, b = socket.socketpair()\na.connect(E['SERVICE'])\nescaped()"),
    "an abstract service": "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + E['ABSTRACT']); escaped()",
    "a ring of system calls": "if libc.syscall(425, 8, ctypes.create_string_buffer(256)) >= 0: escaped()",
    "keys of the kernel": "if libc.syscall(250, 11, -4, 0, 0, 0) >= 0: escaped()",
    "a namespace by a call": "if libc.unshare(0x10000000) == 0: escaped()",
    "a namespace by clone3": (
        "a = (ctypes.c_ulonglong * 11)(0x10000000, 0, 0, 0, 17)\n"
        "r = libc.syscall(435, a, 88)\n"
        "if r == 0: os._exit(0)\n"
        "if r > 0: escaped()"
    ),
    "another numbering of calls": (
        "if os.uname().machine == 'x86_64' and libc.syscall(0x40000000 | 39) >= 0: escaped()"
    ),
    "calls of a 32-bit program": (
        "import mmap\n"
        "if os.uname().machine == 'x86_64':\n"
        "    m = mmap.mmap(-1, 4096, prot=7)\n"
        "    m.write(bytes.fromhex('b814000000cd80c3'))\n"
        "    f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\n"
        "    if f() > 0: escaped()"
    ),
    "type into a terminal": (
        "try: fcntl.ioctl(0, 0x5412, b'x'); escaped()\nexcept OSError as e: print(e.errno)"
    ),
    "a file by its handle": "if libc.syscall(304, -100, 0, 0) >= 0 or ctypes.get_errno() != 1: escaped()",
    "a packet socket": "socket.socket(17, socket.SOCK_RAW); escaped()",
    "the hypervisor": "socket.socket(40, socket.SOCK_STREAM); escaped()",
}

SIGNALS = frozenset(
    {
        "end the agent",
        "stop the agent",
        "end the supervisor",
        "ask whether the agent is there",
        "a signal by a descriptor",
    }
)
"""What gets through before ABI 6."""

BY_NUMBER = SIGNALS | {
    name
    for name in (*SHELL, *PYTHON)
    if any(word in name for word in ("agent", "supervisor", "threads"))
}
"""Attacks on processes by their numbers, which mean others in a process namespace."""

LIMITS: dict[str, str] = {
    "change the mode of a file": "chmod 640 $OUT/victim && echo ESCAPED",
    "change the owner of a file": "chgrp $(id -g) $OUT/victim && echo ESCAPED",
    "change an attribute of a file": 'python3 -c \'import os; os.setxattr(os.environ["OUT"] + "/victim", "user.x", b"x")\' && echo ESCAPED',
    "change the time of a file": "touch -c -d 2001-01-01 $OUT/victim && echo ESCAPED",
    "list names of what is hidden": "ls $HIDDEN | grep key && echo ESCAPED",
}
"""What Landlock does not see; docs/sandbox.md says so."""

NETWORK: dict[str, str] = {
    "TCP": "socket.create_connection(('127.0.0.1', int(E['PORT']))); escaped()",
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', int(E['PORT']))); escaped()",
    "IPv6": "socket.socket(socket.AF_INET6); escaped()",
    "listening": "s = socket.socket(); s.bind(('127.0.0.1', 0)); escaped()",
    "raw": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); escaped()",
}

USUAL: dict[str, str] = {
    "a file in the root": "echo x > made && mkdir -p a/b && mv made a/b/ && rm -r a",
    "a temporary file": 'f=$(mktemp) && echo x > "$f" && case $f in "$TMPDIR"/*) ;; *) false;; esac',
    "a repository": "git init -q repo && cd repo && echo x > f && git add f && "
    "git -c user.name=n -c user.email=e@x commit -qm m && git status",
    "streams": "echo x > /dev/null && echo y > /dev/stderr && cat < /dev/zero | head -c 1 > /dev/stdout",
    "python": "python3 -c 'import asyncio, subprocess, threading; "
    'threading.Thread(target=print).start(); asyncio.run(asyncio.sleep(0)); subprocess.run(["true"])\'',
    "here documents": "cat <<< text && cat <<END\nx\nEND",
    "pipes and substitutions": "cat <(echo a) | sort | uniq -c && diff <(echo a) <(echo a)",
    "reading": "ls / /etc > /dev/null && cat /etc/passwd > /dev/null && ls ~ > /dev/null",
    "own signals": "sleep 30 & kill $!; wait $!; [ $? = 143 ]",
    "own limits": "ulimit -n 256 && ulimit -n",
}


def write_python(attacks: dict[str, str]) -> list[str]:
    """A program that makes all attacks, each in a process of its own."""
    return ["python3", "-I", "-c", _PYTHON.format(attacks=attacks, mark=MARK, end=END)]


def write_shell(attacks: dict[str, str]) -> str:
    """A script that makes all attacks, each in a shell and a folder of its own."""
    lines = []
    for number, (name, attack) in enumerate(attacks.items()):
        lines.append(f"echo {shlex.quote(MARK + name)}; mkdir -p {number}")
        lines.append(f"(cd {number}; {attack}\n) 2>&1; echo '{END}' $?")
    return "\n".join(lines)


def read_reports(text: str) -> dict[str, tuple[int, str]]:
    """How each attack ended, and what it printed."""
    reports = {}
    for part in text.split(MARK)[1:]:
        name, _, rest = part.partition("\n")
        printed, _, code = rest.rpartition(END)
        reports[name] = int(code), printed
    return reports
