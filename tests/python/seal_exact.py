# SPDX-License-Identifier: Apache-2.0
"""Gives the tests of BFV and BGV Microsoft SEAL's schemes of exact integers beside ours."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from seal_reference import BFV, BGV, Reference, parameters, save, sealapi

from ringmill.seal import SealBfvClient, SealBfvEvaluator, SealBgvClient, SealBgvEvaluator

RNG = np.random.default_rng(11)
OPTIONS: dict[str, Any] = {"allow_insecure_parameters_for_tests_only": True}


@dataclass(frozen=True)
class Case:
    """A parameter set without security: the tests compare bits."""

    degree: int
    bits: tuple[int, ...]
    plain: int
    products: int
    """Whether the noise of this many products, one of the other, still decrypts."""

    def __str__(self) -> str:
        return f"{self.degree}-{len(self.bits)}-{self.plain}"

    @property
    def batching(self) -> bool:
        return self.plain % (2 * self.degree) == 1

    def residues(self) -> np.ndarray:
        return RNG.integers(0, self.plain, self.degree, dtype=np.uint64)


# Sizes that SEAL's users take. They need minutes, so only `make full` runs them.
LARGE = [
    Case(8192, (43, 43, 44, 44, 44), 1032193, 1),
    Case(16384, (48,) * 8 + (49,), 786433, 2),
    Case(32768, (55,) * 14 + (56,), 786433, 3),
]
CASES = [
    Case(1024, (40, 30), 65537, 0),
    Case(1024, (30, 31, 35, 36), 12289, 1),
    Case(2048, (50, 45, 60), 2**32, 0),  # BFV: SEAL's m-tilde; no slots
    Case(2048, (60, 59, 58, 60, 50, 60, 55, 60), 2, 3),
    # For BFV, the lift from base B finds counts of either sign. For BGV, the modulus is above some of the primes.
    Case(2048, (60, 60, 60, 60), (1 << 60) - (1 << 13) * 7 + 3, 0),
    Case(4096, (36, 36, 37), 1032193, 1),
    *(LARGE if "RINGMILL_FUZZ_SECONDS" in os.environ else []),
]
SMALL, BATCHING = CASES[1], [CASES[1], CASES[5]]


class Exact(Reference):
    """SEAL with a parameter set of BFV or BGV."""

    def __init__(self, case: Case, scheme: Any) -> None:
        super().__init__(parameters(scheme, case.degree, case.bits, case.plain))
        self.case = case

    def plain(self, residues: np.ndarray) -> Any:
        """Returns the plaintext polynomial with these coefficients."""
        terms = [f"{int(c):X}x^{i}" for i, c in enumerate(residues) if c]
        return sealapi.Plaintext(" + ".join(terms[::-1]).replace("x^0", "") or "0")

    def random(self, drops: int = 0) -> Any:
        """Returns a ciphertext of a random polynomial that has lost `drops` primes."""
        return self.encrypted(self.plain(self.case.residues()), drops)

    def drops(self) -> range:
        return range(self.levels + 1)

    def primes(self, drops: int) -> list[int]:
        """Returns the primes of a ciphertext that has lost `drops`."""
        primes = [int(q.value()) for q in self.context.first_context_data().parms().coeff_modulus()]
        return primes[: len(primes) - drops]


@dataclass(frozen=True)
class Scheme:
    """A scheme of exact integers: SEAL's, and our classes that read SEAL's files."""

    name: str
    theirs: Any
    evaluators: Any
    clients: Any
    cases: tuple[Case, ...]

    def __str__(self) -> str:
        return self.name


OF_BFV = Scheme("bfv", BFV, SealBfvEvaluator, SealBfvClient, (*CASES, Case(4096, (60, 60, 60), 3 * 2**20, 1)))
OF_BGV = Scheme("bgv", BGV, SealBgvEvaluator, SealBgvClient, (*CASES, Case(4096, (60, 60, 60, 60), 3**20, 1)))
SCHEMES = [OF_BFV, OF_BGV]


@cache
def seal(scheme: Scheme, case: Case) -> Exact:
    return Exact(case, scheme.theirs)


@cache
def evaluator(scheme: Scheme, case: Case) -> Any:
    """Returns our evaluator with SEAL's keys."""
    side = seal(scheme, case)
    ours = scheme.evaluators(side.parms, **OPTIONS)
    ours.load_relin_keys(save(side.relin))
    ours.load_galois_keys(save(side.galois))
    return ours


def client(scheme: Scheme, case: Case, **options: Any) -> Any:
    """Returns our client with SEAL's secret key."""
    side = seal(scheme, case)
    return scheme.clients.load(side.parms, save(side.secret), **OPTIONS, **options)
