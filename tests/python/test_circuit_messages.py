# SPDX-License-Identifier: Apache-2.0
"""Tests natural mistakes in circuits: Ringmill refuses each at its line and names a cure, and the cure works."""

from __future__ import annotations

import copy
import functools
import inspect
import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringmill as rm

TOY = rm.circuit_params(toy_for_tests_only=True)
U8, U4, S8 = rm.uint(8), rm.uint(4), rm.sint(8)


def circuit_of(body: Callable[..., Any]) -> rm.Circuit:
    def f(x: rm.Encrypted[U8], y: rm.Encrypted[U8], n: rm.Encrypted[U4], s: rm.Encrypted[S8]):
        return body(x, y, n, s)

    return rm.circuit(f)


def powers(x: Any, y: Any, n: Any, s: Any) -> Any:
    return rm.lookup(n.to(rm.uint(3)), [2**i for i in range(8)], U8)


def exchanged(x: Any, y: Any, n: Any, s: Any) -> Any:
    values = [x, y, n.to(U8)]
    for i in range(len(values)):
        for j in range(i):
            values[j], values[i] = rm.minimum(values[j], values[i]), rm.maximum(values[j], values[i])
    return values


def setbit(x: Any, y: Any, n: Any, s: Any) -> Any:
    x[1] = 1
    return x


