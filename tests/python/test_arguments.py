# SPDX-License-Identifier: Apache-2.0
"""Passes a table of bad values to every public parameter. Ringmill itself must refuse what is wrong, with a helpful
message.
"""

from __future__ import annotations

import functools
import inspect
import random
from pathlib import Path

import numpy as np
import pytest
import toys
from circuit_calls import circuit_calls

import ringmill as rm
import ringmill.seal as rs

SLOTS = 16


class Evil:
    """Raises whenever Python asks it for anything."""

    def _raise(self, *_arguments):
        raise RuntimeError("evil")

    __repr__ = __str__ = __iter__ = __len__ = __eq__ = __bool__ = __index__ = __float__ = __fspath__ = __array__ = (
        _raise
    )
    __hash__ = object.__hash__


class Odd:
    """An object whose path is no path."""

    def __fspath__(self):
        return 5


def released():
    view = memoryview(bytearray(8))
    view.release()
    return view


# Functions, since each use needs a new value: some can be used up.
BAD = {
    "None": lambda: None,
    "True": lambda: True,
    "zero": lambda: 0,
    "minus one": lambda: -1,
    "fraction": lambda: 1.5,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("-inf"),
    "imaginary": lambda: 1j,
    "2^31": lambda: 2**31,
    "2^32": lambda: 2**32,
    "2^70": lambda: 2**70,
    "-2^70": lambda: -(2**70),
    "10^5000": lambda: 10**5000,
    "text": lambda: "text",
    "empty text": lambda: "",
    "surrogate": lambda: "\ud800",
    "NUL": lambda: "a\0b",
    "bytes": lambda: b"\xff\x00",
    "list": lambda: [],
    "list of None": lambda: [None],
    "ragged": lambda: [[1], [1, 2]],
    "huge integers": lambda: [2**70, -(2**70)],
    "dict": lambda: {},
    "dict of numbers": lambda: {1: 2},
    "dict of None": lambda: {"x": None},
    "set": lambda: {1, 2},
    "generator": lambda: (i for i in range(3)),
    "object": lambda: object(),
    "class": lambda: int,
    "function": lambda: len,
    "module": lambda: np,
    "path": lambda: Path("no/such/file"),
    "odd path": lambda: Odd(),
    "evil": lambda: Evil(),
    "array of objects": lambda: np.array([object()] * SLOTS),
    "array of text": lambda: np.array(["a"] * SLOTS),
    "array of dates": lambda: np.zeros(SLOTS, dtype="datetime64[s]"),
    "records": lambda: np.zeros(SLOTS, dtype=[("a", float)]),
    "empty array": lambda: np.zeros(0),
    "matrix": lambda: np.zeros((4, 4)),
    "masked": lambda: np.ma.masked_array(np.ones(SLOTS), mask=[True] * SLOTS),
    "NaNs": lambda: np.full(SLOTS, np.nan),
    "number in an array": lambda: np.array(3),
    "numpy number": lambda: np.uint8(3),
    "memory": lambda: memoryview(bytearray(8)),
    "released memory": released,
    "tiled": lambda: rm.tile([1, 2, 3]),
}


@rm.program
def product(x: rm.Encrypted, p: rm.Plain):
    return {"product": x * p, "turned": x << 1}


@rm.program
def typed(x: rm.Encrypted[rm.real], p: rm.Plain[rm.real[2]]):
    return x * p


@rm.program
def whole(x: rm.Encrypted[rm.uint(8)]):
    return x + 1


@rm.program
def counted(x: rm.Encrypted[rm.integer]):
    return x * x


