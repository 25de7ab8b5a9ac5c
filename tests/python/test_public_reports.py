# SPDX-License-Identifier: Apache-2.0
"""Tests of faults that users of other libraries reported, as programs for Ringmill. Each is right here, or refused with
a reason.

Each test names its report. Our words tell what failed there, and no code of theirs is used.
"""

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm

INSECURE = {"allow_insecure_parameters_for_tests_only": True}
TOY = rm.circuit_params(toy_for_tests_only=True)


def small(levels: int) -> rm.Params:
    """Parameters of ring degree 2^11, scale 2^40 and values up to 2^19: quick, and insecure."""
    return rm.params(log_n=11, bits=[60, *levels * [40], 60], scale=2.0**40, **INSECURE)


def circuit_of(circuit: rm.Circuit, **inputs: int) -> Any:
    """Returns the result of a circuit under encryption."""
    compiled = circuit.compile(TOY, failure=-40)
    client = compiled.keygen()
    return client.decrypt(compiled.run(client.encrypt(**inputs), progress=False))


def result_of(program: rm.Program, inputs: dict[str, Any], params: rm.Params | None = None, **options: Any) -> Any:
    """Returns the result of a program under encryption."""
    compiled = program.compile(params, **options)
    client = compiled.keygen()
    return client.decrypt(compiled.run(client.encrypt(**inputs), progress=False))


# Circuits


def test_shifts_by_the_width_and_more_leave_nothing():
    """Shifts by the width or more came round again: https://github.com/zama-ai/tfhe-rs/issues/415."""

    @rm.circuit
    def shifted(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted[rm.sint(8)]):
        return [x >> by for by in range(16)], [x << by for by in range(16)], [y >> by for by in range(16)]

    right, left, signed = circuit_of(shifted, x=255, y=-77)
    assert right.tolist() == [255 >> by for by in range(16)]
    assert left.tolist() == [255 << by & 255 for by in range(16)]
    assert signed.tolist() == [-77 >> by for by in range(16)]


def test_a_number_may_be_shifted_by_itself():
    """Both operands share their noise, which was not counted: https://github.com/zama-ai/tfhe-rs/pull/654."""

    @rm.circuit
    def shifted(x: rm.Encrypted[rm.uint(6)]):
        return x << x, x >> x

    compiled = shifted.compile(TOY, failure=-40)
    client = compiled.keygen()
    for x in (0, 1, 2, 3, 5, 6, 63):
        left, right = client.decrypt(compiled.run(client.encrypt(x=x), progress=False))
        assert (left, right) == (x << x & 63, x >> x), x


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_the_narrowest_numbers_shift_and_turn(bits):
    """Numbers of one or two digits caused a panic: https://github.com/zama-ai/tfhe-rs/pull/2041."""

    @rm.circuit
    def moved(x: rm.Encrypted[rm.uint(bits)], y: rm.Encrypted[rm.uint(bits)]):
        return x << y, x >> y, x.rotate_left(1), x.rotate_left(5)

    mask = (1 << bits) - 1
    compiled = moved.compile(TOY, failure=-40)
    client = compiled.keygen()
    for x, y in ((mask, 1), (1, mask), (mask - 1, 0)):
        found = client.decrypt(compiled.run(client.encrypt(x=x, y=y), progress=False))
        turned = [(x << by % bits | x >> bits - by % bits) & mask for by in (1, 5)]
        assert found == (x << y & mask, x >> y, *turned), (x, y)


def test_zeros_that_are_known_compare_and_borrow_as_others_do():
    """A flag of overflow was wrong beside a known 0: https://github.com/zama-ai/tfhe-rs/pull/680."""

    @rm.circuit
    def beside(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted[rm.sint(8)]):
        zero, none = x - x, y - y
        return {
            "orders": [x < 0, x >= 0, x > 0, x < zero, zero < x, y < 0, y > 0, y < none, none < y],
            "borrows": [0 - x, zero - x, x - zero],
            "signed": [0 - y, none - y, y - none],
        }

    for x, y in ((0, 0), (255, -128), (1, -1), (128, 127)):
        found = circuit_of(beside, x=x, y=y)
        assert found["orders"].tolist() == [0, 1, x > 0, 0, x > 0, y < 0, y > 0, y < 0, y > 0], (x, y)
        assert found["borrows"].tolist() == [-x & 255, -x & 255, x], (x, y)
        minus = (-y + 128) % 256 - 128
        assert found["signed"].tolist() == [minus, minus, y], (x, y)


