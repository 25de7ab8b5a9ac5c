# SPDX-License-Identifier: Apache-2.0
"""SEAL's schemes of exact integers, as the tests of both ask it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import ringmill

sealapi = pytest.importorskip("tenseal.sealapi", reason="Microsoft SEAL's binding (pip install tenseal)")

BFV = sealapi.SCHEME_TYPE.BFV
BGV = sealapi.SCHEME_TYPE(3)  # the binding has no name for it
STEPS = (1, -1, 3)
RNG = np.random.default_rng(11)
REFUSED = (ValueError, RuntimeError, IndexError)
OPTIONS: dict[str, Any] = {"allow_insecure_parameters_for_tests_only": True}


def save(item: Any) -> bytes:
    """The bytes of SEAL's save()."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "item"
        item.save(str(path))
        return path.read_bytes()


def galois_element(degree: int, steps: int) -> int:
    return pow(3, steps % (degree // 2), 2 * degree)


@dataclass(frozen=True)
class Case:
    """A parameter set, of no security: what is compared is bits."""

    degree: int
    bits: tuple[int, ...]
    plain: int
    products: int
    """Whether the noise of this many products, one of the other, still decrypts."""

    def __str__(self) -> str:
        return f"{self.degree}-{len(self.bits)}-{self.plain}"


# What SEAL's users take; minutes, so `make full` alone has them.
LARGE = [
    Case(8192, (43, 43, 44, 44, 44), 1032193, 1),
    Case(16384, (48,) * 8 + (49,), 786433, 2),
    Case(32768, (55,) * 14 + (56,), 786433, 3),
]
LARGE = LARGE if "RINGMILL_FUZZ_SECONDS" in os.environ else []


class Seal:
    """SEAL with parameters, keys and what else the tests need."""

    def __init__(self, case: Case, scheme: Any) -> None:
        self.case = case
        parms = sealapi.EncryptionParameters(scheme)
        parms.set_poly_modulus_degree(case.degree)
        parms.set_coeff_modulus(sealapi.CoeffModulus.Create(case.degree, list(case.bits)))
        parms.set_plain_modulus(case.plain)
        self.parms = save(parms)
        self.context = sealapi.SEALContext(parms, True, sealapi.SEC_LEVEL_TYPE.NONE)
        assert self.context.parameters_set()
        self.generator = sealapi.KeyGenerator(self.context)
        self.secret = self.generator.secret_key()
        self.public, self.relin, self.galois = sealapi.PublicKey(), sealapi.RelinKeys(), sealapi.GaloisKeys()
        self.generator.create_public_key(self.public)
        self.generator.create_relin_keys(self.relin)
        elements = [galois_element(case.degree, steps) for steps in STEPS] + [2 * case.degree - 1]
        self.generator.create_galois_keys(elements, self.galois)
        self.encryptor = sealapi.Encryptor(self.context, self.public, self.secret)
        self.evaluator = sealapi.Evaluator(self.context)
        self.decryptor = sealapi.Decryptor(self.context, self.secret)
        self.levels = 0
        data = self.context.first_context_data().next_context_data()
        while data is not None:
            self.levels += 1
            data = data.next_context_data()

    def plain(self, residues: np.ndarray) -> Any:
        """The polynomial with these coefficients."""
        terms = [f"{int(c):X}x^{i}" for i, c in enumerate(residues) if c]
        return sealapi.Plaintext(" + ".join(terms[::-1]).replace("x^0", "") or "0")

    def encrypt(self, residues: np.ndarray, drops: int = 0) -> Any:
        """A ciphertext that has lost `drops` primes."""
        cipher = sealapi.Ciphertext(self.context)
        self.encryptor.encrypt(self.plain(residues), cipher)
        for _ in range(drops):
            self.evaluator.mod_switch_to_next_inplace(cipher)
        return cipher

    def decrypt(self, cipher: Any) -> bytes:
        plain = sealapi.Plaintext()
        self.decryptor.decrypt(cipher, plain)
        return save(plain)

    def load(self, kind: type, data: bytes) -> Any:
        item = kind()
        self.read(item, data, self.context)
        return item

    def read(self, item: Any, data: bytes, *context: Any) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "item"
            path.write_bytes(data)
            item.load(*context, str(path))

    def call(self, name: str, *operands: Any) -> Any:
        """An operation of SEAL's evaluator with its result in a fresh ciphertext."""
        result = sealapi.Ciphertext()
        getattr(self.evaluator, name)(*operands, result)
        return result


def residues(case: Case) -> np.ndarray:
    return RNG.integers(0, case.plain, case.degree, dtype=np.uint64)


def same(side: Seal, ours: bytes, theirs: Any) -> None:
    """Ringmill's bytes, through SEAL, are the bytes SEAL saves of its own result."""
    assert save(side.load(sealapi.Ciphertext, ours)) == save(theirs)


def drops(side: Seal) -> range:
    return range(side.levels + 1)


def products_of_any_sizes(side: Seal, ours: Any, case: Case) -> None:
    """Random pairs of two or three polynomials: SEAL's product bit for bit, or refused where it has more than three."""
    fresh = [side.encrypt(residues(case)) for _ in range(3)]
    of_size = {2: fresh, 3: [side.call("multiply", a, b) for a, b in pairwise(fresh)]}
    for _ in range(12):
        sizes = tuple(int(size) for size in RNG.integers(2, 4, 2))
        a, b = (of_size[size][RNG.integers(len(of_size[size]))] for size in sizes)
        theirs = side.call("multiply", a, b)
        if theirs.size() <= 3:
            same(side, ours.multiply(save(a), save(b)), theirs)
            continue
        told = (
            rf"of {sizes[0]} and {sizes[1]} polynomials has {theirs.size()}, and a ciphertext has at most 3 here; relin"
        )
        with pytest.raises(ringmill.RingmillError, match=told):
            ours.multiply(save(a), save(b))
        # The cure: SEAL's product of what is relinearised.
        low_a, low_b = (side.call("relinearize", x, side.relin) if x.size() > 2 else x for x in (a, b))
        mine = [ours.relinearize(save(x)) if x.size() > 2 else save(x) for x in (a, b)]
        same(side, ours.multiply(*mine), side.call("multiply", low_a, low_b))
