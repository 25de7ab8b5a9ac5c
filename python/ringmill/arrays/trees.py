# SPDX-License-Identifier: Apache-2.0
"""Structures of arrays: lists, tuples, dicts and dataclasses, as arguments and results of a program."""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin

import numpy as np

from ringmill.errors import RingmillError
from ringmill.frames import Line
from ringmill.trace import Annotation, Encrypted, Plain, refuse
from ringmill.types import SLOTS

_DEEPEST = 16


@dataclass(frozen=True)
class Tree:
    """A structure: a `list`, a `tuple`, a `dict` or an `object` with attributes, or a `leaf` that is one array.

    `names` are the keys or attributes of the items. `make` builds an object, or a tuple with names.
    """

    kind: str = "leaf"
    names: tuple[str, ...] = ()
    items: tuple[Tree, ...] = ()
    make: Callable[..., Any] | None = field(default=None, compare=False)

    def paths(self, name: str) -> Iterator[str]:
        """Yields the name of each leaf, as a program writes it."""
        if self.kind == "leaf":
            yield name
        for place, item in enumerate(self.items):
            yield from item.paths(f"{name}.{self.names[place]}" if self.names else f"{name}[{place}]")

    def build(self, leaves: Iterator[Any]) -> Any:
        """Returns the structure with these leaves."""
        if self.kind == "leaf":
            return next(leaves)
        items = [item.build(leaves) for item in self.items]
        if self.kind == "list":
            return items
        if self.kind == "tuple":
            return tuple(items) if self.make is None else self.make(*items)
        named = dict(zip(self.names, items, strict=True))
        return named if self.make is None else self.make(**named)

    def leaves(self, what: str, value: Any, refused: Callable[[str], RingmillError]) -> Iterator[Any]:
        """Yields the leaves of a value of this structure. Another value is refused by the name `what`."""
        if self.kind == "leaf":
            yield value
            return
        if self.names and not (self.kind == "tuple" and isinstance(value, tuple)):
            missing = [name for name in self.names if not _has(value, name)]
            extra = [name for name in value if name not in self.names] if isinstance(value, Mapping) else []
            if missing or extra:
                fault = f"lacks {missing[0]}" if missing else f"has {extra[0]!r}"
                raise refused(f"{what} holds {', '.join(self.names)}, and what is given {fault}")
            items = [value[n] if isinstance(value, Mapping) else getattr(value, n) for n in self.names]
        else:
            if _length(value) != len(self.items):
                told = f"is of type {type(value).__name__}" if _length(value) is None else f"has {len(value)}"
                raise refused(f"{what} holds {len(self.items)} arrays in a {self.kind}, and what is given {told}")
            items = list(value)
        for name, item, tree in zip(self._of_items(what), items, self.items, strict=True):
            yield from tree.leaves(name, item, refused)

    def _of_items(self, what: str) -> list[str]:
        return [f"{what}.{self.names[n]}" if self.names else f"{what}[{n}]" for n in range(len(self.items))]

    def plain(self) -> Any:
        """Returns the structure as plain data for a file."""
        return None if self.kind == "leaf" else [self.kind, list(self.names), [item.plain() for item in self.items]]


def _length(value: Any) -> int | None:
    return len(value) if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim) else None


def _has(value: Any, name: str) -> bool:
    try:
        return name in value if isinstance(value, Mapping) else hasattr(value, name)
    except Exception:
        return False


def of_plain(data: Any, depth: int = 0) -> Tree:
    """Reads the structure from plain data of a file. Other data raises ValueError."""
    if data is None:
        return Tree()
    kind, names, items = data
    if kind not in ("list", "tuple", "dict", "object") or not items or depth > _DEEPEST:
        raise ValueError("no structure")
    if (kind in ("dict", "object") or names) and len(names) != len(items):
        raise ValueError("no names")
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise ValueError("no names")
    return Tree(kind, tuple(names), tuple(of_plain(item, depth + 1) for item in items))