def test_the_larger_of_two_signed_products():
    """The digits of negative numbers were scrambled: https://github.com/zama-ai/concrete/issues/1302."""
    wide = rm.sint(16)

    @rm.circuit
    def larger(
        a: rm.Encrypted[rm.sint(8)],
        b: rm.Encrypted[rm.sint(8)],
        c: rm.Encrypted[rm.sint(8)],
        d: rm.Encrypted[rm.sint(8)],
    ):
        return rm.maximum(a.to(wide) * b.to(wide), c.to(wide) * d.to(wide))

    assert circuit_of(larger, a=-75, b=38, c=-128, d=127) == -2850
    assert circuit_of(larger, a=-128, b=-128, c=127, d=127) == 16384


def test_an_input_is_added_behind_products_by_constants():
    """A sum behind a chain of products was wrong: https://github.com/zama-ai/concrete/issues/1309."""

    @rm.circuit
    def chain(x: rm.Encrypted[rm.sint(16)], y: rm.Encrypted[rm.sint(16)]):
        above = (x > y - x).to(rm.sint(16))
        return 13 * ((-10 * (3 + above) - 13) * 13) + x

    assert circuit_of(chain, x=-60, y=2) == -7327
    assert circuit_of(chain, x=60, y=2) == 13 * ((-10 * 4 - 13) * 13) + 60


def test_a_result_is_the_same_alone_and_among_others():
    """The value depended on other results, and one choice crashed: https://github.com/zama-ai/concrete/issues/1307."""
    kind = rm.sint(12)

    def parts(x: Any, y: Any) -> dict[str, Any]:
        product = y * x
        larger = rm.maximum(product, product - 1)
        return {"product": product, "larger": larger, "twice": larger + larger, "above": (larger >= 7).to(kind)}

    @rm.circuit
    def together(x: rm.Encrypted[kind], y: rm.Encrypted[kind]):
        return parts(x, y)

    wanted = {"product": 276, "larger": 276, "twice": 552, "above": 1}
    assert circuit_of(together, x=6, y=46) == wanted

    def one(name: str) -> rm.Circuit:
        @rm.circuit
        def alone(x: rm.Encrypted[kind], y: rm.Encrypted[kind]):
            return parts(x, y)[name]

        return alone

    assert {name: circuit_of(one(name), x=6, y=46) for name in wanted} == wanted


def test_a_known_number_is_shifted_by_an_encrypted_one():
    """A constant was shifted by another amount: https://github.com/zama-ai/concrete/issues/1304."""

    @rm.circuit
    def refused(x: rm.Encrypted[rm.uint(8)]):
        return 3 >> x

    with pytest.raises(rm.CompileError, match=r"make it encrypted: \(x \* 0 \+ constant\) >> x"):
        refused.compile(TOY)

    @rm.circuit
    def shifted(x: rm.Encrypted[rm.uint(8)]):
        return (x * 0 + 3) >> (x > 0).to(rm.uint(8))

    assert [circuit_of(shifted, x=x) for x in (0, 13)] == [3, 1]


@pytest.mark.parametrize("result", [-97, (1, 2, 3)], ids=str)
def test_results_that_are_not_encrypted_are_refused(result):
    """Known numbers came back as others: https://github.com/zama-ai/concrete/issues/1293."""

    @rm.circuit
    def known(x: rm.Encrypted[rm.sint(8)]):
        return result

    with pytest.raises(rm.CompileError, match=r"must be encrypted integers of it, and is (-97|1)$"):
        known.compile(TOY)


def test_a_gate_takes_one_bit_twice():
    """Inputs that depend on each other made gates fail: https://github.com/lducas/FHEW/issues/13."""

    @rm.circuit
    def gates(x: rm.Encrypted[rm.bit], y: rm.Encrypted[rm.bit]):
        nand = ~(x & y)
        parity = x ^ y
        return ~(nand & nand), nand ^ parity, (parity | nand) & ~(parity & nand)

    compiled = gates.compile(rm.circuit_params("gates", toy_for_tests_only=True), failure=-40)
    client = compiled.keygen()
    for x, y in ((0, 0), (0, 1), (1, 0), (1, 1)):
        nand, parity = 1 - (x & y), x ^ y
        found = client.decrypt(compiled.run(client.encrypt(x=x, y=y), progress=False))
        assert found == (1 - nand, nand ^ parity, (parity | nand) & (1 - (parity & nand))), (x, y)


