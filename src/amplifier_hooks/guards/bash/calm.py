"""Which findings need no question in the profile `calm`, because of what the command does.

Each rule that is about syntax or about a class of programs has a function here that says whether
this very command is harmless, with the reason. A rule without one is asked about in every profile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from amplifier_hooks.guards.bash.addresses import LOOKUPS, carries_output
from amplifier_hooks.guards.bash.code import fill_expansions, harms_by_awk, read_code
from amplifier_hooks.guards.bash.code_rules import (
    is_interpreter,
    is_risky_sed,
    list_sed_scripts,
    only_filters,
)
from amplifier_hooks.guards.bash.commands import Command, find_values
from amplifier_hooks.guards.bash.consequences import (
    harms_database,
    has_input,
    is_local,
    is_of_project,
    sends_away,
)
from amplifier_hooks.guards.bash.find import list_chosen
from amplifier_hooks.guards.bash.git import read_git
from amplifier_hooks.guards.bash.named_files import ScriptFacts
from amplifier_hooks.guards.bash.runners import is_read_whole
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.situations import (
    DOWNLOADERS,
    Situation,
    add_input,
    list_outputs,
    name_file,
    strip_directory,
)
from amplifier_hooks.guards.bash.unwrap import SHELLS, unwrap_command
from amplifier_hooks.guards.bash.variables import list_set_names
from amplifier_hooks.guards.bash.words import Word, create_literal, split_names, unquote
from amplifier_hooks.guards.bash.workspace import Reach
from amplifier_hooks.guards.bash.wrappers import DEBUGGERS, PREFIXES
from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.guards.policy.protected_places import is_project_place

Settles = Callable[[Situation], bool]


# ---- what cannot be told beforehand ------------------------------------------------------------

_HARMLESS_DOUBTS = re.compile(
    # An option that is not known here belongs to a program that is judged by its other words.
    r"what (?:find|xargs|timeout|nice|env|time|watch|command|nohup|flock|script|docker|strace|"
    r"ssh|su|"
    r"sudo|exec|stdbuf|setsid|ionice|parallel|trap|entr|mapfile|readarray|complete|compgen)\b.* "
    r"runs is "
    r"not certain"
    r"|may make find run something else"
    r"|a backslash inside backquotes"
    # Its inner commands are judged with the marks as they stand.
    r"|the text that \w*sh runs, .*\{\}|what parallel runs is put together"
    # Somebody would have to prepare the text of the variable.
    r"|^arithmetic evaluates|is evaluated as arithmetic|is expanded once more"
    r"|a name behind >& is expanded twice"
    r"|single quotes inside double quotes"
    # These are asked about by their own rules.
    r"|^(?:su|sudo|ssh|script|doas|pkexec|chroot|unshare) starts a shell"
    r"|the text that (?:su|ssh|watch|script) runs"
    r"|a number or name stands directly before"
    r"|see the ends of its lines differently"
    r"|a backslash at the end of a line"
    r"|takes one word for two"
    r"|the grammar overlooks a (?:part|substitution)"
)
_ENVIRONMENT_TOOLS = re.compile(
    r"the text that eval runs, [\"']?[$`]\(?(?:pyenv|rbenv|nodenv|goenv|jenv|nvm|fnm|volta|mise|"
    r"rtx|asdf|"
    r"direnv|brew|starship|zoxide|opam|conda|mamba|micromamba|ssh-agent|dircolors|luarocks|rustup|"
    r"minikube|docker-machine|thefuck|atuin|npm|pip|uv|poetry|gh) [\w -]*\b(?:init|hook|"
    r"shellenv|env|activate|"
    r"shell\.\w+|completion|-s|-|bash|zsh|path|docker-env)\b|the text that eval runs, "
    r"[\"']?[$`]\(?(?:ssh-agent|dircolors)"
)
_PREPARED = re.compile(r"\[\s*(?:\$\(|`)")


_HELD_TEXT = re.compile(r"the text that \w+ runs, (\"[^\"`]*\"), is not literal")
_PLAIN_TEXT = (
    r"(?:[\w./:@%+,-]*|\$[!$?#]|\$\{?(?:PWD|HOME|TMPDIR)\}?[\w./-]*|"
    r"\$\((?:mktemp(?: [\w./-]+)*|pwd|git rev-parse --show-toplevel)\))"
)
_PLAIN_VALUE = rf"(?:{_PLAIN_TEXT}|\"{_PLAIN_TEXT}\"|'[\w./:@%+,-]*')"


def is_harmless_doubt(doubt: str, source: str) -> bool:
    """Whether a doubt about the text of a command hides nothing that would be worth a question."""
    if _ENVIRONMENT_TOOLS.search(doubt) or _holds_plain_values(doubt, source):
        return True
    return bool(_HARMLESS_DOUBTS.search(doubt)) and not _PREPARED.search(source)


def _holds_plain_values(doubt: str, source: str) -> bool:
    """`trap "kill $PID" EXIT`, if the same command sets the variable to `$!`, a name or a path."""
    held = _HELD_TEXT.fullmatch(doubt)
    names = re.findall(r"\$\{?(\w+)\}?", held[1]) if held else []
    return bool(names) and all(_is_plainly_set(name, source) for name in names)


def _is_plainly_set(name: str, source: str) -> bool:
    mentioned = re.findall(rf"(?<![\w$\{{]){name}\b", source)
    plain = re.findall(rf"(?:^|[\s;&|(]){name}={_PLAIN_VALUE}(?=$|[\s;&|)])", source)
    return bool(plain) and len(mentioned) == len(plain)


_DELETING = split_names("rm unlink shred trash trash-put srm wipe dd mkfs truncate")
_LISTING = split_names(
    "find fd fdfind gfind ls grep egrep fgrep rg git sort uniq head tail cat awk sed cut tr "
    "echo printf xargs"
)


def needs_no_words(situation: Situation) -> bool:
    """Whether the program can do no harm with any value of the words that are not known."""
    command = situation.command
    if command.name in _DELETING:
        return _deletes_known(situation)
    if command.name == "git":
        return read_git(command) is not None
    if command.name in {"docker", "podman"} and any(
        w.value in {"rm", "rmi"} for w in command.words
    ):
        # `docker rm $(docker ps -aq)` are those of other projects, too.
        return all("docker" not in word.runs for word in command.words)
    if command.name in DOWNLOADERS | LOOKUPS:
        return not carries_output(situation)
    # What these run is asked about by their own rules.
    return True


def _deletes_known(situation: Situation) -> bool:
    unknown = [word for word in situation.command.operands if word.value is None]
    if (
        unknown
        and situation.command.via
        and {"find", "gfind", "xargs"} & set(situation.command.via)
    ):
        return _comes_from_project(situation)
    return all(_is_inside(situation, word) or _is_chosen(situation, word) for word in unknown)


_WHOLE_VARIABLE = re.compile(r"[\"']?\$\{?(\w+)\}?[\"']?")


def _is_chosen(situation: Situation, word: Word) -> bool:
    """`rm $(find src -name x)`, `for f in $(find src -name x); do rm "$f"; done`."""
    commands = situation.script.commands
    if word.runs:
        makers = [tuple(one for one in commands if one.text and one.text in word.raw)]
    else:
        found = _WHOLE_VARIABLE.fullmatch(word.raw)
        name = found[1] if found is not None else ""
        makers = list(ScriptFacts(commands).list_makers(name))
        if sum(name in list_set_names(one) for one in commands) != len(makers):
            return False  # it is set otherwise as well
    return bool(makers) and all(_choose_in_project(situation, one) for one in makers)


def _choose_in_project(situation: Situation, makers: Sequence[Command]) -> bool:
    if not {one.name for one in makers} <= _LISTING or any(map(_reads_names, makers)):
        return False
    words = [word for one in makers for word in _list_named_by(one)]
    rated = [situation.rate_word(word) for word in words]
    return bool(rated) and max(rated) is Reach.INSIDE


_FILTERING = split_names("grep egrep fgrep rg awk sed")
_READING_NAMES = split_names("cat head tail sort uniq")


def _reads_names(command: Command) -> bool:
    """Whether a filter takes names from a file, too: `find src | cat - list`."""
    named = [word.value or "?" for word in command.operands if word.value != "-"]
    if command.name in _FILTERING:
        scripted = not {"-e", "-f", "--regexp", "--file", "--expression"}.isdisjoint(command.flags)
        return len(named) > (0 if scripted else 1)
    return command.name in _READING_NAMES and any(not one.lstrip("+-").isdigit() for one in named)


def _is_inside(situation: Situation, word: Word) -> bool:
    known = list(situation.resolve(word))
    return bool(known) and all(situation.rate_word(one) is Reach.INSIDE for one in known)


def _comes_from_project(situation: Situation) -> bool:
    """`find src -name x | xargs rm`: what chooses among the files of the project says which."""
    feeding = set(situation.command.piped_from)
    fed = [one for one in situation.script.commands if one.name in feeding or not feeding]
    return feeding <= _LISTING and _choose_in_project(
        situation, [one for one in fed if one.name in _LISTING]
    )


def _list_named_by(command: Command) -> Iterator[Word]:
    """The places that the output of a command may name."""
    if command.name in {"find", "gfind"}:
        yield from list_chosen(command)
    elif command.name == "ls":
        yield from command.operands or (create_literal("."),)
    elif command.name == "git" and {word.value for word in command.words[:1]} == {"ls-files"}:
        yield from command.operands[1:] or (create_literal("."),)


def _settles_unknown_write(situation: Situation) -> bool:
    """A variable in the name of a file: what is literal in it says enough, and its known values."""
    words = [one.target for one in situation.command.redirects if one.writes]
    return all(
        _writes_nothing_that_decides(situation, word) for word in words if word.value is None
    )


_DECIDING = re.compile(
    r"(?:~|\$\{?HOME\}?)[\"']?/\.|\.(?:ssh|aws|bash\w*|zsh\w*|profile|git|claude|codex|"
    r"amplifier)\b|^[\"']?/(?:etc|dev|usr|boot)/"
)


def _writes_nothing_that_decides(situation: Situation, word: Word) -> bool:
    if _DECIDING.search(word.raw):
        return False
    named = unquote(word.raw)
    if "{}" in named and situation.command.via:
        if named.startswith("{}"):
            return _comes_from_project(situation)
        return situation.rate_word(create_literal(named.replace("{}", "x"))) is Reach.INSIDE
    known = situation.resolve(word)
    return all(
        situation.rate_word(one) is not Reach.SYSTEM and not _is_deciding(situation, one)
        for one in known
    )


def _is_deciding(situation: Situation, word: Word) -> bool:
    return any(is_project_place(path) for path in situation.find_paths(word))


_FINDS_PROGRAM = re.compile(r"^[\"']?\$\((?:command -v|which|type -p) ([\w.-]+)\)[\"']?$")
_PROGRAM_VARIABLES = re.compile(
    r"^[\"']?\$\{?(?:PYTHON\d?|CC|CXX|MAKE|NODE|SHELL_CMD|GO|CARGO|RUBY|JAVA|JAVA_HOME|"
    r"VIRTUAL_ENV|NVM_BIN|"
    r"CONDA_PREFIX|GOPATH|GOBIN|PWD|ROOT|DIR|SCRIPT_DIR|PROJECT\w*|npm_execpath)\b"
)


def _settles_unknown_program(situation: Situation) -> bool:
    """`"$PYTHON" x` and `$(which node) x` run what they are called after."""
    text = situation.command.text.lstrip()
    first = text.split(maxsplit=1)[0] if text else ""
    if _PROGRAM_VARIABLES.match(first) and not any(
        name in first.split("/")[0] for name in _list_assigned_names(situation)
    ):
        return True
    if _FINDS_PROGRAM.match(text.partition(")")[0] + ")"):
        return True
    return _was_compiled(situation, first.strip("\"'"))


def _was_compiled(situation: Situation, program: str) -> bool:
    """`go build -o "$tmp/app" && "$tmp/app"`, in a folder that the same command makes."""
    makers = [
        one
        for one in situation.script.commands
        if any(program in word.raw for word in one.words) and one.name not in {"rm", "ls", "chmod"}
    ]
    known = situation.resolve(Word(program, None))
    inside = bool(known) and all(situation.rate_word(one) is Reach.INSIDE for one in known)
    return inside and bool(makers) and all(one.name in _BUILDERS for one in makers)


_BUILDERS = split_names(
    "gcc g++ cc c++ clang clang++ rustc go javac ghc nasm ld swiftc zig dmd gfortran"
)


def _list_assigned_names(situation: Situation) -> set[str]:
    return {name for one in situation.script.commands for name in one.assigns}


# ---- variables, and the shell itself -----------------------------------------------------------

_ASSIGNMENT = re.compile(
    r"(?:^|[\s;&|(])(?:export\s+|declare\s+(?:-\w+\s+)?)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|"
    r"[^\s;&|)]*)"
)
_ALWAYS_ASKED = re.compile(
    r"LD_(?!LIBRARY_PATH)\w+|DYLD_(?!LIBRARY_PATH|FALLBACK)\w+|BASH_(?!SILENCE)\w+|ENV|"
    r"PROMPT_COMMAND|PS4|"
    r"SHELLOPTS|BASHOPTS|"
    r"PERL5DB|PERL5OPT|RUBYOPT|PYTHONSTARTUP|PYTHONINSPECT|PYTHONHOME|PYTHONBREAKPOINT|"
    r"PYTHONWARNINGS|LESSOPEN|LESSCLOSE|GCONV_PATH|HOME|XDG_CONFIG_HOME|HOSTALIASES|EXINIT|VIMINIT|"
    r"CURL_HOME|WGETRC|INPUTRC|SSH_(?!AUTH_SOCK)\w+|AMPLIFIER_\w+|GIT_(?:CONFIG\w*|SSH\w*|"
    r"EXEC_PATH|"
    r"EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND|TEMPLATE_DIR|DIR|WORK_TREE|OBJECT_DIRECTORY|"
    r"ALTERNATE\w*|INDEX_FILE)|"
    r"MAKEFLAGS|JAVA_TOOL_OPTIONS|FZF_DEFAULT_COMMAND|RIPGREP_CONFIG_PATH|LESSKEY|TERMINFO|"
    r"LOCPATH|NLSPATH|"
    r"\w+_(?:COMMAND|ASKPASS|PRELOAD|HOOK|PAGER|SHELL)|\w+PAGER|"
    r"npm_config_(?:node_options|script_shell|registry|userconfig|globalconfig)"
)
_PLAIN_PROGRAM = re.compile(
    r"[\"']?(?:|cat|true|:|less|more|vim?|nano|emacs|code(?: --wait)?|echo|/bin/true|/usr/bin/true|"
    r"less -\w+|sed -i [^;|&`$]*)[\"']?"
)
_RUNS_VALUE = frozenset(
    {"PAGER", "EDITOR", "VISUAL", "BROWSER", "MANPAGER", "GIT_EDITOR", "GIT_PAGER", "SHELL"}
    | {"GIT_SEQUENCE_EDITOR"}
)
_LOADING_OPTIONS = re.compile(
    r"--(?:require|import|loader|experimental-loader)|(?:^|\s|[\"'])-r\b|-javaagent"
)


def _settles_environment(situation: Situation) -> bool:
    """`PYTHONPATH=src pytest`: only variables that make other programs run something else count.

    Where programs and modules are searched for says which files of the project run, which is no
    more than naming them.
    """
    found = _ASSIGNMENT.findall(situation.command.text)
    values = dict(found)
    names = set(list_set_names(situation.command))
    return all(name is None or _is_plain_setting(name, values.get(name)) for name in names) and (
        None not in names or not values
    )


def _is_plain_setting(name: str, value: str | None) -> bool:
    if _ALWAYS_ASKED.fullmatch(name):
        return False
    if name in _RUNS_VALUE:
        return value is not None and bool(_PLAIN_PROGRAM.fullmatch(value))
    if name == "NODE_OPTIONS":
        return value is not None and not _LOADING_OPTIONS.search(value)
    return True


def _settles_shell_setup(situation: Situation) -> bool:
    """What changes only the shell of this one command, and no program that comes later in it."""
    command = situation.command
    if command.name in {"alias", "bind"} and not command.operands:
        return command.flags.isdisjoint({"-f", "-x"})  # it lists what there is
    if command.flags & {"-f", "-p", "-C", "-F", "-x"} and command.name != "shopt":
        return False
    words = {word.value for one in situation.script.commands for word in one.words}
    return "expand_aliases" not in words


def _settles_sourced_file(situation: Situation) -> bool:
    """As `bash FILE` does: a file that the same command has not written."""
    words = situation.command.words[:1]
    if not words or words[0].value is None:
        return bool(words) and bool(
            re.match(r"[\"']?\$\{?(?:HOME|VIRTUAL_ENV|NVM_DIR|PWD|CONDA_PREFIX)\}?/", words[0].raw)
        )
    return strip_directory(words[0].value) not in situation.outputs


# ---- code ----------------------------------------------------------------------------------------


def _settles_opaque_code(situation: Situation) -> bool:
    """Code that can be read and does no more than look, or change files of the project."""
    command = situation.command
    name = command.name or ""
    awk = harms_by_awk(command)
    if awk is not None:
        return not awk
    if name in {"sed", "gsed"}:
        return not _harms_by_sed(command)
    texts = list(_list_code(situation))
    if not texts:
        return False
    for text in texts:
        code = None if text is None else read_code(name, text)
        if (
            code is None
            or code.harms
            or any(
                code.writes and _is_deciding(situation, create_literal(one)) for one in code.strings
            )
        ):
            return False
    return True


def _harms_by_sed(command: Command) -> bool:
    if not is_risky_sed(command):
        return False
    scripts = list_sed_scripts(command)
    return not all(map(_only_filters, scripts))


def _only_filters(word: Word) -> bool:
    """Also of `sed "${line}p"`, where what is put in may be an address."""
    if word.value is not None:
        return only_filters(word.value)
    return any(only_filters(fill_expansions(word.raw, letter)) for letter in "x1")


_CODE_FLAG = re.compile(r"-[a-zA-Z0-9]*?[ceEprRBx]")


def _list_code(situation: Situation) -> Iterator[str | None]:
    """The texts that an interpreter gets as code; None for one that is not in sight."""
    command = situation.command
    name = command.name or ""
    found = False
    words = command.words
    for at, word in enumerate(words):
        if _is_code_flag(name, word.value or ""):
            found = True
            following = words[at + 1] if at + 1 < len(words) else None
            yield _read_code_word(following)
            if name.startswith(("python", "pypy")):
                return
        elif (word.value or "").startswith(("--eval=", "--print=")):
            found = True
            yield (word.value or "").partition("=")[2]
    if not found:
        yield _read_fed(situation)


def _is_code_flag(name: str, flag: str) -> bool:
    if name.startswith(("python", "pypy")):
        return bool(re.fullmatch(r"-[bBdEiIOqsSuvx]*c", flag))
    if name in {"perl", "ruby"}:
        return bool(re.fullmatch(r"-[a-zA-Z0-9]*[eE]", flag))
    if name in {"node", "nodejs", "bun", "deno"}:
        return flag in {"-e", "-p", "-pe", "--eval", "--print", "eval"}
    return flag in {"-r", "-e", "-E", "-B"}


def _read_code_word(word: Word | None) -> str | None:
    if word is None:
        return None
    if word.value is not None:
        return word.value
    if not word.single or word.runs or not re.search(r"[ (.]", word.raw):
        return None  # `python -c "$code"`
    return fill_expansions(word.raw) if not re.search(r"['\"]", word.raw[1:-1]) else word.raw[1:-1]


def _read_fed(situation: Situation) -> str | None:
    command = situation.command
    if command.stdin is not None:
        if command.stdin.value is not None:
            return command.stdin.value
        return _plain_text(command.stdin)
    if command.piped_from and set(command.piped_from) <= {"echo", "printf"}:
        said = [one for one in situation.script.commands if one.name in {"echo", "printf"}]
        words = [word.value for one in said for word in one.words]
        return None if None in words else "\n".join(word or "" for word in words)
    files = [one.target.value for one in command.redirects if one.operator == "<"]
    if (
        files
        and all(files)
        and not any(strip_directory(f or "") in situation.outputs for f in files)
    ):
        return ""  # as if the file were named
    return None


def _plain_text(word: Word) -> str | None:
    """A here-document with variables in it, but without anything that runs."""
    return None if "$(" in word.raw or "`" in word.raw else word.raw


def _settles_written_then_run(situation: Situation) -> bool:
    """A program that was compiled, or a script whose text stands in the same command."""
    commands = situation.script.commands
    command = situation.command
    words = [*map(name_file, command.arguments[:1]), command.program]
    names = {strip_directory(word) for word in words if word}
    others = (one for one in commands if one is not command)
    writers = [one for one in others if names & set(map(strip_directory, _list_outputs(one)))]
    return all(_is_readable_source(one, situation) for one in writers)


def _list_outputs(command: Command) -> list[str]:
    return list(list_outputs(Script((command,))))


_COMPILERS = split_names(
    "gcc g++ cc c++ clang clang++ rustc go javac ghc ocamlfind nasm ld tsc swiftc zig dmd gfortran "
    "sed gsed perl touch mkdir cp mv ln chmod"
)


def _is_readable_source(writer: Command, situation: Situation) -> bool:
    if writer.name in _COMPILERS:
        return True
    if writer.name not in {"cat", "tee", "echo", "printf", ":", None}:
        return False
    text = writer.stdin.value if writer.stdin is not None else None
    if writer.name in {"echo", "printf"}:
        values = [word.value for word in writer.words if not word.is_flag]
        text = None if None in values else " ".join(value or "" for value in values)
    if text is None:
        return False
    runner = situation.command.name or ""
    if runner in SHELLS or not is_interpreter(runner):
        return _is_plain_script(text)
    code = read_code(runner, text)
    return code is not None and not code.harms


_HARM_IN_SCRIPT = re.compile(
    r"\b(?:curl|wget|nc|ncat|socat|ssh|scp|rsync|sudo|su|dd|mkfs\S*|eval|base64|git\s+push|crontab|"
    r"systemctl|chmod|chown|find|xargs|kill\w*|python\S*|perl|ruby|node|php)\b|\brm\s|/dev/|"
    r">\s*[~/]|~/"
)


def _is_plain_script(text: str) -> bool:
    """A script that does nothing which would be worth a question by itself."""
    return not _HARM_IN_SCRIPT.search(text) and not unwrap_command(text).unclear


# ---- git -----------------------------------------------------------------------------------------

_SAFE_SETTINGS = re.compile(
    r"(?:user|color|advice|commit|branch|push|pull|rebase|merge\.(?:ff|conflictstyle|log)|log|"
    r"status|"
    r"column|rerere|help|i18n|format|gui|blame|apply|stash|tag|versionsort|feature|maintenance|"
    r"gc|pack|index)\."
    r"\S*|core\.(?:quotepath|autocrlf|filemode|ignorecase|eol|safecrlf|precomposeunicode|abbrev|"
    r"longpaths|symlinks|preloadindex|untrackedcache|whitespace|commentchar|compression)|"
    r"diff\.(?:algorithm|renames|renamelimit|"
    r"colormoved\w*|noprefix|mnemonicprefix|context|interhunkcontext|wserrorhighlight)|"
    r"fetch\.(?:prune|parallel)|init\.defaultbranch|"
    r"transfer\.fsckobjects|http\.(?:postbuffer|version|lowspeed\w+)|protocol\.version|"
    r"(?:core\.(?:pager|editor)|sequence\.editor)=(?:cat|true|:|)|"
    r"lfs\.\S*|safe\.directory\S*|checkout\.\S*|grep\.\S*|submodule\.(?:recurse|fetchjobs)",
    re.IGNORECASE,
)
_READING_CONFIG = frozenset(
    {"--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--get-color"}
)
_GIT_LOADS = frozenset({"--config-env", "--exec-path"})
_GIT_TRANSPORT = frozenset({"--upload-pack", "--receive-pack"})


def _settles_git_setting(situation: Situation) -> bool:
    """`git switch -c x` and `git -c user.name=x commit`: only some settings run programs."""
    call = read_git(situation.command)
    if call is None or call.has(*_GIT_TRANSPORT):
        return False
    keys: list[str] = []
    words = list(situation.command.words)
    at = 0
    while at < len(words) and words[at].is_flag:
        flag = words[at].value or ""
        if flag.partition("=")[0] in _GIT_LOADS:
            return False
        if flag == "-c":
            keys.append((words[at + 1].value or "?") if at + 1 < len(words) else "?")
        at += 2 if flag in {"-c", "-C", "--git-dir", "--work-tree", "--namespace"} else 1
    if call.subcommand == "clone":
        keys += [word.value or "?" for word in find_values(call.own.words, "-c", "--config")]
    if call.subcommand == "config":
        return _settles_git_config(situation) if not keys else False
    return all(_is_safe_setting(key) for key in keys)


def _is_safe_setting(text: str) -> bool:
    key = text.partition("=")[0]
    return bool(_SAFE_SETTINGS.fullmatch(text) or _SAFE_SETTINGS.fullmatch(key))


def _settles_git_config(situation: Situation) -> bool:
    """Reading a setting, or giving the project one that runs nothing."""
    call = read_git(situation.command)
    if call is None or call.subcommand != "config":
        return False
    operands = [word.value or "?" for word in call.own.operands]
    if operands[:1] in (["get"], ["list"]) or call.has(*_READING_CONFIG):
        return True
    changing = call.has("-e", "--edit", "--unset", "--unset-all", "--add", "--replace-all")
    if len(operands) == 1 and not changing:
        return True
    if call.has("--global", "--system", "-f", "--file", "-e", "--edit"):
        return False
    return bool(operands) and _is_safe_setting(f"{operands[0]}={''.join(operands[1:2])}")


def _settles_git_runs(situation: Situation) -> bool:
    """`-x` is an option of `cherry-pick` and of others that run nothing."""
    call = read_git(situation.command)
    if call is None or call.has("--exec", "--extcmd", "--ext-diff") or not call.subcommand:
        return False
    if call.has("--template"):
        return False
    return call.subcommand not in {"rebase", "difftool"}


def _settles_inner(situation: Situation) -> bool:
    """What it runs was found and is judged in its place."""
    inside = (*situation.command.via, situation.command.name)
    return any(other.via == inside for other in situation.script.commands)


def _settles_branch(situation: Situation) -> bool:
    """`git branch -d` refuses to delete what is not merged."""
    return situation.command.flags.isdisjoint({"-D", "-f", "--force", "-M"})


def _always(situation: Situation) -> bool:
    return True


# ---- packages and tools --------------------------------------------------------------------------

_DEV_TOOLS = split_names(
    "tsc tsx ts-node eslint prettier jest vitest mocha ava c8 nyc cypress playwright vite "
    "webpack rollup "
    "esbuild parcel next nuxt astro svelte-check svelte-kit vue-tsc vue-cli-service ng nx turbo "
    "lerna tsup "
    "swc babel rimraf cross-env concurrently nodemon pm2 serve http-server live-server json-server "
    "prisma drizzle-kit knex sequelize sequelize-cli typeorm typedoc jsdoc storybook sb stylelint "
    "markdownlint markdownlint-cli markdownlint-cli2 commitlint lint-staged husky "
    "npm-check-updates ncu "
    "depcheck madge knip size-limit bundlesize tailwindcss tailwind postcss sass less "
    "create-vite create-next-app "
    "create-react-app create-remix create-astro create-svelte degit hygen plop graphql-codegen "
    "openapi-typescript openapi-generator-cli @openapitools tsoa nest biome oxlint dprint rome "
    "standard xo "
    "remark cspell alex browserslist update-browserslist-db expo react-native cap ionic electron "
    "electron-builder electron-forge changeset semantic-release release-it wrangler vercel "
    "netlify firebase "
    "serverless cdk sst vsce ts-prune ts-jest tsd attw publint pkg nexe react-scripts craco gatsby "
    "shadcn shadcn-ui wait-on start-server-and-test npm-run-all run-s run-p sort-package-json "
    "syncpack license-checker "
    "swagger-cli redocly spectral ajv json2ts quicktype svgo imagemin lighthouse lhci pa11y "
    "percy chromatic "
    "tap ava jasmine karma testcafe nightwatch wdio codecept k6 autocannon hardhat truffle foundry "
    "ruff black isort flake8 pylint mypy pyright pytest tox nox pre-commit poetry pdm hatch uv "
    "bandit "
    "pyupgrade autoflake yapf pydocstyle mkdocs sphinx-build jupyter cookiecutter copier twine "
    "build "
    "pip-audit pip-compile pip-tools djlint sqlfluff codespell vulture radon interrogate coverage "
    "cowsay pnpm yarn npm corepack node dotenv dotenv-cli dotenvx env-cmd cross-env-shell "
    "start-server-and-test chokidar-cli onchange tsc-watch"
)


def _settles_runner(situation: Situation) -> bool:
    """`npx tsc`: a tool of the project, or one that everybody's projects have."""
    command = situation.command
    inner = [
        one
        for one in situation.script.commands
        if one.via and one.via == (*command.via, command.name)
    ]
    if not inner:
        return command.name in {"pipx", "npx"} and bool(
            {word.value for word in command.words} & {"list", "--version", "--help", "environment"}
        )
    return all(_is_tool(situation, one) for one in inner)


