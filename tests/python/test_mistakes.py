# SPDX-License-Identifier: Apache-2.0
"""Tests natural mistakes: Ringmill refuses each with its place, its cause and a cure, and the cure works."""

from __future__ import annotations

import copy
import decimal
import inspect
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import ringmill as rm
import ringmill.seal

ROOT = Path(__file__).resolve().parents[2]
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


@rm.program
def signed(x: rm.Encrypted[rm.sint(8)]):
    return x + 1


@rm.circuit
def larger(x: rm.Encrypted[rm.uint(2)], y: rm.Encrypted[rm.uint(2)]):
    return rm.maximum(x, y)


class World:
    """Programs compiled with small parameters, and their keys, inputs and a run."""

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
        self.larger = larger.compile(rm.circuit_params(toy_for_tests_only=True))
        self.larger_client = self.larger.keygen()
        self.larger_inputs = self.larger_client.encrypt(x=1, y=2)
        self.integers = self.larger_inputs.ciphertexts["x"]
        self.larger_keys = self.larger_client.evaluation_keys
        self.larger_params = self.larger.params
        self.netlist = rm.netlist(ROOT / "examples" / "adder.blif")
        sizes = {"log_n": 9, "prime": 17, "exponents": (3, 4), "primes": (39, 13), "weight": 8}
        self.deep = rm.bootstrapping(**sizes, allow_insecure_parameters_for_tests_only=True)
        self.keys = self.client.evaluation_keys
        self.traced = square.trace(8)[0]
        self.larger_run = self.larger.run(self.larger_inputs)


@pytest.fixture(scope="module")
def world(small):
    return World(small)


def of_reals(body):
    """Traces a program of two encrypted vectors of eight real or complex numbers."""

    @rm.program
    def program(x: rm.Encrypted, y: rm.Encrypted):
        return body(x, y)

    return program.trace(8)


def of_wholes(body):
    """Traces a program of two encrypted vectors of eight bytes."""

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


def of_matrices(body):
    """Traces a program of two encrypted matrices of 2 x 2."""

    @rm.program
    def program(x: rm.Encrypted[rm.integer[4]], y: rm.Encrypted[rm.integer[4]]):
        return body(rm.Matrix(x, (2, 2)), rm.Matrix(y, (2, 2)))

    return program.trace(4)


def of_integers(body):
    """Traces a program of an encrypted vector of four integers."""

    @rm.program
    def program(x: rm.Encrypted[rm.integer[4]]):
        return body(x)

    return program.trace(4)


HERE = "the program's line"
FIT = "np.polynomial.Polynomial.fit(t, {}, 7).convert().coef) with t = np.linspace({}, 1000)"

