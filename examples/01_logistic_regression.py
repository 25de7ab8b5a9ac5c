# SPDX-License-Identifier: Apache-2.0
"""Breast-cancer diagnosis on encrypted records, on the CPU and on the simulated ring machine, with the same bits.

A logistic regression is trained in the clear on 70 % of the Wisconsin data set; the other records are classified under
encryption. 256 records share one ciphertext: feature f of record j lies in slot 256 f + j of 8192, so that five
rotations add up the 32 (padded) features of every record and each slot ends up with a whole logit. One of the padding
features is the constant 1, whose weight is the intercept.

The sigmoid is a polynomial of degree 7, the least-squares fit on [-10, 10]. So that no logit leaves that interval, the
features are standardised and the regression is regularised. Of a fixed list of strengths, the weakest is taken for
which the logits of all 569 records lie in the interval.

Run with --encrypted-weights to hide the model from the machine as well.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import ringmill as rm

RECORDS = 256  # per ciphertext
FEATURES = 32  # 30, padded to a power of two
SLOTS = RECORDS * FEATURES
INTERVAL = 10.0
LARGEST_ERROR = 1e-5


def sigmoid(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


def fitted_sigmoid() -> NDArray[np.float64]:
    """Returns the fit's coefficients, lowest degree first. By symmetry the constant is 1/2, other even ones 0."""
    grid = np.linspace(-INTERVAL, INTERVAL, 2001)
    fit = np.polynomial.Polynomial.fit(grid, sigmoid(grid), 7).convert().coef.astype(np.float64)
    fit[0], fit[2:8:2] = 0.5, 0.0
    return fit


SIGMOID = fitted_sigmoid()


def probability(x: rm.Encrypted, w: rm.Encrypted | rm.Plain) -> rm.Encrypted:
    logits = rm.sum(x * w, FEATURES, stride=RECORDS)
    return rm.polynomial(logits, SIGMOID)


@rm.program
def classify(x: rm.Encrypted, w: rm.Plain) -> rm.Encrypted:
    return probability(x, w)


@rm.program
def classify_blind(x: rm.Encrypted, w: rm.Encrypted) -> rm.Encrypted:
    return probability(x, w)


@dataclass(frozen=True)
class Task:
    """A trained model, the records it was trained on, and the records to classify."""

    seen: NDArray[np.float64]  # standardised features, one row a record
    records: NDArray[np.float64]  # likewise, to classify
    labels: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercept: float
    widest: float  # largest |logit| of all 569 records
    strength: float

    def logits(self) -> NDArray[np.float64]:
        return self.records @ self.weights + self.intercept

    def packed_weights(self) -> NDArray[np.float64]:
        column = np.zeros(FEATURES)
        column[: self.weights.size] = self.weights
        column[-1] = self.intercept
        return np.repeat(column, RECORDS)


