"""Small faults in a source file: where they could be, and how it reads with one of them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """One change of a source file."""

    path: str
    start: int
    end: int
    line: int
    last_line: int
    where: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.where}: {self.before!r} → {self.after!r}"

    def apply(self, text: str) -> str:
        """The file with the fault in it."""
        data = text.encode()
        if data[self.start : self.end] != self.before.encode():
            raise ValueError(f"{self.path} has changed since its faults were found")
        return (data[: self.start] + self.after.encode() + data[self.end :]).decode()


class Finder(ast.NodeVisitor):
    """Collects the faults of one file. Texts for people, annotations and logs are left alone."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text, self.found = path, text, list[Fault]()
        self.starts = [0]
        for line in text.encode().splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.names: list[str] = []

    def add(self, node: ast.expr | ast.stmt, after: str) -> None:
        """Note a fault in place of a node."""
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = self.text.encode()[start:end].decode()
        if before != after:
            lines = node.lineno, node.end_lineno or node.lineno
            where = ".".join(self.names) or "module"
            self.found.append(Fault(self.path, start, end, *lines, where, before, after))

    def visit_named(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """Only what runs: no decorators, defaults or annotations."""
        self.names.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self.names.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_named  # noqa: N815

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if ast.unparse(node.targets[0]) not in {"__all__", "__slots__", "logger"}:
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        self.add(node.test, f"not ({ast.unparse(node.test)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.add(node.test, f"(not ({ast.unparse(node.test)}))")
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self.add(node.test, "False")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        swap = COMPARED.get(type(node.ops[0]))
        if swap is not None and len(node.ops) == 1:
            self.add(node, ast.unparse(ast.Compare(node.left, [swap()], node.comparators)))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        swapped = ast.BoolOp(other, node.values)
        self.add(node, f"({ast.unparse(swapped)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        swap = COMPUTED.get(type(node.op))
        if swap is not None and not isinstance(node.left, ast.Constant | ast.JoinedStr):
            self.add(node, f"({ast.unparse(ast.BinOp(node.left, swap(), node.right))})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.add(node, f"bool({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add(node, str(not node.value))
        elif isinstance(node.value, int):
            self.add(node, str(node.value + 1))

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and ast.unparse(node.value) not in {"None", "True", "False"}:
            self.add(node.value, "None")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """The words of an error are for people; that there is one is not."""
        self.add(node, "pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Constant) or ast.unparse(call).startswith("logger."):
            return
        if isinstance(call, ast.Call):
            self.add(node, "pass")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if not ast.unparse(node.func).startswith(("logger.", "logging.", "TypeVar", "Field")):
            self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self.add(node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(node, "break")

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Texts for people."""


def find_faults(path: str, text: str) -> list[Fault]:
    """All faults of a file, each of which leaves it readable as Python."""
    return [fault for fault in list_faults(path, text) if is_readable(fault.apply(text))]


def list_faults(path: str, text: str) -> list[Fault]:
    """All faults of a file, in its order."""
    finder = Finder(path, text)
    finder.visit(ast.parse(text))
    return list(dict.fromkeys(finder.found))


def is_readable(text: str) -> bool:
    """Whether Python can read it."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
