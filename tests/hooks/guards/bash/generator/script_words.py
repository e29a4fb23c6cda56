"""Random words of bash: every quoting, every expansion, alone and joined."""

from __future__ import annotations

import random
from collections.abc import Callable

TRAPS = ("trapa", "trapb", "./ls", "./trapc", "evil/cat", "~/bin/ls", "lS", "ls.sh")
"""Programs that are on no list; each leaves a mark when it runs."""

NAMES = ("a", "b", "x", "arr", "PATH", "IFS", "BASH_ENV", "LD_X", "ENV", "PS4", "HOME", "REPLY")
_LITERALS = (
    "f",
    "g",
    "-l",
    "-n",
    "1",
    "0",
    "a b",
    "./f",
    "work",
    "--",
    "",
    "*",
    "f*",
    "[a-f]",
    "?",
)
_ODD_TEXTS = (
    "; trapa",
    "$(trapa)",
    "`trapa`",
    "a[$(trapa)]",
    "'; trapa; '",
    "| trapb",
    "\ntrapa\n",
    "#",
    "&trapa",
    "x;trapa #",
    "$(trapa",
    "trapa)",
    "{ trapa; }",
    "-exec",
    "EOF\ntrapa\nEOF",
    "\\",
    "'",
    '"',
    "}",
    "))",
    "]]",
    "%n",
    "-v",
    "-o f",
    "-p",
    "!trapa",
    "=",
    "PATH=evil",
)


class WordMaker:
    """Makes words; `make_script` gives the scripts inside substitutions."""

    def __init__(
        self, rng: random.Random, make_script: Callable[[int], str], *, tame: bool = False
    ) -> None:
        self._rng = rng
        self._tame = tame
        self._make_script = make_script
        self._makers: tuple[Callable[[int], str], ...] = (
            self._make_variable,
            self._make_quoted_variable,
            self._make_default,
            self._make_substitution,
            self._make_backquotes,
            self._make_quoted_substitution,
            self._make_arithmetic,
            self._make_process,
            self._make_braces,
            self._make_pattern_removal,
            self._make_array_item,
        )

    def make(self, depth: int) -> str:
        """Some word."""
        roll = self._rng.random()
        if roll < 0.45 or depth <= 0:
            return self.spell(self._rng.choice(_LITERALS))
        if roll < 0.6:
            return self.spell(self._rng.choice(_ODD_TEXTS), quoted=True)
        if roll < 0.7:
            return self.spell(self._rng.choice(TRAPS))
        if roll < 0.78:
            return self.make(depth - 1) + self.make(depth - 1)
        return self._rng.choice(self._makers)(depth - 1)

    def name(self) -> str:
        """A variable's name; seldom one that decides what other programs run."""
        risky = self._rng.random() < 0.08 and not self._tame
        return self._rng.choice(NAMES if risky else NAMES[:4])

    def spell(self, text: str, *, quoted: bool = False) -> str:
        """The text in one of the spellings that bash reads as it."""
        rng = self._rng
        kind = rng.randrange(1 if quoted else 0, 7)
        if kind == 0:
            return text or "''"
        if kind == 1:
            return "'" + text.replace("'", "'\\''") + "'"
        if kind == 2:
            escaped = "".join("\\" + c if c in '"$`\\' else c for c in text)
            return f'"{escaped}"'
        if kind == 3:
            return self.spell_ansi(text)
        if kind == 4:
            return self._escape_each(text)
        if kind == 5 and len(text) > 1:
            at = rng.randrange(1, len(text))
            return self.spell(text[:at], quoted=quoted) + self.spell(text[at:], quoted=quoted)
        return self.spell(text, quoted=True) if text else '""'

    def spell_ansi(self, text: str) -> str:
        """`$'…'` with any of its escapes."""
        forms: tuple[Callable[[int], str], ...] = (
            lambda code: f"\\x{code:02x}",
            lambda code: f"\\{code:03o}",
            lambda code: f"\\u{code:04x}",
            lambda code: f"\\U{code:08x}",
            lambda code: f"\\x{{{code:x}}}",
            lambda code: f"\\0{code:o}",
        )
        parts = []
        for letter in text:
            plain = letter.isalnum() and self._rng.random() < 0.6
            parts.append(letter if plain else self._rng.choice(forms)(ord(letter)))
        return "$'" + "".join(parts) + "'"

    def _escape_each(self, text: str) -> str:
        safe = "".join(f"'{c}'" if c == "\n" else f"\\{c}" for c in text)
        return safe or "''"

    def _make_variable(self, depth: int) -> str:
        return self._rng.choice(("${0}", "${{{0}}}")).format(self.name())

    def _make_quoted_variable(self, depth: int) -> str:
        return self._rng.choice(('"${0}"', '"-${0}"', '"$@"', '"${{{0}[@]}}"', '"$*"')).format(
            self.name()
        )

    def _make_default(self, depth: int) -> str:
        sign = self._rng.choice((":-", "-", ":=", "=", ":+", "+"))
        return f"${{{self.name()}{sign}{self.make(depth)}}}"

    def _make_substitution(self, depth: int) -> str:
        return f"$({self._make_script(depth)})"

    def _make_backquotes(self, depth: int) -> str:
        inner = self._make_script(0)
        return "`" + inner.replace("\\", "\\\\").replace("`", "\\`") + "`"

    def _make_quoted_substitution(self, depth: int) -> str:
        return f'"$({self._make_script(depth)})"'

    def make_expression(self, depth: int) -> str:
        """The inside of `$((…))`."""
        rng = self._rng
        atoms = (
            "1",
            "0",
            "x",
            "$x",
            "a",
            "b",
            "arr[0]",
            "arr[a]",
            "x=2",
            "x++",
            "${#x}",
            "${x:-1}",
            "PATH=1",
        )
        atom = rng.choice(atoms)
        roll = rng.random()
        if roll < 0.08:
            atom = f"$({self._make_script(depth)})"
        elif roll < 0.14:
            atom = rng.choice(("arr[$(trapa)]", "'arr[$(trapa)]'", '"x"', "$1", "`trapa`", "x[$b]"))
        return atom if rng.random() < 0.6 else f"{atom} {rng.choice('+-*<>')} {rng.choice(atoms)}"

    def _make_arithmetic(self, depth: int) -> str:
        form = self._rng.choice(("$(({}))", "$[{}]", '"$(({}))"', "${{x:{}}}", "${{arr[{}]}}"))
        return form.format(self.make_expression(depth))

    def _make_process(self, depth: int) -> str:
        return f"{self._rng.choice('<>')}({self._make_script(depth)})"

    def _make_braces(self, depth: int) -> str:
        return self._rng.choice(
            ("{a,b}", "{1..3}", "{a..c}x", "{trapa,f}", "{,trapa}", "a{b", "{x}")
        )

    def _make_pattern_removal(self, depth: int) -> str:
        forms = (
            "${x#*/}",
            "${x%%.*}",
            "${x/a/b}",
            "${x^^}",
            "${!x}",
            "${x@P}",
            "${x@Q}",
            "${!x@}",
            "${#arr[@]}",
            "${x//f/$(trapa)}",
            "${x:0:1}",
            "${x:$(trapa)}",
            "${arr[@]:0:1}",
            "~",
            "~+",
            "~/f",
        )
        return self._rng.choice(forms)

    def _make_array_item(self, depth: int) -> str:
        return self._rng.choice(
            ("${arr[0]}", "${arr[x]}", "${arr[$x]}", "${arr[*]}", '"${arr[@]}"')
        )
