# SPDX-License-Identifier: Apache-2.0
"""Products of other lattice cryptosystems on the polynomial multiplier. NewHope, Kyber's first version and qTESLA run
on one machine, whose degree and modulus change at run time.

Each product is that of the scheme's key generation: a uniform polynomial a times a secret s of the scheme's
distribution. It is checked against the schoolbook product on this computer. The program protects nothing, since it has
the products of the schemes and no other part of them.

Run with --device rtl:polymul to simulate the hardware description itself, which is compiled first.
"""

import argparse
import sys
from dataclasses import dataclass

import numpy as np

import ringmill as rm


@dataclass(frozen=True)
class Scheme:
    name: str
    n: int
    q: int
    secret: str
    """The distribution of the secret: "binomial" with eta, or "normal" with the standard deviation."""

    def sample(self, dice: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        a = dice.integers(0, self.q, self.n)
        if self.secret.startswith("binomial"):
            bits = int(self.secret.split()[1])
            s = dice.binomial(bits, 0.5, self.n) - dice.binomial(bits, 0.5, self.n)
        else:
            s = np.rint(dice.normal(0, float(self.secret.split()[1]), self.n)).astype(np.int64)
        return a, s


SCHEMES = [
    Scheme("Kyber, first version", 256, 7681, "binomial 4"),
    Scheme("NewHope512", 512, 12289, "binomial 8"),
    Scheme("NewHope1024", 1024, 12289, "binomial 8"),
    Scheme("qTESLA-I", 512, 4205569, "normal 22.93"),
    Scheme("qTESLA-III", 1024, 8404993, "normal 10.2"),
    Scheme("qTESLA-p-I", 1024, 343576577, "normal 8.5"),
]


def schoolbook(a: np.ndarray, s: np.ndarray, q: int) -> np.ndarray:
    """Computes a s mod (x^n + 1, q) by the definition. All numbers stay below 2^63, since |s| is small."""
    n = len(a)
    product = np.zeros(2 * n, np.int64)
    for i, x in enumerate(s):
        product[i : i + n] = (product[i : i + n] + a * x) % q
    return (product[:n] - product[n:]) % q


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="sim:polymul", help="sim:polymul (the default), rtl:polymul, cpu, ...")
    device = parser.parse_args().device
    dice = np.random.default_rng()
    print(f"{'':24} {'n':>5} {'q':>10}   on {device}")
    for scheme in SCHEMES:
        a, s = scheme.sample(dice)
        found = rm.negacyclic_product(a, s, scheme.q, device=device)
        if not np.array_equal(found.residues, schoolbook(a, s, scheme.q)):
            print(f"{scheme.name}: the product is not the schoolbook's", file=sys.stderr)
            return 1
        took = "" if found.seconds is None else f"{found.cycles:6,} cycles, {1e6 * found.seconds:.2f} us"
        print(f"{scheme.name:24} {scheme.n:5} {scheme.q:10}   {took}")
    print(f"all {len(SCHEMES)} products are the schoolbook's; first calls: tables and both operands are loaded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