# For each mistake the exception, a call that makes it, its place (a name in the message, or HERE), and parts of the
# message.
MISTAKES = {
    "no annotation": (rm.CompileError, without_annotation, HERE, ["parameter x of bare", "rm.Encrypted or rm.Plain"]),
    "x[0]": (rm.CompileError, lambda _: of_reals(lambda x, y: x[0]), HERE, ["picked out", "0/1 mask", "rm.rotate"]),
    "rm.sum of an array": (rm.CompileError, lambda _: rm.sum(DATA), HERE, ["x must be", "ndarray", "@rm.program"]),
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
    "a matrix of another size": (
        rm.CompileError,
        lambda _: of_integers(lambda x: rm.Matrix(x, (2, 3)).vector),
        HERE,
        ["2 x 3 has 6 entries", "4 slots", "pad it with zeros to 2 x 4, and compile with slots=8"],
    ),
    "a matrix of too few slots": (
        rm.CompileError,
        lambda _: of_integers(lambda x: rm.Matrix(x, (2, 4)).vector),
        HERE,
        ["8 entries", "4 slots: compile with slots=8"],
    ),
    "a matrix of reals": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: rm.Matrix(x, (2, 4)).vector),
        HERE,
        ["of whole numbers", "declare it rm.Encrypted[rm.integer[8]]"],
    ),
    "a matrix / 2": (
        rm.CompileError,
        lambda _: of_matrices(lambda a, b: (a / 2).vector),
        HERE,
        ["no division", "client.decrypt(run) / 2"],
    ),
    "a matrix ** 2": (rm.CompileError, lambda _: of_matrices(lambda a, b: (a**2).vector), HERE, ["no power", "a @ a"]),
    "a matrix + 0.5": (
        rm.CompileError,
        lambda _: of_matrices(lambda a, b: (a + 0.5).vector),
        HERE,
        ["takes whole numbers", "0.5 is none", "np.rint(values).astype(np.int64)"],
    ),
    "an entry of a matrix": (
        rm.CompileError,
        lambda _: of_matrices(lambda a, b: a[0, 1]),
        HERE,
        ["picked out", "0/1 array"],
    ),
    "len of a matrix": (rm.CompileError, lambda _: of_matrices(lambda a, b: len(a)), HERE, ["matrix.shape"]),
    "a loop over a matrix": (
        rm.CompileError,
        lambda _: of_matrices(lambda a, b: sum(a)),
        HERE,
        ["rm.sum(matrix.vector)"],
    ),
    "matrices compared": (
        rm.CompileError,
        lambda _: of_matrices(lambda a, b: a == b),
        HERE,
        ["cannot be compared", "rm.equal(a.vector, b.vector)"],
    ),
    "a branch on a matrix": (rm.CompileError, lambda _: of_matrices(lambda a, b: a or b), HERE, ["truth value"]),
    "a matrix as a key": (rm.CompileError, lambda _: of_matrices(lambda a, b: {a: b}), HERE, ["cannot be hashed"]),
    "sum of a matrix": (
        rm.CompileError,
        lambda _: of_matrices(lambda a, b: a.sum()),
        HERE,
        ["no attribute `sum`", "rm.sum(matrix.vector)"],
    ),
    "numpy.linalg of a matrix": (
        rm.CompileError,
        lambda _: of_matrices(lambda a, b: np.linalg.inv(a)),
        HERE,
        ["numpy.inv", ".vector"],
    ),
    "numpy's exp of a matrix": (rm.CompileError, lambda _: of_matrices(lambda a, b: np.exp(a)), HERE, ["numpy.exp"]),
    "a matrix returned": (
        rm.CompileError,
        lambda _: of_matrices(lambda a, b: a @ b),
        "output out of program",
        ["is Matrix", "return its .vector"],
    ),
    "rm.params(poly_modulus_degree=8192)": (
        rm.ArgumentError,
        lambda _: rm.params(poly_modulus_degree=8192, bits=[50, 40, 60]),
        "rm.params",
        ["no argument `poly_modulus_degree`", "2^log_n", "log_n=13"],
    ),
    "rm.params(coeff_modulus=...)": (
        rm.ArgumentError,
        lambda _: rm.params(log_n=13, coeff_modulus=[50, 40, 60]),
        "rm.params",
        ["no argument `coeff_modulus`", "bits=[50, 40, 60]"],
    ),
    "square.keygen()": (
        AttributeError,
        lambda _: square.keygen(),
        "square",
        ["no attribute `keygen`", "compiled = square.compile(slots=1024, input_bound=1)", "compiled.keygen()"],
    ),
    "whole.encrypt()": (
        AttributeError,
        lambda _: whole.encrypt(x=1),
        "whole",
        ["whole.compile(slots=8, input_bound=1)", "client = compiled.keygen(), client.encrypt(...)"],
    ),
    "larger.keygen()": (
        AttributeError,
        lambda _: larger.keygen(),
        "larger",
        ["compiled = larger.compile()", "compiled.keygen()"],
    ),
    "compiled.encrypt()": (
        rm.KeysError,
        lambda w: w.square.encrypt(x=DATA),
        "compiled.encrypt",
        ["public key", "compiled.encrypt(public_key, x=...)", "client = compiled.keygen()", "client.encrypt(x=...)"],
    ),
    "client.run()": (AttributeError, lambda w: w.client.run(w.inputs), "Client", ["compiled.run(...)"]),
    "run.values()": (AttributeError, lambda w: w.run.values(), "Run", ["run.ciphertexts.values(...)"]),
    "compiled.keygne()": (AttributeError, lambda w: w.square.keygne(), "Compiled", ["did you mean `keygen`?"]),
    "rm.polynomal": (AttributeError, lambda _: rm.polynomal, "ringmill", ["did you mean `polynomial`?"]),
    "rm.encrypt": (AttributeError, lambda _: rm.encrypt, "ringmill", ["client.encrypt"]),
    "ciphertext + ciphertext": (
        TypeError,
        lambda w: w.output + w.output,
        "a ciphertext",
        ["no number", "@rm.program", "a + b", "compiled.run(inputs)"],
    ),
    "2 * ciphertext": (TypeError, lambda w: 2 * w.output, "a ciphertext", ["@rm.program"]),
    "array * ciphertext": (TypeError, lambda w: DATA * w.output, "a ciphertext", ["@rm.program"]),
    "float(ciphertext)": (TypeError, lambda w: float(w.output), "a ciphertext", ["client.decrypt"]),
    "ciphertext < ciphertext": (TypeError, lambda w: w.output < w.output, "a ciphertext", ["@rm.program"]),
    "run + run": (TypeError, lambda w: w.run + w.run, "a run", ["run.ciphertexts['out']", "client.decrypt(run)"]),
    "run['out']": (TypeError, lambda w: w.run["out"], "a run", ["run.ciphertexts['out']"]),
    "list(run)": (TypeError, lambda w: list(w.run), "a run", ["run.ciphertexts['out']"]),
    "inputs['x']": (TypeError, lambda w: w.inputs["x"], "encrypted inputs", ["inputs.ciphertexts['x']"]),
    "integers + integers": (TypeError, lambda w: w.integers + w.integers, "encrypted integers", ["@rm.circuit"]),
    "a circuit's run + run": (
        TypeError,
        lambda w: w.larger_run + 1,
        "a run",
        ["run.ciphertexts['out']", "@rm.circuit"],
    ),
    "a window wider than the slots": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: rm.sum(x, 10, 2)),
        HERE,
        ["10 slots 2 apart", "8 slots", "4 do", "rm.sum(x)"],
    ),
    "sint in a program": (
        rm.CompileError,
        lambda _: signed.compile(slots=8),
        "argument x",
        ["sint(8)", "@rm.circuit takes it"],
    ),
    "too few slots for an argument": (
        rm.CompileError,
        lambda _: whole.compile(slots=4),
        "argument x",
        ["uint(8)[8]", "4 slots", "slots=8"],
    ),
    "compile(1024)": (
        rm.ParameterError,
        lambda _: square.compile(1024),
        "params",
        ["rm.params", "1024", "slots=1024"],
    ),
    "compile('set2')": (
        rm.ParameterError,
        lambda _: square.compile("set2"),
        "params",
        ["'set2'", "params=rm.params('set2')"],
    ),
    "a formatted vector": (
        rm.CompileError,
        lambda _: of_reals(lambda x, y: f"{x:.2f}"),
        HERE,
        ["cannot be formatted", "client.decrypt(run)"],
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


# Objects that cannot be pickled, and the calls that the refusal says to write.
PICKLES = {
    "client": ("client", ["client.save_secret_key(path)", "compiled.load_secret_key(path)"]),
    "traced": ("traced program", [".to_text()", "rm.MacroProgram.from_text(text)"]),
    "larger_client": ("client", ["client.save_secret_key(path)", "compiled.load_secret_key(path)"]),
    "deep": ("parameters that bootstrap", ["rm.bootstrapping"]),
    "netlist": ("netlist", ["rm.netlist(path)"]),
}


@pytest.mark.parametrize("name", PICKLES)
def test_what_cannot_be_pickled_says_how_it_is_saved(world, name):
    item = getattr(world, name)
    what, holds = PICKLES[name]
    with pytest.raises(rm.ArgumentError) as caught:
        pickle.dumps(item)
    for part in [what, "cannot be pickled", *holds]:
        assert part in str(caught.value)
    assert type(copy.copy(item)) is type(copy.deepcopy(item)) is type(item)


@rm.procedure
def doubled(x):
    return x + x


def test_programs_are_pickled_as_functions_are():
    for function in (square, larger, doubled):
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function

    @rm.program
    def inner(x: rm.Encrypted):
        return x + x

    with pytest.raises(rm.ArgumentError, match=r"<locals>\.inner cannot be pickled.* define it there"):
        pickle.dumps(inner)


def test_what_is_saved_instead_of_pickled_comes_back(world, tmp_path):
    world.output.save(tmp_path / "output")
    assert rm.Ciphertext.load(tmp_path / "output", world.small) == world.output
    world.keys.save(tmp_path / "keys")
    keys = rm.EvaluationKeys.load(tmp_path / "keys", world.small)
    world.square.save(tmp_path / "program")
    loaded = rm.load(tmp_path / "program", allow_insecure_parameters_for_tests_only=True)
    assert loaded.params == world.small
    assert np.allclose(world.client.decrypt(loaded.run(world.inputs.ciphertexts, keys=keys)), DATA**2, atol=1e-3)
    world.client.save_secret_key(tmp_path / "secret")
    assert np.allclose(loaded.load_secret_key(tmp_path / "secret").decrypt(world.run), DATA**2, atol=1e-3)
    assert rm.MacroProgram.from_text(world.traced.to_text()).inputs == [("x", True)]
    assert np.allclose(world.client.decrypt(copy.deepcopy(world.run)), DATA**2, atol=1e-3)


def test_dir_of_the_package_shows_public_names():
    assert [name for name in dir(rm) if name not in {*rm.__all__, "seal"}] == []
    assert set(rm.__all__) <= set(dir(rm))
    assert dir(ringmill.seal) == sorted(ringmill.seal.__all__)


def objects(world):
    """Returns an object of each public class."""
    made = [world.square, world.client, world.inputs, world.run, world.output, world.keys, world.small, world.traced]
    made += [world.larger, world.larger_client, world.larger_inputs, world.larger_run, world.integers, larger, square]
    made += [world.larger_keys, world.larger_params, world.run.report, rm.limits(), rm.Share(8), rm.Precision(1, None)]
    made += [doubled, world.client.public_key(), world.netlist, world.deep, rm.real]
    made += [rm.negacyclic_product([0] * 255 + [1], [1] + [0] * 255, 7681)]
    found = {type(item): item for item in made}
    traced(found, world.deep)
    return found


def traced(found, deep):
    """Adds the objects that exist while a program or circuit is traced."""

    @rm.program
    def of_vectors(x: rm.Encrypted[rm.integer[4]], y: rm.Plain[rm.integer[4]]):
        found.update({type(item): item for item in (x, y, rm.Matrix(x, (2, 2)), deep.fixed(x, 17, 100))})
        return x + 1

    @rm.circuit
    def of_bits(x: rm.Encrypted[rm.uint(2)]):
        found[type(x)] = x
        return x

    of_vectors.trace(4, scheme="bgv")
    of_bits(1)


def test_dir_of_objects_shows_public_names(world):
    found = objects(world)
    classes = [type(rm.real), *(item for name in rm.__all__ if isinstance(item := getattr(rm, name), type))]
    for cls in classes:
        if issubclass(cls, BaseException):
            continue
        names = dir(found[cls])
        assert [name for name in names if name.startswith("_")] == [], cls
        public = [name for name in vars(cls) if not name.startswith("_")]
        assert set(public) <= set(names), cls


def test_a_name_that_is_not_there_is_asked_for_as_ever(world):
    assert not hasattr(world.square, "decrypt")
    assert not hasattr(world.square, "_repr_svg_")
    assert getattr(square, "keygen", None) is None
    assert not hasattr(rm, "nothing")
    with pytest.raises(ImportError):
        from ringmill import nothing  # noqa: F401


def lines_of(make):
    """Returns the lines of this file that hold a mistake's own functions."""
    codes = [make.__code__]
    found = set()
    while codes:
        code = codes.pop()
        found |= {line for _, _, line in code.co_lines() if line}
        codes += [constant for constant in code.co_consts if inspect.iscode(constant)]
        codes += [function.__code__ for name in code.co_names if inspect.isfunction(function := globals().get(name))]
    return found


def polynomials():
    """Returns the cures that write a polynomial: the code to write, its t, and the function that it replaces."""
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
    # Near its jump a step differs more from its polynomial.
    near, within = (np.abs(values) > 0.3, 0.3) if function == "t > 0" else (np.full(64, True), 0.1)
    assert np.allclose(found[near], wanted[near], atol=within)


def test_the_calls_of_the_cures(world, small):
    """Runs the calls that the messages say to write."""
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
    assert square.compile(slots=1024, input_bound=1).keygen().encrypt(x=DATA)
    assert whole.compile(slots=8, input_bound=1).keygen().encrypt(x=[1] * 8)
    assert larger.compile().bootstraps > 0
    assert rm.params(log_n=13, bits=[50, 40, 60]).slots == 4096

    @rm.circuit
    def chosen(a: rm.Encrypted[rm.uint(8)], b: rm.Encrypted[rm.uint(8)]):
        return rm.select(a < b, b, a // 2)

    assert (chosen(3, 200), chosen(200, 3)) == (200, 100)

    @rm.program
    def by_matrices(x: rm.Encrypted[rm.integer[4]]):
        a = rm.Matrix(x, (2, 2))
        return (a @ a).vector, rm.sum(a.vector), (a @ np.ones((2, 2), int)).vector, rm.equal(a.vector, a.vector)

    found = [array.tolist() for array in by_matrices(x=[1, 2, 3, 4])]
    assert found == [[7, 10, 15, 22], [10] * 4, [3, 3, 7, 7], [1] * 4]

    @rm.program
    def same(x: rm.Encrypted[rm.uint(8)[2]], y: rm.Encrypted[rm.uint(8)[2]]):
        return rm.equal(x, y)

    assert same(x=[1, 2], y=[1, 3]).tolist() == [1, 0]

    @rm.program
    def shares(x: rm.Encrypted):
        return x * (1 / np.asarray([1, 2, 4, 8]))

    assert shares(x=np.ones(4)).tolist() == [1, 0.5, 0.25, 0.125]
