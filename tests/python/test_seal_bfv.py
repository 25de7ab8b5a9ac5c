# SPDX-License-Identifier: Apache-2.0
"""Compares what Microsoft SEAL has for BFV and not for BGV. test_seal_exact.py compares what both have."""

from __future__ import annotations

import numpy as np
import pytest
from seal_exact import OF_BFV, OPTIONS, RNG, SMALL, Case, client, evaluator, seal
from seal_reference import CKKS, parameters, save, sealapi

import ringmill
from ringmill.seal import SealBfvEvaluator


@pytest.mark.parametrize("case", OF_BFV.cases, ids=str)
def test_products_of_any_residues_are_seals(case: Case) -> None:
    """The polynomials are not encryptions: 0, Q - 1, about Q / 2 and about multiples of Q / q_i and of Q / m-tilde."""
    side, ours = seal(OF_BFV, case), evaluator(OF_BFV, case)
    bare = SealBfvEvaluator(side.parms, compression="none", **OPTIONS)
    for drop in side.drops():
        good, primes = bare.negate(save(side.random(drop))), side.primes(drop)
        q = int(np.prod([1], dtype=object) * np.prod(np.array(primes, dtype=object)))
        around = [
            0,
            q // 2,
            q // 4,
            q >> 33,
            q - (q >> 33),
            q // 2 + (q >> 33),
            *(k * (q // p) for p in primes for k in (1, 2)),
        ]
        integers = [(x + k) % q for x in around for k in (-2, -1, 0, 1, 2)]
        integers += [int.from_bytes(RNG.bytes(8 * len(primes) + 8), "little") % q for _ in range(40)]
        chosen = [[integers[i] for i in RNG.integers(0, len(integers), case.degree)] for _ in range(4)]

        def written(polys: list[list[int]], good: bytes = good, primes: list[int] = primes) -> bytes:
            words = [x % p for poly in polys for p in primes for x in poly]
            data = np.array(words, dtype="<u8").tobytes()
            assert len(good) == 105 + len(data)
            return good[:105] + data

        a, b = written(chosen[:2]), written(chosen[2:])
        x, y = (side.load(sealapi.Ciphertext, data) for data in (a, b))
        side.same(ours.multiply(a, b), side.call("multiply", x, y))
        side.same(ours.square(a), side.call("square", x))
        if drop < side.levels:
            side.same(ours.mod_switch(a), side.call("mod_switch_to_next", x))


def test_altered_fields_are_refused_and_never_crash() -> None:
    side = seal(OF_BFV, SMALL)
    ours = SealBfvEvaluator(side.parms, compression="none", **OPTIONS)
    holder = client(OF_BFV, SMALL, compression="none")
    cipher, plain = ours.negate(save(side.random())), holder.encode([1, 2, 3])
    with pytest.raises(ringmill.RingmillError, match="not below its modulus"):
        ours.negate(cipher[:105] + b"\xff" * 8 + cipher[113:])
    with pytest.raises(ringmill.RingmillError, match="not below its modulus"):
        holder.decode(plain[:88] + b"\xff" * 8 + plain[96:])
    for good, reader, size in ((cipher, ours.negate, 105), (plain, holder.decode, 88)):
        reserved = {size - 24 + at for at in (4, 6, 7)}  # minor version and reserved bytes of the nested header
        for at in sorted(set(range(16, size)) - reserved):
            for flip in (0x02, 0x80):
                bad = bytearray(good)
                bad[at] ^= flip
                with pytest.raises(ringmill.RingmillError, match="SEAL"):
                    reader(bytes(bad))


def test_parameters_of_ckks_are_refused() -> None:
    with pytest.raises(ringmill.RingmillError, match="BFV"):
        SealBfvEvaluator(save(parameters(CKKS, 1024, [30, 30])), **OPTIONS)
