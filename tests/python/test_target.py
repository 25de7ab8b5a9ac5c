# SPDX-License-Identifier: Apache-2.0
"""Tests programs made for a machine. Their parameters fit it, or the refusal names the field of its description."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import toys

import ringmill as rm

ROOT = Path(__file__).resolve().parents[2]


@rm.program
def square(x: rm.Encrypted):
    return x * x


def test_a_program_made_for_a_machine_runs_on_it() -> None:
    values = np.linspace(-1, 1, 64)
    compiled = square.compile(slots=64, sample={"x": values}, precision=8, target="polymul")
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=values), device="sim:polymul")
    assert np.allclose(client.decrypt(run), values**2, atol=2**-8)


def test_the_refusal_names_the_field(tmp_path: Path) -> None:
    with pytest.raises(rm.CompileError, match=r"machine ring takes no such program.*field log_n"):
        square.compile(slots=2**15, input_bound=1, target="ring")
    with pytest.raises(rm.DeviceError, match="abacus"):
        square.compile(slots=64, input_bound=1, target="abacus")
    with pytest.raises(rm.DeviceError, match="target"):
        square.compile(slots=64, input_bound=1, target=3)
    narrow = tmp_path / "narrow.toml"
    text = (ROOT / "crates/machines/src/ring/medha.toml").read_text().replace("word_bits = 60", "word_bits = 26")
    narrow.write_text(text)
    with pytest.raises(rm.CompileError, match="field word_bits allows at most 26"):
        square.compile(slots=64, input_bound=1, target=str(narrow))


@rm.program
def whole(x: rm.Encrypted[rm.integer[16]], y: rm.Encrypted[rm.integer[16]], p: rm.Plain[rm.integer[16]]):
    return (x * y + p) * x + (x << 1) * p


@pytest.mark.parametrize("scheme", ["bgv", "bfv"])
def test_what_the_ring_machine_would_refuse_is_refused_when_it_is_compiled(scheme: str) -> None:
    """The ring machine computes modulo primes alone, and has no host. BGV's products and BFV's with plaintexts need
    another modulus.
    """
    ranges = {name: (-9, 9) for name in "xyp"}
    said = r"test_target.py:\d+: machine ring takes no such program.*field rpaus allows NTT-friendly primes alone"
    with pytest.raises(rm.CompileError, match=said):
        whole.compile(slots=16, scheme=scheme, ranges=ranges, target="ring")

    @rm.program
    def doubled(x: rm.Encrypted[rm.integer[16]]):
        return x + x

    # Programs that need no other modulus run there.
    compiled = doubled.compile(slots=16, scheme=scheme, ranges={"x": (-9, 9)}, target="ring")
    client = compiled.keygen()
    x = np.arange(16) - 8
    assert np.array_equal(client.decrypt(compiled.run(client.encrypt(x=x), device="sim:ring")), 2 * x)


def test_the_smallest_ring_degree_that_serves_is_the_one_that_a_machine_lacks() -> None:
    @rm.program
    def cube(x: rm.Encrypted[rm.integer[16]]):
        return x * x * x

    needed = cube.compile(slots=16, scheme="bfv", ranges={"x": (-9, 9)}).params.log_n
    assert needed == 13
    said = f"log2 of the ring degree is {needed}, and its field max_log_n allows 8 to 12; make the program shallower"
    with pytest.raises(rm.CompileError, match=said):
        cube.compile(slots=16, scheme="bfv", ranges={"x": (-9, 9)}, target="polymul")


@rm.program
def real(x: rm.Encrypted, y: rm.Encrypted, p: rm.Plain):
    return (x * y + p) * x + (x << 1) * p


def of(x: np.ndarray, y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return (x * y + p) * x + np.roll(x, -1) * p


def ran(compiled: rm.Compiled, x: np.ndarray, y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Runs a program on the vector machine and returns the result. Its bits must be the CPU's."""
    client = compiled.keygen()
    inputs = client.encrypt(x=x, y=y)
    run = compiled.run(inputs, plain={"p": p}, device="sim:vector")
    assert run.report.data["machine"]["vector"]["cycles_by_papers_counting"] > 0
    found = client.decrypt(run)
    assert np.array_equal(client.decrypt(compiled.run(inputs, plain={"p": p}, device="cpu")), found)
    return found


@pytest.mark.parametrize("scheme", ["bgv", "bfv"])
def test_whole_numbers_on_the_vector_machine(scheme: str) -> None:
    x, y, p = (np.arange(16) * k % 19 - 9 for k in (3, 5, 7))
    ranges = {name: (-9, 9) for name in "xyp"}
    compiled = whole.compile(slots=16, scheme=scheme, ranges=ranges, target="vector")
    assert all(q < 2**32 and q % 2**17 == 1 for q in compiled.params.ciphertext_primes + compiled.params.special_primes)
    assert np.array_equal(ran(compiled, x, y, p), of(x, y, p))


def test_real_numbers_on_the_vector_machine() -> None:
    """Each level has two primes, because the scale is larger than one prime of the machine."""
    x, y, p = (np.sin(np.arange(16) * k) for k in (0.3, 0.7, 1.1))
    compiled = real.compile(slots=16, input_bound=1, precision=25, target="vector")
    assert np.allclose(ran(compiled, x, y, p), of(x, y, p), atol=2**-25)


def test_a_set_that_bootstraps_on_the_vector_machine() -> None:
    toy = toys.bootstrapping(target="vector")

    @rm.program
    def power(x: rm.Encrypted[rm.integer[4]]):
        return rm.repeat(5, lambda y: y * y * y, x)

    compiled = power.compile(bootstrapping=toy, target="vector")
    assert compiled.counts()[0]["BOOTSTRAP"] >= 1
    client = compiled.keygen()
    x = np.array([2, -3, 2000, 17])
    run = compiled.run(client.encrypt(x=x), device="sim:vector")
    power_of = [pow(int(v), 3**5, 17**3) for v in x]
    half = 17**3 // 2
    assert np.array_equal(client.decrypt(run), [(v + half) % 17**3 - half for v in power_of])
    other = toys.bootstrapping()
    with pytest.raises(rm.CompileError, match="for the target"):
        power.compile(bootstrapping=other, target="vector")