def _is_tool(situation: Situation, command: Command) -> bool:
    name = (command.name or "").partition("@")[0]
    if command.program is None or command.program.startswith(("git+", "http", "github:")):
        return False
    if name in _DEV_TOOLS:
        return True
    folder = situation.workspace.working_dir
    places = ("node_modules/.bin", ".venv/bin", "venv/bin")
    return any((folder / place / name).exists() for place in places)


def _settles_packages(situation: Situation) -> bool:
    """What the manifest names, or adds to it, goes into the project; addresses have their rule."""
    words = {word.value for word in situation.command.arguments[:2]}
    if situation.command.name in {"npm", "pnpm", "yarn", "bun"} and words & {"exec", "x", "dlx"}:
        return _settles_runner(situation)
    return True


# ---- other programs ------------------------------------------------------------------------------

_HOST_PLACES = re.compile(
    r"^(?:source=|src=|type=bind,(?:source|src)=)?(?:/(?:$|:|etc|root|home/?:|home$|var(?!/tmp)|"
    r"proc|sys|dev|boot|usr|bin|lib)|"
    r"~/?(?::|$)|~/\.|\$\{?HOME\}?/?(?::|$)|\$\{?HOME\}?/\.|\.\.(?:/\.\.)*(?::|$))|docker\.sock"
)