class World:
    """Objects of each public class, and a correct call of each public callable."""

    def __init__(self, small, folder):
        self.compiled = compiled = product.compile(small, slots=SLOTS, input_bound=4)
        self.client = client = compiled.keygen()
        x, p = np.linspace(0, 1, SLOTS), np.ones(SLOTS)
        inputs = client.encrypt(x=x)
        run = compiled.run(inputs, plain={"p": p})
        keys, cipher = inputs.evaluation_keys, inputs.ciphertexts["x"]
        traced = product.trace(SLOTS)[0]
        paths = {name: folder / name for name in ("cipher", "keys", "secret", "program", "new")}
        paths |= {name: folder / name for name in ("public", "inputs", "run")}
        public = client.public_key()
        for name, item in {"public": public, "inputs": inputs, "run": run}.items():
            item.save(paths[name])
        cipher.save(paths["cipher"])
        keys.save(paths["keys"])
        client.save_secret_key(paths["secret"])
        compiled.save(paths["program"])
        one = {"path": paths["new"]}
        exact = whole.compile(slots=SLOTS)
        exact_client = exact.keygen()
        exact_run = exact.run(exact_client.encrypt(x=1))
        self.calls = {
            "params": (
                rm.params,
                {"log_n": 11, "bits": [50, 40, 50], "allow_insecure_parameters_for_tests_only": True}
                | {"name": None, "table": "guidelines_2024", "security": 128, "scale": 2.0**40}
                | {"scheme": "ckks", "plain_modulus": None, "special": 1, "dnum": 2},
            ),
            "devices": (rm.devices, {}),
            "bootstrapping": (
                rm.bootstrapping,
                {"name": None, "log_n": 9, "prime": 17, "exponents": (3, 4), "primes": (39, 13), "weight": 8}
                | {"target": None, "allow_insecure_parameters_for_tests_only": True},
            ),
            "Bootstrapping.fixed": (in_a_deep_program("fixed"), {"scale": 1, "bound": 8}),
            "Bootstrapping.digit_table": (in_a_deep_program("digit_table"), {"values": [0] * 17}),
            "Bootstrapping.low_digit": (in_a_deep_program("low_digit"), {}),
            "Bootstrapping.shifted": (in_a_deep_program("shifted"), {"digit": None}),
            "Bootstrapping.sign": (in_a_deep_program("sign"), {"digits": 2}),
            "Bootstrapping.scaled": (in_a_deep_program("scaled"), {"by": 1, "digits": 2}),
            "Fixed.sign": (on_fixed_point("sign"), {}),
            "Fixed.less": (on_fixed_point("less"), {"other": None}),
            "Fixed.rescaled": (on_fixed_point("rescaled"), {"by": 1}),
            "Fixed.times": (on_fixed_point("times"), {"factor": 2}),
            "Fixed.assume": (on_fixed_point("assume"), {"bound": 2}),
            "Fixed.digits": (on_fixed_point("digits"), {"count": 1}),
            "Fixed.rounded_table": (on_fixed_point("rounded_table"), {"function": abs, "scale": 1}),
            "Compiled.counts": (compiled.counts, {}),
            "Compiled.explain": (compiled.explain, {}),
            "Compiled.unrolled_counts": (compiled.unrolled_counts, {}),
            "load": (
                rm.load,
                {"path": paths["program"], "params": small, "scheme": "ckks", "tables": ["guidelines_2024"]}
                | {"allow_insecure_parameters_for_tests_only": False},
            ),
            "load as saved": (
                rm.load,
                {"path": paths["program"], "tables": ["guidelines_2024"]}
                | {"allow_insecure_parameters_for_tests_only": True},
            ),
            "limits": (limits_for_a_moment, {"memory": None}),
            "Limits": (rm.Limits, {"memory": 2**20}),
            "program": (rm.program, {"function": product._function}),
            "tile": (rm.tile, {"values": [1, 2]}),
            "uint": (rm.uint, {"bits": 16}),
            "array": (lambda **given: rm.real[given.get("length", 1)], {"length": 8}),
            "typed": (lambda **given: rm.Encrypted[given.get("takes", rm.bit)], {"takes": rm.bit}),
            "Program": (rm.Program, {"function": product._function}),
            "procedure": (rm.procedure, {"function": product._function}),
            "Procedure": (rm.Procedure, {"function": product._function}),
            "Procedure.__call__": (in_a_program(scaled), {"by": 2}),
            "repeat": (in_a_program(repeated), {"count": 2, "body": lambda *x: x, "carried": None}),
            "Program.trace": (product.trace, {"slots": SLOTS, "scheme": None}),
            "Program.compile": (
                product.compile,
                {"slots": SLOTS, "params": None, "scheme": "ckks", "precision": 20, "integer_bits": 5, "security": 128}
                | {"input_bound": None, "sample": {"x": x, "p": p}, "table": "guidelines_2024"}
                | {"ranges": {"x": (0, 1)}, "margin": 2.0, "target": "ring", "bootstrapping": None}
                | {"prefer": "keys", "keys": "1GiB", "batch": None},
            ),
            "Program.__call__": (product, {"x": x, "p": p}),
            "a typed program": (typed, {"x": 1.0, "p": [1.0, 2.0]}),
            "a program of integers": (whole, {"x": 1}),
            "compile of integers": (
                counted.compile,
                {"slots": SLOTS, "params": None, "scheme": "bfv", "ranges": {"x": (-2, 2)}, "sample": {"x": 1}}
                | {"margin": 2.0, "input_bound": None},
            ),
            "encrypt of integers": (exact_client.encrypt, {"x": 1}),
            "decrypt of integers": (exact_client.decrypt, {"outputs": exact_run, "complex": None}),
            "Client.noise_budget": (exact_client.noise_budget, {"outputs": exact_run}),
            "negacyclic_product": (
                rm.negacyclic_product,
                {"a": np.arange(256), "b": [-1] * 256, "q": 7681, "device": "sim:polymul"},
            ),
            "plain_modulus": (rm.plain_modulus, {"log_n": 12, "bits": 20}),
            "params of integers": (
                rm.params,
                {"log_n": 12, "bits": [40, 40], "scheme": "bfv", "plain_modulus": rm.plain_modulus(12, 20)},
            ),
            "Compiled": (rm.Compiled, {"inner": compiled._inner, "shape": compiled._shape}),
            "conv1d": (in_arrays(rm.conv1d), {"x": None, "weights": [1.0]} | {"stride": 1, "padding": 0, "groups": 1}),
            "conv2d": (
                in_arrays(rm.conv2d),
                {"x": None, "weights": [[1.0]], "stride": 1, "padding": 0, "groups": 1},
            ),
            "upsample": (in_arrays(rm.upsample), {"x": None, "scale": 2}),
            "layout": (in_arrays(rm.layout), {"x": None, "strides": (2, 1), "offset": 0, "copies": False}),
            "avg_pool2d": (in_arrays(rm.avg_pool2d), {"x": None, "size": 1, "stride": None, "padding": 0}),
            "Compiled.text": (compiled.text, {"level": "mid", "machine": "ring"}),
            "Compiled.save": (compiled.save, one | {"with_sample": False}),
            "Compiled.keygen": (compiled.keygen, {}),
            "Compiled.load_secret_key": (compiled.load_secret_key, {"path": paths["secret"]}),
            "Compiled.run": (
                compiled.run,
                {
                    "inputs": inputs,
                    "plain": {"p": p},
                    "device": "cpu:1",
                    "keys": keys,
                    "trace": None,
                    "timeline": False,
                    "progress": False,
                    "spill": True,
                    "checkpoint": None,
                    "every": 30.0,
                    "resume": None,
                    "expanded_bytes": 2**30,
                },
            ),
            "Report.save_html": (run.report.save_html, one),
            "compare": (
                rm.compare,
                {"compiled": compiled, "machines": ["ring"], "set": {"clock_mhz": [100, 200.0], "main.fused": True}}
                | {"inputs": inputs, "plain": {"p": p}, "threads": 1, "spill": True, "send_keys": False}
                | {"progress": False},
            ),
            "Client": (rm.Client, {"keys": client._keys, "shape": client._shape}),
            "Client.encrypt": (client.encrypt, {"x": x}),
            "Client.decrypt": (
                client.decrypt,
                {"outputs": run, "complex": None, "share": None, "assume_bounded": False},
            ),
            "Client.shared_bits": (client.shared_bits, {"share": rm.Share(8)}),
            "Client.measure": (lambda **given: client.measure(given.pop("run"), **given), {"run": run, "x": x, "p": p}),
            "Client.save_secret_key": (client.save_secret_key, one),
            "Ciphertext.save": (cipher.save, one),
            "Ciphertext.load": (rm.Ciphertext.load, {"path": paths["cipher"], "params": small}),
            "Ciphertext.to_bytes": (cipher.to_bytes, {}),
            "Ciphertext.from_bytes": (rm.Ciphertext.from_bytes, {"data": cipher.to_bytes(), "params": small}),
            "EvaluationKeys.to_bytes": (keys.to_bytes, {}),
            "EvaluationKeys.from_bytes": (rm.EvaluationKeys.from_bytes, {"data": keys.to_bytes(), "params": small}),
            "PublicKey.save": (public.save, {"path": paths["public"]}),
            "PublicKey.load": (rm.PublicKey.load, {"path": paths["public"], "params": small}),
            "PublicKey.to_bytes": (public.to_bytes, {}),
            "PublicKey.from_bytes": (rm.PublicKey.from_bytes, {"data": public.to_bytes(), "params": small}),
            "Params.to_bytes": (small.to_bytes, {}),
            "Params.from_bytes": (
                rm.Params.from_bytes,
                {"data": small.to_bytes(), "tables": None, "allow_insecure_parameters_for_tests_only": True},
            ),
            "Inputs.together": (rm.Inputs.together, {"parts": [inputs], "evaluation_keys": keys}),
            "Inputs.to_bytes": (inputs.to_bytes, {}),
            "Inputs.from_bytes": (
                rm.Inputs.from_bytes,
                {"data": inputs.to_bytes(), "params": small, "evaluation_keys": keys},
            ),
            "Inputs.save": (inputs.save, {"path": paths["inputs"]}),
            "Inputs.load": (rm.Inputs.load, {"path": paths["inputs"], "params": small, "evaluation_keys": None}),
            "Run.to_bytes": (run.to_bytes, {}),
            "Run.from_bytes": (rm.Run.from_bytes, {"data": run.to_bytes(), "params": small}),
            "Run.save": (run.save, {"path": paths["run"]}),
            "Run.load": (rm.Run.load, {"path": paths["run"], "params": small}),
            "Client.public_key": (client.public_key, {}),
            "Compiled.encrypt": (
                lambda **given: compiled.encrypt(given.pop("public_key"), **given),
                {"public_key": public, "x": x},
            ),
            "Compiled.to_bytes": (compiled.to_bytes, {}),
            "Compiled.from_bytes": (
                rm.Compiled.from_bytes,
                {"data": compiled.to_bytes(), "tables": None, "allow_insecure_parameters_for_tests_only": True},
            ),
            "EvaluationKeys.save": (keys.save, {"path": paths["keys"]}),
            "EvaluationKeys.load": (rm.EvaluationKeys.load, {"path": paths["keys"], "params": small}),
            "MacroProgram.load": (rm.MacroProgram.load, {"path": paths["program"]}),
            "MacroProgram.from_text": (rm.MacroProgram.from_text, {"text": traced.to_text()}),
            "MacroProgram.to_text": (traced.to_text, {}),
            "Inputs": (rm.Inputs, {"ciphertexts": {"x": cipher}, "evaluation_keys": keys, "batch": None, "more": ()}),
            "Run": (rm.Run, {"ciphertexts": run.ciphertexts, "report": run.report, "batch": None, "more": ()}),
            "Share": (rm.Share, {"statistical_bits": 8, "decryptions": 1, "decrypted_so_far": 0}),
            "Precision": (rm.Precision, {"predicted_bits": 1.0, "measured_bits": None, "conditional": False}),
            "Report": (rm.Report, {"text": "", "detail": "", "data": "{}"}),
            "rotate": (in_a_program(rm.rotate), {"steps": 1}),
            "conj": (in_a_program(rm.conj), {}),
            "two_real": (in_a_program(rm.two_real), {}),
            "sum": (in_a_program(rm.sum), {"width": 4, "stride": 2}),
            "mean": (in_a_program(rm.mean), {}),
            "bounded": (in_a_program(rm.bounded), {"lo": -1, "hi": 2.5}),
            "polynomial": (
                in_a_program(rm.polynomial),
                {"coefficients": [1, 2], "basis": "chebyshev", "domain": (-1, 1)},
            ),
            "rotate of": (lambda **given: rm.rotate(**given), {"x": None, "steps": 1}),
            "equal": (equal_bits, {"y": 1}),
            **circuit_calls(folder),
            "equal of": (rm.equal, {"x": None, "y": 1}),
            "conj of": (rm.conj, {"x": None}),
            "two_real of": (rm.two_real, {"x": None}),
            "sum of": (rm.sum, {"x": None, "width": 4, "stride": 2}),
            "bounded of": (rm.bounded, {"x": None, "lo": -1, "hi": 1}),
            "polynomial of": (rm.polynomial, {"x": None, "coefficients": [1, 2]}),
        }


