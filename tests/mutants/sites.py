# SPDX-License-Identifier: Apache-2.0
"""Walks through the syntax tree of a source, and lists the places for faults with the faults of each."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain

from tree_sitter import Node

from . import changes
from .fault import Fault, Form, Part
from .parsed import compiled, parse, text

# Nodes without an expression that a run evaluates, and nodes whose expression must be constant.
_LEFT_OUT = {
    "inner_attribute_item", "macro_definition", "token_tree", "type_arguments", "type_parameters",
    "array_type", "enum_variant", "const_block", "use_declaration", "parameters", "closure_parameters",
}  # fmt: skip
_CONSTANT = {"const_item", "static_item"}
# Calls that mark a function to leave out: a fault in it could remove files that are not the test's.
_REMOVAL = ("remove_file", "remove_dir")
_AS_ARRAY = b"fn f() { ["


def sites(crate: str, path: str, source: bytes) -> list[list[Fault]]:
    """Returns the places of a file in their order, each with the faults that it can have."""
    return _Walk(crate, path, source).places()


class _Walk:
    def __init__(self, crate: str, path: str, source: bytes) -> None:
        self.crate = crate
        self.path = path
        self.source = source
        self.lines = [0, *(at + 1 for at, byte in enumerate(source) if byte == 10)]

    def places(self) -> list[list[Fault]]:
        return [place for place in self._below(parse(self.source), 0) if place]

    def _below(self, node: Node, shift: int) -> Iterator[list[Fault]]:
        """Yields the places at a node and below it. The node's byte offsets exceed the source's by `shift`."""
        if node.type in _LEFT_OUT:
            return
        if node.type in _CONSTANT:
            yield from chain.from_iterable(self._below(body, shift) for body in _closures(node))
            return
        if node.type == "macro_invocation":
            yield from self._vector(node, shift)
            return
        if node.type == "function_item":
            if any(word in text(node) for word in _REMOVAL):
                return
            if any(c.type == "function_modifiers" and "const" in text(c).split() for c in node.children):
                return
            yield self._entry(node, shift)
        elif node.type == "expression_statement":
            yield [self._fault(node, "statement", c, shift, "(nothing)") for c in changes.deletion(node)]
        else:
            for kind in (*changes.EXPRESSIONS.get(node.type, []), *changes.ANYWHERE):
                yield [self._fault(node, "expression", c, shift) for c in kind(node)]
        length = node.child_by_field_name("length") if node.type == "array_expression" else None
        for child in compiled(node):
            if child.type == "match_pattern":
                guard = child.child_by_field_name("condition")
                if guard:
                    yield from self._below(guard, shift)
            elif child != length and not child.type.endswith("_pattern"):
                yield from self._below(child, shift)

    def _vector(self, node: Node, shift: int) -> Iterator[list[Fault]]:
        """Yields the places in the elements of a `vec!`. Other macros are skipped, as their arguments need not be
        expressions.
        """
        tokens = node.named_children[-1]
        if text(node).startswith("vec!") and shift == 0:
            content = self.source[tokens.start_byte + 1 : tokens.end_byte - 1]
            tree = parse(_AS_ARRAY + content + b"]; }")
            array = tree.descendant_for_byte_range(len(_AS_ARRAY) - 1, len(_AS_ARRAY) + len(content) + 1)
            if not tree.has_error and array and array.type == "array_expression":
                for child in array.named_children:
                    yield from self._below(child, len(_AS_ARRAY) - tokens.start_byte - 1)

    def _entry(self, node: Node, shift: int) -> list[Fault]:
        body = node.child_by_field_name("body")
        name = text(node.child_by_field_name("name") or node)
        if body is None or name == "main":
            return []
        at = body.start_byte + 1
        line, place = self._line(node.start_byte - shift), at - shift

        def fault(change: tuple[Part, ...]) -> Fault:
            shown = str(change[0])
            return Fault(self.crate, self.path, line, place, place, "entry", change, f"fn {name}", shown)

        return [fault(change) for change in changes.values(node)]

    def _fault(self, node: Node, form: Form, change: tuple[Part, ...], shift: int, new: str = "") -> Fault:
        start, end = node.start_byte - shift, node.end_byte - shift
        moved = tuple(part if isinstance(part, str) else (part[0] - shift, part[1] - shift) for part in change)
        shown = "".join(part if isinstance(part, str) else self.source[part[0] : part[1]].decode() for part in moved)
        old, new = _short(self.source[start:end].decode()), _short(new or shown)
        return Fault(self.crate, self.path, self._line(start), start, end, form, moved, old, new)

    def _line(self, at: int) -> int:
        return bisect_right(self.lines, at)


def _closures(node: Node) -> Iterator[Node]:
    """Yields the bodies of the closures in a constant: they run later."""
    for child in node.children:
        if child.type == "closure_expression":
            body = child.child_by_field_name("body")
            if body:
                yield body
        elif child.type not in _LEFT_OUT:
            yield from _closures(child)


def _short(piece: str) -> str:
    """Returns the text in one line of at most 100 characters."""
    line = " ".join(piece.split())
    return line if len(line) <= 100 else f"{line[:97]}..."
