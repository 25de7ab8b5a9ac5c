# SPDX-License-Identifier: Apache-2.0
"""Lists, tuples, dicts and dataclasses of arrays go in and come out, and methods, defaults and constants work."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, TypedDict

import numpy as np
import pytest

import ringmill as rm

RNG = np.random.default_rng(11)
SMALL = {"log_n": 10, "bits": [60, *[50] * 4, 60], "allow_insecure_parameters_for_tests_only": True}
SCALE = np.array([1.0, 2.0, 4.0])


@dataclass
class Layer:
    w: Annotated[Any, rm.Plain[rm.real[3, 2]]]
    b: Annotated[Any, rm.Plain[rm.real[2]]]
    name: str = "layer"


@dataclass(frozen=True)
class Person:
    salary: rm.Encrypted[rm.real]
    history: tuple[rm.Encrypted[rm.real[3]], rm.Encrypted[rm.real[2, 2]]]


class Pair(NamedTuple):
    low: rm.Encrypted[rm.real[3]]
    high: rm.Encrypted[rm.real[3]]


class Words(TypedDict):
    first: rm.Encrypted[rm.real[3]]
    second: rm.Encrypted[rm.real[2]]


SEVERAL = [rm.Encrypted[rm.real[4, 3]], {"k": rm.Encrypted[rm.real[3]]}]


@dataclass
class Found:
    total: Any
    parts: Any = field(default=None)


def run(program: Any, encrypted: dict[str, Any], plain: dict[str, Any] | None = None, path: Any = None) -> Any:
    """Compiles and runs a program, from its file if there is a path. Returns what it decrypts to, and what it is."""
    compiled = program.compile(rm.params(**SMALL), input_bound=1)
    if path is not None:
        compiled.save(path)
        compiled = rm.load(path, allow_insecure_parameters_for_tests_only=True)
    client = compiled.keygen()
    inputs = client.encrypt(**encrypted)
    made = compiled.run(inputs, plain=plain or {})
    client.measure(made, **encrypted, **(plain or {}))
    return client.decrypt(made), compiled


def same(found: Any, expected: Any) -> bool:
    """Whether two structures have the same kinds and nearly the same arrays."""
    if isinstance(expected, (list, tuple)):
        pairs = zip(found, expected, strict=True)
        return type(found) is type(expected) and all(same(one, other) for one, other in pairs)
    if isinstance(expected, dict):
        return list(found) == list(expected) and all(same(found[name], expected[name]) for name in expected)
    if isinstance(expected, Found):
        return type(found) is Found and same(vars(found), vars(expected))
    return np.shape(found) == np.shape(expected) and bool(np.allclose(found, expected, atol=1e-3))


def compute(person, pair, words, several, model):
    x, (y, z) = person.salary, person.history
    return {
        "one": [x * y, (z, pair.low - pair.high)],
        "found": Found(
            words["first"].sum() + words["second"], [several[0] @ model.w + model.b, several[1]["k"] * SCALE]
        ),
        "pair": Pair(y * 2, y + 1),
    }


@rm.program
def whole(
    person: Person,
    pair: Pair,
    words: Words,
    several: SEVERAL,
    model: Layer,
):
    return compute(person, pair, words, several, model)


def arguments() -> tuple[dict[str, Any], dict[str, Any]]:
    def draw(*shape: int) -> Any:
        return RNG.uniform(-1, 1, shape)

    encrypted = {
        "person": Person(draw(), (draw(3), draw(2, 2))),
        "pair": Pair(draw(3), draw(3)),
        "words": {"first": draw(3), "second": draw(2)},
        "several": [draw(4, 3), {"k": draw(3)}],
    }
    return encrypted, {"model": Layer(draw(3, 2), draw(2))}


def test_structures_go_in_and_come_out(tmp_path):
    encrypted, plain = arguments()
    expected = compute(**encrypted, **plain)
    assert same(whole(**encrypted, **plain), expected)
    found, compiled = run(whole, encrypted, plain)
    assert same(found, expected)
    assert {"person.salary", "person.history[1]", "several[1].k", "model.w"} <= set(compiled.layouts)
    assert list(compiled.predicted_bits)[:3] == ["one_0", "one_1_0", "one_1_1"]
    assert list(compiled.ranges)[:2] == ["person.salary", "person.history[0]"]
    # A file has no classes: objects come out as dicts, and go in as objects or dicts.
    plain["model"] = {"w": plain["model"].w, "b": plain["model"].b}
    found, _ = run(whole, encrypted, plain, tmp_path / "whole.rmac")
    assert same(found, {**expected, "found": vars(expected["found"]), "pair": tuple(expected["pair"])})
    text = (tmp_path / "whole.rmac").read_text()
    start = text.index(";ringmill arrays ") + len(";ringmill arrays ")
    for wrong in (["list", [], [None]], 3, ["dict", ["a"], []], ["bag", [], [None]], ["dict", ["a", "a"], [None] * 2]):
        for name in ("tree", "structures"):
            data = json.loads(text[start:])
            data[name] = wrong if name == "tree" else {"person": wrong}
            (tmp_path / "altered.rmac").write_text(text[:start] + json.dumps(data) + "\n")
            with pytest.raises(rm.FileError, match="altered"):
                rm.load(tmp_path / "altered.rmac")


@pytest.fixture(scope="module")
def client() -> Any:
    return whole.compile(rm.params(**SMALL), input_bound=1).keygen()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("person", 3, "holds salary, history, and what is given lacks salary"),
        ("person", {"salary": 1, "history": 2, "more": 3}, "has 'more'"),
        ("person", Person(1.0, (np.ones(3),)), r"person.history holds 2 arrays in a tuple, and what is given has 1"),
        ("person", Person(1.0, (np.ones(3), np.ones(2))), r"person.history\[1\] takes|person.history\[1\].*shape"),
        ("several", np.ones(3), "holds 2 arrays in a list"),
        ("several", 5, "is of type int"),
        ("words", {"first": np.ones(3)}, "lacks second"),
    ],
)
def test_values_of_another_structure_are_refused(client, name, value, said):
    encrypted, plain = arguments()
    encrypted[name] = value
    with pytest.raises(rm.DataError, match=said):
        whole(**encrypted, **plain)
    with pytest.raises(rm.DataError, match=said):
        client.encrypt(**encrypted)


def test_ranges_and_samples_are_of_structures():
    encrypted, plain = arguments()
    compiled = whole.compile(rm.params(**SMALL), sample=encrypted | plain)
    assert compiled.ranges["person.salary"]
    compiled = whole.compile(
        rm.params(**SMALL), ranges={"person": (1, 2), "person.salary": (0, 9), "model.b": 1}, input_bound=1
    )
    assert compiled.ranges["person.salary"] == (0, 9)
    assert compiled.ranges["person.history[0]"][1] == 2
    with pytest.raises(rm.DataError, match=r"no input `person.age`"):
        whole.compile(ranges={"person.age": 1}, input_bound=1)
    with pytest.raises(rm.DataError, match="input model is missing"):
        whole.compile(sample=encrypted)


def test_a_batch_of_structures():
    @rm.program
    def sums(pair: Pair, by: rm.Plain[rm.real[3]]):
        return [pair.low * by, pair.high.sum()]

    compiled = sums.compile(rm.params(**SMALL), batch=True, input_bound=1)
    client = compiled.keygen()
    low, high, by = RNG.uniform(-1, 1, (5, 3)), RNG.uniform(-1, 1, (5, 3)), RNG.uniform(-1, 1, 3)
    found = client.decrypt(compiled.run(client.encrypt(pair=(low, high)), plain={"by": by}))
    assert same(found, [low * by, high.sum(axis=1)])

    @rm.program
    def shifted(x: rm.Encrypted[rm.real[2]], pair: Pair = (SCALE / 4, SCALE / 8), by: rm.Plain[rm.real[2]] = (0.5, 1)):
        return x * by + pair.low[:2] - pair.high[0]

    x = RNG.uniform(-1, 1, (4, 2))
    for batch in (True, 4):
        compiled = shifted.compile(rm.params(**SMALL), batch=batch, input_bound=1)
        client = compiled.keygen()
        run = compiled.run(client.encrypt(x=x))
        assert same(client.decrypt(run), x * [0.5, 1] + SCALE[:2] / 4 - 1 / 8)
        client.measure(run, x=x)


def test_defaults_are_taken_and_values_without_a_type_are_constants():
    default = np.array([1.0, 0.5])

    @rm.program
    def f(
        x: rm.Encrypted[rm.real[2]], w: rm.Plain[rm.real[2]] = default, power=3, *, more: rm.Encrypted[rm.real] = 0.5
    ):
        return x * w + power + more

    x = np.array([0.25, -0.5])
    assert same(f(x), x * default + 3.5)
    assert same(f(x, [0, 1], more=0), x * [0, 1] + 3)
    assert same(run(f, {"x": x})[0], x * default + 3.5)
    assert same(run(f, {"x": x, "more": 0.25}, {"w": [1, 1]})[0], x + 3.25)
    with pytest.raises(rm.ArgumentError, match="parameter power of f has no type, so it is a constant"):
        f(x, power=2)
    with pytest.raises(rm.DataError, match="power"):
        run(f, {"x": x, "power": 2})

    @rm.program
    def slots(x: rm.Encrypted, by=2.0):
        return x * by

    assert slots([1.0, 2.0]).tolist() == [2.0, 4.0]


@rm.program
def doubled(x: rm.Encrypted[rm.real[3]]):
    return x * 2


class Model:
    def __init__(self, weights: Any) -> None:
        self.weights = weights

    @rm.program
    def forward(self, x: rm.Encrypted[rm.real[2, 3]]):
        return x @ self.weights

    @rm.program
    def twice(self, x: rm.Encrypted[rm.real[2, 3]]):
        return self.forward(x) + self.forward(x * x)

    @rm.program
    def forever(self, x: rm.Encrypted[rm.real[2, 3]]):
        return self.forever(x)

    first = doubled

    @staticmethod
    @rm.program
    def alone(x: rm.Encrypted[rm.real[2, 3]]):
        return x.sum()


def test_methods_are_programs():
    one, other = (Model(RNG.uniform(-1, 1, (3, 2))) for _ in range(2))
    x = RNG.uniform(-1, 1, (2, 3))
    assert same(one.twice(x), x @ one.weights + x**2 @ one.weights)
    assert same(run(one.forward, {"x": x})[0], x @ one.weights)
    assert same(run(other.forward, {"x": x})[0], x @ other.weights)
    assert same(Model.alone(x), x.sum())
    assert one.first is doubled
    assert one.forward == one.forward != other.forward
    with pytest.raises(rm.CompileError, match="forever calls itself"):
        one.forever(x)
    with pytest.raises(rm.CompileError, match="parameter self of forward must be annotated"):
        Model.forward.compile(input_bound=1)


def test_programs_of_structures_are_parts_of_others():
    @rm.program
    def inner(pair: Pair, by: [rm.Plain[rm.real[3]]]):
        return pair.low * by[0] + pair.high, [pair.low.sum()]

    @rm.program
    def outer(x: rm.Encrypted[rm.real[2, 3]], w: rm.Plain[rm.real[3]]):
        first, (second,) = inner(Pair(x[0], x[1]), [w])
        return first * second, inner({"low": x[1], "high": x[0]}, [SCALE])[0]

    x, w = RNG.uniform(-1, 1, (2, 3)), RNG.uniform(-1, 1, 3)
    assert same(outer(x, w), ((x[0] * w + x[1]) * x[0].sum(), x[1] * SCALE + x[0]))

    @rm.program
    def wrong(x: rm.Encrypted[rm.real[2, 3]]):
        return inner(Pair(x[0], x[1, :2]), [SCALE])

    with pytest.raises(rm.CompileError, match=r"argument pair.high of inner is of type real\[3\]"):
        wrong(x)


def test_structures_that_cannot_be_are_refused():
    @dataclass
    class Mixed:
        x: rm.Encrypted[rm.real[2]]
        w: rm.Plain[rm.real[2]]

    class Loop(list[Any]):
        pass

    def looped(x: Any) -> Any:
        loop = Loop([x])
        loop.append(loop)
        return loop

    def of(function: Any, kind: Any) -> Any:
        function.__annotations__ = {"x": kind}
        return rm.program(function)

    vector = rm.Encrypted[rm.real[2, 2]]
    for program, said in (
        (of(lambda x: x.w * x.x, Mixed), "parameter x of <lambda> has encrypted and plain arrays"),
        (of(lambda x: x[0], list[vector]), "must be annotated"),
        (of(lambda x: x[0], []), "must be annotated"),
        (of(lambda x: x[0], [int]), "must be annotated"),
        (of(lambda x: x[0], {1: vector}), "must be annotated"),
        (of(lambda x: x, tuple[vector, ...]), "must be annotated"),
        (of(looped, vector), "holds itself"),
        (of(lambda x: {"a b": x}, vector), "names its values with identifiers"),
        (of(lambda x: Found(x), vector), "output parts of <lambda> must be an encrypted array"),
        (of(lambda x: [], vector), "empty list"),
        (of(lambda x: None, vector), "returns nothing"),
        (of(lambda x: x[0], [rm.Encrypted]), "declare its shape"),
    ):
        with pytest.raises(rm.CompileError, match=re.compile(said)):
            program.compile(input_bound=1)


def test_names_of_structures_never_clash():
    @rm.program
    def f(x: [rm.Encrypted[rm.real[2]]], x_0: rm.Encrypted[rm.real[2]], x_0_: rm.Encrypted[rm.real[2]]):
        return {"a": [x[0], x_0 * 2], "a_0": x_0_ * 3}

    x, y, z = (RNG.uniform(-1, 1, 2) for _ in range(3))
    found, compiled = run(f, {"x": [x], "x_0": y, "x_0_": z})
    assert same(found, {"a": [x, y * 2], "a_0": z * 3})
    assert len(compiled.predicted_bits) == 3