def batches(records: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Returns the records as packed vectors, each with up to 256 of them."""
    vectors = []
    for start in range(0, len(records), RECORDS):
        rows = records[start : start + RECORDS]
        block = np.zeros((FEATURES, RECORDS))
        block[: rows.shape[1], : len(rows)] = rows.T
        block[-1] = 1.0
        vectors.append(block.ravel())
    return vectors


def train() -> Task:
    features, labels = load_breast_cancer(return_X_y=True)
    seen, unseen, seen_labels, unseen_labels = train_test_split(
        features, labels, test_size=0.3, random_state=0, stratify=labels
    )
    scaler = StandardScaler().fit(seen)
    for strength in (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.007, 0.005, 0.002, 0.001):
        model = LogisticRegression(C=strength, max_iter=1000).fit(scaler.transform(seen), seen_labels)
        widest = float(np.abs(model.decision_function(scaler.transform(features))).max())
        if widest <= INTERVAL:
            return Task(
                scaler.transform(seen),
                scaler.transform(unseen),
                unseen_labels,
                model.coef_[0],
                float(model.intercept_[0]),
                widest,
                strength,
            )
    raise SystemExit("no regularisation keeps the logits in the interval")


def promised(bits: float) -> str:
    """Tells the precision for every record within the ranges, not only for records like those of the sample."""
    if bits > 0:
        return f"and at least {bits:.1f} for the worst records that are taken"
    # If all features are as large as the largest, the polynomial is far outside its interval, where it is steep.
    return f"and none for the worst records that are taken, whose errors may reach 2^{-bits:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encrypted-weights", action="store_true", help="encrypt the model too")
    parser.add_argument("--trace", metavar="FILE", help="write a Perfetto trace of the ring machine")
    options = parser.parse_args()

    begin = time.perf_counter()
    task = train()
    weights = task.packed_weights()
    print(f"trained on 70 % with regularisation C = {task.strength:g}: {len(task.labels)} records left to classify")
    print(f"largest |logit| of all records: {task.widest:.2f}, inside the sigmoid's interval of {INTERVAL:g}")

    program = classify_blind if options.encrypted_weights else classify
    params = rm.params(log_n=14, bits=[60, 54, 54, 54, 54, 54, 54], table="guidelines_2024")
    # Training records are the sample that sets the ranges of the inputs. The compiler does not get the others.
    compiled = program.compile(params, slots=SLOTS, sample={"x": batches(task.seen)[0], "w": weights})
    client = compiled.keygen()

    start = time.perf_counter()
    encrypted, last, precisions = [], None, []
    for batch in batches(task.records):
        if options.encrypted_weights:
            inputs, plain = client.encrypt(x=batch, w=weights), {}
        else:
            inputs, plain = client.encrypt(x=batch), {"w": weights}
        cpu, ring = compiled.run(inputs, plain=plain, device=["cpu", "sim:ring"], trace=options.trace)
        if cpu.ciphertexts != ring.ciphertexts:
            print("FAILED: the CPU and the ring machine gave different bits", file=sys.stderr)
            return 1
        encrypted.append(client.decrypt(cpu)[:RECORDS])
        last = (cpu, ring)
        precisions.append(client.measure(cpu, x=batch, w=weights)["out"])
    seconds = time.perf_counter() - start

    logits = task.logits()
    clear = np.polynomial.Polynomial(SIGMOID)(logits)
    found = np.concatenate(encrypted)[: len(task.labels)]
    error = float(np.abs(found - clear).max())
    same = int(np.count_nonzero((found > 0.5) == (sigmoid(logits) > 0.5)))
    kind = "encrypted" if options.encrypted_weights else "plaintext"
    print(f"\nclassified under encryption ({kind} weights) on cpu and sim:ring in {seconds:.1f} s")
    print("both devices gave the same bits")
    print(f"accuracy in the clear       {np.mean((sigmoid(logits) > 0.5) == task.labels):.4f}")
    print(f"accuracy under encryption   {np.mean((found > 0.5) == task.labels):.4f}")
    print(f"equal decisions             {same} of {len(found)}")
    print(f"largest error of a probability, against the same polynomial in the clear   {error:.1e}")
    distance = np.abs(clear - sigmoid(logits)).max()
    print(f"the polynomial's own largest distance from the sigmoid on these records    {distance:.1e}")
    precision = precisions[-1]
    like, measured = (compiled.predicted_bits_like_sample or {})["out"], precision.measured_bits
    print(f"right bits after the binary point: {measured:.1f} in the last batch, {like:.1f} predicted for such records")
    print(f"  {promised(precision.predicted_bits)}")
    for run in last or ():
        print(f"\n{run.report}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"\ntraining, keys, classification and checks took {time.perf_counter() - begin:.1f} s")
    print(f"peak memory of this process: {peak:.0f} MiB")
    if same != len(found) or not error <= LARGEST_ERROR:
        print(f"FAILED: every decision must be equal and the error at most {LARGEST_ERROR:g}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
