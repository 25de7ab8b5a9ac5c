# SPDX-License-Identifier: Apache-2.0
"""Tests random programs, kind by kind. The result is what numpy or Python gives, or the program is refused.

A case that fails names its seed. `KINDS["arrays"](random.Random(seed))` is that case again.
"""

import os
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringmill as rm

LONG = int(os.environ.get("RINGMILL_FUZZ_SECONDS", "0"))
TOY = rm.circuit_params(toy_for_tests_only=True)

# Reasons for which a program may be refused: it is too deep, its values grow too far, or nothing encrypted is left.
CURES = ("in sequence", "declare narrower ranges", "compute it in the clear", "ask for less precision")

# A step makes a value of earlier ones. The same steps run on encrypted values and on numpy's.
Step = Callable[[list[Any], Any], Any]


def run(program: rm.Program, inputs: dict[str, np.ndarray], expected: dict[str, Any], **options: Any) -> bool:
    """Whether the program was accepted. Its results must then be right to the predicted bits."""
    try:
        compiled = program.compile(**options)
        client = compiled.keygen()
        outputs = compiled.run(client.encrypt(**inputs), progress=False)
    except rm.RingmillError as error:
        if not any(cure in str(error) for cure in CURES):
            raise
        return False
    found = client.decrypt(outputs)
    for name, value in expected.items():
        if np.ndim(value):
            assert found[name].shape == value.shape, name
        if compiled.scheme == "ckks":
            error = np.abs(found[name] - value).max()
            assert error <= 2.0 ** -compiled.predicted_bits[name], (name, error, compiled.predicted_bits)
        else:
            assert (found[name] == value).all(), name
    return True


# Padded arrays of any length, in as few slots as hold them or in more.


def array_step(draw: random.Random, length: int, whole: bool, place: int) -> Step:
    a, b = draw.randrange(place), draw.randrange(place)
    number = draw.randint(-3, 3) or 2 if whole else draw.uniform(-1, 1)
    row = np.array([draw.randint(-3, 3) if whole else draw.uniform(-1, 1) for _ in range(length)])
    row[0] = 1  # a row must not be all zeros
    coefficients = [draw.choice([0, number, 1]) for _ in range(draw.randint(1, 4))] + [number]
    kinds: list[Step] = [
        lambda v, of: v[a] + v[b],
        lambda v, of: v[a] - v[b],
        lambda v, of: v[a] * v[b],
        lambda v, of: v[a] + number,
        lambda v, of: number - v[a],
        lambda v, of: v[a] * number,
        lambda v, of: v[0] * row + v[a],
        lambda v, of: v[1] - row,
        lambda v, of: of.sum(v[a]),
        lambda v, of: of.mean(v[a]) if not whole else of.sum(v[b]),
        lambda v, of: v[a] ** 2,
        lambda v, of: v[a] / 3 if not whole else v[b] - v[a],
        lambda v, of: of.polynomial(v[a], coefficients),
    ]
    return draw.choice(kinds)


class Numpys:
    """`rm.sum`, `rm.mean` and `rm.polynomial` by numpy. A single number stands for the same value in every slot."""

    def __init__(self, slots: int) -> None:
        self.slots = slots

    def sum(self, x: Any) -> Any:
        return x.sum() if np.ndim(x) else x * self.slots

    def mean(self, x: Any) -> Any:
        return x.mean() if np.ndim(x) else x

    def polynomial(self, x: Any, coefficients: list[float]) -> Any:
        return sum(c * x**power for power, c in enumerate(coefficients))


def arrays(draw: random.Random) -> bool:
    length = draw.choice([1, 2, 3, draw.randint(1, 40), draw.randint(1, 700)])
    slots = 1 << (length - 1).bit_length() + draw.randrange(3)
    whole = draw.random() < 0.5
    kind = rm.integer if whole else rm.real
    steps = [array_step(draw, length, whole, place + 2) for place in range(draw.randint(2, 9))]
    scheme = draw.choice(["bfv", "bgv"]) if whole else "ckks"

    def values(v: list[Any], of: Any) -> dict[str, Any]:
        for step in steps:
            v = [*v, step(v, of)]
        return {f"out{place}": value for place, value in enumerate(v[2:])}

    @rm.program
    def program(x: rm.Encrypted[kind[length]], y: rm.Encrypted[kind[length]]):
        return values([x, y], rm)

    rng = np.random.default_rng(draw.randrange(1 << 32))
    data = [rng.integers(-3, 4, length) if whole else rng.uniform(-1, 1, length) for _ in range(2)]
    bound = 3 if whole else 1
    inputs = dict(zip("xy", data, strict=True))
    return run(
        program, inputs, values(data, Numpys(slots)), slots=slots, scheme=scheme, ranges={"x": bound, "y": bound}
    )


