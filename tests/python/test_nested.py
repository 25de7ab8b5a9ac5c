# SPDX-License-Identifier: Apache-2.0
"""Tests that a program called inside another becomes part of it. Values and instructions are as if it were written
there.
"""

from __future__ import annotations

import numpy as np
import pytest

import ringmill as rm


@rm.program
def scaled(x: rm.Encrypted, w: rm.Plain):
    return x * w + 1


@rm.program
def both(x: rm.Encrypted, y: rm.Encrypted):
    return {"sum": x + y, "product": x * y}


@rm.program
def pair(x: rm.Encrypted, /):
    return x << 1, x >> 1


@rm.program
def outer(x: rm.Encrypted, y: rm.Encrypted, p: rm.Plain):
    parts = both(scaled(x, p), y=scaled(y, np.full(len(y), 0.5)))
    left, right = pair(parts["product"])
    return {"out": left - right + scaled(x, w=2.0), "sum": parts["sum"]}


@rm.program
def written_out(x: rm.Encrypted, y: rm.Encrypted, p: rm.Plain):
    a, b = x * p + 1, y * np.full(len(y), 0.5) + 1
    total, product = a + b, a * b
    return {"out": (product << 1) - (product >> 1) + (x * 2.0 + 1), "sum": total}


def without_lines(program):
    return [line.split(" @")[0].split(' "')[0] for line in program.trace(16)[0].to_text().splitlines()[1:]]


def test_it_is_traced_in_place():
    data = {name: np.random.default_rng(number).normal(size=16) for number, name in enumerate(("x", "y", "p"))}
    found, clear = outer(**data), written_out(**data)
    for name in ("out", "sum"):
        assert np.array_equal(found[name], clear[name])
    instructions = [[line.split("=")[-1].split("@")[0] for line in without_lines(p)] for p in (outer, written_out)]
    assert len(instructions[0]) == len(instructions[1])


def test_it_runs_encrypted(small):
    data = {name: np.random.default_rng(number).uniform(-1, 1, 16) for number, name in enumerate(("x", "y", "p"))}
    compiled = outer.compile(small, slots=16)
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=data["x"], y=data["y"]), plain={"p": data["p"]})
    for name, clear in written_out(**data).items():
        assert np.abs(client.decrypt(run)[name] - clear).max() < 1e-5


def test_on_plain_values_it_stays_a_computation_in_the_clear():
    @rm.program
    def f(x: rm.Encrypted):
        return x + scaled(np.ones(16), np.full(16, 3.0))

    assert np.array_equal(f(x=np.zeros(16)), np.full(16, 4.0))


@rm.program
def endless(x: rm.Encrypted):
    return endless(x)  # here


@rm.program
def there(x: rm.Encrypted):
    return back(x)


@rm.program
def back(x: rm.Encrypted):
    return there(x)  # here


LEAKED = []


@pytest.mark.parametrize(
    ("inner", "says"),
    [
        (lambda x, p: endless(x), "endless calls itself"),
        (lambda x, p: there(x), "there calls itself"),
        (lambda x, p: scaled(p, p), "argument x of scaled must be an encrypted vector"),
        (lambda x, p: scaled(np.ones(16), x), "argument x of scaled must be an encrypted vector"),
        (lambda x, p: scaled(x, "text"), "argument w of scaled must hold numbers"),
        (lambda x, p: scaled(x), "missing a required argument: 'w'"),
        (lambda x, p: scaled(x, v=p), "no argument `v`"),
        (lambda x, p: scaled(x, np.ones(3)), "3 values does not fit 16 slots"),
        (lambda x, p: both(x, LEAKED[0]), "argument y of both belongs to another program"),
    ],
)
def test_what_does_not_fit_is_refused_at_the_line(inner, says):
    @rm.program
    def leak(x: rm.Encrypted):
        LEAKED[:] = [x]
        return x

    leak.trace(16)

    @rm.program
    def f(x: rm.Encrypted, p: rm.Plain):
        return inner(x, p)

    with pytest.raises(rm.CompileError, match=says) as caught:
        f.trace(16)
    assert str(caught.value).startswith(f"{__file__}:")
    # A refusal changes nothing for later calls.
    assert np.array_equal(scaled(x=np.ones(16), w=np.ones(16)), np.full(16, 2.0))


def test_a_vector_outlives_its_trace_only_to_be_refused():
    kept = []

    @rm.program
    def f(x: rm.Encrypted):
        kept.append(x)
        return x

    f.trace(16)
    with pytest.raises(rm.CompileError, match=r"test_nested.py:\d+: the program is finished"):
        kept[0] + 1
