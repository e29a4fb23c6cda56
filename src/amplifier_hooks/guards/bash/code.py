"""Code on the command line, read for harm: Python as Python, other languages by their words.

What could not be read may do anything; what was read may write inside the project and below `/tmp`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from amplifier_hooks.guards.bash.commands import Command, Options, read_options
from amplifier_hooks.guards.bash.words import Word, split_names

_READ_LANGUAGES = split_names("perl ruby node nodejs bun deno php lua r rscript julia")
_URL = re.compile(
    r"(?:https?|wss?|ftp|tcp)://(?!localhost|127\.|0\.0\.0\.0|\[::1\])", re.IGNORECASE
)
_STRING = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`([^`$]*)`")
_FAR = re.compile(
    r"/(?:etc|usr|var(?!/tmp)|s?bin|lib\w*|opt|root|home|Users|boot|dev(?!/(?:null|std|tty))|"
    r"proc|sys|srv|mnt|"
    r"Library|private|Applications|System)(?:/|$)|/$|~|(?:.*/)?\.\.(?:/|$)"
)
_HOME = re.compile(r"expanduser|\bhome\(|homedir|\bHOME\b|USERPROFILE|HOMEDRIVE")


@dataclass(frozen=True, slots=True)
class Code:
    """What one text of code does, as far as its words tell."""

    runs: bool = False
    """It starts programs, evaluates text, or loads what is not in sight."""
    sends: bool = False
    """It opens connections to other machines."""
    writes: bool = False
    """It writes, moves or deletes files."""
    strings: tuple[str, ...] = ()
    """Its literal texts, among which are the files that it names."""

    @property
    def harms(self) -> bool:
        """Whether it does more than look and change files of the project."""
        far = any(map(_FAR.match, self.strings))
        return self.runs or self.sends or (self.writes and far)


def read_code(name: str, text: str) -> Code | None:
    """Code of this interpreter; None for a language that is not read here."""
    if name.startswith(("python", "pypy")):
        return _read_python(text)
    return _read_words(name, text) if name in _READ_LANGUAGES else None


_PYTHON_RUNS = split_names(
    "subprocess pty ctypes code codeop runpy pexpect sh plumbum invoke fabric paramiko cffi "
    "_posixsubprocess "
    "pickle marshal importlib imp zipimport multiprocessing webbrowser antigravity builtins gc"
)
_PYTHON_SENDS = split_names(
    "socket socketserver ftplib smtplib telnetlib imaplib poplib nntplib xmlrpc ssl asyncore boto3 "
    "http urllib urllib2 urllib3 requests httpx aiohttp websocket websockets httplib"
)
_PYTHON_READS_NET = frozenset({"get", "head", "urlopen", "urlretrieve"})
_SYSTEM = frozenset({"os", "posix", "nt", "asyncio"})
_EVALUATING = split_names("eval exec compile __import__ globals breakpoint execfile")
_OS_RUNS = re.compile(
    r"system|popen\w*|exec\w*|spawn\w*|posix_spawn\w*|fork\w*|kill\w*|set\w*[ug]id|dup2|chroot|"
    r"startfile|putenv|__\w+__|create_subprocess_\w+|run_in_executor|subprocess_\w+|getoutput"
)
_WRITING = split_names(
    "write_text write_bytes unlink rmtree rmdir mkdir makedirs copyfile copytree symlink_to "
    "touch chmod "
    "truncate symlink hardlink_to extractall unpack_archive savetxt to_csv"
)
_WRITING_MODULES = frozenset({"os", "shutil"})
_WRITING_OF_MODULES = split_names("remove removedirs rename renames replace move copy copy2 link")
_DUNDER = re.compile(r"__(?!name__|main__|file__|version__|doc__|init__|all__|dict__|len__)\w+__")


def _read_python(text: str) -> Code:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _read_words("python", text)
    nodes = list(ast.walk(tree))
    strings = tuple(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    modules = {name.partition(".")[0] for node in nodes for name in _list_modules(node)}
    called = [node for node in nodes if isinstance(node, ast.Call)]
    names = {_name_call(node.func) for node in called}
    plain = {node.func.id for node in called if isinstance(node.func, ast.Name)}
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    read |= {
        alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    runs = (
        not modules.isdisjoint(_PYTHON_RUNS)
        or not plain.isdisjoint(_EVALUATING)
        or (not modules.isdisjoint(_SYSTEM) and any(map(_OS_RUNS.fullmatch, read)))
        or any(map(_DUNDER.fullmatch, read))
    )
    sends = not modules.isdisjoint(_PYTHON_SENDS) and not _only_gets(called, modules, strings)
    writes = not names.isdisjoint(_WRITING) or any(map(_changes_files, called))
    home = ("~",) if _HOME.search(text) else ()
    return Code(runs, sends, writes, (*strings, *home))


def _list_modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""


def _name_call(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _only_gets(called: list[ast.Call], modules: set[str], strings: tuple[str, ...]) -> bool:
    """Plain downloads, parsing of addresses, and anything that stays on this machine."""
    if modules & (_PYTHON_SENDS - {"urllib", "requests", "httpx", "http"}):
        return False
    if not any(map(_URL.search, strings)) and any("://" in one for one in strings):
        return True
    acting = {"post", "put", "patch", "delete", "request", "Request", "Client", "Session", "send"}
    acting |= {"HTTPConnection", "HTTPSConnection", "build_opener", "AsyncClient", "stream"}
    if any(_name_call(node.func) in acting for node in called):
        return False
    gets = [node for node in called if _name_call(node.func) in _PYTHON_READS_NET]
    plain = (len(node.args) <= 1 and not _has_data(node) for node in gets)
    return all(plain) and all(map(_is_plain_get, gets))


def _has_data(node: ast.Call) -> bool:
    return any(one.arg in {"data", "json", "files", "params", None} for one in node.keywords)


def _is_plain_get(node: ast.Call) -> bool:
    """Also `d.get(key)`, which no address is."""
    return not node.args or isinstance(node.args[0], ast.Constant | ast.Name)


def _changes_files(node: ast.Call) -> bool:
    name = _name_call(node.func)
    of = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(of, ast.Name) and of.id in _WRITING_MODULES:
        return name in _WRITING_OF_MODULES
    if name != "open":
        return False
    modes = [*node.args[1:2], *(one.value for one in node.keywords if one.arg == "mode")]
    modes += node.args[:1] if isinstance(node.func, ast.Attribute) else []
    return any(
        not isinstance(one, ast.Constant) or set(str(one.value)) & set("wax+") for one in modes
    )


_RUN_WORDS = re.compile(
    r"\b(?:system|exec\w*|popen\w*|spawn\w*|fork\w*|syscall|passthru|proc_open|shell_exec|"
    r"pcntl_\w+|"
    r"child_process|subprocess|eval|instance_eval|class_eval|send|__send__|public_send|"
    r"create_function|call_user_func\w*|dlopen|dl|os\.execute|io\.popen|loadstring|loadfile|dofile|"
    r"process\.binding|mainModule|process\.kill|kill|constructor|vm|worker_threads|pty|"
    r"Deno|Bun|FFI|ffi|Function|POSIX|Inline|Win32|IPC|Open3|PTY|Process|Kernel|trap|run|ccall|"
    r"suppressMessages|install\.packages|source|system2|shell|pipe|readpipe|qx|ssh|expect)\b"
)
_LETTERS = "[msixpodualngcr]*"
_BACKTICKS = re.compile(
    r"`[^`]*`|%x\W|\bqx\W|\bs\s*(?:(?P<mark>[^\w\s(\[{<]).*(?P=mark)|[(\[{<].*[)\]}>])"
    rf"{_LETTERS}e+{_LETTERS}(?:\s*$|\s*[;}})\"',]|\s+(?:if|unless|for|foreach|while|until|and|or)\b)",
    re.DOTALL,
)
"""What runs a command, and a replacement that is code: its letters stand behind the last mark."""
_OPEN_PIPE = re.compile(r"open\w*[\s(]+[^;]*(?:[\"']\s*\||\|\s*[\"']|-\||\|-)")
_SEND_WORDS = re.compile(
    r"\b(?:sockets?|Socket|TCPSocket|TCPServer|UDPSocket|fsockopen|stream_socket_\w+|curl_\w+|"
    r"net|dgram|tls|"
    r"IO::Socket\S*|LWP|HTTP|Net|open-uri|URI\.open|fetch|axios|XMLHttpRequest|WebSocket|mail|"
    r"ftp_\w+|"
    r"download\.file|url|https?\.(?:request|get)|file_get_contents\s*\(\s*[\"']http)\b"
)
_WRITE_WORDS = re.compile(
    r"\b(?:write\w*|append\w*|unlink\w*|rm\w*|rmdir\w*|rename\w*|remove\w*|delete|FileUtils|"
    r"mkdir\w*|"
    r"copy\w*|cp\w*|symlink\w*|chmod\w*|chown\w*|truncate\w*|file_put_contents|fopen|fwrite|"
    r"move\w*|"
    r"File\.open|File\.write|IO\.write|createWriteStream|open)\b"
)
_NAMED_LOCALLY = re.compile(r"\b(?:Regexp?|re|pattern|RegExp|/\w+/)\.exec\b|\.exec\(")


def _read_words(name: str, text: str) -> Code:
    """By the words that could do it, wherever they stand; strings are searched as well."""
    strings = tuple(next(filter(None, found), "") for found in _STRING.findall(text))
    plain = _NAMED_LOCALLY.sub("", text) if name in {"node", "nodejs", "bun", "deno"} else text
    runs = bool(_RUN_WORDS.search(plain))
    if name in {"perl", "ruby", "php"}:
        runs = runs or bool(_BACKTICKS.search(text) or _OPEN_PIPE.search(text))
    sends = bool(_SEND_WORDS.search(text)) and not _is_local_only(text)
    home = ("~",) if _HOME.search(text) else ()
    return Code(runs, sends, bool(_WRITE_WORDS.search(text)), (*strings, *home))


def _is_local_only(text: str) -> bool:
    return "://" in text and not _URL.search(text)


_AWKS = split_names("awk gawk mawk nawk")
_AWK = Options.read(
    "PSbcCghMnNOrstI --posix --traditional --re-interval --csv --lint --sandbox --non-decimal-data",
    "FvfeilEdop --field-separator --assign --file --source --include --load --exec",
    permutes=False,
)
_AWK_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_AWK_REGEX = re.compile(r"(^|[\s(,!~&|;{}])/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]]*\])+/")
_AWK_RUNS = re.compile(r"\bsystem\s*\(|\|&|(?<!\|)\|(?!\|)|@load|\bsprintf\s*\(.*\|")
_AWK_WRITES = re.compile(r"\bprintf?\b[^;}\n]*>>?\s*(\"[^\"]*\"|[^\s;}]+)")


def harms_by_awk(command: Command) -> bool | None:
    """Whether an awk program runs commands or writes far away; None if it is no awk."""
    if command.name not in _AWKS:
        return None
    reading = read_options(command.words, _AWK)
    if reading.has("l", "load", "i", "include", "E", "exec", "D", "debug"):
        libraries = {(reading.find("i", "include") or Word("", "")).value}
        return libraries != {"inplace"} or reading.has("l", "load", "E", "exec")
    texts = [value for name, value in reading.given if name in {"e", "source"} and value]
    if not texts and not reading.has("f", "file"):
        texts = list(reading.rest[:1])
    return any(map(_awk_text_harms, texts))


def _awk_text_harms(word: Word) -> bool:
    if word.value is None and not re.search(r"[{}/ ]", word.raw.replace("${", "")):
        return True  # `awk "$program"`
    text = word.raw.strip("\"'") if word.value is None else word.value
    if word.value is None:
        text = text.replace('\\"', '"')
    bare = _AWK_STRING.sub('""', text)
    bare = _AWK_REGEX.sub(r"\1 ", bare)
    if _AWK_RUNS.search(bare):
        return True
    targets = [found[1].strip('"') for found in _AWK_WRITES.finditer(_AWK_REGEX.sub(r"\1 ", text))]
    return any(map(_FAR.match, targets))


_EXPANSION = re.compile(r"\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\$\{[^}]*\}|\$[A-Za-z0-9_@*#?!$-]")


def fill_expansions(raw: str, letter: str = "x") -> str:
    """The text of a word with a letter in place of everything that a shell puts in."""
    return re.sub(r"[\"']", "", _EXPANSION.sub(letter, raw)).replace("\\\\", "\\")