def test_tables_of_the_widest_numbers():
    """Bounds of 63 and 64 bits overflowed: https://github.com/homenc/HElib/issues/532."""
    unsigned = [0, 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
    signed = [0, -1, 2**62, 2**63 - 1, -(2**63), -(2**62)]

    @rm.circuit
    def looked_up(x: rm.Encrypted[rm.uint(3)]):
        return rm.lookup(x, unsigned, rm.uint(64)), rm.lookup(x, signed, rm.sint(64))

    compiled = looked_up.compile(TOY, failure=-40)
    client = compiled.keygen()
    for x, wanted in enumerate(zip([*unsigned, 0], [*signed, 0], strict=True)):
        assert client.decrypt(compiled.run(client.encrypt(x=x), progress=False)) == wanted


@pytest.mark.parametrize("name", ["gates", "circuit_bits", "boolean_p165", "circuits"])
def test_a_gate_has_its_truth_table_with_every_transform(name):
    """One of two transforms gave another table: https://github.com/nucypher/nufhe/issues/16."""

    @rm.circuit
    def nand(a: rm.Encrypted[rm.bit[4]], b: rm.Encrypted[rm.bit[4]]):
        return [~(x & y) for x, y in zip(a, b, strict=True)]

    compiled = nand.compile(rm.circuit_params(name, toy_for_tests_only=True), failure=-40)
    client = compiled.keygen()
    run = compiled.run(client.encrypt(a=[1, 1, 0, 0], b=[1, 0, 1, 0]), progress=False)
    assert client.decrypt(run).tolist() == [0, 1, 1, 1]


# Real numbers


def test_a_matrix_that_is_not_square_meets_a_vector():
    """The product was wrong if rows and columns together passed the slots:
    https://github.com/OpenMined/TenSEAL/issues/504.
    """
    rng = np.random.default_rng(504)
    matrix, x, places = rng.normal(size=(12, 9)), rng.normal(size=12), np.eye(16)

    @rm.program
    def product(x: rm.Encrypted[rm.real[12]]):
        total = rm.sum(x * matrix[:, 0]) * places[0]
        for column in range(1, 9):
            total = total + rm.sum(x * matrix[:, column]) * places[column]
        return total

    found = result_of(product, {"x": x}, small(2), slots=16, ranges={"x": 4})
    assert np.allclose(found[:9], x @ matrix, atol=1e-5)
    assert np.allclose(found[9:], 0, atol=1e-5)


def test_a_run_leaves_its_inputs_as_they_were():
    """A product overwrote both factors: https://github.com/OpenMined/TenSEAL/issues/354."""

    @rm.program
    def product(x: rm.Encrypted[rm.real], y: rm.Encrypted[rm.real]):
        return x * y

    compiled = product.compile(small(1), slots=8, input_bound=4)
    client = compiled.keygen()
    inputs = client.encrypt(x=4.0, y=0.5)
    first, second = compiled.run(inputs), compiled.run(inputs)
    assert np.allclose(client.decrypt(first), 2)
    assert first.ciphertexts == second.ciphertexts


def test_diagonals_of_zeros_are_left_out_of_a_product():
    """The product with an identity matrix was an error: https://github.com/OpenMined/TenSEAL/issues/398."""
    identity = np.eye(8)
    diagonals = [np.array([identity[row, (row + k) % 8] for row in range(8)]) for k in range(8)]

    @rm.program
    def known(x: rm.Encrypted[rm.real[8]]):
        total = x * diagonals[0]
        for k in range(1, 8):
            total = total + (x << k) * diagonals[k]
        return total

    x = np.linspace(-1, 1, 8)
    assert np.allclose(result_of(known, {"x": x}, small(1), slots=8, ranges={"x": 1}), x, atol=1e-5)

    @rm.program
    def given(x: rm.Encrypted[rm.real[8]], d: rm.Plain[rm.real[8]]):
        return x * diagonals[0] + (x << 1) * d

    compiled = given.compile(small(1), slots=8, input_bound=1)
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=x), plain={"d": np.zeros(8)})
    assert np.allclose(client.decrypt(run), x, atol=1e-5)


