# SPDX-License-Identifier: Apache-2.0
"""Compares what Microsoft SEAL has for BGV and not for BFV. test_seal_exact.py compares what both have."""

from __future__ import annotations

import numpy as np
import pytest
from seal_exact import CASES, OF_BGV, OPTIONS, RNG, SMALL, Case, evaluator, seal
from seal_reference import save, sealapi

import ringmill
from ringmill.seal import SealBgvEvaluator


@pytest.mark.parametrize("case", [CASES[1], CASES[3], OF_BGV.cases[-1]], ids=str)
def test_sums_of_any_factors_are_seals(case: Case) -> None:
    side, ours = seal(OF_BGV, case), evaluator(OF_BGV, case)
    low = side.random(1)
    values = [low]
    for _ in range(5):
        square = side.call("relinearize", side.call("square", values[-1]), side.relin)
        values.append(side.call("relinearize", side.call("multiply", square, low), side.relin))
    for x in values:
        for y in values:
            if x is not y:
                side.same(ours.add(save(x), save(y)), side.call("add", x, y))
                side.same(ours.sub(save(x), save(y)), side.call("sub", x, y))


@pytest.mark.parametrize("case", OF_BGV.cases, ids=str)
def test_operations_on_any_residues_are_seals(case: Case) -> None:
    """The polynomials are not encryptions: 0, q - 1, and values near t and its multiples, modulo each prime."""
    side = seal(OF_BGV, case)
    bare = SealBgvEvaluator(side.parms, compression="none", **OPTIONS)
    bare.load_relin_keys(save(side.relin))
    for drop in side.drops():
        good = bare.negate(save(side.random(drop)))
        # Equal residues in evaluation form are a constant polynomial.
        edges = [0, 1, case.plain - 1, case.plain, 2 * case.plain + 1]
        words = []
        for i in range(2):
            for p in side.primes(drop):
                limb = RNG.integers(0, p, case.degree, dtype=np.uint64)
                if drop % 2 == i:
                    limb[:] = p - 1 if i else edges[drop % 5] % p
                words.append(limb)
        data = np.concatenate(words).astype("<u8").tobytes()
        assert len(good) == 113 + len(data)
        a = good[:113] + data
        x = side.load(sealapi.Ciphertext, a)
        if drop < side.levels:
            side.same(bare.mod_switch(a), side.call("mod_switch_to_next", x))
        product = side.call("square", x)
        side.same(bare.relinearize(save(product)), side.call("relinearize", product, side.relin))


def test_altered_fields_are_refused_and_never_crash() -> None:
    side = seal(OF_BGV, SMALL)
    ours = SealBgvEvaluator(side.parms, compression="none", **OPTIONS)
    good = ours.negate(save(side.random(1)))
    size = 113
    reserved = {size - 24 + at for at in (4, 6, 7)}  # minor version and reserved bytes of the nested header
    factor = range(81, 83)  # another factor below t is valid too
    for at in sorted(set(range(16, size)) - reserved - set(factor)):
        for flip in (0x02, 0x80):
            bad = bytearray(good)
            bad[at] ^= flip
            with pytest.raises(ringmill.RingmillError):
                ours.negate(bytes(bad))
    for bad_factor in (0, SMALL.plain, 2**64 - 1):
        bad_bytes = good[:81] + bad_factor.to_bytes(8, "little") + good[89:]
        with pytest.raises(ringmill.FileError, match="correction factor"):
            ours.negate(bad_bytes)
    for end in (0, 1, 15, 16, 40, len(good) // 2, len(good) - 1):
        with pytest.raises(ringmill.RingmillError, match="SEAL"):
            ours.negate(good[:end])