# Each mistake, its message, the cure as a program, and the cure's value for x, y, n, s of 200, 77, 9, -5.
MISTAKES: dict[str, tuple[Any, str, Any, Any]] = {
    "max": (lambda x, y, n, s: max(x, y), r"rm\.maximum\(a, b\)", lambda x, y, n, s: rm.maximum(x, y), 200),
    "max of many": (
        lambda x, y, n, s: max([x, y, x]),
        r"functools\.reduce\(rm\.maximum, values\)",
        lambda x, y, n, s: functools.reduce(rm.maximum, [x, y, x]),
        200,
    ),
    "min": (lambda x, y, n, s: min(x, y), r"rm\.minimum\(a, b\)", lambda x, y, n, s: rm.minimum(x, y), 77),
    "sorted": (lambda x, y, n, s: sorted([x, y]), r"exchanges: .*x\[i\] = rm\.minimum", exchanged, [9, 77, 200]),
    "sort": (lambda x, y, n, s: [x, y].sort(), "exchanges", exchanged, [9, 77, 200]),
    "lists": (
        lambda x, y, n, s: [x] == [y],
        r"lists of encrypted .*reduce\(operator\.and_",
        lambda x, y, n, s: functools.reduce(operator.and_, [a == b for a, b in zip([x, y], [x, 77], strict=True)]),
        1,
    ),
    "in": (
        lambda x, y, n, s: x in [1, 2],
        r"reduce\(operator\.or_",
        lambda x, y, n, s: functools.reduce(operator.or_, [x == item for item in [1, 200]]),
        1,
    ),
    "index of a list": (lambda x, y, n, s: [1, 2].index(x), r"operator\.or_", None, None),
    "all": (
        lambda x, y, n, s: all([x < y, y < x]),
        r"functools\.reduce\(operator\.and_, bits\)",
        lambda x, y, n, s: functools.reduce(operator.and_, [x < y, y < x]),
        0,
    ),
    "any": (
        lambda x, y, n, s: any(bit for bit in [x < y, y < x]),
        r"functools\.reduce\(operator\.or_, bits\)",
        lambda x, y, n, s: functools.reduce(operator.or_, [x < y, y < x]),
        1,
    ),
    "filter": (lambda x, y, n, s: list(filter(None, [x < y])), "the function called here asks", None, None),
    "if": (
        lambda x, y, n, s: x if x < y else y,
        "steer Python's if",
        lambda x, y, n, s: rm.select(x < y, x, y),
        77,
    ),
    "not": (lambda x, y, n, s: not x < y, "steer Python's if", lambda x, y, n, s: ~(x < y), 1),
    "known sides": (
        lambda x, y, n, s: rm.select(x < y, 0, 1),
        r"rm\.lookup\(bit, \[1, 0\], rm\.uint\(8\)\)",
        lambda x, y, n, s: rm.lookup(x < y, [1, 0], U8),
        1,
    ),
    "widths": (
        lambda x, y, n, s: rm.lookup(x + n, range(256), U8),
        r"rm\.uint\(8\) and rm\.uint\(4\) do not mix, .*rm\.uint\(8\) holds both",
        lambda x, y, n, s: rm.lookup(x + n.to(U8), range(256), U8),
        209,
    ),
    "wide index": (
        lambda x, y, n, s: rm.lookup(x.to(rm.uint(9)), range(256), U8),
        r"at most 8 bits; convert it, as index\.to\(rm\.uint\(8\)\)",
        lambda x, y, n, s: rm.lookup(x.to(rm.uint(9)).to(rm.uint(8)), range(256), U8),
        200,
    ),
    "signs": (
        lambda x, y, n, s: x + s,
        r"rm\.sint\(9\) holds both",
        lambda x, y, n, s: x.to(rm.sint(9)) + s.to(rm.sint(9)),
        195,
    ),
    "sides of two widths": (
        lambda x, y, n, s: rm.select(x < y, n, x),
        r"when_false of rm\.select is the latter; rm\.uint\(8\) holds both",
        lambda x, y, n, s: rm.select(x < y, n.to(U8), x),
        200,
    ),
    "large constant": (
        lambda x, y, n, s: x + 256,
        r"constant 256 is no value of rm\.uint\(8\).*rm\.uint\(9\) holds both",
        lambda x, y, n, s: x.to(rm.uint(9)) + 256,
        456,
    ),
    "negative constant": (
        lambda x, y, n, s: x + -1,
        r"rm\.sint\(9\) holds both",
        lambda x, y, n, s: x.to(rm.sint(9)) + -1,
        199,
    ),
    "whole float": (lambda x, y, n, s: x + 1.0, "is 1.0; write 1", lambda x, y, n, s: x + 1, 201),
    "float": (lambda x, y, n, s: 1.5 - x, "is 1.5; circuits compute on whole numbers", None, None),
    "compared float": (lambda x, y, n, s: x < 3.5, "is 3.5; circuits compute", None, None),
    "text": (lambda x, y, n, s: x + "1", "must be an integer, encrypted or known", None, None),
    "None": (lambda x, y, n, s: x == None, "must be an integer, encrypted or known", None, None),  # noqa: E711
    "list": (
        lambda x, y, n, s: x + [1, 2],  # noqa: RUF005
        r"\[x \+ item for item in items\]",
        lambda x, y, n, s: [x + item for item in [1, 2]],
        [201, 202],
    ),
    "array": (lambda x, y, n, s: x + np.array([1, 2]), r"\[x \+ item for item in items\]", None, None),
    "to an array": (lambda x, y, n, s: np.array([1, 2]) + x, "numpy.add does not work", None, None),
    "half": (lambda x, y, n, s: x / 2, r"x // y rounds down", lambda x, y, n, s: x // 2, 100),
    "inverse": (lambda x, y, n, s: 1 / x, r"x\.quotient\(y\)", lambda x, y, n, s: s.quotient(2), -2),
    "negative power": (lambda x, y, n, s: x**-1, "exponent of an encrypted integer must be a whole number", None, None),
    "encrypted power": (lambda x, y, n, s: x**y, r"rm\.lookup\(x, \[base\*\*i", powers, 2),
    "power of a number": (lambda x, y, n, s: 2**n, r"rm\.lookup\(x, \[base\*\*i", powers, 2),
    "modular power": (lambda x, y, n, s: pow(x, 2, 7), r"\(x\*\*n\) % m", lambda x, y, n, s: x**2 % 7, 64 % 7),
    "element": (lambda x, y, n, s: x[3], r"\(x >> i\)\.to\(rm\.bit\)", lambda x, y, n, s: (x >> 3).to(rm.bit), 1),
    "element set": (setbit, r"x \| 1 << i", lambda x, y, n, s: x | 1 << 1, 202),
    "length": (lambda x, y, n, s: len(x), r"x\.type is its type", lambda x, y, n, s: x + x.type.bits, 208),
    "elements": (lambda x, y, n, s: list(x), "no elements", lambda x, y, n, s: (x >> 7).to(rm.bit), 1),
    "member": (lambda x, y, n, s: 1 in x, "no elements", None, None),
    "number of turns": (lambda x, y, n, s: list(range(x)), "no number of turns", None, None),
    "int": (lambda x, y, n, s: int(x), r"no number of Python's.*x\.to\(type\)", lambda x, y, n, s: x.to(U4), 8),
    "sqrt": (lambda x, y, n, s: math.sqrt(x), "no number of Python's", None, None),
    "round": (lambda x, y, n, s: round(x), "whole already", None, None),
    "hash": (lambda x, y, n, s: {x: 1}, "key of a dict", None, None),
    "attribute": (lambda x, y, n, s: x.bit_length(), "no attribute `bit_length`; it has quotient, rem", None, None),
    "format": (lambda x, y, n, s: f"{x:d}", "cannot be formatted", None, None),
    "pickle": (lambda x, y, n, s: pickle.dumps(x), "cannot be pickled", None, None),
    "matrix product": (lambda x, y, n, s: x @ y, r"rm\.add_all\(\[x \* y", lambda x, y, n, s: rm.add_all([x * y]), 40),
    "constant shifted": (
        lambda x, y, n, s: 1 << n,
        r"\(x \* 0 \+ constant\) << x",
        lambda x, y, n, s: (n * 0 + 1) << n.to(rm.uint(2)),
        2,
    ),
    "numpy where": (
        lambda x, y, n, s: np.where(x < y, x, y),
        r"rm\.select\(bit, a, b\)",
        lambda x, y, n, s: rm.select(x < y, x, y),
        77,
    ),
    "numpy maximum": (
        lambda x, y, n, s: np.maximum(x, y),
        r"rm\.maximum\(a, b\)",
        lambda x, y, n, s: rm.maximum(x, y),
        200,
    ),
    "numpy sqrt": (lambda x, y, n, s: np.sqrt(x), "numpy.sqrt does not work on encrypted integers", None, None),
    "numpy divide": (lambda x, y, n, s: np.divide(x, 2), r"x // y", lambda x, y, n, s: x // 2, 100),
    "numpy sort": (lambda x, y, n, s: np.sort(x), "exchanges", exchanged, [9, 77, 200]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_names_its_line_and_a_cure_that_works(name: str) -> None:
    mistake, message, cure, value = MISTAKES[name]
    with pytest.raises(rm.CompileError, match=message) as refused:
        circuit_of(mistake).compile(TOY, failure=-40)
    lines, start = inspect.getsourcelines(mistake)
    assert refused.value.file == __file__
    assert start <= refused.value.line < start + len(lines)
    if cure is not None:
        assert np.array_equal(circuit_of(cure)(200, 77, 9, -5), value)


def test_source_that_is_not_there_is_no_obstacle() -> None:
    space: dict[str, Any] = {}
    exec("def larger(x, y, n, s):\n    return max(x, y)", space)
    with pytest.raises(rm.CompileError, match=r"of max and min write rm\.maximum"):
        circuit_of(space["larger"]).compile(TOY, failure=-40)


# Operations that work as on numbers, by Python's operators and numpy's functions.
AS_ON_NUMBERS: dict[str, tuple[Any, Any]] = {
    "square": (lambda x, y, n, s: x**2, 200**2 % 256),
    "cube": (lambda x, y, n, s: n**3, 9**3 % 16),
    "power": (lambda x, y, n, s: x.to(rm.uint(64)) ** 7, 200**7),
    "no power": (lambda x, y, n, s: x**0, 1),
    "numpy power": (lambda x, y, n, s: np.power(n, 2), 81 % 16),
    "absolute": (lambda x, y, n, s: abs(s), 5),
    "absolute of unsigned": (lambda x, y, n, s: abs(x), 200),
    "divmod": (lambda x, y, n, s: divmod(x, y), (2, 46)),
    "divmod of a number": (lambda x, y, n, s: divmod(100, n.to(U8)), (11, 1)),
    "add": (lambda x, y, n, s: np.add(x, y), 21),
    "subtract": (lambda x, y, n, s: np.subtract(200, y), 123),
    "int64": (lambda x, y, n, s: np.int64(3) + x - np.uint8(1), 202),
    "multiply": (lambda x, y, n, s: np.multiply(y, 2), 154),
    "bits": (lambda x, y, n, s: np.bitwise_xor(np.bitwise_and(x, 15), np.bitwise_or(y, 1)), 8 ^ 77),
    "shifts": (lambda x, y, n, s: np.left_shift(np.right_shift(x, 3), 1), 50),
    "negative": (lambda x, y, n, s: np.negative(s), 5),
    "invert": (lambda x, y, n, s: np.invert(x), 55),
    "np.abs": (lambda x, y, n, s: np.abs(s), 5),
    "less": (lambda x, y, n, s: np.less(y, x), 1),
    "less than": (lambda x, y, n, s: np.int64(3) < x, 1),
    "equal": (lambda x, y, n, s: np.equal(77, y), 1),
    "sum": (lambda x, y, n, s: sum([y, y, y]), 231),
    "copies": (lambda x, y, n, s: copy.deepcopy([copy.copy(x)])[0] + 1, 201),
    "arrays of objects": (lambda x, y, n, s: tuple(np.array([x, y], dtype=object) + 1), (201, 78)),
}


@pytest.mark.parametrize("name", AS_ON_NUMBERS)
def test_what_works_as_on_numbers(name: str) -> None:
    body, value = AS_ON_NUMBERS[name]
    assert circuit_of(body)(200, 77, 9, -5) == value


@rm.circuit
def endless(x: rm.Encrypted[U8]):
    return endless(x)


@rm.circuit
def even(x: rm.Encrypted[U8]):
    return odd(x - 1)


@rm.circuit
def odd(x: rm.Encrypted[U8]):
    return even(x - 1)


@rm.circuit
def deep(x: rm.Encrypted[U8]):
    def down(x: Any) -> Any:
        return down(x + 1)

    return down(x)


@pytest.mark.parametrize(("circuit", "says"), [(endless, "itself"), (even, "itself"), (deep, "without an end")])
def test_calls_without_an_end(circuit: rm.Circuit, says: str) -> None:
    for call in (lambda: circuit.compile(TOY, failure=-40), lambda: circuit(3)):
        with pytest.raises(rm.CompileError, match=f"{says}.* write a loop") as refused:
            call()
        assert refused.value.file == __file__