def test_memory_stays_as_it_is_over_many_runs():
    """Each product kept memory for good: https://github.com/OpenMined/TenSEAL/issues/317."""

    @rm.program
    def product(x: rm.Encrypted[rm.real[16]]):
        return sum((x << k) * np.full(16, 0.1 * k) for k in range(1, 8))

    compiled = product.compile(small(1), slots=16, input_bound=1)
    client = compiled.keygen()

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4  # KiB

    def runs(count: int) -> int:
        for _ in range(count):
            client.decrypt(compiled.run(client.encrypt(x=np.zeros(16)), progress=False))
        gc.collect()
        return resident()

    before = runs(10)
    assert runs(40) - before < 8 * 1024  # a ciphertext is 128 KiB, and its result 64


def test_the_worst_inputs_err_no_more_than_was_predicted():
    """A search found inputs with errors of 2e-3: https://github.com/OpenMined/TenSEAL/issues/518."""
    weights = np.random.default_rng(518).uniform(-1, 1, 8)

    @rm.program
    def squared(x: rm.Encrypted[rm.real[8]]):
        return (rm.sum(x * weights) + 0.5) ** 2

    compiled = squared.compile(small(4), slots=8, ranges={"x": 3})
    client = compiled.keygen()
    for x in (3 * np.sign(weights), -3 * np.sign(weights), np.full(8, 3.0), np.full(8, -3.0), np.zeros(8)):
        found = client.decrypt(compiled.run(client.encrypt(x=x), progress=False))[0]
        assert abs(found - (x @ weights + 0.5) ** 2) <= 2 ** -compiled.predicted_bits["out"] < 1e-4


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_sums_without_a_level_to_spare(slots):
    """A sum of depth 0 was wrong for one value or two: https://github.com/openfheorg/openfhe-development/issues/728."""

    @rm.program
    def total(x: rm.Encrypted[rm.real], y: rm.Encrypted[rm.real], z: rm.Encrypted[rm.real]):
        return x + y + z

    found = result_of(total, {"x": 3.5, "y": 1.0, "z": -2.5}, small(0), slots=slots, input_bound=4)
    assert np.allclose(found, np.full(slots, 2.0), atol=1e-4)


def test_a_first_prime_that_is_too_short_is_refused():
    """The result was wrong and its estimate good: https://github.com/openfheorg/openfhe-development/issues/376."""
    short = rm.params(log_n=11, bits=[50, 59, 59], **INSECURE)

    @rm.program
    def product(x: rm.Encrypted[rm.real], y: rm.Encrypted[rm.real]):
        return x * y

    with pytest.raises(rm.CompileError, match=r"use parameters with a larger first prime or a smaller scale"):
        product.compile(short, slots=8, ranges={"x": 1, "y": 1})


@pytest.mark.parametrize("tiny", [2.0**-70, 2.0**-130, 1e-300, 5e-324])
def test_constants_far_below_the_scale(tiny):
    """Tiny constants were shifted by more bits than a word has:
    https://github.com/openfheorg/openfhe-development/issues/1258.
    """

    @rm.program
    def beside(x: rm.Encrypted[rm.real[8]]):
        return x + tiny, x - tiny, x + x * tiny

    for found in result_of(beside, {"x": np.full(8, 3.0)}, small(1), slots=8, input_bound=3):
        assert np.allclose(found, 3, atol=1e-5)


@pytest.mark.parametrize(("bits", "readable"), [(10, True), (20, True), (30, False), (38, False)])
def test_what_tiny_constants_lose_is_counted(bits, readable):
    """A product makes up for tiny constants. The prediction counts what is lost, or the program is refused."""

    @rm.program
    def product(x: rm.Encrypted[rm.real[8]]):
        return (x * 2.0**-bits) * (x * 2.0**bits)

    if not readable:
        with pytest.raises(rm.CompileError, match=r"nothing could be read from it"):
            product.compile(small(4), slots=8, ranges={"x": 1})
        return
    compiled = product.compile(small(4), slots=8, ranges={"x": 1})
    client = compiled.keygen()
    found = client.decrypt(compiled.run(client.encrypt(x=np.full(8, 0.7)), progress=False))
    assert abs(found - 0.49).max() <= 2 ** -compiled.predicted_bits["out"]


