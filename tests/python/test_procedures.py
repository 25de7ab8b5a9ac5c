# SPDX-License-Identifier: Apache-2.0
"""Tests repeats and procedures: traced once, right in the clear and encrypted, and refused with the user's line."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import ringmill as rm

SLOTS = 16


@rm.procedure
def blend(x, w, y=None, by=0.5):
    mixed = x * w + by
    return {"mixed": mixed if y is None else mixed + y, "turned": mixed << 1}


@rm.program
def looped(x: rm.Encrypted, y: rm.Encrypted, w: rm.Plain):
    first = blend(x, w)["mixed"]
    second = blend(first, np.linspace(0, 1, len(x)), y=y)
    third = blend(second["turned"], w)["turned"]

    def body(a, b):
        inner = rm.repeat(2, lambda c: c + (y << 1), a)
        return -b, inner - w

    left, right = rm.repeat(3, body, third, y)
    return {"left": left, "right": right}


@rm.program
def unrolled(x: rm.Encrypted, y: rm.Encrypted, w: rm.Plain):
    function = blend._function
    first = function(x, w)["mixed"]
    second = function(first, np.linspace(0, 1, len(x)), y=y)
    a, b = function(second["turned"], w)["turned"], y
    for _ in range(3):
        inner = a
        for _ in range(2):
            inner = inner + (y << 1)
        a, b = -b, inner - w
    return {"left": a, "right": b}


def without_lines(compiled):
    return re.sub(r' at ".*":\d+', "", compiled.text("mid"))


def data():
    random = np.random.default_rng(5)
    return {name: random.uniform(-1, 1, SLOTS) for name in ("x", "y", "w")}


def test_they_compute_what_python_loops_compute(small):
    given = data()
    expected = unrolled(**given)
    for name, values in looped(**given).items():
        assert np.array_equal(values, expected[name])
    compiled, by_hand = (f.compile(small, slots=SLOTS, input_bound=1) for f in (looped, unrolled))
    assert without_lines(compiled) == without_lines(by_hand)
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=given["x"], y=given["y"]), plain={"w": given["w"]})
    for name, values in client.decrypt(run).items():
        assert np.abs(values - expected[name]).max() < 1e-4


def test_they_are_traced_once():
    calls = []

    @rm.procedure
    def counted(x, by):
        calls.append(by)
        return x * by

    def body(x):
        calls.append("body")
        return counted(x, 1.5)

    @rm.program
    def f(x: rm.Encrypted, p: rm.Plain):
        x = rm.repeat(1 << 32, body, x)
        return counted(counted(counted(counted(x, 1.5), p), np.ones(len(x))), 1.5)

    text = f.trace(SLOTS)[0].to_text()
    # A number is part of the traced procedure, and a vector is an argument.
    assert [kind if isinstance(kind, (str, float)) else "vector" for kind in calls] == ["body", 1.5, "vector"]
    assert text.count("\n  proc ") == 3
    assert text.count(" CALL ") == 5
    assert "times 4294967296" in text
    again = rm.MacroProgram.from_text(text)
    assert again.to_text() == text
    # Numbers that are equal but differ in type or sign of zero.
    calls.clear()

    @rm.program
    def g(x: rm.Encrypted):
        return [counted(x, by) for by in (1, 1.0, True, np.float32(1), 0.0, -0.0, 1, -0.0)]

    assert len(g.trace(SLOTS)[0].outputs) == 8
    assert len(calls) == 6


def test_a_file_with_repeats_compiles_as_the_program_does(small, tmp_path):
    compiled = looped.compile(small, slots=SLOTS, input_bound=1)
    compiled.save(tmp_path / "looped")
    assert "REPEAT" in (tmp_path / "looped").read_text()
    again = rm.load(tmp_path / "looped", allow_insecure_parameters_for_tests_only=True)
    assert again.text("mid") == compiled.text("mid")


outside = {}


def leak(x):
    outside["x"] = -x
    return x


@rm.procedure
def itself(x):
    return itself(x)


@rm.procedure
def closes_over(x):
    return x + outside["x"]


@rm.program
def nested_program(x: rm.Encrypted):
    return x + 1


def around(x):
    return rm.repeat(2, around, x)


def through_lambdas(x):
    return rm.repeat(2, lambda y: through_lambdas(y), x)


def keeping(x):
    outside["x"] = x
    return closes_over(x)


MISUSES = {
    "count must be a whole number from 1 to 4294967296, and is 0": lambda x: rm.repeat(0, lambda y: y, x),
    "count must be a whole number from 1 to 4294967296, and is -3": lambda x: rm.repeat(-3, lambda y: y, x),
    "count must be a whole number from 1 to 4294967296, and is 2.0": lambda x: rm.repeat(2.0, lambda y: y, x),
    "and is 1152921504606846976": lambda x: rm.repeat(2**60, lambda y: y, x),
    "body must be a function": lambda x: rm.repeat(2, 3, x),
    "carries nothing": lambda x: rm.repeat(2, lambda: None),
    r"carried\[1\] must be an encrypted vector of a program, and is 0;": lambda x: rm.repeat(
        2, lambda y, z: (y, z), x, 0
    ),
    r"must take the 2 carried vectors, and takes \(y\)": lambda x: rm.repeat(2, lambda y: y, x, x),
    "takes 1 vectors and returns 2": lambda x: rm.repeat(2, lambda y: (y, y), x),
    "takes 2 vectors and returns 1": lambda x: rm.repeat(2, lambda y, z: y, x, x),
    "value 0 is None": lambda x: rm.repeat(2, lambda y: None, x),
    "value 0 is 3": lambda x: rm.repeat(2, lambda y: 3, x),
    "value 0 is array": lambda x: rm.repeat(2, lambda y: np.ones(SLOTS), x),
    "the body of rm.repeat calls itself": around,
    "nested more than 64 deep; does one contain itself": through_lambdas,
    "itself calls itself": itself,
    "belongs to a procedure or repeat that has ended": lambda x: (rm.repeat(2, leak, x), x + outside["x"])[1],
    "surrounds the procedure, which is traced once for all its calls; pass it as an argument": keeping,
    "scaled_by has no argument `bi`; known: x, by": lambda x: scaled_by(x, bi=2),
    "argument by of scaled_by of 3 values does not fit 16 slots": lambda x: scaled_by(x, [1, 2, 3]),
    "nothing returns nothing": lambda x: nothing(x),
    "nothing must return encrypted vectors of the program, and value 0 is 2": lambda x: nothing(x, 2),
    r"takes \*args: a procedure has a fixed list": lambda x: rm.procedure(lambda *args: args[0])(x),
}


@rm.procedure
def scaled_by(x, by):
    return x * by


@rm.procedure
def nothing(x, what=None):
    return what


@pytest.mark.parametrize("says", MISUSES)
def test_misuse_is_refused_with_the_users_line(says):
    misuse = MISUSES[says]

    @rm.program
    def f(x: rm.Encrypted):
        return misuse(x)

    with pytest.raises(rm.CompileError, match=says) as caught:
        f.trace(SLOTS)
    assert caught.value.file == __file__
    assert str(caught.value).startswith(f"{__file__}:{caught.value.line}: ")


def test_what_was_refused_leaves_no_trace():
    @rm.program
    def f(x: rm.Encrypted):
        with pytest.raises(rm.CompileError):
            rm.repeat(2, lambda y: None, x)
        with pytest.raises(ZeroDivisionError):
            rm.repeat(2, lambda y: y * (1 / 0), x)
        with pytest.raises(rm.CompileError):
            nothing(x)
        return rm.repeat(2, nested_program, x)

    text = f.trace(4)[0].to_text()
    assert text.count("\n  proc ") == 1
    assert np.array_equal(f(x=np.zeros(4)), np.full(4, 2.0))


def test_a_procedure_is_for_programs():
    with pytest.raises(rm.ArgumentError, match=r"inside an @rm\.program function"):
        scaled_by(np.ones(4), 2)
    with pytest.raises(rm.ArgumentError, match=r"@rm\.procedure takes a Python function"):
        rm.procedure(3)
    assert repr(scaled_by) == "<ringmill procedure scaled_by>"
    assert list(inspect.signature(scaled_by).parameters) == ["x", "by"]


def test_a_program_that_comes_to_too_much_is_refused_at_its_repeat(small):
    @rm.program
    def f(x: rm.Encrypted):
        return rm.repeat(1000, lambda y: rm.repeat(10**9, lambda z: z + x, y), x)

    with pytest.raises(rm.CompileError, match=r"has \d+ values .* at most 2097152 are allowed") as caught:
        f.compile(small, slots=SLOTS, input_bound=1)
    assert caught.value.file == __file__


def test_texts_of_hostile_programs_are_refused(small, tmp_path):
    text = looped.trace(SLOTS)[0].to_text()
    for old, new in (("times 3", "times x"), ("proc 1 =", "proc 7 ="), ("  end\n", "")):
        assert old in text
        with pytest.raises(rm.FileError, match="line"):
            rm.MacroProgram.from_text(text.replace(old, new, 1))
    for old, new, says in (
        ("times 3", "times 0", "a count from 1 to 4294967296, found 0"),
        ("proc 2 times 2", "proc 9 times 2", "procedure number 9 is out of range"),
        ("proc 2 times 2", "proc 3 times 2", "procedure 3 calls procedure 3"),
        ("scheme ckks", "scheme bgv", "the program is for the scheme bgv"),
    ):
        assert old in text
        (tmp_path / "bad").write_text(text.replace(old, new, 1))
        with pytest.raises(rm.RingmillError, match=says):
            rm.load(tmp_path / "bad", params=small, input_bound=1)