def _settles_container(situation: Situation) -> bool:
    """A folder of the project or a named volume, but not the machine itself."""
    command = situation.command
    if not command.flags.isdisjoint({"--privileged", "--pid", "--cap-add", "--device", "--ipc"}):
        return False
    given = [
        *find_values(command.words, "-v", "--volume"),
        *find_values(command.words, "--", "--mount"),
    ]
    texts = [(word.value or word.raw).strip("\"'") for word in given]
    return not any(_HOST_PLACES.search(text) for text in texts)


def _settles_upload(situation: Situation) -> bool:
    return not sends_away(situation.command)


def _settles_connection(situation: Situation) -> bool:
    """A look whether a port of this machine is open, or the version of the program."""
    command = situation.command
    if command.name == "ssh":
        return bool(command.words) and command.words[0].value in {"-V", "-Q", "-G"}
    if command.name in {"nc", "ncat", "netcat"}:
        looks = "-z" in command.flags and command.flags.isdisjoint({"-e", "-c", "-l"})
        return looks and bool(command.operands) and is_local(command.operands[0])
    return command.name == "telnet" and bool(command.operands) and is_local(command.operands[0])


def _settles_kill(situation: Situation) -> bool:
    """`pkill -f vite`: the servers and tests of a project, by their command line."""
    command = situation.command
    if not command.flags.isdisjoint({"-u", "-U", "-G", "-g", "--euid", "--uid"}):
        return False
    names = [word.value or "" for word in command.operands]
    return len(names) == 1 and is_of_project(names[0]) and not command.flags & {"-v"}


