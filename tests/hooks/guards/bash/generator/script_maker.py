"""A random writer of bash scripts, over the whole grammar, for the comparison with a real bash.

Most programs are listed ones. Those that are not stand where a reader may take them for data, or a
shell may take data for them: in quotes, indices, here-documents, comments, variables, file names.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.hooks.guards.bash.generator import script_forms as forms
from tests.hooks.guards.bash.generator.script_words import NAMES, TRAPS, WordMaker

PLAIN = (
    "ls",
    "cat",
    "echo",
    "printf",
    "true",
    "grep",
    "head",
    "wc",
    "sort",
    "find",
    "touch",
    "mkdir",
    "date",
    "test",
    ":",
    "pwd",
    "seq",
    "false",
    "cd",
    "set",
    "shift",
    "wait",
    "hash",
    "jobs",
    "type",
    "let",
)
WRAPPERS = (
    "env",
    "nice",
    "nohup",
    "timeout",
    "xargs",
    "bash",
    "sh",
    "command",
    "builtin",
    "exec",
    "time",
    "eval",
    "trap",
    "coproc",
    "mapfile",
    "setsid",
    "stdbuf",
)
"""What the strict guard of the test allows, because it opens them."""

_SEPARATORS = ("; ", "\n", " && ", " || ", " & ", " | ", " |& ", ";", "\n\n", " ;\t", "&&", "|")
_MUTATIONS = "'\"\\\n#$(){};&|<>`\r\t =[]!*~-0a\x0b"


class ScriptMaker:
    """Makes one script after the other from a seed."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        # A tame script is one that a guard may well let through: if something is wrong with it,
        # it is the way it is written.
        self._tame = self._rng.random() < 0.6
        self._words = WordMaker(self._rng, self.make_list, tame=self._tame)
        plain: tuple[Callable[[int], str], ...] = (
            self._make_group,
            self._make_if,
            self._make_loop,
            self._make_for,
            self._make_case,
            self._make_function,
            self._make_test,
            self._make_heredoc,
            self._make_assignment,
            self._make_wrapper,
        )
        wild: tuple[Callable[[int], str], ...] = (
            self._make_arithmetic,
            self._make_declaration,
            self._make_wrapper,
            self._make_setter,
            self._make_find,
            self._make_odd,
            self._make_shell,
            self._make_shell,
            self._make_write,
        )
        self._statements = plain if self._tame else plain + wild

    def make(self) -> str:
        """A script; some have a few letters changed, so that they look nearly right."""
        script = self.make_list(3)
        while self._rng.random() < (0.6 if self._tame else 0.3):
            script = self._mutate(script)
        return script

    def make_list(self, depth: int) -> str:
        """Statements with separators between them."""
        count = 1 + int(self._rng.random() * min(depth + 1, 3))
        script = self._make_statement(depth)
        for _ in range(count - 1):
            script += self._rng.choice(_SEPARATORS) + self._make_statement(depth)
        return script + self._rng.choice(("", "", "", "", "\n", " # trapa '", ";", " &"))

    def _mutate(self, script: str) -> str:
        at = self._rng.randrange(len(script) + 1)
        kind = self._rng.randrange(4)
        if kind == 0:
            return script[:at] + self._rng.choice(_MUTATIONS) + script[at:]
        if kind == 1:
            return script[:at] + script[at + 1 :]
        if kind == 2:
            return script[:at] + "\\\n" + script[at:]
        end = min(len(script), at + self._rng.randrange(1, 8))
        return script[:end] + script[at:end] + script[end:]

    def _make_statement(self, depth: int) -> str:
        if depth <= 0 or self._rng.random() < 0.42:
            return self._make_simple(depth)
        return self._rng.choice(self._statements)(depth - 1)

    def _make_simple(self, depth: int) -> str:
        rng = self._rng
        parts = [self._make_pair(depth)] if rng.random() < 0.08 else []
        if rng.random() < 0.06:
            parts.append(self._make_redirect(depth))
        parts.append(self._make_program())
        parts += [self._words.make(depth) for _ in range(rng.randrange(3))]
        if rng.random() < 0.12:
            parts.insert(rng.randrange(1, len(parts) + 1), self._make_redirect(depth))
        return rng.choice((" ", " ", " ", "\t", "  ")).join(parts)

    def _make_program(self) -> str:
        rng = self._rng
        if rng.random() < 0.04 and not self._tame:
            return self._words.spell(rng.choice(TRAPS))
        if rng.random() < 0.03 and not self._tame:
            return self._words.make(1)
        name = rng.choice(PLAIN)
        return name if rng.random() < 0.85 else self._words.spell(name)

    def _make_pair(self, depth: int) -> str:
        index = self._rng.choice(("", "", "", "[0]", "[x]", "[$x]", "[$(trapa)]"))
        sign = self._rng.choice(("=", "=", "+="))
        return f"{self._words.name()}{index}{sign}{self._words.make(depth)}"

    def _make_redirect(self, depth: int) -> str:
        rng = self._rng
        sign = rng.choice(
            (
                ">",
                ">>",
                "<",
                "2>",
                ">|",
                "&>",
                "<>",
                "0<",
                ">&",
                "<&",
                "3>",
                "<<<",
                "{x}>",
                "{PATH}>",
            )
        )
        plain = rng.choice(("out", "f", "/dev/null", "1", "2", "&1"))
        return (
            sign
            + rng.choice(("", " "))
            + (plain if rng.random() < 0.7 else self._words.make(depth))
        )

    def _make_group(self, depth: int) -> str:
        inner = self.make_list(depth)
        form = self._rng.choice(
            ("( {} )", "({})", "{{ {}\n}}", "! {{ {}\n}}", "time ( {} )", "{{ {}\n}} < f")
        )
        return form.format(inner)

    def _make_if(self, depth: int) -> str:
        parts = [self.make_list(depth) for _ in range(3)]
        return "if {}\nthen {}\nelse {}\nfi".format(*parts)

    def _make_loop(self, depth: int) -> str:
        word = self._rng.choice(("while", "until"))
        return f"{word} {self.make_list(depth)}\ndo {self.make_list(depth)}\nbreak\ndone"

    def _make_for(self, depth: int) -> str:
        rng = self._rng
        body = self.make_list(depth)
        if rng.random() < 0.3:
            return f"for (({self._words.make_expression(depth)};0;1)); do {body}\ndone"
        head = rng.choice(
            ("for {} in {}; do", "for {} in {}\ndo", "select {} in {}; do", "for {} do #{}\n")
        )
        name = rng.choice((self._words.name(), rng.choice(NAMES)))
        return f"{head.format(name, self._words.make(depth))} {body}\nbreak\ndone"

    def _make_case(self, depth: int) -> str:
        rng = self._rng
        pattern = rng.choice(("*", "f|*", "(a|*", "'a')\ntrue ;; *", self._words.make(depth)))
        end = rng.choice((";;", ";&", ";;&", ""))
        return f"case {self._words.make(depth)} in {pattern}) {self.make_list(depth)}\n{end}\nesac"

    def _make_function(self, depth: int) -> str:
        rng = self._rng
        name = rng.choice(("fn", "ls", "cat", "trapa", "cd", "echo"))
        head = rng.choice(("{}() {{", "function {} {{", "{} () {{", "function {}() {{")).format(
            name
        )
        end = rng.choice(("}", "} > out", "} | cat", "} && false"))
        call = rng.choice(
            (name, f"{name} {self._words.make(depth)}", "true", f"unset -f {name}; {name}")
        )
        return f"{head} {self.make_list(depth)}\n{end}\n{call}"

    def _make_test(self, depth: int) -> str:
        rng, word = self._rng, self._words.make
        return rng.choice(forms.TESTS).format(word(depth), word(depth))

    def _make_arithmetic(self, depth: int) -> str:
        form = self._rng.choice(
            (
                "(({}))",
                "let {}",
                "let '{}'",
                "(( {} )) || true",
                "declare -i x='{}'",
                "echo $(({}))",
            )
        )
        return form.format(self._words.make_expression(depth))

    def _make_heredoc(self, depth: int) -> str:
        rng = self._rng
        end = rng.choice(("EOF", "E F", "E"))
        mark = rng.choice((end, f"'{end}'", f'"{end}"', f"\\{end}"))
        body = rng.choice(
            (
                "text",
                "trapa",
                "$(trapa)",
                "`trapa`",
                "$x",
                "'\ntrapa",
                "\\$(trapa)",
                self.make_list(depth),
            )
        )
        rest = rng.choice(("", "", " | cat", " > out", "; trapa", " f", " && true", " <<B\nx\nB"))
        program = rng.choice(
            ("cat", "cat", "bash", "sh", "wc", "bash -s", "cat | bash", "read x", ": ")
        )
        last = rng.choice((end, f"{end} ", f"\t{end}"))
        sign = rng.choice(("<<", "<<", "<<-", "0<<", "3<<"))
        return f"{program} {sign}{mark}{rest}\n{body}\n{last}\n"

    def _make_assignment(self, depth: int) -> str:
        rng = self._rng
        array = f"{self._words.name()}=({self._words.make(depth)} {self._words.make(depth)})"
        return array if rng.random() < 0.2 else self._make_pair(depth)

    def _make_declaration(self, depth: int) -> str:
        rng = self._rng
        program = rng.choice(("export", "declare", "typeset", "readonly", "unset", "local"))
        flag = rng.choice(("", "", "", "-x", "-i", "-n", "-a", "-A", "-f", "-g", "-p", "--"))
        what = rng.choice(
            (
                self._make_pair(depth),
                self._words.name(),
                self._words.make(depth),
                f'"{self._make_pair(0)}"',
            )
        )
        return " ".join(
            part
            for part in (rng.choice(("", "", "builtin", "command")), program, flag, what)
            if part
        )

    def _make_wrapper(self, depth: int) -> str:
        rng, words = self._rng, self._words
        inner = rng.choice((self._make_simple(depth), f"{words.make(depth)} {words.make(depth)}"))
        quoted = words.spell(self.make_list(depth), quoted=True)
        return rng.choice(forms.WRAPPINGS).format(i=inner, q=quoted)

    def _make_shell(self, depth: int) -> str:
        rng, words = self._rng, self._words
        quoted = words.spell(self.make_list(depth), quoted=True)
        return rng.choice(forms.SHELLS).format(q=quoted)

    def _make_setter(self, depth: int) -> str:
        rng = self._rng
        name = rng.choice(NAMES)
        word = self._words.make(depth)
        return rng.choice(forms.SETTERS).format(n=name, w=word)

    def _make_find(self, depth: int) -> str:
        rng = self._rng
        inner = self._make_simple(depth)
        quoted = self._words.spell(self.make_list(depth), quoted=True)
        return rng.choice(forms.SEARCHES).format(i=inner, w=self._words.make(depth), q=quoted)

    def _make_odd(self, depth: int) -> str:
        rng = self._rng
        word = self._words.make(depth)
        return rng.choice(forms.ODDITIES).format(w=word)

    def _make_write(self, depth: int) -> str:
        rng = self._rng
        target = rng.choice(
            (
                ".git/config",
                ".git/hooks/x",
                "~/.bashrc",
                "$HOME/.profile",
                "config",
                "hooks/x",
                "../home/.ssh/k",
            )
        )
        before = rng.choice(
            (
                "",
                "cd .git && ",
                "cd .git; ",
                "pushd .git; ",
                "cd ~ && ",
                "cd $x; ",
                "cd .git/hooks\n",
                "(cd .git; ls); ",
            )
        )
        return before + rng.choice(forms.WRITES).format(t=target)