def limits_for_a_moment(**given):
    """Sets limits and restores them, because nothing else works under some of the values."""
    before = rm.limits()
    try:
        rm.limits(**given)
    finally:
        rm.limits(memory=before.memory)


@rm.procedure
def scaled(x, by):
    return x * by


def repeated(x, /, *args, carried=None, **given):
    """Calls `rm.repeat` with keywords. It takes the carried values last, by position only."""
    args = (*args, *(given.pop(name) for name in ("count", "body") if name in given))
    return rm.repeat(*args, x, *([] if carried is None else [carried]), **given)


def equal_bits(**given):
    @rm.program
    def f(x: rm.Encrypted[rm.bit]):
        return rm.equal(x, **given)

    return f.trace(SLOTS)


def in_a_program(function):
    """Returns a function that calls another on an encrypted vector while a program is traced."""

    def call(*args, **given):
        @rm.program
        def f(x: rm.Encrypted):
            return function(x, *args, **given)

        return f.trace(SLOTS)

    return call


def in_arrays(function):
    """Returns a function that calls another on an encrypted array while a program is traced."""

    def call(*args, **given):
        @rm.program
        def f(x: rm.Encrypted[rm.real[2, 2]]):
            given_x = x[0] if function is rm.conv1d else x
            return function(*args, **given | ({"x": given_x} if given.get("x", x) is None else {}))

        return f.trace(SLOTS)

    return call


