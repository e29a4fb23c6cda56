"""The command that a coding agent calls at each event: it hands the event to the resident process.

python -I -S command.py FOLDER AGENT EVENT SECONDS [BUNDLE]

Every call pays for what stands here, so it imports nothing that the interpreter has not loaded
already, but for `_socket`, and leaves what is rarely needed to `starting.py`.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import posix
import sys

VERSION = "0.1.0"
OWN_FOLDER = b"~"
"""In the place of FOLDER: that of the user who calls, for settings that many users share."""
_LONGEST_SILENCE = 30.0
_LONGEST_ADDRESS = 99  # the kernel takes 107 bytes; some file systems add to a path
_Call = tuple[bytes, bytes, bytes, bytes, bytes, float]


class Restart(Exception):
    """The resident process ends, because it runs what is no longer installed; ask the next one."""


def main() -> None:
    """Answer the agent, and end the process: with code 2 and one sentence if there is no answer."""
    try:
        folder, agent, event, seconds, *bundle = map(_encode, sys.argv[1:])
        limit = _read_limit(seconds)
    except ValueError:
        return fail("usage: command.py FOLDER AGENT EVENT SECONDS [BUNDLE]")
    try:
        _set_alarm(limit)
        if folder == OWN_FOLDER:
            folder = _prepare_own_folder()
        check_folder(folder)
        payload = _read_input()
        call = (folder, agent, event, b"".join(bundle[:1]), payload, _get_silence(limit))
        try:
            answer = ask(*call)
        except (OSError, ValueError, Restart) as failure:
            answer = _ask_again(call, failure)
        _write_all(2, answer[2])
        _write_all(1, answer[1])
    except Exception as failure:  # noqa: BLE001 - whatever it is, there is no answer
        return fail(str(failure) or type(failure).__name__)
    posix._exit(answer[0])


def ask(
    folder: bytes, agent: bytes, event: bytes, bundle: bytes, payload: bytes, silence: float
) -> tuple[int, bytes, bytes]:
    """Ask the resident process once: exit code, standard output, standard error.

    FileNotFoundError and ConnectionRefusedError mean that none is there, PermissionError that it
    is not ours. After any other error it may have heard the question.
    """
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        line.connect(folder + b"/guest.sock")  # without a time limit: a full queue would fail it
        check_peer(line)
        line.settimeout(silence)
        line.sendall(_write_head(agent, event, bundle) + payload)
        line.shutdown(_socket.SHUT_WR)
        return read_answer(b"".join(iter(lambda: line.recv(65536), b"")))
    finally:
        line.close()


def read_answer(received: bytes) -> tuple[int, bytes, bytes]:
    """Exit code, standard output, standard error; ValueError unless that is all and complete."""
    beats, _, rest = received.partition(b"\n")
    head, newline, body = rest.partition(b"\n")
    if head == b"restart":
        raise Restart("the resident process is of another version")
    if not rest and not beats.strip(b"."):
        raise ConnectionResetError("the resident process ended without an answer")
    numbers = head.split(b" ")
    if beats.strip(b".") or len(numbers) != 3 or not all(map(bytes.isdigit, numbers)):
        raise ValueError("the resident process answered with something else than an answer")
    code, middle, end = map(int, numbers)
    if code > 255 or not newline or len(body) != middle + end:
        raise ValueError("the answer of the resident process is not as long as it should be")
    return code, body[:middle], body[middle:]


def check_folder(folder: bytes) -> None:
    """PermissionError unless the folder is a directory that nobody else can enter."""
    name = folder.decode(errors="replace")
    try:
        found = posix.lstat(folder)
    except OSError as failure:
        raise PermissionError(f"{name}: {failure.strerror}; install the guard again") from None
    if found.st_mode & 0o170777 != 0o040700 or found.st_uid != posix.geteuid():
        raise PermissionError(f"{name} must be a folder of yours that only you can enter (0700)")


def check_peer(line: _socket.socket) -> int:
    """The process id at the other end; PermissionError unless that process is ours."""
    facts = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    pid, uid = (int.from_bytes(facts[at : at + 4], sys.byteorder) for at in (0, 4))
    if uid != posix.geteuid():
        raise PermissionError(f"the resident process belongs to the user with the id {uid}")
    return pid


def find_own_folder() -> bytes:
    """Where the guests of this user meet, by the machine's list of users.

    The environment does not count: what an agent works on may have set it.
    """
    import pwd

    user = posix.geteuid()
    try:
        home = pwd.getpwuid(user).pw_dir.encode(sys.getfilesystemencoding(), "surrogateescape")
    except KeyError:
        raise PermissionError(f"there is no user with the id {user} on this machine") from None
    folder = home + b"/.local/share/amplifier/guests"
    if len(folder) + len(b"/guest.sock") <= _LONGEST_ADDRESS:
        return folder
    try:
        posix.stat(b"/run/user/%d" % user)
    except OSError:
        return b"/tmp/amplifier-guests-%d" % user
    return b"/run/user/%d/amplifier-guests" % user


def get_seconds_left() -> float:
    """How long it is until the deadline."""
    return float(_signal.getitimer(_signal.ITIMER_REAL)[0])


def fail(sentence: str) -> None:
    """Say why there is no answer, and end; the shell line decides what that means."""
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    _signal.setitimer(_signal.ITIMER_REAL, 1)  # nobody may be reading
    try:
        line = " ".join(sentence.split())
        posix.write(2, f"amplifier: {line}\n".encode(errors="replace"))
    finally:
        posix._exit(2)


def _write_head(agent: bytes, event: bytes, bundle: bytes) -> bytes:
    marks = [b"COPILOT_CLI"] if b"COPILOT_CLI" in posix.environ else []
    if posix.environ.get(b"CLAUDE_CODE_ENTRYPOINT") == b"sdk-cli":  # `claude -p`
        marks.append(b"HEADLESS")
    try:
        cwd = posix.getcwdb()
    except OSError:  # removed meanwhile
        cwd = b""
    fields = (
        VERSION.encode(),
        agent,
        event,
        b"%.3f" % get_seconds_left(),
        b",".join(marks),
        cwd,
        bundle,
    )
    return b"amplifier-guest 1\t" + b"\t".join(map(_escape, fields)) + b"\n"


def _escape(field: bytes) -> bytes:
    return field.replace(b"%", b"%25").replace(b"\t", b"%09").replace(b"\n", b"%0A")


def _encode(word: str) -> bytes:
    return word.encode(sys.getfilesystemencoding(), "surrogateescape")


def _read_limit(seconds: bytes) -> float:
    """The number on the command line, or a lower one from the environment."""
    limit = float(seconds)
    if not 0 < limit <= 86400:
        raise ValueError
    try:
        lower = float(posix.environ.get(b"AMPLIFIER_GUEST_SECONDS", seconds))
    except ValueError:
        return limit
    return lower if 0 < lower < limit else limit


def _get_silence(limit: float) -> float:
    """How long the resident process may say nothing: there must be time to ask another one."""
    return min(_LONGEST_SILENCE, limit / 2) if limit >= 20 else limit


def _set_alarm(limit: float) -> None:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # no traceback
    _signal.signal(_signal.SIGALRM, lambda *_: fail(f"no answer within {limit:g} seconds"))
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM, _signal.SIGTERM))
    _signal.setitimer(_signal.ITIMER_REAL, limit)


def _read_input() -> bytes:
    try:
        return b"".join(iter(lambda: posix.read(0, 65536), b""))
    except OSError as failure:
        raise RuntimeError(f"the event cannot be read: {failure.strerror}") from None


def _prepare_own_folder() -> bytes:
    """The caller's folder, made if this is the first call of this user."""
    folder = find_own_folder()
    try:
        posix.lstat(folder)
    except OSError:
        _find_rest()
        from amplifier_hooks.coding_agents.client.starting import make_folder

        make_folder(folder)
    return folder


def _find_rest() -> None:
    """Make what is rarely needed importable."""
    sys.path.append(__file__.rsplit("/", 4)[0])  # last: nothing there may hide the library


def _ask_again(call: _Call, failure: Exception) -> tuple[int, bytes, bytes]:
    _find_rest()
    from amplifier_hooks.coding_agents.client.starting import ask_again

    return ask_again(sys.modules[__name__], call, failure)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        try:
            data = data[posix.write(descriptor, data) :]
        except BlockingIOError:  # the agent shares a pipe that does not wait
            posix.set_blocking(descriptor, True)
        except OSError as failure:
            raise RuntimeError(f"the answer cannot be written: {failure.strerror}") from None


if __name__ == "__main__":
    main()