_GET_FLAGS = frozenset({"-f", "-F", "--field", "--raw-field", "--input"})


def _settles_repository(situation: Situation) -> bool:
    """`gh api` reads unless a method or a field says otherwise."""
    command = situation.command
    verbs = [word.value for word in command.arguments]
    if "api" not in verbs[:1]:
        return False
    methods = {(word.value or "?").upper() for word in find_values(command.words, "-X", "--method")}
    if methods:
        return methods == {"GET"}
    graphql = verbs[1:2] == ["graphql"]
    if graphql:
        return not any("mutation" in (word.value or word.raw) for word in command.words)
    return command.flags.isdisjoint(_GET_FLAGS)


_COMPRESSORS = split_names(
    "zstd zstdmt unzstd gzip gunzip pigz unpigz bzip2 bunzip2 lbzip2 pbzip2 xz unxz pixz lz4 "
    "lzop lzip brotli compress"
)


def _settles_compressor(situation: Situation) -> bool:
    command = situation.command
    if not command.flags.isdisjoint({"--checkpoint-action", "--to-command", "--rsh-command"}):
        return False
    if any((flag).startswith(("--check", "--to-c")) for flag in command.flags):
        return False
    given = [
        *find_values(command.words, "-I", "--use-compress-program"),
        *find_values(command.words, "--", "--compress-program"),
    ]
    named = [(word.value or "?").split()[:1] for word in given]
    return bool(named) and all(one and strip_directory(one[0]) in _COMPRESSORS for one in named)


