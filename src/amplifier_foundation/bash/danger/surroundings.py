"""What changes how other programs run: variables, rights, a program nobody can name."""

from __future__ import annotations

from amplifier_foundation.bash.danger.finding import Objection, Situation
from amplifier_foundation.bash.word import split_names

_RISKY_NAMES = split_names(
    "PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 PAGER EDITOR VISUAL "
    "BROWSER LESSOPEN LESSCLOSE MANPAGER PYTHONPATH PYTHONSTARTUP PYTHONHOME NODE_OPTIONS "
    "NODE_PATH PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS HOME CDPATH "
    "SHELL GCONV_PATH FZF_DEFAULT_COMMAND RIPGREP_CONFIG_PATH"
)
_RISKY_STARTS = ("LD_", "DYLD_", "GIT_", "BASH_FUNC_", "SSH_", "npm_config_")
_SETTERS = frozenset({"env", "sudo", "doas", "export"})
_PRIVILEGED = frozenset({"sudo", "su", "doas", "pkexec", "runuser", "run0", "gosu"})


def check_environment(situation: Situation) -> Objection | None:
    """Variables that make other programs run something else."""
    command = situation.command
    names = list(command.assigns)
    if command.name in _SETTERS:
        names += [word.raw.partition("=")[0] for word in command.words if "=" in word.raw]
    for name in names:
        if name in _RISKY_NAMES or name.startswith(_RISKY_STARTS):
            return "ask", f"it sets {name}, which changes what other programs run"
    return None


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
