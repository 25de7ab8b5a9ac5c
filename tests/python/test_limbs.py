# SPDX-License-Identifier: Apache-2.0
"""Tests products of polynomials by themselves: every device gives the schoolbook's, and misfits are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ringmill as rm

DICE = np.random.default_rng(5)


def schoolbook(a, b, q):
    """The product by definition, in Python's own integers."""
    n = len(a)
    product = [0] * n
    for i, x in enumerate(map(int, a)):
        for j, y in enumerate(map(int, b)):
            product[(i + j) % n] += x * y if i + j < n else -x * y
    return [c % q for c in product]


@pytest.mark.parametrize(("n", "q"), [(256, 7681), (512, 4205569), (256, 4294962689)])
def test_products_are_the_schoolbooks_on_every_device(n, q):
    a, b = DICE.integers(0, q, n), DICE.integers(-q, q, n)
    want = schoolbook(a, b, q)
    for device in ["cpu:1", "sim:polymul"]:
        found = rm.negacyclic_product(a, b, q, device=device)
        assert found.residues.dtype == np.int64
        assert found.residues.tolist() == want
        assert (found.cycles is None) == (found.seconds is None) == (device == "cpu:1")
    # The clock is 150 MHz. Moving the polynomials alone takes that many cycles.
    assert found.cycles > n + 3 * n // 4
    assert found.seconds == pytest.approx(found.cycles / 150e6)


def test_the_rtl_gives_the_models_residues_and_cycles(tmp_path):
    machine = tmp_path / "small.toml"
    text = (Path(__file__).resolve().parents[2] / "crates/machines/src/polymul/polymul.toml").read_text()
    machine.write_text(text.replace("units = 32", "units = 4"))
    a, b = DICE.integers(0, 12289, 512), DICE.integers(0, 12289, 512)
    model, rtl = (rm.negacyclic_product(a, b, 12289, device=f"{kind}:{machine}") for kind in ("sim", "rtl"))
    assert rtl.residues.tolist() == schoolbook(a, b, 12289)
    assert model.residues.tolist() == rtl.residues.tolist()
    assert model.cycles == rtl.cycles


def test_what_does_not_fit_is_refused():
    good = [1] * 256
    for a, b, q, device, error, says in [
        ([1] * 300, [1] * 300, 7681, "cpu", rm.DataError, "300"),
        ([], [], 7681, "cpu", rm.DataError, "power of two"),
        (good, good[:128], 7681, "cpu", rm.DataError, "128"),
        ([good], good, 7681, "cpu", rm.DataError, "a must be one-dimensional"),
        (good, [0.5] * 256, 7681, "cpu", rm.DataError, "b "),
        (good, good, 513, "cpu", rm.ParameterError, "513 is not prime"),
        (good, good, 3329, "cpu", rm.ParameterError, "1 mod 512"),
        (good, good, 2**61, "cpu", rm.ParameterError, "q must be"),
        ([1] * 8192, [1] * 8192, 65537, "sim:polymul", rm.DeviceError, "4096"),
        (good, good, 1125899906826241, "sim:polymul", rm.DeviceError, "32"),
        (good, good, 7681, "abacus", rm.DeviceError, "abacus"),
    ]:
        with pytest.raises(error) as caught:
            rm.negacyclic_product(a, b, q, device=device)
        assert says in str(caught.value)
