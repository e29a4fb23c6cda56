"""Changing functions that are loaded already, so that a fault needs no new start of the tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import CodeType, FunctionType


def swap_functions(file: str, old: str, new: str, line: int) -> bool:
    """Give the loaded functions around a line of a file their new code; False if that cannot be."""
    olds, news = (
        {name_code(code): code for code in walk_code(whole)}
        for whole in (compile(text, file, "exec", dont_inherit=True) for text in (old, new))
    )
    # By name: the code of a function that has run does not equal itself as it was compiled.
    changed = {
        name: news[name]
        for name, code in olds.items()
        if name in news and contains_line(code, line)
    }
    swapped = False
    for function in [one for one in gc.get_objects() if type(one) is FunctionType]:
        code = changed.get(name_code(function.__code__))
        if code is not None and function.__code__.co_filename == file:
            if code.co_freevars != function.__code__.co_freevars:
                return False
            function.__code__ = code
            swapped = True
    return swapped


def name_code(code: CodeType) -> tuple[str, int]:
    """What tells the functions of a file apart."""
    return code.co_qualname, code.co_firstlineno


def walk_code(code: CodeType) -> Iterator[CodeType]:
    """The code of all functions, in the order of the file; a class is only a way to them."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & OPTIMIZED:
                yield inner
            yield from walk_code(inner)


OPTIMIZED = 1
"""The flag that the code of a function carries and that of a class or a module does not."""


def contains_line(code: CodeType, line: int) -> bool:
    """Whether a function has something to run on a line, itself or in a function within."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    own = any(number == line for _, _, number in code.co_lines())
    return own or any(contains_line(one, line) for one in inner)