# Straight lines of many steps, with rotations among them, as deep as the scheme goes.


def straight_step(draw: random.Random, slots: int, whole: bool, deep: list[int], limit: int) -> Step:
    """Returns a step, and adds to `deep` the number of products in sequence under its result."""
    a, b = draw.choice(range(len(deep))), draw.choice(range(max(0, len(deep) - 4), len(deep)))
    by = draw.randint(-2 * slots, 2 * slots)
    mask = np.array([draw.randint(0, 1) for _ in range(slots)])
    mask[draw.randrange(slots)] = 1
    half = 1 if whole else 0.5
    kinds: list[tuple[int, Step]] = [
        (0, lambda v, of: v[b] + v[a]),
        (0, lambda v, of: v[a] - v[b]),
        (0, lambda v, of: -v[b]),
        (0, lambda v, of: of(v[b], by)),
        (0, lambda v, of: v[a] + of(v[b], by)),
        (0, lambda v, of: v[b] + mask),
    ]
    if max(deep[a], deep[b]) < limit:
        kinds += [
            (1, lambda v, of: v[b] * v[a]),
            (1, lambda v, of: (v[b] - v[a]) * half + v[a] if not whole else v[b] * mask),
            (1, lambda v, of: v[b] * mask + v[a]),
        ]
    levels, step = draw.choice(kinds)
    deep.append(max(deep[a], deep[b]) + levels)
    return step


def straight(draw: random.Random) -> bool:
    slots, whole = 1 << draw.randint(0, 6), draw.random() < 0.5
    limit = draw.randint(1, 4)
    deep = [0, 0]
    steps = [straight_step(draw, slots, whole, deep, limit) for _ in range(draw.randint(10, 60))]
    kind = rm.integer if whole else rm.real

    def values(v: list[Any], of: Any) -> dict[str, Any]:
        for step in steps:
            v = [*v, step(v, of)]
        return {"last": v[-1], "before": v[-2]}

    @rm.program
    def program(x: rm.Encrypted[kind[slots]], y: rm.Encrypted[kind[slots]]):
        return values([x, y], rm.rotate)

    rng = np.random.default_rng(draw.randrange(1 << 32))
    data = [rng.integers(-1, 2, slots) if whole else rng.uniform(-0.5, 0.5, slots) for _ in range(2)]
    bound = 1 if whole else 0.5
    return run(
        program,
        dict(zip("xy", data, strict=True)),
        values(data, lambda x, by: np.roll(x, -by)),
        slots=slots,
        scheme=draw.choice(["bfv", "bgv"]) if whole else "ckks",
        ranges={"x": bound, "y": bound},
    )


# Circuits of integers of any width, converted where they meet.


def wrapped(value: int, of: Any) -> int:
    """Wraps a whole number around as a type does."""
    bits, signed = (1, False) if of == rm.bit else (of.bits, of.kind == rm.sint(8).kind)
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


class Known:
    """A known number of a type, which computes with Python's own integers as an encrypted one does."""

    def __init__(self, value: int, of: Any) -> None:
        self.value, self.type = wrapped(value, of), of
        self.bits = 1 if of == rm.bit else of.bits
        self.signed = of != rm.bit and of.kind == rm.sint(8).kind

    def made(self, value: int) -> "Known":
        return Known(value, self.type)

    def to(self, of: Any) -> "Known":
        return Known(self.value, of)

    def shifted(self, by: "Known | int", right: bool) -> "Known":
        by = min(by.value if isinstance(by, Known) else by, 64)
        return self.made(self.value >> by if right else self.value << by)

    def turned(self, by: int) -> "Known":
        by, value = by % self.bits, self.value % (1 << self.bits)
        return self.made(value << by | value >> (self.bits - by))

    def divided(self, by: "Known") -> tuple["Known", "Known"]:
        if by.value == 0:
            return self.made(-1), self
        quotient = abs(self.value) // abs(by.value)
        quotient = -quotient if (self.value < 0) != (by.value < 0) else quotient
        return self.made(quotient), self.made(self.value - quotient * by.value)


