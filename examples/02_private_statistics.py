# SPDX-License-Identifier: Apache-2.0
"""Exact statistics of a medical table that stays encrypted.

Scikit-learn's diabetes table has ten measurements of 442 patients, and how far each one's disease had progressed a year
later. The server sees neither. It returns, for each measurement, the encrypted sum, the encrypted variance, and the
encrypted dot product with the progression. It uses BFV, which computes on whole numbers exactly.

The measurements are decimals. Each column is multiplied by the power of ten that makes all of its numbers whole, which
loses nothing. One ciphertext holds them all: measurement f of patient j lies in slot 512 f + j of 8192, with zeros
behind the 442 patients, so that nine rotations add up every column. With n patients the variance is
(n sum(x^2) - sum(x)^2) / n^2, whose numerator is whole. The key's holder divides at the end.

Run with --patients to take fewer patients. Run with --device sim:basext to have a simulated unit do the base extensions
of every product. The parameters then suit this unit, and the report tells how many extensions it did: BEXTR are those
that a redundant residue makes exact, and BEXT the others.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated

import numpy as np
from sklearn.datasets import load_diabetes

import ringmill as rm

BLOCK = 512  # slots of a column: all patients, padded to a power of two
COLUMNS = 16  # the ten measurements, padded to a power of two
KINDS = ("sum", "spread", "dot")


@dataclass(frozen=True)
class Table:
    """A table of whole numbers, and the power of ten by which each column was multiplied."""

    names: list[str]
    columns: list[list[int]]
    scales: list[int]
    progression: list[int]

    @property
    def patients(self) -> int:
        return len(self.progression)

    def packed(self, block: int) -> np.ndarray:
        """Returns a vector with measurement f of patient j in slot `block` f + j."""
        slots = np.zeros((COLUMNS, block), dtype=np.int64)
        slots[: len(self.columns), : self.patients] = self.columns
        return slots.ravel()

    def packed_progression(self, block: int) -> np.ndarray:
        """Returns a vector with the progression in the slots of each measurement."""
        slots = np.zeros((COLUMNS, block), dtype=np.int64)
        slots[:, : self.patients] = self.progression
        return slots.ravel()

    def in_the_clear(self, f: int) -> tuple[int, int, int]:
        """Returns the sum, the variance's numerator and the dot product of measurement f, computed in the clear."""
        column = self.columns[f]
        return (
            sum(column),
            self.patients * sum(value * value for value in column) - sum(column) ** 2,
            sum(value * other for value, other in zip(column, self.progression, strict=True)),
        )


@dataclass(frozen=True)
class Computed:
    """The decrypted results of each measurement as in :meth:`Table.in_the_clear`, the noise budgets and the report."""

    found: Sequence[tuple[int, ...]]
    budget: Mapping[str, int]
    report: rm.Report


def scaled(column: np.ndarray) -> tuple[list[int], int]:
    """Returns a column of decimals times the least power of ten that makes them whole, and that power."""
    decimals = [Decimal(repr(float(value))).normalize() for value in column]
    scale = 10 ** max(0, *(-int(value.as_tuple().exponent) for value in decimals))
    return [int(value * scale) for value in decimals], scale


def read(patients: int) -> Table:
    data = load_diabetes(scaled=False)
    columns, scales = zip(*(scaled(column) for column in data.data[:patients].T), strict=True)
    progression, one = scaled(data.target[:patients])
    assert one == 1
    return Table(list(data.feature_names), list(columns), list(scales), progression)


def program(patients: int, block: int) -> rm.Program:
    slots = block * COLUMNS

    @rm.program
    def statistics(
        x: Annotated[rm.Encrypted, rm.Encrypted[rm.uint(16)[slots]]],
        progression: Annotated[rm.Encrypted, rm.Encrypted[rm.uint(16)[slots]]],
    ) -> dict[str, rm.Encrypted]:
        total = rm.sum(x, block)
        return {
            "sum": total,
            "spread": rm.sum(x * x, block) * patients - total * total,
            "dot": rm.sum(x * progression, block),
        }

    return statistics


def compute(compiled: rm.Compiled, table: Table, block: int, device: str) -> Computed:
    """Makes keys, encrypts, runs and decrypts. Returns the results of all measurements in their order."""
    client = compiled.keygen()
    inputs = client.encrypt(x=table.packed(block), progression=table.packed_progression(block))
    run = compiled.run(inputs, device=device)
    found = client.decrypt(run)
    each = [tuple(int(found[kind][f * block]) for kind in KINDS) for f in range(len(table.columns))]
    return Computed(each, client.noise_budget(run), run.report)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patients", type=int, default=442, help="how many of the 442 patients to take")
    parser.add_argument("--device", default="cpu", help="what runs the program: cpu, sim:basext, ...")
    options = parser.parse_args()
    if not 2 <= options.patients <= 442:
        parser.error("--patients is from 2 to 442")

    table = read(options.patients)
    n = table.patients
    largest = max(map(max, table.columns))
    print(f"{n} patients, {len(table.columns)} measurements; as whole numbers the largest is {largest}")

    begin = time.perf_counter()
    # For a machine, the parameters are such that it takes all base extensions.
    target = None if options.device.startswith("cpu") else options.device
    compiled = program(n, BLOCK).compile(slots=BLOCK * COLUMNS, target=target)
    print(f"compiled for {compiled.scheme} ({compiled.scheme_reason}) modulo {compiled.params.plain_modulus}")
    computed = compute(compiled, table, BLOCK, options.device)
    seconds = time.perf_counter() - begin

    print(f"\n{'':12} {'mean':>14} {'variance':>14} {'dot with progression':>22}   scaled by")
    wrong = []
    for f, (name, scale, found) in enumerate(zip(table.names, table.scales, computed.found, strict=True)):
        if found != table.in_the_clear(f):
            wrong.append(name)
        total, spread, dot = found
        mean, variance = Fraction(total, n * scale), Fraction(spread, (n * scale) ** 2)
        product = Fraction(dot, scale)
        print(f"{name:12} {float(mean):14.6f} {float(variance):14.6f} {float(product):22.4f}   {scale}")

    print(f"\ncompilation, keys, encryption, the run and decryption took {seconds:.1f} s")
    predicted = compiled.predicted_budget or {}
    for kind, bits in computed.budget.items():
        print(f"noise budget of {kind:7} {bits} bits measured, at least {predicted[kind]:.1f} predicted")
    print(f"\n{computed.report if options.device == 'cpu' else computed.report.detail}")
    if wrong:
        print(f"FAILED: {', '.join(wrong)} differ from the computation in the clear", file=sys.stderr)
        return 1
    print(f"\nall {3 * len(table.columns)} results equal those computed in the clear, to the last digit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
