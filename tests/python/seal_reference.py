# SPDX-License-Identifier: Apache-2.0
"""Wraps Microsoft SEAL as the reference, with its own parameters, keys and operations, for the tests that compare with
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

sealapi = pytest.importorskip("tenseal.sealapi", reason="Microsoft SEAL's binding (pip install tenseal)")

CKKS, BFV = sealapi.SCHEME_TYPE.CKKS, sealapi.SCHEME_TYPE.BFV
BGV = sealapi.SCHEME_TYPE(3)  # the binding has no name for it
# The rotation steps that a reference has keys for.
STEPS = (1, -1, 3)
# The exceptions that the binding raises where SEAL refuses.
REFUSED = (ValueError, RuntimeError, IndexError)


def save(item: Any) -> bytes:
    """Returns the bytes of SEAL's save()."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "item"
        item.save(str(path))
        return path.read_bytes()


def read(item: Any, data: bytes, *context: Any) -> Any:
    """Loads bytes into an object of SEAL's and returns it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "item"
        path.write_bytes(data)
        item.load(*context, str(path))
    return item


def parameters(scheme: Any, degree: int, bits: Sequence[int], plain: int | None = None) -> Any:
    """Returns SEAL's parameters with primes of these sizes, which SEAL chooses."""
    parms = sealapi.EncryptionParameters(scheme)
    parms.set_poly_modulus_degree(degree)
    parms.set_coeff_modulus(sealapi.CoeffModulus.Create(degree, list(bits)))
    if plain is not None:
        parms.set_plain_modulus(plain)
    return parms


def small_parameters() -> bytes:
    """Returns ring degree 4096 and three primes as SEAL saves them, for tests that need only parameters."""
    return save(parameters(CKKS, 4096, [36, 36, 37]))


def galois_element(degree: int, steps: int) -> int:
    return pow(3, steps % (degree // 2), 2 * degree)


class Reference:
    """SEAL with parameters and keys. The keys are for relinearisation, the rotations in `STEPS`, and conjugation or a
    swap of the rows.
    """

    def __init__(self, parms: Any, security: Any = sealapi.SEC_LEVEL_TYPE.NONE) -> None:
        self.degree = parms.poly_modulus_degree()
        self.parms = save(parms)
        self.context = sealapi.SEALContext(parms, True, security)
        assert self.context.parameters_set()
        self.generator = sealapi.KeyGenerator(self.context)
        self.secret = self.generator.secret_key()
        self.public, self.relin = sealapi.PublicKey(), sealapi.RelinKeys()
        self.generator.create_public_key(self.public)
        self.generator.create_relin_keys(self.relin)
        elements = [galois_element(self.degree, steps) for steps in STEPS]
        self.galois = self.galois_keys([*elements, 2 * self.degree - 1])
        self.encryptor = sealapi.Encryptor(self.context, self.public, self.secret)
        self.evaluator = sealapi.Evaluator(self.context)
        self.decryptor = sealapi.Decryptor(self.context, self.secret)
        self.levels = 0
        data = self.context.first_context_data().next_context_data()
        while data is not None:
            self.levels += 1
            data = data.next_context_data()

    def galois_keys(self, elements: list[int]) -> Any:
        keys = sealapi.GaloisKeys()
        self.generator.create_galois_keys(elements, keys)
        return keys

    def encrypted(self, plain: Any, drops: int = 0) -> Any:
        """Returns a ciphertext that has lost `drops` primes."""
        cipher = sealapi.Ciphertext(self.context)
        self.encryptor.encrypt(plain, cipher)
        for _ in range(drops):
            self.evaluator.mod_switch_to_next_inplace(cipher)
        return cipher

    def decrypted(self, cipher: Any) -> Any:
        plain = sealapi.Plaintext()
        self.decryptor.decrypt(cipher, plain)
        return plain

    def load(self, kind: type, data: bytes) -> Any:
        return read(kind(), data, self.context)

    def call(self, name: str, *operands: Any) -> Any:
        """Runs an operation of SEAL's evaluator and returns its result in a new ciphertext."""
        result = sealapi.Ciphertext()
        getattr(self.evaluator, name)(*operands, result)
        return result

    def same(self, ours: bytes, theirs: Any) -> None:
        """Checks a result of Ringmill's. SEAL loads its bytes and must save the same bytes as of its own result."""
        assert save(self.load(sealapi.Ciphertext, ours)) == save(theirs)
