# SPDX-License-Identifier: Apache-2.0
"""Runs SEAL's own keys and ciphertexts on the ring machine's RTL. The result is SEAL's bit for bit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from seal_reference import CKKS, Reference, save, sealapi

from ringmill.seal import SealEvaluator

DESCRIPTION = Path(__file__).resolve().parents[2] / "crates/machines/src/ring/stored.toml"
DEGREE = 64
# Primes that are 1 modulo 2^17 and next to a power of two, as the machine's reducers need. The last one is special.
PRIMES = (
    2**59 + 2**25 + 2**22 - 2**20 + 1,
    2**54 - 2**22 + 2**19 + 2**17 + 1,
    2**53 + 2**20 - 2**17 + 1,
)
RNG = np.random.default_rng(5)


def toy() -> str:
    """Returns the description of `ring-stored` with three units of four butterflies."""
    text, _, _ = DESCRIPTION.read_text().partition("# Set-1 has no prime")
    for whole, small in [
        ("log_n = 14 ", "log_n = 6 "),
        ("rpaus = 10\n", "rpaus = 3\n"),
        ("row = 32 ", "row = 4 "),
        ("butterfly = 32 ", "butterfly = 4 "),
        ("dyadic = 4 ", "dyadic = 2 "),
        ("lanes = 32 ", "lanes = 4 "),
        ("residues_per_cycle = 4 ", "residues_per_cycle = 2 "),
        ("group = 8 ", "group = 2 "),
        ("residues = 8 ", "residues = 2 "),
    ]:
        assert whole in text
        text = text.replace(whole, small)
    return text


RTL = pytest.param(
    "rtl",
    marks=pytest.mark.skipif("RINGMILL_FUZZ_SECONDS" not in os.environ, reason="a model to build; `make full` runs it"),
)


@pytest.mark.parametrize("kind", ["cpu:2", "sim", RTL])
def test_operations_are_seals(kind: str, tmp_path: Path) -> None:
    machine = tmp_path / "toy.toml"
    machine.write_text(toy())
    device = kind if kind.startswith("cpu") else f"{kind}:{machine}"
    parms = sealapi.EncryptionParameters(CKKS)
    parms.set_poly_modulus_degree(DEGREE)
    parms.set_coeff_modulus([sealapi.Modulus(prime) for prime in PRIMES])
    side = Reference(parms)
    encoder = sealapi.CKKSEncoder(side.context)

    def encrypt() -> Any:
        plain = sealapi.Plaintext()
        encoder.encode(RNG.uniform(-1, 1, DEGREE // 2).tolist(), 2.0**30, plain)
        return side.encrypted(plain)

    ours = SealEvaluator(
        side.parms,
        security_table="standard_2018",
        allow_insecure_parameters_for_tests_only=True,
        device=device,
    )
    ours.load_relin_keys(save(side.relin))
    ours.load_galois_keys(save(side.galois))
    a, b = encrypt(), encrypt()
    product = side.call("multiply", a, b)
    small = side.call("relinearize", product, side.relin)
    for mine, theirs in [
        (ours.add(save(a), save(b)), side.call("add", a, b)),
        (ours.multiply(save(a), save(b)), product),
        (ours.relinearize(save(product)), small),
        (ours.rescale(save(small)), side.call("rescale_to_next", small)),
        (ours.rotate(save(a), 3), side.call("rotate_vector", a, 3, side.galois)),
        (ours.conjugate(save(b)), side.call("complex_conjugate", b, side.galois)),
    ]:
        side.same(mine, theirs)