@functools.cache
def deep():
    return toys.bootstrapping()


def in_a_deep_program(method):
    """Returns a function that calls a method of a bootstrapping set on a traced vector. An argument `digit` of None
    becomes that vector.
    """

    def call(**given):
        def f(x):
            if "digit" in given and given["digit"] is None:
                given["digit"] = x
            getattr(deep(), method)(x, **given)
            return x + 1

        f.__annotations__["x"] = rm.Encrypted[rm.integer[4]]
        return rm.program(f).trace(4, scheme="bgv")

    return call


def on_fixed_point(method):
    """Returns a function that calls a method of a fixed-point number while a program is traced. An argument `other` of
    None becomes a number of the same kind.
    """

    def call(**given):
        def f(x):
            fixed = deep().fixed(x, 17, 100)
            if "other" in given and given["other"] is None:
                given["other"] = fixed
            getattr(fixed, method)(**given)
            return x + 1

        f.__annotations__["x"] = rm.Encrypted[rm.integer[4]]
        return rm.program(f).trace(4, scheme="bgv")

    return call


@pytest.fixture(scope="module")
def world(small, tmp_path_factory):
    return World(small, tmp_path_factory.mktemp("world"))


def attempt(call, given):
    """Returns the exception of a call that Ringmill refused, or None. A message that is empty or too long becomes an
    AssertionError.
    """
    try:
        call(**given)
    except rm.RingmillError as error:
        return error if 0 < len(str(error).strip()) < 2000 else AssertionError(f"the message is {len(str(error))} long")
    return None


