# SPDX-License-Identifier: Apache-2.0
"""Parses Rust sources, and tells which of their items this computer compiles."""

import platform
import re
from collections.abc import Iterator

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_rust.language()))
_TRUE = {"unix", 'target_os="linux"', f'target_arch="{platform.machine()}"'}


def parse(source: bytes) -> Node:
    """Returns the root of the syntax tree of a source."""
    return _PARSER.parse(source).root_node


def text(node: Node) -> str:
    """Returns the source text of a node."""
    return (node.text or b"").decode()


def compiled(node: Node) -> Iterator[Node]:
    """Yields the named children of a node that this computer compiles. The tests build all features."""
    wanted = True
    for child in node.named_children:
        if child.type == "attribute_item":
            written = re.sub(r"\s", "", text(child))
            found = re.fullmatch(r"#\[cfg\((.*)\)\]", written)
            wanted = wanted and written != "#[test]" and (not found or _holds(found[1]))
        elif child.type not in ("line_comment", "block_comment"):
            if wanted:
                yield child
            wanted = True


def _holds(condition: str) -> bool:
    """Evaluates a condition of `cfg` without spaces."""
    if found := re.fullmatch(r"(not|all|any)\((.*)\)", condition):
        inner = [_holds(part) for part in _split(found[2])]
        return {"not": lambda: not inner[0], "all": lambda: all(inner), "any": lambda: any(inner)}[found[1]]()
    return condition in _TRUE or condition.startswith("feature=")


def _split(conditions: str) -> Iterator[str]:
    """Splits conditions at the commas outside parentheses."""
    depth, start = 0, 0
    for at, letter in enumerate(conditions):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield conditions[start:at]
            start = at + 1
    if conditions[start:]:
        yield conditions[start:]
