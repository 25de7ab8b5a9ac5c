# SPDX-License-Identifier: Apache-2.0
"""Tells how the arrays of a program stand in its vectors of slots: packs arguments, unpacks results, and keeps both in
saved files.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ringmill.arrays.layout import Layout, affine_strides
from ringmill.arrays.trees import Tree, of_plain
from ringmill.check import closest
from ringmill.errors import DataError, FileError, UnknownName
from ringmill.inputs import Given
from ringmill.schemes import Signature
from ringmill.shape import Shape
from ringmill.types import Type, of_parts
from ringmill.values import typed, whole_slots

MARK = ";ringmill arrays "
"""The beginning of the comment in a saved program that says in which slots its arrays stand."""


@dataclass(frozen=True, eq=False)
class Argument:
    """An argument: its type, and for each vector of slots the number of the value in each slot, or -1 for zero."""

    name: str
    type: Type
    encrypted: bool
    vectors: Mapping[str, np.ndarray]

    def packed(self, value: Any, what: str = "input") -> dict[str, np.ndarray]:
        """Returns the vectors of slots that hold a value of the argument."""
        array = np.asarray(typed(f"{what} {self.name}", value, self.type))
        values = array.ravel()
        if self.type.whole:
            values = whole_slots(f"{what} {self.name}", values, values.size)
        flat = np.append(values, np.zeros(1, dtype=values.dtype))
        return {name: flat[index] for name, index in self.vectors.items()}

    @property
    def padded(self) -> bool:
        """Whether a slot is zero whatever the value is."""
        return any(bool((index < 0).any()) for index in self.vectors.values())


@dataclass(frozen=True, eq=False)
class Result:
    """A result: its shape, the names of its vectors, the slot of each value, and the divisor.

    A value that no slot holds has slot -1. It is zero, or the constant in `known`.
    """

    name: str
    shape: tuple[int, ...]
    vectors: tuple[str, ...]
    places: np.ndarray
    divisor: int = 1
    known: np.ndarray | None = None

    def unpacked(self, vectors: Mapping[str, np.ndarray]) -> Any:
        """Takes the array out of decrypted vectors of slots, which have their names. An array of no dimension is
        returned as a number. With a divisor other than 1 the values are fractions.
        """
        slots = np.concatenate([vectors[name] for name in self.vectors])
        values = np.append(slots, np.zeros(1, dtype=slots.dtype))[self.places]
        if self.known is not None:
            known = self.known.astype(slots.dtype) if np.isrealobj(slots) else self.known
            values = np.where(self.places < 0, known, values)
        values = values.reshape(self.shape)
        if self.divisor != 1:
            exact = [Fraction(int(np.real(value)), self.divisor) for value in values.ravel()]
            values = np.array([*exact, None], dtype=object)[:-1].reshape(self.shape)
        return values[()]


@dataclass(frozen=True)
class ArrayShape(Shape):
    """The structure of results that are arrays. `names` are those of the vectors of slots."""

    results: tuple[Result, ...] = field(default=(), compare=False)
    tree: Tree = field(default=Tree(), compare=False)

    def arrays(self, vectors: Sequence[Any]) -> Any:
        """Takes the arrays out of vectors of slots, and returns them in the structure of the result."""
        return self.joined([self.leaves(vectors, None)])

    def joined(self, parts: Sequence[Sequence[Any]]) -> Any:
        """Returns the structure of the result with the arrays of all parts of a batch."""
        leaves = parts[0] if len(parts) == 1 else [np.concatenate(each) for each in zip(*parts, strict=True)]
        return self.tree.build(iter(leaves))

    def leaves(self, vectors: Sequence[Any], count: int | None) -> list[Any]:
        """Takes the arrays out of vectors of slots. With a `count`, those of the first inputs of a batch."""
        by_name = dict(zip(self.names, vectors, strict=True))
        values = [result.unpacked(by_name) for result in self.results]
        return values if count is None else [value[:count] for value in values]


@dataclass(frozen=True, eq=False)
class Interface:
    """The arguments and results of an array program.

    A `batch` is the number of inputs that share ciphertexts. The leading axis of encrypted arguments then has any
    length.
    """

    slots: int
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    kind: str
    batch: int | None = None
    tree: Tree = field(default_factory=Tree)
    structures: Mapping[str, Tree] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shape(self) -> ArrayShape:
        names = tuple(dict.fromkeys(name for result in self.results for name in result.vectors))
        return ArrayShape(self.kind, names, (), self.signature, self.results, self.tree)  # type: ignore[arg-type]

    @property
    def given(self) -> Given:
        """The arguments by name, for messages."""
        return Given.of([(name, self.arguments[first].encrypted) for name, first in self._parameters().items()])

    def _parameters(self) -> dict[str, int]:
        """Returns the parameters by name, each with the number of its first argument."""
        owner = {path: name for name in self.structures for path in self._paths(name)}
        found: dict[str, int] = {}
        for number, argument in enumerate(self.arguments):
            found.setdefault(owner.get(argument.name, argument.name), number)
        return found

    def encrypted_in(self, ciphertexts: Mapping[str, Any]) -> list[str]:
        """Returns the encrypted parameters of which all ciphertexts are given."""
        lacking = {a.name for a in self.arguments if a.encrypted and any(name not in ciphertexts for name in a.vectors)}
        return [name for name in self.given.encrypted if lacking.isdisjoint(self._paths(name))]

    @property
    def signature(self) -> Signature:
        """The types of the vectors of slots."""
        vectors = {name: arg.type.element[self.slots] for arg in self.arguments for name in arg.vectors}
        return Signature(vectors)

    def _argument(self, name: str, what: str) -> Argument:
        found = next((argument for argument in self.arguments if argument.name == name), None)
        if found is None:
            raise UnknownName(f"{what} `{name}`; {closest(name, [argument.name for argument in self.arguments])}")
        return found

    def pack(self, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Returns the vectors of slots of arguments by name."""
        packed: dict[str, np.ndarray] = {}
        for name, value in self._flat(values).items():
            argument = self._argument(name, "the program has no input")
            packed |= argument.packed(value if self.batch is None else self._filled(argument, value))
        return packed

    def _flat(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arrays of structures by their names in the program."""
        flat: dict[str, Any] = {}
        for name, value in values.items():
            tree = self.structures.get(name)
            if tree is None:
                flat[name] = value
            else:
                flat |= zip(tree.paths(name), tree.leaves(f"input {name}", value, DataError), strict=True)
        return flat

    def completed(self, values: Mapping[str, Any], encrypted: bool | None) -> dict[str, Any]:
        """Returns values by the names of parameters, with the defaults of those that are missing.

        `encrypted` says which parameters are asked for. None stands for all.
        """
        asked = {**dict.fromkeys(self.given.encrypted, True), **dict.fromkeys(self.given.plain, False)}
        missing = {
            name: self._for_batch(name, value, values) if asked.get(name) else value
            for name, value in self.defaults.items()
            if encrypted in (None, asked.get(name)) and name not in values
        }
        return {**missing, **values}

    def _for_batch(self, name: str, default: Any, values: Mapping[str, Any]) -> Any:
        """Returns the default of an encrypted parameter. Each input of a batch has it."""
        tree = self.structures.get(name, Tree())
        count = self.count(values) or 1
        leaves = []
        for path, leaf in zip(tree.paths(name), tree.leaves(f"input {name}", default, DataError), strict=True):
            wanted = self._argument(path, "the program has no input").type.shape
            shape = _shape_of(leaf)
            if shape is not None and len(shape) + 1 == len(wanted) and shape == wanted[1:]:
                leaf = np.broadcast_to(np.asarray(leaf), (count if self.batch is not None else wanted[0], *shape))
            leaves.append(leaf)
        return tree.build(iter(leaves))

    def _filled(self, argument: Argument, value: Any) -> Any:
        """Returns a batch that is filled with copies of its last input."""
        if not argument.encrypted:
            return value
        count = self._inputs_in(argument, value)
        if count > (self.batch or 1):
            raise DataError(
                f"input {argument.name} has {count} inputs, and at most {self.batch} share the ciphertexts; give fewer"
            )
        array = np.asarray(typed(f"input {argument.name}", value, argument.type.element[(count, *self._one(argument))]))
        return np.concatenate((array, np.repeat(array[-1:], (self.batch or 1) - count, axis=0)))

    @staticmethod
    def _one(argument: Argument) -> tuple[int, ...]:
        return argument.type.shape[1:]

    def _inputs_in(self, argument: Argument, value: Any) -> int:
        shape = _shape_of(value)
        one = self._one(argument)
        if not shape or shape[1:] != one or not shape[0]:
            named = ", ".join(map(str, ("n", *one)))
            refused = "an array of another kind" if shape is None else f"one of shape {shape}"
            raise DataError(
                f"input {argument.name} takes an array of shape ({named}{'' if one else ','}), n inputs at once, "
                f"and got {refused}"
            )
        return shape[0]

    def parts(self, values: Mapping[str, Any]) -> list[tuple[int | None, dict[str, np.ndarray]]]:
        """Returns the vectors of slots of arguments by name, for each part of a batch, and how many inputs it has."""
        count = self.count(values)
        if count is None or self.batch is None or count <= self.batch:
            return [(count, self.pack(values))]
        flat = self._flat(values)
        whole = {a.name: np.asarray(flat[a.name]) for a in self.arguments if a.encrypted and a.name in flat}
        found: list[tuple[int | None, dict[str, np.ndarray]]] = []
        for begin in range(0, count, self.batch):
            part = {name: array[begin : begin + self.batch] for name, array in whole.items()}
            found.append((min(self.batch, count - begin), self.pack({**flat, **part})))
        return found

    def count(self, values: Mapping[str, Any]) -> int | None:
        """Returns how many inputs a batch has. It is None without encrypted values and for a fixed number of inputs."""
        if self.batch is None:
            return None
        flat = self._flat(values)
        counts = {a.name: self._inputs_in(a, flat[a.name]) for a in self.arguments if a.encrypted and a.name in flat}
        if len(set(counts.values())) > 1:
            told = ", ".join(f"{name} has {number}" for name, number in counts.items())
            raise DataError(f"all encrypted arguments hold as many inputs, and {told}")
        return next(iter(counts.values()), None)

    def sample(self, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Returns the vectors of slots of typical values."""
        values = self.completed(values, None)
        for name in (*self.given.encrypted, *self.given.plain):
            if name not in values:
                raise DataError(f"sample: input {name} is missing; give typical values of every input, plain ones too")
        return self.pack(values)

    def ranges(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the ranges of vectors of slots. A vector with zeros between its values has a range that holds 0."""
        found: dict[str, Any] = {}
        for name, ends in self._each(given):
            argument = self._argument(name, "ranges: the program has no input")
            if argument.padded and isinstance(ends, (tuple, list, np.ndarray)) and np.shape(ends) == (2,):
                try:
                    if ends[0] <= ends[1]:
                        ends = (min(ends[0], 0), max(ends[1], 0))
                except TypeError:
                    pass  # the check of ranges names the fault
            found |= dict.fromkeys(argument.vectors, ends)
        return found

    def _each(self, given: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """Returns pairs of an array's name and the value given for it. A value given for a structure stands for each of
        its arrays. Values given for single arrays come last.
        """
        whole = [(path, said) for name, said in given.items() if name in self.structures for path in self._paths(name)]
        return whole + [(name, said) for name, said in given.items() if name not in self.structures]

    def _paths(self, name: str) -> list[str]:
        """Returns the names of the arrays of a parameter."""
        return list(self.structures[name].paths(name)) if name in self.structures else [name]

    @property
    def layouts(self) -> dict[str, str]:
        """How each argument and each result stands in slots, in words."""
        found = {}
        for argument in self.arguments:
            holds = np.concatenate([*argument.vectors.values(), np.zeros(0, dtype=np.int64)])
            kind = "ciphertext" if argument.encrypted else "plain vector"
            if argument.encrypted and holds.size:
                places = Layout(self.slots, holds).first(np.arange(math.prod(argument.type.shape)))
                found[argument.name] = _described(places.reshape(argument.type.shape), holds, kind, self.slots)
            else:
                found[argument.name] = f"{len(argument.vectors)} {kind}s of {self.slots} slots"
        for result in self.results:
            found[result.name] = _described(result.places.reshape(result.shape), None, "ciphertext", self.slots)
        return found

    def by_result(self, of_vectors: Mapping[str, Any], least: Callable[[list[Any]], Any] = min) -> dict[str, Any]:
        """Turns figures of output vectors into figures of results. `least` chooses among those of its vectors."""
        return {
            result.name: least([of_vectors[name] for name in result.vectors if name in of_vectors])
            for result in self.results
            if any(name in of_vectors for name in result.vectors)
        }

    def by_argument(self, of_vectors: Mapping[str, Any]) -> dict[str, Any]:
        """Turns figures of input vectors into figures of arguments. An argument has the figure of its first vector."""
        named = {argument.name: next(iter(argument.vectors), None) for argument in self.arguments}
        return {name: of_vectors[vector] for name, vector in named.items() if vector in of_vectors}

    def line(self) -> str:
        """Returns the interface as a comment of macro text."""
        arguments = [
            {
                "name": argument.name,
                "type": [argument.type.kind, argument.type.bits, list(argument.type.shape)],
                "encrypted": argument.encrypted,
                "vectors": {name: _text(index) for name, index in argument.vectors.items()},
            }
            for argument in self.arguments
        ]
        results = [
            {
                "name": result.name,
                "shape": list(result.shape),
                "vectors": list(result.vectors),
                "places": _text(result.places),
                "divisor": result.divisor,
                **({} if result.known is None else {"known": [value.hex() for value in result.known.tolist()]}),
            }
            for result in self.results
        ]
        whole = {"slots": self.slots, "returned": self.kind, "arguments": arguments, "results": results}
        if self.batch is not None:
            whole["batch"] = self.batch
        if self.tree != _usual(self.kind, [result.name for result in self.results]):
            whole["tree"] = self.tree.plain()
        if self.structures:
            whole["structures"] = {name: tree.plain() for name, tree in self.structures.items()}
        return f"{MARK}{json.dumps(whole)}\n"


def _shape_of(value: Any) -> tuple[int, ...] | None:
    """Returns the shape of a value, or None if it has none."""
    try:
        return np.shape(value)
    except Exception:
        return None


def _described(places: np.ndarray, holds: np.ndarray | None, kind: str, slots: int) -> str:
    """Returns how an array stands in slots, in words. `holds` has the slots of an argument, -1 for zero."""
    count = (int(places.max(initial=0)) if holds is None else holds.size - 1) // slots + 1
    parts = [f"{count} {kind}{'s' * (count > 1)} of {slots} slots"]
    strides = affine_strides(places)
    if strides is not None and places.ndim:
        parts.append(f"value at slot {int(places.flat[0])} + index . {strides}")
    else:
        parts.append("values at no one stride" if places.ndim else f"value at slot {int(places)}")
    if holds is not None:
        copies = int((holds >= 0).sum()) - places.size
        parts.append(f"{copies} copies" if copies else f"{int((holds < 0).sum())} slots of zero")
    return ", ".join(parts)


def _text(index: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(index.astype("<i4").tobytes(), 9)).decode()


def _index(text: str, count: int, most: int) -> np.ndarray:
    """Reads `count` numbers from -1 to `most` - 1. Others raise ValueError."""
    reader = zlib.decompressobj()
    data = reader.decompress(base64.b64decode(text, validate=True), 4 * count + 1)
    index = np.frombuffer(data, dtype="<i4").astype(np.int64)
    if index.size != count or (index < -1).any() or (index >= most).any():
        raise ValueError("an index that does not fit")
    return index


def read(line: str, path: object) -> Interface:
    """Returns the interface in the comment of a saved program, from the rest of the line behind :data:`MARK`.

    Raises :class:`FileError` for one that is altered.
    """
    try:
        return _interface(json.loads(line))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, zlib.error) as error:
        raise FileError(f"{path}: the comment that says how arrays stand in slots is altered: {error!r}") from None


def _interface(read: Any) -> Interface:
    slots = _count(read["slots"])
    arguments = []
    for item in read["arguments"]:
        kind, bits, shape = item["type"]
        of = of_parts(kind, bits, tuple(shape))
        size = math.prod(of.shape)
        vectors = {str(name): _index(index, slots, size) for name, index in item["vectors"].items()}
        arguments.append(Argument(str(item["name"]), of, bool(item["encrypted"]), vectors))
    results = []
    for item in read["results"]:
        shape = tuple(_count(length) for length in item["shape"])
        names = tuple(str(name) for name in item["vectors"])
        places = _index(item["places"], _count(math.prod(shape)), slots * len(names))
        known = np.array([float.fromhex(value) for value in item["known"]]) if "known" in item else None
        if known is not None and (known.size != places.size or not np.isfinite(known).all()):
            raise ValueError("constants that do not fit")
        results.append(Result(str(item["name"]), shape, names, places, _count(item["divisor"], 1 << 63), known))
    if read["returned"] not in ("one", "tuple", "dict") or not results:
        raise ValueError("no structure of results")
    batch = _count(read["batch"]) if "batch" in read else None
    shapes = [argument.type.shape for argument in arguments if argument.encrypted] + [r.shape for r in results]
    if batch is not None and any(shape[:1] != (batch,) for shape in shapes):
        raise ValueError("a batch that does not fit")
    names = [result.name for result in results]
    tree = of_plain(read["tree"]) if "tree" in read else _usual(read["returned"], names)
    structures = {str(name): of_plain(data) for name, data in read.get("structures", {}).items()}
    paths = [path for name, each in structures.items() for path in each.paths(name)]
    if len(list(tree.paths(""))) != len(names) or not set(paths) <= {argument.name for argument in arguments}:
        raise ValueError("structures that do not fit")
    return Interface(slots, tuple(arguments), tuple(results), read["returned"], batch, tree, structures)


def _usual(kind: str, names: Sequence[str]) -> Tree:
    """Returns the structure of one result, or of a tuple or a dict of results."""
    leaves = tuple(Tree() for _ in names)
    return Tree() if kind == "one" else Tree(kind, tuple(names) if kind == "dict" else (), leaves)


def _count(value: Any, most: int = 1 << 24) -> int:
    if type(value) is not int or not 1 <= value <= most:
        raise ValueError(f"{value!r} is no count")
    return value
