# SPDX-License-Identifier: Apache-2.0
"""Tests types of arguments and the choice of a scheme: their spelling, the values that fit, and the refusals."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import linecache
import pickle
import re

import numpy as np
import pytest

import ringmill as rm
from ringmill import schemes
from ringmill.values import as_vector, typed, whole_numbers

SLOTS = 16
EXACT = [scheme.name for scheme in schemes.SCHEMES if scheme.exact]


@rm.program
def scaled(x: rm.Encrypted[rm.real[5]], w: rm.Plain[rm.real]):
    return x * w + 1


@rm.program
def counted(x: rm.Encrypted[rm.integer[4]], y: rm.Encrypted[rm.integer]):
    return x * y - 3


@rm.program
def untyped(x: rm.Encrypted):
    return x * x


def line_of(function, fragment):
    lines, start = inspect.getsourcelines(function)
    return start + next(i for i, line in enumerate(lines) if fragment in line)


def test_types_are_values():
    assert [repr(t) for t in (rm.real, rm.integer, rm.bit, rm.uint(16), rm.real[64], rm.uint(8)[3])] == [
        *("rm.real", "rm.integer", "rm.bit", "rm.uint(16)", "rm.real[64]", "rm.uint(8)[3]")
    ]
    assert rm.uint(16)[8] == rm.uint(np.int64(16))[np.uint8(8)]
    assert rm.uint(16) != rm.uint(17) != rm.integer
    assert len({rm.real, rm.real[1], rm.real[2], rm.uint(1), rm.bit, rm.integer}) == 6
    assert {rm.uint(16)[8]: 1}[rm.uint(16)[8]] == 1
    for kind in (rm.real, rm.uint(64)[2]):
        assert copy.deepcopy(kind) == pickle.loads(pickle.dumps(kind)) == kind
        with pytest.raises(AttributeError):
            kind.length = 3
    assert repr(rm.Encrypted[rm.real[64]]) == "rm.Encrypted[rm.real[64]]"
    assert {rm.Plain[rm.bit]: 1}[rm.Plain[rm.bit]] == 1
    assert rm.Plain[rm.bit] != rm.Encrypted[rm.bit]


@pytest.mark.parametrize("bits", [0, 65, -1, 2**70, 1.0, "8", None, True, [8]])
def test_widths_that_are_none(bits):
    with pytest.raises(rm.ArgumentError, match="bits must be a whole number from 1 to 64"):
        rm.uint(bits)


@pytest.mark.parametrize("length", [0, -1, 2**70, 1.0, "8", None, True, (2, 0), slice(3)])
def test_lengths_that_are_none(length):
    with pytest.raises(rm.ArgumentError, match="length of an array of real must be a whole number from 1 to"):
        rm.real[length]


def test_what_is_no_type():
    with pytest.raises(rm.ArgumentError, match="arrays of arrays"):
        rm.bit[2][2]
    with pytest.raises(rm.ArgumentError, match="no elements"):
        list(rm.real)
    with pytest.raises(rm.ArgumentError, match="types are made from"):
        type(rm.real)("real", None, None)
    for wrong in (int, "real", 3, None, rm.Encrypted, (rm.real, rm.bit)):
        with pytest.raises(rm.ArgumentError, match=r"rm.Encrypted\[...\] takes a type: rm.real, .* and got"):
            rm.Encrypted[wrong]
    with pytest.raises(rm.ArgumentError, match=r"width in bits is missing"):
        rm.Plain[rm.uint]

    @rm.program
    def f(x: rm.Encrypted[rm.uint(99)]):
        return x

    with pytest.raises(rm.CompileError, match=r"annotation of f cannot be read: bits must be"):
        f.trace(SLOTS)

    @rm.program
    def g(x: rm.Encrypted, y: rm.real):
        return x * y

    with pytest.raises(rm.CompileError, match=r"parameter y of g must be annotated"):
        g.trace(SLOTS)


def test_typed_programs_run(small):
    x = np.linspace(-1, 1, 5)
    assert np.array_equal(scaled(x, 0.5), x * 0.5 + 1)  # 5 values in 8 slots
    compiled = scaled.compile(small, slots=SLOTS, input_bound=1)
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=x), plain={"w": 0.5})
    assert client.decrypt(run).shape == (5,)
    assert np.allclose(client.decrypt(run), x * 0.5 + 1, atol=1e-4)
    measured = client.measure(run, x=x, w=0.5)["out"]
    assert measured.measured_bits >= measured.predicted_bits


def test_a_scalar_stands_in_every_slot(small):
    @rm.program
    def f(x: rm.Encrypted[rm.real], y: rm.Encrypted):
        return x * y

    y = np.arange(SLOTS) / SLOTS
    assert np.array_equal(f(0.5, y), y / 2)
    compiled = f.compile(small, slots=SLOTS, input_bound=1)
    client = compiled.keygen()
    assert np.allclose(client.decrypt(compiled.run(client.encrypt(x=0.5, y=y))), y / 2, atol=1e-4)


def test_ranges_hold_the_zeros_that_fill_the_slots(small):
    compiled = scaled.compile(small, slots=SLOTS, ranges={"x": (1, 2), "w": (3, 4)})
    assert compiled.ranges == {"x": (0.0, 2.0), "w": (3.0, 4.0)}
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=[1, 2, 1, 2, 1]), plain={"w": 3})
    assert np.allclose(client.decrypt(run)[:5], [4, 7, 4, 7, 4], atol=1e-3)
    by_sample = scaled.compile(small, slots=SLOTS, sample={"x": [1, 2, 1, 2, 1], "w": 3})
    assert by_sample.ranges == {"x": (0.0, 4.0), "w": (0.0, 8.0)}
    whole = untyped.compile(small, slots=SLOTS, ranges={"x": (1, 2)})
    assert whole.ranges == {"x": (1.0, 2.0)}


@pytest.mark.parametrize(
    ("x", "w", "says"),
    [
        (np.ones(4), 1, r"x .*real\[5\], which is exactly 5 in one dimension, and has shape \(4,\)"),
        (np.ones(SLOTS), 1, r"x .*exactly 5"),
        (np.ones((5, 1)), 1, r"x .*exactly 5"),
        (1.0, 1, r"x .*exactly 5"),
        (np.ones(5) * 1j, 1, r"x .*takes real numbers"),
        (rm.tile([1]), 1, r"x .*rm.tile"),
        (np.ones(5), [1], r"w .*real, which is one number, and has shape \(1,\)"),
        (np.ones(5), "1", r"w .*must hold numbers"),
    ],
)
def test_values_that_do_not_fit_their_type(small, x, w, says):
    with pytest.raises(rm.DataError, match=says):
        scaled(x, w)
    compiled = scaled.compile(small, slots=SLOTS, input_bound=1)
    with pytest.raises(rm.DataError, match=says):
        compiled.run(compiled.keygen().encrypt(x=x), plain={"w": w})
    with pytest.raises(rm.DataError, match=says):
        scaled.compile(small, slots=SLOTS, sample={"x": x, "w": w})

    @rm.program
    def outer(y: rm.Encrypted):
        return plain_inside(y, x)

    if says.startswith("x"):
        with pytest.raises(rm.CompileError, match=says):
            outer.trace(SLOTS)


@rm.program
def plain_inside(y: rm.Encrypted[rm.real], x: rm.Plain[rm.real[5]]):
    return y * x


def test_a_typed_program_inside_another():
    @rm.program
    def outer(y: rm.Encrypted):
        return plain_inside(y, [1, 2, 3, 4, 5])

    assert np.array_equal(outer(np.full(8, 2.0)), [2, 4, 6, 8, 10])
    with pytest.raises(rm.CompileError, match="does not fit 4 slots"):
        outer.trace(4)

    @rm.program
    def wrong(n: rm.Encrypted[rm.integer]):
        return plain_inside(n, [1, 2, 3, 4, 5])

    with pytest.raises(rm.CompileError, match="real and integer do not mix") as caught:
        wrong.trace(SLOTS)
    assert caught.value.line == line_of(test_a_typed_program_inside_another, "plain_inside(n")


def test_arrays_longer_than_the_slots():
    with pytest.raises(rm.CompileError, match=r"argument x of type real\[5\] does not fit the program's 4 slots"):
        scaled.trace(4)
    with pytest.raises(rm.CompileError, match=r"argument x of type real\[5\] does not fit the program's 4 slots"):
        beside(np.ones(4), np.ones(5))


@rm.program
def beside(y: rm.Encrypted, x: rm.Plain[rm.real[5]]):
    return y * x


def test_the_scheme_is_chosen_and_said(small):
    for compiled, says in [
        (scaled.compile(small, slots=SLOTS, input_bound=1), "the only scheme here that takes real"),
        (untyped.compile(small, slots=SLOTS, input_bound=1), "the only scheme here that takes vectors of slots"),
        (scaled.compile(small, slots=SLOTS, input_bound=1, scheme="ckks"), "named by scheme="),
    ]:
        assert (compiled.scheme, compiled.scheme_reason) == ("ckks", says)
        assert f"ckks: {says}" in repr(compiled)
    client = compiled.keygen()
    report = compiled.run(client.encrypt(x=np.ones(5)), plain={"w": 1}).report
    assert f" primes; ckks: {says}\n" in str(report)
    assert f" primes; ckks: {says}\n" in report.detail
    assert report.data["scheme"] == {"name": "ckks", "why": says}


def test_loaded_programs_name_their_scheme(small, tmp_path):
    path = tmp_path / "p.rmac"
    untyped.compile(small, slots=SLOTS, input_bound=1).save(path)
    insecure = {"allow_insecure_parameters_for_tests_only": True}
    for options in ({}, {"scheme": "ckks"}, {"params": small, "input_bound": 1}):
        compiled = rm.load(path, **options, **insecure)
        assert (compiled.scheme, compiled.scheme_reason) == ("ckks", "the program names it")
    with pytest.raises(rm.CompileError, match=r"scheme='bfv' is asked for, and the program is for the scheme ckks"):
        rm.load(path, scheme="bfv", **insecure)
    other = tmp_path / "other.rmac"
    other.write_text(untyped.trace(SLOTS)[0].to_text().replace("scheme ckks", "scheme other"))
    assert rm.MacroProgram.load(other).scheme == "other"
    with pytest.raises(rm.CompileError, match="is for the scheme other"):
        rm.load(other, small, scheme="ckks")
    for params in (small, None):
        with pytest.raises(rm.ParameterError, match="scheme other"):
            rm.load(other, params, input_bound=1)


def test_names_that_are_no_scheme(small):
    for name, says in [("ckk", "did you mean `ckks`"), ("tfhe", "known: ckks"), ("", "known: ckks")]:
        with pytest.raises(rm.CompileError, match=rf"there is no scheme '{name}'; .*{says}") as caught:
            untyped.compile(small, slots=SLOTS, input_bound=1, scheme=name)
        assert caught.value.line == line_of(untyped._function, "@rm.program")
    with pytest.raises(rm.CompileError, match="scheme must be a str"):
        untyped.compile(small, slots=SLOTS, scheme=3)
    with pytest.raises(rm.ArgumentError, match=r"no argument `shceme`; did you mean `scheme`\?"):
        untyped.compile(small, slots=SLOTS, shceme="ckks")


@pytest.mark.parametrize("value", [-3, [-3], np.int8(5)], ids=str)
def test_signed_integers_are_no_schemes_and_refused_in_the_clear(value):
    kind = rm.sint(8)[1] if isinstance(value, list) else rm.sint(8)

    def function(x):
        return x + 1

    function.__annotations__["x"] = rm.Encrypted[kind]
    f = rm.program(function)
    for call in [lambda: f(value), lambda: f.compile(slots=SLOTS)]:
        with pytest.raises(rm.CompileError, match=r"argument x is of type sint\(8\).*, which no scheme takes: ckks"):
            call()


@pytest.mark.parametrize("kind", [rm.integer, rm.uint(16), rm.bit, rm.bit[3]], ids=str)
def test_types_that_no_scheme_takes_together_trace_and_are_refused_compiled(small, tmp_path, kind):
    def function(x: rm.Encrypted, n):
        return {"x": x * 2, "n": n * 1 + n}

    function.__annotations__["n"] = rm.Encrypted[kind]
    f = rm.program(function)
    traced, shape = f.trace(SLOTS)
    assert shape.names == ("x", "n")
    assert traced.scheme == "none"  # no compiler must take its text for CKKS's
    own = line_of(test_types_that_no_scheme_takes_together_trace_and_are_refused_compiled, "def function")
    takes = "; ".join(["ckks takes real", *(f"{name} takes bit, integer, uint" for name in EXACT)])
    for scheme, says in [
        (None, f"no scheme takes vectors of slots and {kind.element} in one program: {takes}"),
        ("ckks", f"ckks does not take {kind}, the type of argument n; scheme='bfv' does"),
        ("bfv", "bfv does not take vectors of slots, the type of argument x; scheme='ckks' does"),
    ]:
        with pytest.raises(rm.CompileError) as caught:
            f.compile(small, slots=SLOTS, scheme=scheme)
        assert str(caught.value) == f"{__file__}:{own}: {says}"
        assert caught.value.line == own
    with pytest.raises(rm.CompileError, match="no scheme takes"):
        f(np.ones(4), [1, 0, 1] if kind.length else 1)
    path = tmp_path / "f.rmac"
    path.write_text(traced.to_text())
    with pytest.raises(rm.ParameterError, match="scheme none"):
        rm.load(path, small)


TWO = (
    schemes.Scheme("ckks", frozenset({"real", "slots"})),
    schemes.Scheme("whole", frozenset({"integer", "real"})),
)


def test_the_choice_among_several(monkeypatch):
    monkeypatch.setattr(schemes, "SCHEMES", TWO)

    def chosen(scheme, **kinds):
        return str(schemes.choose(scheme, schemes.Signature(kinds, ("f.py", 7))))

    assert chosen(None, x=rm.integer[4]) == "whole: the only scheme here that takes integer"
    assert chosen(None, x=rm.real) == "ckks: the first of ckks, whole, which take real; scheme= names another"
    assert chosen("whole", x=rm.real) == "whole: named by scheme="
    with pytest.raises(rm.CompileError, match=r"f.py:7: ckks does not take integer\[2\], .* x; scheme='whole' does"):
        chosen("ckks", x=rm.integer[2])
    with pytest.raises(rm.CompileError, match=r"f.py:7: no scheme takes vectors of slots and integer in one program"):
        chosen(None, y=schemes.types.SLOTS, x=rm.integer)
    assert counted.trace(SLOTS)[0].scheme == "whole"


MIXED = {
    "real times uint": lambda r, n, i, v: r * n,
    "uint plus real": lambda r, n, i, v: n + r,
    "slots minus integer": lambda r, n, i, v: v - i,
    "plain real": lambda r, n, i, v: r * i,
    "repeat": lambda r, n, i, v: rm.repeat(2, lambda a: r, n),
    "procedure": lambda r, n, i, v: product(r, n),
}


@rm.procedure
def product(a, b):
    return a * b


@pytest.mark.parametrize("name", MIXED)
def test_types_that_do_not_mix(small, name):
    function = MIXED[name]

    @rm.program
    def f(r: rm.Encrypted[rm.real], n: rm.Encrypted[rm.uint(16)], i: rm.Plain[rm.integer], v: rm.Encrypted):
        return function(r, n, i, v)

    for call in (lambda: f.trace(SLOTS), lambda: f.compile(small, slots=SLOTS)):
        with pytest.raises(rm.CompileError, match="do not mix in one operation") as caught:
            call()
        wanted = "return a * b" if name == "procedure" else f'"{name}"'
        assert wanted in linecache.getline(__file__, caught.value.line)


def test_types_that_mix():
    @rm.program
    def f(r: rm.Encrypted[rm.real[8]], v: rm.Encrypted):
        mix = product(r, v) + rm.repeat(2, lambda a: a * r, r)
        assert repr(r) == "<encrypted vector of 8 slots of real>"
        assert repr(mix) == "<encrypted vector of 8 slots>"
        return rm.conj(mix) * (1 + 0j)

    r, v = np.arange(8.0), np.linspace(0, 1, 8)
    assert np.allclose(f(r, v), r * v + r**3)


def test_whole_numbers_that_mix():
    @rm.program
    def f(n: rm.Encrypted[rm.uint(8)[8]], b: rm.Encrypted[rm.bit[8]], i: rm.Plain[rm.integer[8]]):
        assert repr(n) == "<encrypted vector of 8 slots of uint(8)>"
        mix = product(n, b) - i
        assert repr(mix) == "<encrypted vector of 8 slots of integer>"
        return rm.repeat(2, lambda a: a - n * np.full(8, -1000), mix) + b * np.arange(-4, 4)

    n, b, i = np.arange(248, 256), np.arange(8) % 2, 300 * np.arange(-4, 4)
    expected = n * b - i + 2000 * n + b * np.arange(-4, 4)
    assert np.array_equal(f(n, b, i), expected)
    compiled = f.compile(slots=8, ranges={"i": (-1200, 900)})
    client = compiled.keygen()
    assert np.array_equal(client.decrypt(compiled.run(client.encrypt(n=n, b=b), plain={"i": i})), expected)


WRONG = {
    "a fraction": (lambda n: n * 1.5, "takes whole numbers, and has dtype float64|1.5 is none"),
    "fractions": (lambda n: n + np.full(SLOTS, 2.0), "has dtype float64"),
    "too large": (
        lambda n: n + 2**63,
        "from -9223372036854775808 to 9223372036854775807, and holds 9223372036854775808",
    ),
    "an array": (lambda n: n + np.full(SLOTS, 2**63, dtype=np.uint64), "holds 9223372036854775808"),
    "a bool": (lambda n: n + True, "True is none"),
    "tiled": (lambda n: n + rm.tile([1, 2]), "np.tile"),
    "division": (lambda n: n / 2, "no division"),
    "conjugate": (lambda n: rm.conj(n), "complex numbers"),
    "polynomial": (lambda n: rm.polynomial(n, [0, 0.5]), "0.5 is none"),
}


@pytest.mark.parametrize("name", WRONG)
def test_constants_beside_whole_numbers(name):
    function, says = WRONG[name]

    @rm.program
    def f(n: rm.Encrypted[rm.uint(8)]):
        return function(n)

    with pytest.raises(rm.CompileError, match=says) as caught:
        f.trace(SLOTS)
    assert str(caught.value).startswith(f"{__file__}:")


def test_whole_numbers_are_never_rounded():
    @rm.program
    def f(n: rm.Encrypted[rm.integer]):
        return rm.polynomial(n * (2**53 - 1) - np.full(SLOTS, 1 - 2**53), [1, 2])

    f.trace(SLOTS)
    for constant in (2**53, -(2**53), 2**53 + 1, np.full(SLOTS, -(2**53)), np.full(SLOTS, 2**53 + 1)):

        @rm.program
        def h(n: rm.Encrypted[rm.integer]):
            return n + constant  # noqa: B023

        with pytest.raises(rm.CompileError, match=r"constants of 2\^53 and more .* doubles round some of them"):
            h.trace(SLOTS)
    vector = as_vector("x", [2**63 - 1, -(2**63)], SLOTS, rm.integer[2])
    assert vector.dtype == np.int64
    assert vector.tolist() == [2**63 - 1, -(2**63), *[0] * 14]


def test_whole_numbers_in_arrays_are_exact():
    most = 2**64 - 1
    for given in ([most, 0], np.array([most, 0], dtype=np.uint64), np.array([most, 0], dtype=object)):
        array = typed("x", given, rm.uint(64)[2])
        assert array.dtype == np.uint64
        assert array.tolist() == [most, 0]
    # numpy alone would make doubles of both lists.
    both = typed("x", [-1, 2**63 - 1], rm.integer[2])
    assert both.dtype == np.int64
    assert both.tolist() == [-1, 2**63 - 1]
    bits = typed("x", [True, 0, np.bool_(True)], rm.bit[3])
    assert bits.dtype == np.uint8
    assert bits.tolist() == [1, 0, 1]
    assert typed("x", np.array([True, False]), rm.bit[2]).tolist() == [1, 0]
    assert typed("x", np.int8(5), rm.uint(3)).shape == ()
    for kind, value, says in [
        (rm.uint(64), most + 1, "from 0 to 18446744073709551615"),
        (rm.uint(3), 8, "from 0 to 7, and holds 8"),
        (rm.uint(3), np.int8(-1), "holds -1"),
        (rm.integer, 2**63, "from -9223372036854775808 to 9223372036854775807"),
        (rm.bit, 2, "from 0 to 1"),
        (rm.uint(3), True, "True is none"),
        (rm.uint(3), 1.0, "1.0 is none"),
        (rm.uint(3), np.float64(1), "dtype float64"),
        (rm.uint(3)[2], [1, 2.0], "2.0 is none"),
        (rm.uint(3)[2], [[1], [2, 3]], "x"),
        (rm.uint(3)[2], [1, 2, 3], "exactly 2"),
        (rm.uint(3)[2], np.ma.masked_array([1, 2], mask=[True, False]), "masked"),
        (rm.uint(3), rm.tile(1), "rm.tile"),
    ]:
        with pytest.raises(rm.DataError, match=says):
            typed("x", value, kind)
    assert whole_numbers("x", [], rm.integer).size == 0


def test_the_command_refuses_types_and_schemes(tmp_path, ringmill, command):
    file = tmp_path / "p.py"
    file.write_text(
        "import ringmill as rm\n\n@rm.program\ndef good(x: rm.Encrypted[rm.real[16]]):\n    return x * x\n\n"
        "@rm.program\ndef mixed(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted):\n    return x * x\n"
    )
    options = ("--slots", 16, "--input-bound", 1)
    said = ringmill("compile", f"{file}:mixed", *options, status=2)
    assert f"{file}:7: no scheme takes uint(8) and vectors of slots in one program: ckks takes real" in said
    for scheme, why in [((), "the program names it"), (("--scheme", "ckks"), "named by --scheme")]:
        described = json.loads(ringmill("compile", f"{file}:good", *options, *scheme, "--json"))
        assert described["scheme"] == {"name": "ckks", "why": why}
        timed = ringmill("sim", f"{file}:good", *options, *scheme)
        assert f"ckks: {why}\n" in timed
    said = ringmill("compile", f"{file}:good", *options, "--scheme", "ckk", status=2)
    assert "ckks" in said
    text = tmp_path / "other.rmac"
    text.write_text(untyped.trace(SLOTS)[0].to_text().replace("scheme ckks", "scheme other"))
    said = ringmill("compile", text, "--input-bound", 1, "--scheme", "ckks", status=2)
    assert "is for the scheme other; leave --scheme out" in said
    assert "scheme other" in ringmill("compile", text, "--input-bound", 1, status=2)


def test_the_command_knows_the_same_schemes(command):
    said = command("compile", "--help").stdout
    (listed,) = re.findall(r"--scheme <SCHEME>.*?Possible values:\n(.*?)\n\n", said, re.S)
    assert re.findall(r"- (\w+):", listed) == [scheme.name for scheme in schemes.SCHEMES]


def test_schemes_are_listed_in_one_place_of_the_package(root):
    naming, names = [], {scheme.name for scheme in schemes.SCHEMES}
    for path in (root / "python" / "ringmill").glob("*.py"):
        code = ast.parse(path.read_text())
        if any(isinstance(node, ast.Constant) and node.value in names for node in ast.walk(code)):
            naming.append(path.name)
    assert naming == ["schemes.py"]
