# SPDX-License-Identifier: Apache-2.0
"""The changes that make a fault of a piece of Rust, by the kind of syntax node."""

import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from .fault import Part
from .parsed import text

_OPERATORS = {
    "+": ["-"], "-": ["+"], "*": ["+", "/"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"],
    "^": ["|"], "==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "&&": ["||"], "||": ["&&"], "+=": ["-="], "-=": ["+="], "*=": ["+="], "/=": ["*="], "<<=": [">>="], ">>=": ["<<="],
    "&=": ["|="], "|=": ["&="], "^=": ["|="],
}  # fmt: skip
_INTEGER = re.compile(r"(0x[0-9a-fA-F_]+?|0b[01_]+|0o[0-7_]+|[0-9][0-9_]*?)_?([ui](?:8|16|32|64|128|size))?")
# A deleted assertion is a wrong program only where another fault is.
_ASSERTIONS = re.compile(r"(debug_)?assert(_eq|_ne)?!|unreachable!|panic!")
_DELETED = (
    "call_expression",
    "macro_invocation",
    "assignment_expression",
    "compound_assignment_expr",
    "try_expression",
    "return_expression",
    "break_expression",
    "continue_expression",
)


def span(node: Node) -> tuple[int, int]:
    """Returns the range of a node in its source."""
    return node.start_byte, node.end_byte


def operators(node: Node) -> Iterator[tuple[Part, ...]]:
    """Yields changes of the operator between two operands."""
    left, operator, right = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
    if left and operator and right:
        for other in _OPERATORS.get(text(operator), []):
            yield span(left), f" {other} ", span(right)


def signs(node: Node) -> Iterator[tuple[Part, ...]]:
    """Yields a negation or a unary minus without its operator."""
    if text(node)[0] in "!-":
        yield (span(node.children[1]),)


def integers(node: Node) -> Iterator[tuple[Part, ...]]:
    """Yields an integer plus one, and minus one if it is not 0."""
    found = _INTEGER.fullmatch(text(node))
    if found and node.parent and node.parent.type != "field_expression":
        value, suffix = int(found[1].replace("_", ""), 0 if found[1][:2] in ("0x", "0b", "0o") else 10), found[2] or ""
        yield (f"{value + 1}{suffix}",)
        if value:
            yield (f"{value - 1}{suffix}",)


def conditions(node: Node) -> Iterator[tuple[Part, ...]]:
    """Yields a constant for a condition: false for `if` and `while`, and also true for `if`."""
    parent = node.parent
    if parent and parent.child_by_field_name("condition") == node and node.type not in ("let_condition", "let_chain"):
        if parent.type in ("if_expression", "while_expression"):
            yield ("false",)
        if parent.type == "if_expression":
            yield ("true",)


def minima(node: Node) -> Iterator[tuple[Part, ...]]:
    """Yields a call of `max` for one of `min`, and the other way around."""
    function = node.child_by_field_name("function")
    name = function and (function.child_by_field_name("field") or function.child_by_field_name("name"))
    if name and text(name) in ("min", "max"):
        yield (
            (node.start_byte, name.start_byte),
            "max" if text(name) == "min" else "min",
            (name.end_byte, node.end_byte),
        )


def ends(node: Node) -> Iterator[tuple[Part, ...]]:
    """Yields the end of a range plus one, and minus one."""
    parent = node.parent
    if parent and parent.type == "range_expression" and node.is_named and node.type != "integer_literal":
        yield "(", span(node), ") + 1"
        yield "(", span(node), ") - 1"


def deletion(node: Node) -> Iterator[tuple[Part, ...]]:
    """Yields nothing in place of a statement, so that it is left out."""
    kind = node.named_children[0].type if node.named_children else ""
    if node.parent and node.parent.type == "block" and kind in _DELETED and not _ASSERTIONS.match(text(node)):
        yield ()


def values(function: Node) -> Iterator[tuple[Part, ...]]:
    """Yields statements for the entry of a function that return a constant of its type."""
    returned = function.child_by_field_name("return_type")
    for value in _values(text(returned)) if returned else []:
        yield (f"return {value};",)


def _values(kind: str) -> list[str]:
    kind = " ".join(kind.split())
    if kind == "bool":
        return ["true", "false"]
    if re.fullmatch(r"[ui](8|16|32|64|128|size)", kind):
        return ["0", "1"]
    if kind in ("f64", "f32"):
        return ["0.0", "1.0"]
    if kind == "()":
        return ["()"]
    if kind.endswith("fmt::Result"):
        return ["Ok(())"]
    if kind.startswith("Option<"):
        return ["None"]
    if found := re.fullmatch(r"(?:\w+::)*Result<(.*)>", kind):
        return [f"Ok({value})" for value in _values(_first(found[1]))]
    if re.match(r"&|impl\b|!|Box<dyn", kind):
        return []
    return ["Default::default()"]


def _first(arguments: str) -> str:
    """Returns the first of a list of type arguments."""
    depth = 0
    for at, letter in enumerate(arguments):
        depth += (letter in "<([") - (letter in ">)]")
        if letter == "," and depth == 0:
            return arguments[:at]
    return arguments


Changes = Callable[[Node], Iterator[tuple[Part, ...]]]
EXPRESSIONS: dict[str, list[Changes]] = {
    "binary_expression": [operators],
    "compound_assignment_expr": [operators],
    "unary_expression": [signs],
    "integer_literal": [integers],
    "call_expression": [minima],
}
ANYWHERE: list[Changes] = [conditions, ends]