def test_no_bad_value_brings_out_an_error_of_pythons(world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some bad values are valid paths: files that they name land here
    for name, (call, given) in world.calls.items():
        if name.endswith(" of"):
            continue
        assert attempt(call, given) is None, name
    for name, (call, given) in world.calls.items():
        for parameter in given:
            for label, make in BAD.items():
                try:
                    attempt(call, given | {parameter: make()})
                except BaseException as error:
                    raise AssertionError(f"{name}, {parameter} = {label}: {type(error).__name__}: {error}") from error
            error = attempt(call, given | {parameter: object()})
            if name not in ("Compiled", "Client", "CompiledCircuit", "CircuitClient") and not name.endswith(" of"):
                assert parameter in str(error) or parameter == "function", f"{name}, {parameter}: {error}"


def test_random_calls_bring_out_ringmills_errors_only(world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    names = [*{parameter for _, given in world.calls.values() for parameter in given}, "bogus", "widht"]
    for _ in range(400):
        name = dice.choice(list(world.calls))
        call, given = world.calls[name]
        given = {parameter: value for parameter, value in given.items() if dice.random() < 0.9}
        for parameter in dice.sample([*given], min(len(given), dice.randrange(3))):
            given[parameter] = BAD[dice.choice(list(BAD))]()
        if dice.random() < 0.2:
            given[dice.choice(names)] = BAD[dice.choice(list(BAD))]()
        if name == "Client.measure":
            given.setdefault("run", None)
        try:
            attempt(call, given)
        except BaseException as error:
            raise AssertionError(f"{name}({given!r}): {type(error).__name__}: {error}") from error


def test_every_public_callable_and_parameter_is_in_the_table(world):
    wanted = {}
    for name in rm.__all__:
        item = getattr(rm, name)
        if isinstance(item, type) and issubclass(item, BaseException):
            continue
        if isinstance(item, type):
            for method, attribute in vars(item).items():
                function = attribute.__func__ if isinstance(attribute, staticmethod) else attribute
                if callable(function) and not method.startswith("_"):
                    wanted[f"{name}.{method}"] = function
        elif callable(item):
            wanted[name] = item
    assert len(wanted) > 20
    for name, function in wanted.items():
        assert name in world.calls, name
        given = world.calls[name][1]
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name not in ("self", "x") and parameter.kind is not parameter.VAR_KEYWORD:
                assert parameter.name in given, f"{name}, {parameter.name}"


def test_calls_that_do_not_fit_name_the_closest_argument(world):
    compiled, client = world.compiled, world.client
    for call, says in [
        (lambda: product.compile(slots=SLOTS, precison=20), ["compile has no argument `precison`", "`precision`?"]),
        (lambda: rm.params(log_n=14, bit=[60]), ["`bit`", "`bits`?"]),
        (lambda: rm.load("x", presicion=3), ["`presicion`", "`precision`?"]),
        (lambda: compiled.run(None, devices="cpu"), ["run has no argument `devices`", "`device`?"]),
        (lambda: compiled.run(), ["run", "inputs"]),
        (lambda: compiled.run(None, {}), ["run", "positional", "run(inputs, *, plain=None"]),
        (lambda: client.encrypt(np.ones(SLOTS)), ["encrypt takes", "by name", "client.encrypt(x=...)"]),
        (lambda: rm.Ciphertext.load("x", parms=1), ["Ciphertext.load", "`params`?"]),
        (lambda: rm.Ciphertext(), ["Ciphertext has no constructor"]),
        (lambda: rm.Params("set2"), ["rm.params"]),
        (lambda: rm.Encrypted(), ["annotate"]),
        (lambda: rm.program(), ["function"]),
        (lambda: rm.tile(), ["values"]),
        (lambda: compiled.keygen(5), ["keygen()"]),
    ]:
        with pytest.raises(rm.ArgumentError) as caught:
            call()
        assert isinstance(caught.value, TypeError)
        for part in says:
            assert part in str(caught.value)
    for options in ({"precision": 30}, {"security": 192}):
        with pytest.raises(rm.ParameterError, match=r"params= is given; leave one"):
            product.compile(compiled.params, slots=SLOTS, **options)
    with pytest.raises(rm.CompileError, match=r"rm.sum has no argument `widht`; did you mean `width`\?"):
        in_a_program(rm.sum)(widht=4)


def test_names_that_are_not_there_name_the_closest(world):
    compiled, client = world.compiled, world.client
    run = compiled.run(client.encrypt(x=np.ones(SLOTS)), plain={"p": np.ones(SLOTS)})
    cipher = run.ciphertexts["product"]
    for call in (
        lambda: run.ciphertexts["prodct"],
        lambda: compiled.predicted_bits["prodct"],
        lambda: client.decrypt({"prodct": cipher, "turned": cipher}),
    ):
        with pytest.raises(rm.DataError, match=r"prodct.*did you mean `product`\?"):
            call()
    with pytest.raises(KeyError):
        run.ciphertexts["none"]
    with pytest.raises(rm.DataError, match="`y`"):
        client.encrypt(x=np.ones(SLOTS), y=np.ones(SLOTS))
    with pytest.raises(rm.DataError, match="`q`"):
        compiled.run(client.encrypt(x=np.ones(SLOTS)), plain={"q": np.ones(SLOTS)})


def test_paths_and_memory_in_every_usual_form(world, tmp_path, small):
    cipher = world.client.encrypt(x=memoryview(np.linspace(0, 1, SLOTS))).ciphertexts["x"]
    for path in (tmp_path / "a", str(tmp_path / "a"), bytes(tmp_path / "a")):
        cipher.save(path)
        assert rm.Ciphertext.load(path, small) == cipher
    masked = np.ma.masked_array(np.ones(SLOTS), mask=[False] * SLOTS)
    assert world.client.encrypt(x=masked)
    masked[3] = np.ma.masked
    with pytest.raises(rm.DataError, match=r"input x has masked values; .*\.filled\(0\)"):
        world.client.encrypt(x=masked)


def test_short_vectors_are_refused_unless_they_are_tiled(world):
    compiled, client = world.compiled, world.client
    x = np.linspace(0, 1, SLOTS)
    whole = compiled.run(client.encrypt(x=x), plain={"p": rm.tile([1, 2])})
    assert np.allclose(client.decrypt(whole)["product"], x * np.tile([1, 2], SLOTS // 2), atol=1e-3)
    encrypted = client.encrypt(x=rm.tile([0.5, 0.25, 0, 1]))
    assert np.allclose(
        client.decrypt(compiled.run(encrypted, plain={"p": rm.tile(1)}))["turned"][:2], [0.25, 0], atol=1e-3
    )
    inputs = client.encrypt(x=x)
    for short in ([1.0, 2.0], [1.0], np.ones(SLOTS // 2)):
        with pytest.raises(rm.DataError, match="pad or cut"):
            compiled.run(inputs, plain={"p": short})
    with pytest.raises(rm.DataError, match=r"one number; rm.tile\(2.0\)"):
        compiled.run(inputs, plain={"p": 2.0})
    with pytest.raises(rm.DataError, match="do not divide 16"):
        compiled.run(inputs, plain={"p": rm.tile([1, 2, 3])})
    tiled = rm.tile([1, 2])
    for misuse in (
        lambda: tiled + np.ones(2),
        lambda: np.ones(2) * tiled,
        lambda: tiled + tiled,
        lambda: np.sin(tiled),
        lambda: np.sum(tiled),
        lambda: np.asarray(tiled),
        lambda: list(tiled),
        lambda: -tiled,
        lambda: 2.0 * tiled,
    ):
        with pytest.raises(rm.DataError, match="in numpy first"):
            misuse()


def test_seals_methods_take_bytes_like_data_and_refuse_the_rest():
    test_seal = pytest.importorskip("test_seal")
    side = test_seal.seal(test_seal.SMALL)
    client = rs.SealClient.generate(memoryview(side.parms), security_table="standard_2018", compression="none")
    parms = bytearray(client.parameters())
    evaluator = rs.SealEvaluator(parms, security_table="standard_2018", compression="none")
    evaluator.load_relin_keys(bytearray(client.relin_keys()))
    evaluator.load_galois_keys(memoryview(client.galois_keys([1], conjugation=True)))
    a = client.encrypt(np.ones(4), 2.0**30)
    plain = client.encode([1, 2, 3, 4], 2.0**30)
    assert evaluator.add(bytearray(a), memoryview(a)) == evaluator.add(a, a)
    options = {
        "security_table": "standard_2018",
        "allow_insecure_parameters_for_tests_only": False,
        "compression": "none",
        "device": None,
    }
    good = {"a": a, "b": a, "plain": plain, "cipher": a, "data": a, "steps": 1, "conjugation": False}
    good |= {"values": [1, 2], "scale": 2.0**30, "level": None, "parms": bytes(parms)} | options
    good |= {"secret_key": client.secret_key_in_the_clear()}
    calls = {"SealEvaluator": rs.SealEvaluator}
    for item in (client, evaluator):
        for name in dir(item):
            if not name.startswith("_") and callable(getattr(item, name)):
                calls[f"{type(item).__name__}.{name}"] = getattr(item, name)
    assert len(calls) > 25
    for name, call in calls.items():
        parameters = [p for p in inspect.signature(call).parameters if p not in ("self", "cls")]
        given = {parameter: good[parameter] for parameter in parameters}
        if name == "SealClient.galois_keys":
            given["steps"] = [1]
        for parameter in parameters:
            for label in (
                "None",
                "minus one",
                "2^70",
                "text",
                "bytes",
                "list",
                "object",
                "evil",
                "released memory",
                "NaN",
            ):
                try:
                    attempt(call, given | {parameter: BAD[label]()})
                except BaseException as error:
                    raise AssertionError(f"{name}, {parameter} = {label}: {type(error).__name__}: {error}") from error
            assert parameter in str(attempt(call, given | {parameter: object()}))
        with pytest.raises(rm.ArgumentError, match="has no argument `bogus`"):
            call(**given, bogus=1)
    with pytest.raises(rm.ArgumentError, match=r"SealClient\.generate"):
        rs.SealClient()