def _settles_search(situation: Situation) -> bool:
    """`rg --pretty` is no `--pre`."""
    command = situation.command
    if command.name == "rg":
        return command.flags.isdisjoint({"--pre", "--hostname-bin"})
    return _settles_compressor(situation)


_PLAIN_SSH = re.compile(r"ssh(?: -[Cqv46]| -[pil] ?[\w./@~-]+)*")


def _settles_rsync(situation: Situation) -> bool:
    """`rsync -a --delete build/ dist/` between folders of the project; `-e ssh` is as usual."""
    command = situation.command
    shells = [*find_values(command.words, "-e", "--rsh")]
    others = any(flag.startswith("--rsync-path") for flag in command.flags)
    if others or not all(_PLAIN_SSH.fullmatch(one.value or "?") for one in shells):
        return False
    if not any(flag.startswith("--delete") for flag in command.flags):
        return True  # another machine is asked about by its own rule
    targets = command.operands[-1:]
    return bool(targets) and situation.rate_word(targets[0]) is Reach.INSIDE


def _settles_found_writes(situation: Situation) -> bool:
    command = situation.command
    pairs = zip(command.words, command.words[1:], strict=False)
    named = [two for one, two in pairs if (one.value or "").startswith(("-fprint", "-fls"))]
    return bool(named) and all(situation.rate_word(word) is Reach.INSIDE for word in named)


