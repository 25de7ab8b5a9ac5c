# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of circuits: the ports that they consist of, and their values in Python."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringmill.check import closest, shown
from ringmill.errors import DataError, UnknownName
from ringmill.types import Type, bit, of_parts, sint, uint


@dataclass(frozen=True)
class Argument:
    """An argument or a result of a circuit: its type, and `first`, the number of its first port. Each of its integers
    is a port.
    """

    name: str
    type: Type
    first: int
    last: Type | None = None
    """The type of the last element, if it is narrower than the others: the rest of a wide port."""
    used: bool = True
    """Whether a result depends on the argument, which is false for an unused clock of a netlist. An unused argument has
    no ports.
    """

    @property
    def count(self) -> int:
        return (self.type.length or 1) if self.used else 0

    @property
    def elements(self) -> list[Type]:
        """The types of its integers."""
        each = [self.type.element] * self.count
        return each if self.last is None else [*each[:-1], self.last]

    @property
    def ports(self) -> list[str]:
        """The names of its integers."""
        return [self.name] if self.type.length is None else [f"{self.name}[{i}]" for i in range(self.count)]

    def values(self, value: Any) -> list[int]:
        """Returns the given value as Python's integers."""
        if self.type.length is None:
            return [_value(self.name, value, self.type)]
        try:
            items = list(value)
        except Exception:
            items = []
        if len(items) != self.count:
            raise DataError(f"{self.name} must be {self.count} values of {self.type.element}, and is {shown(value)}")
        return [_value(f"{self.name}[{i}]", item, self.elements[i]) for i, item in enumerate(items)]

    def array(self, values: Sequence[int]) -> Any:
        """Returns the values of its ports as Python has them: a number, or an array."""
        if self.type.length is None:
            return values[0]
        signed = self.type.element.kind == sint(1).kind
        return np.array(values, dtype=np.int64 if signed else np.uint64)


# The name of an argument or a result, its type as text, and its length, or None for a single integer.
Declared = tuple[str, str, int | None]


def declared(arguments: Sequence[Argument]) -> list[Declared]:
    """Returns arguments or results as the extension writes them."""
    return [(of.name, str(of.type.element), of.type.length) for of in arguments]


def of_declared(all: Sequence[Declared]) -> list[Argument]:
    """Returns the arguments or results that the extension read."""
    found: list[Argument] = []
    first = 0
    for name, text, length in all:
        kind, _, bits = text.rstrip(")").partition("(")
        of = of_parts(kind, int(bits) if bits else None, () if length is None else (length,))
        found.append(Argument(name, of, first))
        first += found[-1].count
    return found


def of_netlist(ports: Sequence[tuple[str, list[int], bool]]) -> list[Argument]:
    """Returns the inputs or the outputs of a netlist."""
    found: list[Argument] = []
    first = 0
    for name, words, used in ports:
        kinds = [bit if bits == 1 else uint(bits) for bits in words]
        kind, last = (kinds[0], None) if len(kinds) == 1 else (kinds[0][len(kinds)], kinds[-1])
        found.append(Argument(name, kind, first, last, used))
        first += found[-1].count
    return found


def _value(name: str, value: Any, kind: Type) -> int:
    low, high = kind.ends or (0, 0)
    if isinstance(value, (bool, np.bool_)):
        number = int(value) if kind == bit else None
    else:
        try:
            number = operator.index(value)
        except Exception:
            number = None
    if number is None or not low <= number <= high:
        raise DataError(f"{name} must be a value of {kind}, a whole number from {low} to {high}, and is {shown(value)}")
    return int(number)


def by_name(what: str, given: Mapping[str, Any], known: Sequence[Argument]) -> list[tuple[Argument, Any]]:
    """Pairs each used argument with its given value, in order. A missing or unknown name is refused."""
    for name in given:
        if name not in {argument.name for argument in known}:
            raise UnknownName(f"the circuit has no {what} `{name}`; {closest(name, [a.name for a in known])}")
    used = [argument for argument in known if argument.used]
    missing = [argument.name for argument in used if argument.name not in given]
    if missing:
        raise DataError(f"{what} {missing[0]} is missing; the circuit has {', '.join(a.name for a in used)}")
    return [(argument, given[argument.name]) for argument in used]