def of_annotation(written: Any, depth: int = 0) -> tuple[Tree, list[Annotation]] | None:
    """Returns the structure of an annotation and its leaves, or None if it is no annotation of Ringmill."""
    if get_origin(written) is Annotated:
        ours = [item for item in written.__metadata__ if isinstance(item, (Annotation, list, tuple, dict))]
        if len(ours) > 1:
            return None
        written = ours[0] if ours else written.__origin__
    if written is Encrypted or written is Plain:
        written = Annotation(written, SLOTS)
    if isinstance(written, Annotation):
        return Tree(), [written]
    names: tuple[str, ...] = ()
    make: Any = None
    if depth > _DEEPEST:
        return None
    if isinstance(written, dict):
        kind, names, items = "dict", tuple(written), list(written.values())
    elif isinstance(written, (list, tuple)):
        kind, items = type(written).__name__, list(written)
    elif get_origin(written) is tuple and Ellipsis not in get_args(written):
        kind, items = "tuple", list(get_args(written))
    elif isinstance(written, type) and dataclasses.is_dataclass(written):
        hints = typing.get_type_hints(written, include_extras=True)
        fields = [f for f in dataclasses.fields(written) if f.init]
        kept = [f for f in fields if not _has_default(f) or of_annotation(hints[f.name], depth + 1) is not None]
        kind, make, names, items = "object", written, tuple(f.name for f in kept), [hints[f.name] for f in kept]
    elif isinstance(written, type) and issubclass(written, tuple) and hasattr(written, "_fields"):
        hints = typing.get_type_hints(written, include_extras=True)
        kind, make, names = "tuple", written, tuple(written._fields)
        items = [hints.get(name) for name in names]
    elif typing.is_typeddict(written):
        hints = typing.get_type_hints(written, include_extras=True)
        kind, names, items = "dict", tuple(hints), list(hints.values())
    else:
        return None
    found = [of_annotation(item, depth + 1) for item in items]
    trees, leaves = [], []
    for each in found:
        if each is None:
            return None
        trees.append(each[0])
        leaves += each[1]
    if not trees or not all(isinstance(name, str) for name in names):
        return None
    return Tree(kind, names, tuple(trees), make), leaves


def _has_default(item: Any) -> bool:
    return item.default is not dataclasses.MISSING or item.default_factory is not dataclasses.MISSING


def of_result(returned: Any, line: Line) -> tuple[Tree, list[Any], list[str]]:
    """Returns the structure of what a program's function returned, its values, and their names as outputs."""
    tree, values = _of_value(returned, line, set())
    if not values or returned is None:
        refuse("the program returns nothing; return the encrypted values it computes", line)
    if tree.kind == "leaf":
        return tree, values, ["out"]
    names: list[str] = []
    for path in tree.paths("out"):
        name = path.removeprefix("out.") if tree.names else path
        name = identifier(name)
        while name in names:
            name += "_"
        names.append(name)
    return tree, values, names


def identifier(path: str) -> str:
    """Returns the path of a leaf as a name."""
    return re.sub(r"\W+", "_", path.replace("[", "", 1) if path.startswith("out[") else path).strip("_")


def _of_value(value: Any, line: Line, above: set[int]) -> tuple[Tree, list[Any]]:
    names: tuple[str, ...] = ()
    make: Any = None
    if isinstance(value, dict):
        if not all(isinstance(name, str) and name.isidentifier() for name in value):
            refuse("the program returns a dict, and a dict names its values with identifiers", line)
        kind, names, items = "dict", tuple(value), list(value.values())
    elif isinstance(value, (list, tuple)):
        kind, items = "list" if isinstance(value, list) else "tuple", list(value)
        if hasattr(value, "_fields"):
            make, names = type(value), tuple(value._fields)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(f.name for f in dataclasses.fields(value) if f.init)
        kind, make, items = "object", type(value), [getattr(value, name) for name in names]
    else:
        return Tree(), [value]
    if id(value) in above or len(above) > _DEEPEST:
        refuse("the program returns a structure that holds itself, or one that is too deep", line)
    if not items:
        refuse(f"the program returns an empty {kind}; return the encrypted values it computes", line)
    found = [_of_value(item, line, above | {id(value)}) for item in items]
    return Tree(kind, names, tuple(tree for tree, _ in found), make), [leaf for _, own in found for leaf in own]


def first_of(value: Any, kind: type, depth: int = 0) -> Any:
    """Returns the first value of a class in a structure, or None."""
    if isinstance(value, kind):
        return value
    if depth > _DEEPEST:
        return None
    inner: list[Any] = []
    if isinstance(value, (list, tuple)):
        inner = list(value)
    elif isinstance(value, dict):
        inner = list(value.values())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, item.name, None) for item in dataclasses.fields(value)]
    return next((found for item in inner if (found := first_of(item, kind, depth + 1)) is not None), None)
