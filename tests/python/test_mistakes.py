"""Natural mistakes: each is refused with its place, its cause and a cure, and the cure works."""

from __future__ import annotations

import decimal
import inspect
import math

import numpy as np
import pytest

import ringmill as rm

SLOTS = 1024
DATA = np.linspace(-1, 1, SLOTS)


@rm.program
def square(x: rm.Encrypted):
    return x * x


@rm.program
def scaled(x: rm.Encrypted, w: rm.Plain):
    return x * w


@rm.program
def unused(x: rm.Encrypted, y: rm.Encrypted):
    return x * x


@rm.program
def whole(x: rm.Encrypted[rm.uint(8)[8]]):
    return x + 1


class World:
    """Programs compiled with small parameters, their keys, inputs and a run."""

    def __init__(self, small):
        self.small = small
        self.square = square.compile(small, input_bound=1)
        self.client = self.square.keygen()
        self.inputs = self.client.encrypt(x=DATA)
        self.run = self.square.run(self.inputs)
        self.output = self.run.ciphertexts["out"]
        self.scaled = scaled.compile(small, input_bound=1)
        self.scaled_client = self.scaled.keygen()
        self.scaled_inputs = self.scaled_client.encrypt(x=DATA)
        self.unused = unused.compile(small, input_bound=1).keygen()
        self.whole_client = whole.compile(slots=8).keygen()


@pytest.fixture(scope="module")
def world(small):
    return World(small)


def of_reals(body):
    """The trace of a program of two encrypted vectors of eight real or complex numbers."""

    @rm.program
    def program(x: rm.Encrypted, y: rm.Encrypted):
        return body(x, y)

    return program.trace(8)


def of_wholes(body):
    """The trace of a program of two encrypted vectors of eight bytes."""

    @rm.program
    def program(x: rm.Encrypted[rm.uint(8)[8]], y: rm.Encrypted[rm.uint(8)[8]]):
        return body(x, y)

    return program.trace(8)


def in_a_circuit(body):
    @rm.circuit
    def circuit(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted[rm.uint(8)]):
        return body(x, y)

    return circuit(1, 2)


def without_annotation(_):
    @rm.program
    def bare(x):
        return x

    bare.compile(slots=8)


def branch(x, _):
    return x if x > 0 else -x  # a branch


HERE = "the program's line"
FIT = "np.polynomial.Polynomial.fit(t, {}, 7).convert().coef) with t = np.linspace({}, 1000)"