@pytest.mark.parametrize("log_scale", [60, 63, 64, 65, 80])
def test_scales_around_a_word(log_scale):
    """A scale of 2^64 gave half of every value: https://github.com/tuneinsight/lattigo/issues/395."""
    params = rm.params(log_n=11, bits=[60, 60, 60, 60], scale=2.0**log_scale, **INSECURE)

    @rm.program
    def sums(x: rm.Encrypted[rm.real], y: rm.Plain[rm.real]):
        return x + y + 1

    if log_scale > 60:
        with pytest.raises(rm.CompileError, match=rf"the scale cannot be kept near 2\^{log_scale}"):
            sums.compile(params, slots=8, ranges={"x": 1, "y": 1})
        return
    compiled = sums.compile(params, slots=8, ranges={"x": 1, "y": 1})
    client = compiled.keygen()
    assert np.allclose(client.decrypt(compiled.run(client.encrypt(x=1.0), plain={"y": 1.0})), 3)


@pytest.mark.parametrize("value", [1e306, 3.1e267, np.inf, -np.inf, np.nan])
def test_numbers_that_no_scale_holds_are_refused(value):
    """Values passed a check that itself overflowed: https://github.com/microsoft/SEAL/issues/732."""

    @rm.program
    def more(x: rm.Encrypted[rm.real[8]], y: rm.Plain[rm.real[8]]):
        return x + y

    compiled = more.compile(small(0), slots=8, ranges={"x": 1, "y": 1})
    client = compiled.keygen()
    with pytest.raises(rm.DataError, match=r"compiled for values from -1.0 to 1.0|only finite numbers"):
        client.encrypt(x=[0.0] * 7 + [value])
    with pytest.raises(rm.DataError, match=r"compiled for values from -1.0 to 1.0|only finite numbers"):
        compiled.run(client.encrypt(x=np.zeros(8)), plain={"y": [0.0] * 7 + [value]})


@pytest.mark.parametrize("coefficients", [[0, 2], [0, 0, 0, 1], [0, 1, 0, -1, 0, 2], [1, 0, 0, 0, 0, 0, 0, 0, 3]])
def test_polynomials_with_zeros_among_their_coefficients(coefficients):
    """Errors were as large as the values: https://github.com/CAPS-UMU/FIDESlib/issues/24."""

    @rm.program
    def polynomial(x: rm.Encrypted[rm.real[8]]):
        return rm.polynomial(x, coefficients)

    x = np.linspace(-1, 1, 8)
    found = result_of(polynomial, {"x": x}, small(4), slots=8, ranges={"x": 1})
    assert np.allclose(found, np.polynomial.polynomial.polyval(x, coefficients), atol=1e-5)


def test_squares_are_summed_over_all_slots():
    """A sum of products that were not relinearised failed: https://github.com/microsoft/EVA/issues/36."""
    a, b = np.arange(16.0) % 10, np.arange(16.0) % 5

    @rm.program
    def distance(a: rm.Encrypted[rm.real[16]], b: rm.Encrypted[rm.real[16]]):
        return rm.sum((a - b) ** 2)

    found = result_of(distance, {"a": a, "b": b}, small(1), slots=16, ranges={"a": 9, "b": 4})
    assert np.allclose(found, ((a - b) ** 2).sum(), atol=1e-3)


# Real and whole numbers


@pytest.mark.parametrize("kind", [rm.real, rm.integer], ids=str)
def test_rotations_to_the_right(kind):
    """No keys were made for negative steps: https://github.com/google/heir/issues/3337."""
    x = np.arange(1024) - 500

    @rm.program
    def turned(x: rm.Encrypted[kind[1024]]):
        return x >> 512, x << -512, rm.rotate(x, -1), x >> 1023

    params = small(0) if kind is rm.real else None
    found = result_of(turned, {"x": x}, params, slots=1024, ranges={"x": 523})
    for values, steps in zip(found, (512, 512, 1, 1023), strict=True):
        assert np.allclose(values, np.roll(x, steps), atol=1e-4)


