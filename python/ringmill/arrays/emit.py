# SPDX-License-Identifier: Apache-2.0
"""Records a lowered array program in a trace, and says how its arrays stand in the vectors of slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ringmill._ringmill import MacroProgram
from ringmill.arrays.choose import Choice
from ringmill.arrays.code import Code, Operation
from ringmill.arrays.interface import Argument, Interface, Result
from ringmill.arrays.moves import Placed
from ringmill.arrays.trees import identifier
from ringmill.arrays.value import Array
from ringmill.frames import Line
from ringmill.shape import Shape
from ringmill.trace import Tracer
from ringmill.types import Type


class Emitter:
    """Records the operations of a program that its results need."""

    def __init__(self, name: str, scheme: str, choice: Choice, types: Mapping[str, tuple[Type, bool]]) -> None:
        self._code: Code = choice.lowerer.code
        self._tracer = Tracer(name, self._code.slots, scheme)
        self._choice = choice
        self._types = types
        self._values: dict[int, int] = {}
        self._vectors: dict[bytes, int] = {}
        self._plain: dict[tuple[str, bytes], int] = {}

    def program(self, shape: Shape, arrays: Sequence[Array], line: Line) -> tuple[MacroProgram, Interface]:
        """Records the program with these results."""
        live = self._code.live({part for placed in self._choice.results for part in placed.parts if part is not None})
        arguments = self._arguments(live, line)
        for number in live:
            operation = self._code.operations[number]
            self._tracer.line = operation.line
            if operation.name != "input":
                self._values[number] = self._recorded(operation)
        results = self._results(shape, arrays, line)
        interface = Interface(self._code.slots, arguments, results, shape.kind)
        return self._tracer.builder.finish(), interface

    def _arguments(self, live: Sequence[int], line: Line) -> tuple[Argument, ...]:
        of_plain: dict[str, dict[bytes, None]] = {}
        places: dict[tuple[str, int], int] = {}
        for number in live:
            operation = self._code.operations[number]
            match operation.name:
                case "input":
                    places[operation.rest] = number  # type: ignore[index]
                case "times" | "plus_plain" | "minus_plain":
                    of_plain.setdefault(operation.rest[0], {})[operation.rest[1]] = None
        slots, taken = self._code.slots, set(self._types)
        arguments = []
        for name, (kind, encrypted) in self._types.items():
            if encrypted:
                holds = np.maximum(self._choice.inputs[name].holds, -1).reshape(-1, slots)
                tables = {number: row for number, row in enumerate(holds) if (row >= 0).any()}
            else:
                keys = of_plain.get(name, {})
                tables = {number: np.frombuffer(key, dtype=np.int64) for number, key in enumerate(keys)}
            vectors = {}
            plain_name = name if name.isidentifier() else identifier(name)
            for number, index in tables.items():
                vector = plain_name if len(tables) == 1 else f"{plain_name}__{number}"
                vector = vector if vector == name else _free(vector, taken)
                taken.add(vector)
                vectors[vector] = index
                made = self._tracer.builder.input(vector, encrypted, *line)
                if not encrypted:
                    self._plain[name, list(of_plain[name])[number]] = made
                elif (name, number) in places:
                    self._values[places[name, number]] = made
            arguments.append(Argument(name, kind, encrypted, vectors))
        return tuple(arguments)

    def _recorded(self, operation: Operation) -> int:
        record, rest = self._tracer.record, operation.rest
        operands = [self._values[number] for number in operation.operands]
        match operation.name:
            case "add" | "sub" | "mul":
                return int(record(operation.name, *operands))
            case "plus" | "scale":
                return int(record("add" if operation.name == "plus" else "mul", *operands, self._vector(rest[0])))
            case "times" | "plus_plain" | "minus_plain":
                name = {"times": "mul", "plus_plain": "add", "minus_plain": "sub"}[operation.name]
                return int(record(name, *operands, self._plain[rest[0], rest[1]]))
            case "number":
                return int(record("mul", *operands, record("scalar", rest[0])))
            case "rotate":
                return int(record("rotate", *operands, rest[0]))
            case "neg" | "conj" | "two_real" | "is_zero":
                return int(record("unary", operation.name, *operands))
            case "bounded":
                return int(record("bounded", *operands, *rest))
            case "polynomial":
                return int(record("polynomial", *operands, list(rest[0])))
            case "chebyshev":
                return int(record("chebyshev", *operands, list(rest[0]), *rest[1:]))
            case _:
                raise AssertionError(f"no record of {operation.name}")

    def _vector(self, key: bytes) -> int:
        if key not in self._vectors:
            self._vectors[key] = self._tracer.record("vector", self._code.vectors[key])
        return self._vectors[key]

    def _results(self, shape: Shape, arrays: Sequence[Array], line: Line) -> tuple[Result, ...]:
        slots, results = self._code.slots, []
        taken = set(shape.names)
        for name, array, placed in zip(shape.names, arrays, self._choice.results, strict=True):
            flat = array._index.ravel()
            slot = np.where(flat >= 0, placed.layout.first(flat), -1)
            empty = np.array([part is None for part in placed.parts])
            known = self._known(placed, slot)
            if known is not None:
                empty |= np.array([self._constant(part) is not None for part in placed.parts])
            slot = np.where((slot >= 0) & ~empty[np.maximum(slot, 0) // slots], slot, -1)
            used = np.unique(slot[slot >= 0] // slots)
            names = [name] if used.size == 1 else [_free(f"{name}__{number}", taken) for number in range(used.size)]
            taken.update(names)
            order = np.zeros(len(placed.parts), dtype=np.int64)
            order[used] = np.arange(used.size)
            for vector, part in zip(names, used, strict=True):
                value = placed.parts[part]
                assert value is not None
                self._tracer.builder.output(vector, self._values[value], *line)
            moved = np.where(slot >= 0, order[np.maximum(slot, 0) // slots] * slots + slot % slots, -1)
            results.append(Result(name, array.shape, tuple(names), moved, array._divisor, known))
        return tuple(results)

    def _constant(self, part: int | None) -> bytes | None:
        """Returns the key of the real constants that a ciphertext holds whatever is encrypted, or None."""
        if part is None:
            return None
        operation = self._code.operations[part]
        if operation.name != "plus" or np.iscomplex(self._code.vectors[operation.rest[0]]).any():
            return None
        inner = self._code.operations[operation.operands[0]]
        return operation.rest[0] if inner.name == "number" and inner.rest == (0.0,) else None

    def _known(self, placed: Placed, slot: np.ndarray) -> np.ndarray | None:
        """Returns for each value of a result the constant that it is, or 0. Returns None if no ciphertext of the result
        is constant or if all are.
        """
        keys = [self._constant(part) for part in placed.parts]
        if not any(keys) or all(key is not None or part is None for key, part in zip(keys, placed.parts, strict=True)):
            return None
        slots = self._code.slots
        spans = [np.zeros(slots) if key is None else self._code.vectors[key].real for key in keys]
        return np.where(slot >= 0, np.concatenate(spans)[np.maximum(slot, 0)], 0.0)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