def _settles_rights(situation: Situation) -> bool:
    """Rights of the project's own files, as long as others may not write them."""
    command = situation.command
    words = command.operands[1:]
    mode = command.operands[0].value if command.operands else None
    if command.name != "chmod" or mode is None:
        return False
    opens = re.search(r"[0-7]?[0-7][0-7][2367]$|[ao]\S*\+\S*w|^\+\S*w|s", mode)
    rated = [situation.rate_word(word) for word in words]
    return not opens and bool(rated) and max(rated) in {Reach.INSIDE, Reach.PROJECT}


_CACHES = (
    ".cache/*/**", ".npm/_cacache/**", ".npm/_npx/**", ".gradle/caches/**", ".yarn/cache/**",
    ".cargo/registry/cache/**", ".bun/install/cache/**", "Library/Caches/*/**",
    "go/pkg/mod/cache/**", ".nuget/v3-cache/**", ".composer/cache/**",
)  # fmt: skip


def _is_cache(situation: Situation, word: Word) -> bool:
    """A cache of one program in the home folder, which it fills again."""
    home = situation.workspace.home
    paths = situation.find_paths(word)
    globs = [f"{home}/{one}" for one in _CACHES]
    return bool(paths) and all(match_glob(path, globs) for path in paths) and not word.glob