def both(name: str, *operands: Any) -> Any:
    """Runs an operation: by Python on known numbers, and by the circuit on encrypted ones."""
    x, y = operands[0], operands[-1]
    known = isinstance(x, Known)
    match name:
        case "add" | "sub" | "mul" | "and" | "or" | "xor":
            of = {"add": "__add__", "sub": "__sub__", "mul": "__mul__", "and": "__and__", "or": "__or__"}
            method = of.get(name, "__xor__")
            return x.made(getattr(x.value, method)(y.value)) if known else getattr(x, method)(y)
        case "lt" | "le" | "eq" | "ne" | "gt" | "ge":
            method = f"__{name}__"
            return Known(getattr(x.value, method)(y.value), rm.bit) if known else getattr(x, method)(y)
        case "invert":
            return x.made(~x.value) if known else ~x
        case "negate":
            return x.made(-x.value) if known else -x
        case "left" | "right":
            if known:
                return x.shifted(y, name == "right")
            return x >> y if name == "right" else x << y
        case "turn":
            return x.turned(y) if known else x.rotate_left(y)
        case "quotient" | "remainder":
            return x.divided(y)[name == "remainder"] if known else getattr(x, name)(y)
        case "minimum" | "maximum":
            if known:
                return x.made((min if name == "minimum" else max)(x.value, y.value))
            return getattr(rm, name)(x, y)
        case "select":
            return (operands[1] if x.value else y) if known else rm.select(*operands)
        case "lookup":
            entries, of = operands[1:]
            if not known:
                return rm.lookup(x, entries, of)
            return Known(entries[x.value] if x.value < len(entries) else 0, of)
        case "add_all":
            return x.made(sum(value.value for value in operands)) if known else rm.add_all(list(operands))
    raise AssertionError(name)


def any_type(draw: random.Random) -> Any:
    return draw.choice([rm.bit, rm.uint(draw.randint(1, 9)), rm.uint(8), rm.sint(draw.randint(1, 9)), rm.sint(8)])


def circuit_step(draw: random.Random, types: list[Any]) -> Step:
    """Returns a step, and adds to `types` the type of its result."""
    a, b, c = (draw.randrange(len(types)) for _ in range(3))
    of = types[a]
    number = draw.randrange(12)
    narrow = rm.uint(draw.randint(1, 4))
    entries = [wrapped(draw.randrange(1 << 9), of) for _ in range(draw.randint(1, 1 << narrow.bits))]
    names = ["add", "sub", "mul", "and", "or", "xor", "minimum", "maximum"]
    orders = ["lt", "le", "eq", "ne", "gt", "ge"]
    kinds: list[tuple[Any, Step]] = [
        *((of, lambda v, name=name: both(name, v[a], v[b].to(of))) for name in names),
        *((rm.bit, lambda v, name=name: both(name, v[a], v[b].to(of))) for name in draw.sample(orders, 3)),
        (of, lambda v: both("invert", v[a])),
        (of, lambda v: both("negate", v[a])),
        (of, lambda v: both("left", v[a], number)),
        (of, lambda v: both("right", v[a], number)),
        (of, lambda v: both("left", v[a], v[b].to(narrow))),
        (of, lambda v: both("right", v[a], v[b].to(narrow))),
        (of, lambda v: both("turn", v[a], number)),
        (of, lambda v: both("quotient", v[a], v[b].to(of))),
        (of, lambda v: both("remainder", v[a], v[b].to(of))),
        (of, lambda v: both("select", v[c].to(rm.bit), v[a], v[b].to(of))),
        (of, lambda v: both("lookup", v[b].to(narrow), entries, of)),
        (of, lambda v: both("add_all", v[a], v[b].to(of), v[c].to(of))),
    ]
    made, step = draw.choice(kinds)
    types.append(made)
    return step


def circuits(draw: random.Random) -> bool:
    first, second = any_type(draw), any_type(draw)
    types = [first, second]
    steps = [circuit_step(draw, types) for _ in range(draw.randint(2, 14))]

    def values(v: list[Any]) -> dict[str, Any]:
        for step in steps:
            v = [*v, step(v)]
        return {f"out{place}": value for place, value in enumerate(v[2:])}

    @rm.circuit
    def circuit(x: rm.Encrypted[first], y: rm.Encrypted[second]):
        return values([x, y])

    compiled = circuit.compile(TOY, failure=-40)
    client = compiled.keygen()
    for _ in range(2):
        x, y = (wrapped(draw.choice([0, -1, 1, draw.randrange(512)]), of) for of in (first, second))
        wanted = {name: value.value for name, value in values([Known(x, first), Known(y, second)]).items()}
        assert circuit(x, y) == wanted, (x, y)
        assert client.decrypt(compiled.run(client.encrypt(x=x, y=y), progress=False)) == wanted, (x, y)
    return True


KINDS = {"arrays": arrays, "straight": straight, "circuits": circuits}


@pytest.mark.skipif(not LONG, reason="long: make full runs it")
@pytest.mark.parametrize("kind", KINDS)
def test_programs_drawn_at_random(kind):
    """Each kind has a third of the time, and most of its programs are accepted."""
    until = time.monotonic() + LONG / 3
    taken, drawn = 0, 0
    while time.monotonic() < until:
        seed = random.SystemRandom().randrange(1 << 32)
        try:
            taken += KINDS[kind](random.Random(seed))
        except Exception as error:
            error.add_note(f"{kind}, seed {seed}")
            raise
        drawn += 1
    assert taken > drawn / 2, (taken, drawn)
    print(f"{kind}: {taken} of {drawn} programs ran")
