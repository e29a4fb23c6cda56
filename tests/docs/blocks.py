"""Finds the Python blocks of a document and runs them the way a reader would.

A block runs in a namespace of its own, at the top level, where `await` is allowed. A block that is
the inside of a function (it says `return`) runs as the body of one.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import CodeType
from typing import Any

FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```\s*?$", re.DOTALL | re.MULTILINE)
CODE_BEGINS = re.compile(r"^(from|import|async def|def|class|#|@|\w+\.\w+\(|\w+ = )")


@dataclass(frozen=True)
class Block:
    """One block of a document; its name is the document and the line where the code begins."""

    document: str
    line: int
    source: str
    output: str | None = None

    @property
    def name(self) -> str:
        """`hooks_api_a:29`, which is where to look."""
        return f"{self.document}:{self.line}"

    def compile(self) -> CodeType:
        """The block as code; raises SyntaxError when it is not Python."""
        tree = ast.parse(self.source, self.name)
        if _returns_at_top_level(tree):
            tree = _as_function_body(tree)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        # Not inherited: the __future__ import of this file is none of the block's.
        code: CodeType = compile(tree, self.name, "exec", flags=flags, dont_inherit=True)
        return code

    async def run(self, namespace: dict[str, Any]) -> dict[str, Any]:
        """Execute in the namespace, which afterwards holds what the block defined."""
        code = self.compile()
        # The code is our own documentation, which is what this module exists to execute.
        if code.co_flags & inspect.CO_COROUTINE:
            await eval(code, namespace)
        else:
            # Away from this loop, because a complete program starts its own.
            await asyncio.to_thread(eval, code, namespace)
        return namespace


def markdown_blocks(path: Path) -> list[Block]:
    """The blocks fenced as python; a fence named `output` right behind one is what it prints."""
    text = path.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    return [
        Block(path.stem, text.count("\n", 0, fence.start(2)) + 1, fence[2], _output(text, after))
        for fence, after in pairwise([*fences, None])
        if fence is not None and fence[1] == "python"
    ]


def _output(text: str, fence: re.Match[str] | None) -> str | None:
    if fence is None or fence[1] != "output":
        return None
    return fence[2]


def plain_text_blocks(path: Path) -> list[Block]:
    """The blocks of a text without fences: from a line that looks like code, all that parses."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return list(_scan(path.stem, lines))


def _scan(document: str, lines: list[str]) -> Iterator[Block]:
    begin = 0
    while begin < len(lines):
        length = _longest_code(lines[begin:]) if CODE_BEGINS.match(lines[begin]) else 0
        if length:
            yield Block(document, begin + 1, "".join(lines[begin : begin + length]))
        begin += max(length, 1)


def _longest_code(lines: list[str]) -> int:
    """How many of the lines, from the first on, are Python that does something."""
    for length in range(len(lines), 0, -1):
        try:
            tree = ast.parse("".join(lines[:length]))
        except SyntaxError:
            continue
        if tree.body:
            return length
    return 0


def _returns_at_top_level(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Return) for node in _outside_functions(tree))


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _outside_functions(child)


def _as_function_body(tree: ast.Module) -> ast.Module:
    """`returned = await block()`, with what the block assigns kept in the namespace."""
    wrapper = ast.parse("async def block(): pass\nreturned = await block()")
    function = wrapper.body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    assigned = {
        node.id
        for node in _outside_functions(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    declarations: list[ast.stmt] = [ast.Global(names=sorted(assigned))] if assigned else []
    function.body = [*declarations, *tree.body]
    return ast.fix_missing_locations(wrapper)