def _settles_deletion(situation: Situation) -> bool:
    """A variable whose values stand in the same command, or what find chose in the project."""
    command = situation.command
    if command.name not in {"rm", "unlink", "shred"}:
        return False
    unknown = [
        word
        for word in command.operands
        if situation.rate_word(word) is not Reach.INSIDE and not _is_cache(situation, word)
    ]
    if not unknown and command.operands:
        return True
    if any(word.value is not None for word in unknown) or not unknown:
        return False
    return _deletes_known(situation)


_TRIES = frozenset({"--dry-run", "--dryrun", "--dry_run", "--simulate"})
_IN_EARNEST = frozenset({"none", "false", "no", "0"})


def _is_trial(situation: Situation) -> bool:
    """`--dry-run`: what would happen is only said."""
    words = [word.value for word in situation.command.words]
    own = words[: words.index("--")] if "--" in words else words
    given = [one.partition("=") for one in own if one and one.startswith("-")]
    told = [value for name, _, value in given if name in _TRIES]
    behind = (two for one, two in pairwise(own) if one in _TRIES)
    sure = None not in own and {"--no-dry-run", "exec"}.isdisjoint(own)
    return bool(told) and sure and _IN_EARNEST.isdisjoint({*told, *behind})


_LONG_FLAGS = split_names("latexmk ghc runghc gnuplot maxima")
_CODE_WORDS = re.compile(
    r"-e|-E|-b|-r|--eval(?:=.*)?|--batch(?:-string)?(?:=.*)?|-\w*latex=.*|-use\w+=.*"
)


def _settles_code_option(situation: Situation) -> bool:
    """`latexmk -interaction=nonstopmode` has no option `-e`: these take words behind one dash."""
    command = situation.command
    return command.name in _LONG_FLAGS and not any(
        word.value is None or _CODE_WORDS.fullmatch(word.value) for word in command.words
    )


def _settles_option(situation: Situation) -> bool:
    """`nodemon --exec 'ts-node x.ts'`, which is judged in its place."""
    return _settles_inner(situation) and is_read_whole(situation.command)


def _settles_worktree(situation: Situation) -> bool:
    """A worktree that the same command adds: there is nothing in it that was there before."""
    removed = read_git(situation.command)
    if removed is None or removed.own.words[:1] != (create_literal("remove"),):
        return False
    targets = removed.own.operands[1:]
    added = {
        word.raw.strip("\"'")
        for call in map(read_git, situation.script.commands)
        if call is not None and call.subcommand == "worktree"
        for word in call.own.operands
        if call.own.words[0].value == "add"
    }
    return bool(targets) and all(
        word.raw.strip("\"'") in added and not _may_be_there(situation, word) for word in targets
    )


def _may_be_there(situation: Situation, word: Word) -> bool:
    known = [word] if word.value is not None else situation.resolve(word)
    paths = [path for one in known for path in situation.find_paths(one)]
    return not paths or any(path.exists() for path in paths)


_DEBUGGING = re.compile(
    r"(?:thread apply all |ta a )?(?:r|run|start|starti|bt|backtrace|where|c|continue|n|next|s|"
    r"step|ni|si|nexti|stepi|fin|finish|until|u|up|down|d|delete|b|br|break|tbreak|l|list|f|frame|"
    r"breakpoint set|frame variable|t|thread|thread backtrace|thread list|i|info|disas\w*|x|q|quit|"
    r"exit|process (?:launch|status|continue|kill)|register read|image list|watch|display|ptype|"
    r"whatis|handle|kill|core-file|core|p|print|po|v|bugreport|"
    r"set (?:pagination|confirm|print|args|width|height|disassembly-flavor|listsize|style|"
    r"breakpoint|stop-on-solib-events|detach-on-fork|follow-fork-mode)|"
    r"settings set [\w.-]+)(?:/\w+)?(?: [^()!|`;<>]*)?"
)
_DEBUGGER_SAYS = split_names(
    "-ex --ex -eval-command --eval-command -iex --iex -o --one-line -k --one-line-on-crash -O "
    "--one-line-before-file"
)
_DEBUGGER_ELSEWHERE = split_names(
    "-x -command --command -ix --init-command -p -pid --pid -s --source -S -P --python -Q -n "
    "--attach-name --attach-pid -w --waitfor -cd --cd --interpreter -i --init-eval-command -tui"
)


