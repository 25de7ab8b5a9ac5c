# SPDX-License-Identifier: Apache-2.0
"""SEAL's own keys and ciphertexts on the ring machine's RTL: SEAL's result bit for bit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from seal_exact import galois_element, save

from ringmill.seal import SealEvaluator

sealapi = pytest.importorskip("tenseal.sealapi", reason="Microsoft SEAL's binding (pip install tenseal)")

DESCRIPTION = Path(__file__).resolve().parents[2] / "crates/machines/src/ring/stored.toml"
DEGREE = 64
# 1 modulo 2^17 and next to a power of two, as the machine's reducers have it; the last one is special.
PRIMES = (
    2**59 + 2**25 + 2**22 - 2**20 + 1,
    2**54 - 2**22 + 2**19 + 2**17 + 1,
    2**53 + 2**20 - 2**17 + 1,
)
RNG = np.random.default_rng(5)


def toy() -> str:
    """`ring-stored` with three units of four butterflies."""
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
    parms = sealapi.EncryptionParameters(sealapi.SCHEME_TYPE.CKKS)
    parms.set_poly_modulus_degree(DEGREE)
    parms.set_coeff_modulus([sealapi.Modulus(prime) for prime in PRIMES])
    context = sealapi.SEALContext(parms, True, sealapi.SEC_LEVEL_TYPE.NONE)
    assert context.parameters_set()
    generator = sealapi.KeyGenerator(context)
    public, relin, galois = sealapi.PublicKey(), sealapi.RelinKeys(), sealapi.GaloisKeys()
    generator.create_public_key(public)
    generator.create_relin_keys(relin)
    generator.create_galois_keys([galois_element(DEGREE, 3), 2 * DEGREE - 1], galois)
    encoder, evaluator = sealapi.CKKSEncoder(context), sealapi.Evaluator(context)
    encryptor = sealapi.Encryptor(context, public)

    def encrypt() -> Any:
        plain, cipher = sealapi.Plaintext(), sealapi.Ciphertext(context)
        encoder.encode(RNG.uniform(-1, 1, DEGREE // 2).tolist(), 2.0**30, plain)
        encryptor.encrypt(plain, cipher)
        return cipher

    def call(name: str, *operands: Any) -> Any:
        result = sealapi.Ciphertext()
        getattr(evaluator, name)(*operands, result)
        return result

    ours = SealEvaluator(
        save(parms),
        security_table="standard_2018",
        allow_insecure_parameters_for_tests_only=True,
        device=device,
    )
    ours.load_relin_keys(save(relin))
    ours.load_galois_keys(save(galois))
    a, b = encrypt(), encrypt()
    product = call("multiply", a, b)
    small = call("relinearize", product, relin)
    for mine, theirs in [
        (ours.add(save(a), save(b)), call("add", a, b)),
        (ours.multiply(save(a), save(b)), product),
        (ours.relinearize(save(product)), small),
        (ours.rescale(save(small)), call("rescale_to_next", small)),
        (ours.rotate(save(a), 3), call("rotate_vector", a, 3, galois)),
        (ours.conjugate(save(b)), call("complex_conjugate", b, galois)),
    ]:
        loaded = sealapi.Ciphertext()
        path = tmp_path / "mine"
        path.write_bytes(mine)
        loaded.load(context, str(path))
        assert save(loaded) == save(theirs)