# Of each mistake: the exception, what makes it, its place (a name in the message, or HERE), and what the message holds.
MISTAKES = {
    "no annotation": (rm.CompileError, without_annotation, HERE, ["parameter x of bare", "rm.Encrypted or rm.Plain"]),
    "x[0]": (rm.CompileError, lambda _: of_reals(lambda x, y: x[0]), HERE, ["picked out", "0/1 mask", "rm.rotate"]),
    "rm.sum of an array": (rm.CompileError, lambda _: rm.sum(DATA), HERE, ["x must be an encrypted vector", "ndarray"]),
    "outside the range": (
        rm.DataError,
        lambda w: w.client.encrypt(x=5 * DATA),
        "`x`",
        ["value 0 ", "-5", "at most 1.0", "wider range of this input"],
    ),
    "NaN": (rm.DataError, lambda w: w.client.encrypt(x=DATA * np.nan), "`x`", ["slot 0 is NaN", "only finite"]),
    "a misspelt input": (rm.DataError, lambda w: w.client.encrypt(xx=DATA), "`xx`", ["no input", "did you mean `x`?"]),
    "another client's key": (
        rm.KeysError,
        lambda w: w.square.keygen().decrypt(w.run),
        "`out`",
        ["another secret key", "that one client made"],
    ),
    "a wrong output": (
        rm.DataError,
        lambda w: w.client.decrypt({"oud": w.output}),
        "`oud`",
        ["no output", "did you mean `out`?"],
    ),
    "and in a circuit": (
        rm.CompileError,
        lambda _: in_a_circuit(lambda x, y: x < y and y < x),
        HERE,
        ["cannot steer", "rm.select", "&"],
    ),
    "insecure parameters": (
        rm.ParameterError,
        lambda _: rm.params(log_n=11, bits=[50, 40, 50]),
        "log2(QP) = 140",
        ["at most 53", "N = 2^13 would do"],
    ),
    "a number returned": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: 3),
        "output out of program",
        ["encrypted vector", "int"],
    ),
    "precision='high'": (
        rm.ParameterError,
        lambda _: square.compile(slots=8, input_bound=1, precision="high"),
        "precision",
        ["whole number", "'high'"],
    ),
    "Decimal": (
        rm.DataError,
        lambda w: w.client.encrypt(x=[decimal.Decimal(1)] * SLOTS),
        "input x",
        ["dtype object", "np.asarray(values, dtype=float)"],
    ),
    "a short vector": (
        rm.DataError,
        lambda w: w.client.encrypt(x=[1, 2, 3]),
        "`x`",
        ["3 values", "vectors of 1024", "pad"],
    ),
    "if x > 0": (
        rm.CompileError,
        lambda _: of_reals(branch),
        HERE,
        ["cannot be compared", "rm.polynomial(x, " + FIT.format("t > 0", "-1, 1")],
    ),
    "if x - y > 0.5": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: x if x > 0.5 else y),
        HERE,
        ["rm.polynomial(x - 0.5, " + FIT.format("t > 0", "-1, 1"), "x > 0.5"],
    ),
    "while x": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: x or y),
        HERE,
        ["branch", "mask * a + (1 - mask) * b"],
    ),
    "1 / x": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: 1 / x),
        HERE,
        ["division by an encrypted vector", "rm.polynomial(x, " + FIT.format("1 / t", "0.5, 2")],
    ),
    "x / y": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: x / y),
        HERE,
        ["by a number only", "rm.polynomial(y, " + FIT.format("1 / t", "0.5, 2")],
    ),
    "x / array": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: x / np.arange(1, 9)),
        HERE,
        ["by a number only", "x * (1 / np.asarray(values))"],
    ),
    "np.exp(x)": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: np.exp(x)),
        HERE,
        ["numpy.exp", "rm.polynomial(x, " + FIT.format("np.exp(t)", "-1, 1")],
    ),
    "np.log(x)": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: np.log(x)),
        HERE,
        ["numpy.log", "rm.polynomial(x, " + FIT.format("np.log(t)", "0.5, 2")],
    ),
    "np.arctanh(x)": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: np.arctanh(x)),
        HERE,
        ["rm.polynomial(x, " + FIT.format("np.arctanh(t)", "-0.9, 0.9")],
    ),
    "np.maximum(x, 0)": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: np.maximum(x, 0)),
        HERE,
        ["numpy.maximum", "rm.polynomial(x, " + FIT.format("np.maximum(t, 0)", "-1, 1")],
    ),
    "np.maximum(x, y)": (
        rm.CompileError,
        lambda _: of_reals(np.maximum),
        HERE,
        ["cannot be compared", "rm.polynomial(x - y, " + FIT.format("t > 0", "-1, 1"), "@rm.circuit"],
    ),
    "np.exp of bytes": (
        rm.CompileError,
        lambda _: of_wholes(lambda x, y: np.exp(x)),
        HERE,
        ["rm.lookup(x, entries, rm.uint(8))", "@rm.circuit", "declare the argument rm.real"],
    ),
    "math.exp(x)": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: math.exp(x)),
        HERE,
        ["is no number", "rm.polynomial(x, " + FIT.format("np.exp(t)", "-1, 1")],
    ),
    "abs(x)": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: abs(x)),
        HERE,
        ["absolute value", "rm.polynomial(x, " + FIT.format("np.abs(t)", "-1, 1")],
    ),
    "round(x)": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: round(x)),
        HERE,
        ["not rounded", "np.round(client.decrypt(run))"],
    ),
    "x ** 0.5": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: x**0.5),
        HERE,
        ["whole number from 1", "is 0.5", "rm.polynomial(x, " + FIT.format("t ** 0.5", "0.5, 2")],
    ),
    "2 ** x": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: 2**x),
        HERE,
        ["raised to a traced vector", "rm.polynomial(x, " + FIT.format("2.0 ** t", "-1, 1")],
    ),
    "sum(x)": (rm.CompileError, lambda _: of_reals(lambda x, y: sum(x)), HERE, ["cannot be iterated", "rm.sum(x)"]),
    "x // 2": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: x // 2),
        HERE,
        ["no whole quotient", "@rm.circuit has // and %", "x * (1 / 3)"],
    ),
    "x / 2 of bytes": (
        rm.CompileError,
        lambda _: of_wholes(lambda x, y: x / 2),
        HERE,
        ["uint(8) has no division", "client.decrypt(run) / 2", "declare rm.real", "@rm.circuit, which has x // 2"],
    ),
    "a < b of bytes": (
        rm.CompileError,
        lambda _: of_wholes(lambda x, y: x < y),
        HERE,
        ["cannot be compared", "rm.equal(x, y)", "@rm.circuit", "rm.Encrypted[rm.uint(8)]"],
    ),
    "a float for uint": (
        rm.DataError,
        lambda w: w.whole_client.encrypt(x=[1.5] * 8),
        "input x",
        ["uint(8)", "whole numbers", "1.5 is none (value 0)", "np.rint(values).astype(np.int64)", "declare rm.real"],
    ),
    "an array of floats for uint": (
        rm.DataError,
        lambda w: w.whole_client.encrypt(x=np.ones(8)),
        "input x",
        ["dtype float64", "np.rint(values).astype(np.int64)"],
    ),
    "no slots": (
        rm.CompileError,
        lambda _: square.compile(),
        "square.compile",
        ["needs slots=", "square.compile(slots=1024)"],
    ),
    "no slots for a declared length": (
        rm.CompileError,
        lambda _: whole.compile(),
        "whole.compile",
        ["needs slots=", "whole.compile(slots=8)"],
    ),
    "slots=1000": (
        rm.CompileError,
        lambda _: square.compile(slots=1000),
        "slots must be",
        ["a power of two", "is 1000", "annotate x: rm.Encrypted[rm.real[1000]], and compile with slots=1024"],
    ),
    "1000 values in the clear": (
        rm.DataError,
        lambda _: square(x=DATA[:1000]),
        "square",
        ["a power of two", "is 1000", "rm.Encrypted[rm.real[1000]]"],
    ),
    "a matrix for an input": (
        rm.DataError,
        lambda w: w.client.encrypt(x=DATA.reshape(32, 32)),
        "input x",
        ["one-dimensional", "(32, 32)", "np.ravel(values)"],
    ),
    "encrypt(data)": (
        rm.ArgumentError,
        lambda w: w.client.encrypt(DATA),
        "encrypt",
        ["by name", "array(", "client.encrypt(x=...)"],
    ),
    "encrypt of two without names": (
        rm.ArgumentError,
        lambda w: w.unused.encrypt({"x": DATA, "y": DATA}),
        "encrypt",
        ["by name", "client.encrypt(x=..., y=...)"],
    ),
    "measure without a name": (
        rm.ArgumentError,
        lambda w: w.scaled_client.measure(w.run, DATA),
        "measure",
        ["by name", "client.measure(run, x=..., w=...)"],
    ),
    "an unused input": (
        rm.DataError,
        lambda w: w.unused.encrypt(x=DATA),
        "`y`",
        ["no value", "client.encrypt(x=..., y=...)", "used or not"],
    ),
    "a plain input encrypted": (
        rm.DataError,
        lambda w: w.scaled_client.encrypt(x=DATA, w=DATA),
        "`w`",
        ["is plain", 'compiled.run(inputs, plain={"w": ...})'],
    ),
    "a plain input forgotten": (
        rm.DataError,
        lambda w: w.scaled.run(w.scaled_inputs),
        "`w`",
        ["no value was given for plain input", 'compiled.run(inputs, plain={"w": ...})'],
    ),
    "a plain input misspelt": (
        rm.DataError,
        lambda w: w.scaled.run(w.scaled_inputs, plain={"v": DATA}),
        "`v`",
        ["no plain input", "it has w"],
    ),
    "an encrypted input left out of a run": (
        rm.DataError,
        lambda w: w.square.run({}, keys=w.client.evaluation_keys),
        "`x`",
        ["no ciphertext", "client.encrypt(x=...)"],
    ),
    "a run of plain data": (
        rm.DataError,
        lambda w: w.square.run(DATA),
        "inputs must be",
        ["array(", "inputs = client.encrypt(x=...)", "compiled.run(inputs)"],
    ),
    "a run of plain data by name": (
        rm.DataError,
        lambda w: w.scaled.run({"x": DATA}),
        "inputs['x']",
        ["array(", "inputs = client.encrypt(x=...)", 'compiled.run(inputs, plain={"w": ...})'],
    ),
    "decrypt of one ciphertext": (
        rm.DataError,
        lambda w: w.client.decrypt(w.output),
        "outputs",
        ["ciphertext at level", "client.decrypt(run)", 'client.decrypt({"out": ciphertext})'],
    ),
    "decrypt of inputs": (
        rm.DataError,
        lambda w: w.client.decrypt(w.inputs),
        "outputs",
        ["Inputs(", "client.decrypt(compiled.run(inputs))"],
    ),
    "device='gpu'": (
        rm.DeviceError,
        lambda w: w.square.run(w.inputs, device="gpu"),
        "device",
        ["there is no device 'gpu'", "cpu, cpu:N (N threads), sim:MACHINE", "rtl:MACHINE", "rm.devices()"],
    ),
    "device='sim:rign'": (
        rm.DeviceError,
        lambda w: w.square.run(w.inputs, device="sim:rign"),
        "device",
        ["there is no machine 'rign'", "did you mean `ring`?", "sim:FILE.toml"],
    ),
    "another length than declared": (
        rm.DataError,
        lambda w: w.whole_client.encrypt(x=[1, 2, 3]),
        "input x",
        ["uint(8)[8]", "shape (3,)", "declare rm.uint(8)[3]"],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_refused_with_place_cause_and_cure(world, name):
    kind, make, place, holds = MISTAKES[name]
    with pytest.raises(rm.RingmillError) as caught:
        make(world)
    assert isinstance(caught.value, kind)
    message = str(caught.value)
    for part in holds if place is HERE else [place, *holds]:
        assert part in message, message
    if place is HERE:
        assert caught.value.file == __file__
        assert message.startswith(f"{__file__}:{caught.value.line}: ")
        assert caught.value.line in lines_of(make), caught.value.line


def lines_of(make):
    """The lines of this file that a mistake's own functions are on."""
    codes = [make.__code__]
    found = set()
    while codes:
        code = codes.pop()
        found |= {line for _, _, line in code.co_lines() if line}
        codes += [constant for constant in code.co_consts if inspect.iscode(constant)]
        codes += [function.__code__ for name in code.co_names if inspect.isfunction(function := globals().get(name))]
    return found


def polynomials():
    """The cures that write a polynomial: what is written, its t, and the function that it takes the place of."""
    found = {}
    for name, (_, _, _, holds) in MISTAKES.items():
        for part in holds:
            written, found_t, rest = part.partition(" with t = ")
            if found_t:
                found[name] = (written, rest, written.split("fit(t, ")[1].split(", 7)")[0])
    return found


@pytest.mark.parametrize("name", polynomials())
def test_the_polynomial_of_a_cure_is_near_the_function(name):
    written, points, function = polynomials()[name]
    t = eval(points, {"np": np})

    @rm.program
    def cured(x: rm.Encrypted, y: rm.Encrypted):
        return eval(written, {"np": np, "rm": rm, "x": x, "y": y, "t": t})

    values, zeros = np.linspace(t[0], t[-1], 64), np.zeros(64)
    x, y = (zeros, values) if written.startswith("rm.polynomial(y, ") else (values, zeros)
    found = cured(x=x + 0.5 if "x - 0.5" in written else x, y=y)
    wanted = np.asarray(eval(function, {"np": np, "t": values}), dtype=float)
    # Beside its jump a step is farther from its polynomial.
    near, within = (np.abs(values) > 0.3, 0.3) if function == "t > 0" else (np.full(64, True), 0.1)
    assert np.allclose(found[near], wanted[near], atol=within)


def test_the_calls_of_the_cures(world, small):
    """What the messages say to write, written."""
    client, run = world.client, world.run
    assert np.allclose(client.decrypt({"out": world.output}), client.decrypt(run))
    assert np.allclose(client.decrypt(world.square.run(client.encrypt(x=DATA))), DATA**2, atol=1e-3)
    inputs = world.scaled_client.encrypt(x=DATA)
    times = world.scaled.run(inputs, plain={"w": DATA})
    assert np.allclose(world.scaled_client.decrypt(times), DATA**2, atol=1e-3)
    assert world.scaled_client.measure(times, x=DATA, w=DATA)["out"].measured_bits > 8
    world.unused.encrypt(x=DATA, y=DATA)
    assert np.allclose(
        client.decrypt(world.square.run(client.encrypt(x=np.ravel(DATA.reshape(32, 32))))), DATA**2, atol=1e-3
    )
    client.encrypt(x=np.asarray([decimal.Decimal("0.5")] * SLOTS, dtype=float))
    values = np.rint([0.9, 1.2, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).astype(np.int64)
    world.whole_client.encrypt(x=values)

    @rm.program
    def thousand(x: rm.Encrypted[rm.real[1000]]):
        return x * x

    compiled = thousand.compile(small, slots=1024, input_bound=1)
    client = compiled.keygen()
    found = client.decrypt(compiled.run(client.encrypt(x=DATA[:1000])))
    assert np.allclose(found, DATA[:1000] ** 2, atol=1e-3)
    assert square.compile(slots=1024, input_bound=1).scheme == "ckks"
    assert whole.compile(slots=8).scheme == "bfv"

    @rm.circuit
    def larger(a: rm.Encrypted[rm.uint(8)], b: rm.Encrypted[rm.uint(8)]):
        return rm.select(a < b, b, a // 2)

    assert (larger(3, 200), larger(200, 3)) == (200, 100)

    @rm.program
    def same(x: rm.Encrypted[rm.uint(8)[2]], y: rm.Encrypted[rm.uint(8)[2]]):
        return rm.equal(x, y)

    assert same(x=[1, 2], y=[1, 3]).tolist() == [1, 0]

    @rm.program
    def shares(x: rm.Encrypted):
        return x * (1 / np.asarray([1, 2, 4, 8]))

    assert shares(x=np.ones(4)).tolist() == [1, 0.5, 0.25, 0.125]