def test_rotations_in_many_threads_share_keys():
    """Threads that rotated at once failed at random: https://github.com/microsoft/SEAL/issues/216."""

    @rm.program
    def turned(x: rm.Encrypted[rm.real[1024]]):
        return sum((x << steps for steps in range(1, 5)), x * 1.0)

    compiled = turned.compile(small(1), slots=1024, ranges={"x": 10})
    client = compiled.keygen()
    data = np.random.default_rng(216).normal(size=(6, 1024))
    inputs = [client.encrypt(x=x) for x in data]
    with ThreadPoolExecutor(6) as pool:
        runs = list(pool.map(lambda one: compiled.run(one, progress=False), inputs))
    for x, one, run in zip(data, inputs, runs, strict=True):
        assert np.allclose(client.decrypt(run), sum(np.roll(x, -steps) for steps in range(5)), atol=1e-4)
        assert run.ciphertexts == compiled.run(one, progress=False).ciphertexts


@pytest.mark.parametrize("scheme", ["ckks", "bfv", "bgv"])
def test_a_saved_result_decrypts_as_it_did(scheme, tmp_path):
    """Only ciphertexts without any operation came back from a file: https://github.com/microsoft/SEAL/issues/433."""
    kind = rm.real if scheme == "ckks" else rm.integer

    @rm.program
    def cube(x: rm.Encrypted[kind[16]]):
        return x * x * x

    x = np.arange(16) - 8
    compiled = cube.compile(small(2) if scheme == "ckks" else None, slots=16, scheme=scheme, ranges={"x": 8})
    client = compiled.keygen()
    result = compiled.run(client.encrypt(x=x), progress=False).ciphertexts["out"]
    result.save(tmp_path / "result")
    loaded = rm.Ciphertext.load(tmp_path / "result", compiled.params)
    assert loaded == result
    assert np.allclose(client.decrypt({"out": loaded}), x**3, atol=1e-3)


# Whole numbers


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_products_go_on_into_any_operation(scheme):
    """A product was wrong after an addition: https://github.com/google/heir/issues/3140."""

    @rm.program
    def sums(x: rm.Encrypted[rm.integer], y: rm.Encrypted[rm.integer]):
        return x * y + 1, (x * y) * (x * y) - x, 1 - x * y

    found = result_of(sums, {"x": 2, "y": 3}, slots=4, scheme=scheme, ranges={"x": 200, "y": 200})
    assert [values.tolist() for values in found] == [[7] * 4, [34] * 4, [-5] * 4]


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_products_turn(scheme):
    """A product was rotated before relinearisation: https://github.com/openfheorg/openfhe-development/issues/575."""
    x = np.arange(1, 17)

    @rm.program
    def turned(x: rm.Encrypted[rm.integer[16]]):
        return x * x << 1, (x * x >> 1) * x

    left, right = result_of(turned, {"x": x}, slots=16, scheme=scheme, ranges={"x": 16})
    assert np.array_equal(left, np.roll(x * x, -1))
    assert np.array_equal(right, np.roll(x * x, 1) * x)


def test_sixteen_factors_in_a_tree():
    """A product of 16 at depth 4 was wrong at times: https://github.com/openfheorg/openfhe-development/issues/81."""

    @rm.program
    def product(x: rm.Encrypted[rm.integer[16]]):
        factors = [x << k for k in range(16)]
        while len(factors) > 1:
            factors = [a * b for a, b in zip(factors[::2], factors[1::2], strict=True)]
        return factors[0]

    modulus = rm.plain_modulus(log_n=11, bits=20)
    params = rm.params(log_n=11, bits=[55] * 5, plain_modulus=modulus, **INSECURE)
    compiled = product.compile(params, slots=16, ranges={"x": 2})
    client = compiled.keygen()
    for x in (np.full(16, -2), np.repeat([-1, 2, 1, -2], 4), np.array([-1] + [2] * 15)):
        run = compiled.run(client.encrypt(x=x), progress=False)
        assert client.decrypt(run).tolist() == [x.prod()] * 16
        assert client.noise_budget(run)["out"] >= compiled.predicted_budget["out"] - 1


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_all_slots_are_summed(scheme):
    """The second row of slots was left out: https://github.com/tuneinsight/lattigo/issues/510."""
    x = np.random.default_rng(510).integers(0, 2, 4096)

    @rm.program
    def total(x: rm.Encrypted[rm.bit[4096]]):
        return rm.sum(x)

    found = result_of(total, {"x": x}, slots=4096, scheme=scheme)
    assert (found == x.sum()).all()


