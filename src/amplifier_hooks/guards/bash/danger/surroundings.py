"""What changes how other programs run: variables, rights, a program nobody can name."""

from __future__ import annotations

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.danger.finding import Objection, Situation
from amplifier_hooks.guards.bash.variables.names import DECLARING, list_set_names
from amplifier_hooks.guards.bash.word import split_names

_RISKY_NAMES = split_names(
    "PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 PAGER EDITOR VISUAL "
    "BROWSER LESSOPEN LESSCLOSE MANPAGER PYTHONPATH PYTHONSTARTUP PYTHONHOME NODE_OPTIONS "
    "NODE_PATH PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS HOME CDPATH "
    "SHELL GCONV_PATH FZF_DEFAULT_COMMAND RIPGREP_CONFIG_PATH PWD OLDPWD LESS LESSKEY "
    "EXINIT VIMINIT MANOPT MAKEFLAGS TMPDIR POSIXLY_CORRECT FIGNORE GLOBIGNORE EXECIGNORE HISTFILE "
    "INPUTRC TERMINFO LOCPATH NLSPATH HOSTALIASES CURL_HOME WGETRC XDG_CONFIG_HOME"
)
_RISKY_STARTS = ("LD_", "DYLD_", "GIT_", "BASH_", "SSH_", "npm_config_", "PYTHON", "AMPLIFIER_")
# The options that make the difference; none means that it is the command itself.
_SETUP_FLAGS = {
    "hash": frozenset({"-p"}),
    "enable": frozenset[str](),
    "alias": frozenset[str](),
    "bind": frozenset[str](),
    "complete": frozenset({"-C", "-F"}),
    "compgen": frozenset({"-C", "-F"}),
    "history": frozenset({"-s", "-r", "-p"}),
    "fc": frozenset[str](),
    "shopt": frozenset({"-s", "-o"}),
    "jobs": frozenset({"-x"}),
}
_ODD_OPTIONS = frozenset({"keyword", "history", "histexpand", "emacs", "vi", "posix"})
_PRIVILEGED = frozenset({"sudo", "su", "doas", "pkexec", "runuser", "run0", "gosu"})


def check_environment(situation: Situation) -> Objection | None:
    """Variables that make other programs run something else."""
    for name in list_set_names(situation.command):
        if name is None:
            return "ask", "only running it would tell which variable it sets"
        if name in _RISKY_NAMES or name.startswith(_RISKY_STARTS):
            return "ask", f"it sets {name}, which changes what other programs run"
    return None


def check_shell_setup(situation: Situation) -> Objection | None:
    """What makes the shell itself read or find commands in another way."""
    command = situation.command
    flags = _SETUP_FLAGS.get(command.name or "")
    if flags is not None and (not flags or command.flags & flags):
        return "ask", f"{command.name} changes which command a name stands for"
    if command.name in DECLARING and command.flags & {"-n", "-i"} and _gives_attribute(command):
        return "ask", "it declares a name whose assignments mean something else"
    if command.name == "set" and _sets_odd_option(command):
        return "ask", "it changes how the shell reads its commands"
    return None


def _gives_attribute(command: Command) -> bool:
    """`unset -n` and `export -n` take away instead."""
    return command.name not in {"unset", "export"}


def _sets_odd_option(command: Command) -> bool:
    values = {word.value for word in command.words}
    return bool(command.flags & {"-k", "-H", "-B"} or values & _ODD_OPTIONS)


def check_privileges(situation: Situation) -> Objection | None:
    """`sudo` and its like."""
    if situation.command.name in _PRIVILEGED:
        return "ask", f"{situation.command.name} runs it with the rights of another user"
    return None


def check_unknown_program(situation: Situation) -> Objection | None:
    """`$x -rf /`."""
    if situation.command.program is None:
        return "ask", "only running it would tell which program it is"
    return None