def _settles_debugger(situation: Situation) -> bool:
    """What it runs is judged in its place, or is a program of the project that is looked at."""
    command = situation.command
    if command.name not in DEBUGGERS:
        return command.name in {"perf", "valgrind", "rr"}
    if command.flags.isdisjoint({"-batch", "--batch", "-b"}) or command.piped_from:
        return False
    told = list(_list_debugger_commands(command))
    plain = all(_DEBUGGING.fullmatch(one or "") for one in told)
    return bool(told) and plain and command.stdin is None and _debugs_project(situation)


def _list_debugger_commands(command: Command) -> Iterator[str | None]:
    for at, word in enumerate(command.words):
        name, equals, value = (word.value or "").partition("=")
        following = command.words[at + 1 : at + 2]
        if name in _DEBUGGER_SAYS:
            if not equals:
                yield following[0].value if following else None
            else:
                yield value
        elif name in _DEBUGGER_ELSEWHERE:
            yield None


def _debugs_project(situation: Situation) -> bool:
    """The first word that is neither an option nor a value of one, if it is no program inside."""
    words = situation.command.words
    for before, word in zip((None, *words), words, strict=False):
        if word.value in {"--args", "-args", "--"}:
            return True
        is_value = before is not None and before.value in _DEBUGGER_SAYS
        if not word.is_flag and not is_value:
            return situation.rate_word(word) is Reach.INSIDE and "/" in word.raw
    return True


def _settles_runs(situation: Situation) -> bool:
    """`hyperfine 'a' 'b'`, `xvfb-run a`: all that it runs was found and is judged in its place."""
    command = situation.command
    if command.name in PREFIXES:
        return command.name != "rlwrap" and _settles_inner(situation)
    return is_read_whole(command)


_LEAVES_EDITOR = re.compile(
    r"(?:^[^a-zA-Z]*|[rwWeE] *|[/?])!|^[^a-zA-Z]*(?:[rwWeEf]|g?[/?].*[/?][rwWeEf])[ \t]+\S",
    re.MULTILINE,
)


def _settles_editor(situation: Situation) -> bool:
    """`ed -s` only says less, and its orders may be read: `!` runs, a name is another file."""
    command = situation.command
    if command.name not in {"ed", "red"} or (command.stdin and command.stdin.value is None):
        return False
    if not has_input(command):
        return True
    orders = (_read_fed(situation) or "!").replace("\\n", "\n")
    return not _LEAVES_EDITOR.search(orders)


def _settles_prune(situation: Situation) -> bool:
    """Layers without a name, and what is kept between builds: all of it is made anew."""
    command = situation.command
    first = next((word.value for word in command.arguments), None)
    return first in {"image", "builder", "buildx"} and command.flags.isdisjoint({"-a", "--all"})


def _settles_mount(situation: Situation) -> bool:
    """Without words it lists what is mounted."""
    command = situation.command
    kinds = [*find_values(command.words, "-t", "--types")]
    operands = [one for one in command.operands if one not in kinds]
    changes = {"-a", "--all", "-o", "-d", "-D", "--detach", "-c", "--bind", "-L", "-U"}
    lists = command.name in {"mount", "losetup"} and not operands
    return lists and command.flags.isdisjoint(changes)


def _settles_database(situation: Situation) -> bool:
    return not harms_database(add_input(situation))


def _settles_information(situation: Situation) -> bool:
    """Listing partitions, processes and accounts changes nothing."""
    return not situation.command.flags.isdisjoint({"-l", "--list", "--status", "-L", "-S"}) or (
        {word.value for word in situation.command.arguments[:1]} <= {"list", "status", "print"}
        and bool(situation.command.arguments)
    )


_TRIED = split_names(
    "publish publish-python publish-twine publish-more publish-others releases cloud cluster "
    "system-packages global-packages global-tools sending push-elsewhere registry-account "
    "push-image-copy"
)
SETTLED: Mapping[str, Settles] = {
    "unknown-write": _settles_unknown_write,
    "unknown-program": _settles_unknown_program,
    "environment": _settles_environment,
    "shell-setup": _settles_shell_setup,
    "sourced-file": _settles_sourced_file,
    "opaque-code": _settles_opaque_code,
    "written-then-run": _settles_written_then_run,
    "recursive-delete": _settles_deletion,
    "recursive-rights": _settles_rights,
    "git-config": _settles_git_setting,
    "git-config-file": _settles_git_config,
    "git-alias": _settles_git_config,
    "git-runs": _settles_git_runs,
    "git-each": _settles_inner,
    "git-branch": _settles_branch,
    "patches": _always,
    "patch-files": _always,
    "packages": _settles_runner,
    "packages-python": _settles_packages,
    "packages-node": _settles_packages,
    "containers": _settles_container,
    "upload": _settles_upload,
    "upload-data": _settles_upload,
    "remote-shell": _settles_connection,
    "kill-names": _settles_kill,
    "repository": _settles_repository,
    "tar-runs": _settles_compressor,
    "search-runs": _settles_search,
    "rsync-runs": _settles_rsync,
    "find-writes": _settles_found_writes,
    "debugger-runs": _settles_debugger,
    "code-runs": _settles_code_option,
    "option-runs": _settles_option,
    "git-worktree": _settles_worktree,
    **dict.fromkeys(_TRIED, _is_trial),
    "sessions": _settles_runs,
    "runs-words": _settles_runs,
    "runs-more": _settles_runs,
    "shell-runs": _settles_runs,
    "split-runs": _settles_runs,
    "cargo-watch": _settles_runs,
    "editor-runs": _settles_editor,
    "mount": _settles_mount,
    "prune": _settles_prune,
    "partition": _settles_information,
    "firewall": _settles_information,
    "accounts": _settles_information,
    "kernel": _settles_information,
    "database-drop": _settles_database,
}
"""By the name of the rule."""


def is_settled(rule: str, situation: Situation) -> bool:
    """Whether a finding of this rule needs no question, by what the command does."""
    settles = SETTLED.get(rule)
    return settles is not None and settles(situation)