def test_sums_of_values_at_different_levels():
    """The factors of products were taken for one another: https://github.com/tuneinsight/lattigo/issues/467."""

    def of(x: Any, y: Any) -> tuple[Any, ...]:
        xy = x * y
        return xy * x + y, xy * x - xy, y - xy * xy, xy * x * y - xy * 3 + 5, xy + xy * xy * xy

    @rm.program
    def sums(x: rm.Encrypted[rm.integer], y: rm.Encrypted[rm.integer]):
        return of(x, y)

    found = result_of(sums, {"x": -7, "y": 3}, slots=4, scheme="bgv", ranges={"x": 10, "y": 10})
    assert tuple(values[0] for values in found) == of(-7, 3)


def test_results_that_the_plaintext_modulus_does_not_hold_are_refused():
    """Sums came back modulo t without a word: https://github.com/microsoft/SEAL/issues/393."""
    params = rm.params(log_n=11, bits=[50, 50, 50], plain_modulus=rm.plain_modulus(log_n=11, bits=16), **INSECURE)

    @rm.program
    def total(x: rm.Encrypted[rm.integer], y: rm.Encrypted[rm.integer]):
        return x + y

    with pytest.raises(rm.RingmillError, match=r"which a plaintext modulus of 16 bits does not hold"):
        total.compile(params, slots=4, ranges={"x": (0, 10**7), "y": (0, 10**7)})
    compiled = total.compile(slots=4, ranges={"x": (0, 10**7), "y": (0, 10**7)})
    client = compiled.keygen()
    assert (client.decrypt(compiled.run(client.encrypt(x=10**7, y=10**7))) == 2 * 10**7).all()
    with pytest.raises(rm.DataError, match=r"10000001, and the program was compiled for whole numbers from 0"):
        client.encrypt(x=10**7 + 1, y=0)


def test_more_products_than_any_parameters_hold_are_refused():
    """After some 20 products the results were noise: https://github.com/ibarrond/Pyfhel/issues/88."""

    @rm.program
    def power(x: rm.Encrypted[rm.integer]):
        total = x
        for step in range(29):
            total = total * (x + step % 2)
        return total

    with pytest.raises(rm.ParameterError, match=r"the noise of this program is .* bits too much"):
        power.compile(slots=8, ranges={"x": (1, 2)})


@pytest.mark.parametrize("modulus", [9999999999, 65536, 2**60 + 1, 1, 0])
def test_plaintext_moduli_that_do_not_batch_are_refused(modulus):
    """Arithmetic went on modulo another number: https://github.com/ibarrond/Pyfhel/issues/87."""
    with pytest.raises(rm.ParameterError, match=r"does not batch|out of range"):
        rm.params(log_n=13, bits=[50, 50, 60], plain_modulus=modulus)


@pytest.mark.xfail(
    strict=True,
    reason="the outputs of a run are taken as inputs with the noise of fresh encryptions, and noise that has grown by "
    "a power of two near the modulus looks small again",
)
def test_a_lost_message_is_never_decrypted():
    """A noise budget was shown for noise: https://github.com/microsoft/SEAL/issues/742."""

    @rm.program
    def doubled(x: rm.Encrypted[rm.integer[16]]):
        return x + x

    compiled = doubled.compile(slots=16, ranges={"x": (0, 100)}, scheme="bfv")
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=np.zeros(16, dtype=int)))
    for _ in range(30):
        run = compiled.run({"x": run.ciphertexts["out"]}, keys=client.evaluation_keys, progress=False)
        if client.noise_budget(run)["out"]:
            assert not client.decrypt(run).any()


# Objects


def test_what_holds_a_secret_key_is_not_pickled_and_not_doubled():
    """Pickling a secret key ended the process: https://github.com/Huelse/SEAL-Python/issues/58."""

    @rm.program
    def same(x: rm.Encrypted[rm.real]):
        return x

    compiled = same.compile(small(0), slots=8, input_bound=1)
    client = compiled.keygen()
    inputs = client.encrypt(x=0.5)
    with pytest.raises(TypeError, match=r"cannot be pickled"):
        pickle.dumps(client)
    for held in (client.evaluation_keys, compiled, inputs, inputs.ciphertexts["x"], compiled.params):
        assert type(pickle.loads(pickle.dumps(held))) is type(held)
    # A client never changes, so its copy is itself. No second copy of the secret key exists.
    for kept in (copy.copy, copy.deepcopy):
        assert kept(client) is client
    assert np.allclose(client.decrypt(compiled.run(inputs)), 0.5)
