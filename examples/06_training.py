# SPDX-License-Identifier: Apache-2.0
"""Training on data that stays encrypted, without a depth limit: logistic regression under BGV with bootstrapping.

The BASALISC paper (section 8.3.2) trains on 1,024 samples of 10 features, in fixed-point numbers modulo
127^3, with a piecewise linear sigmoid. So does this program, on scikit-learn's table of handwritten digits: the first
1,024 of its 1,797 rows, their 10 pixels of the largest variance, and whether the digit is even as the label. The
paper's own table is not published with it.

One ciphertext has a feature of 64 samples, one in each slot. So there are 160 ciphertexts of features and 16 of labels.
A single one has all the weights. In every iteration

* the weights are taken apart by masks and rotations, u = x w is summed up over the features, and z = u / 127 is
  rounded;
* the sigmoid of z is looked up in a table of 127 values, which is piecewise linear between its breakpoints at 0, 1, 2,
  3, 5 and 8 (z = 63 is 8). Two polynomials of degrees 253 and 380 serve the digit that rounding removes and the table;
* the residuals times x are summed up over all samples, packed again, and rounded twice by 127 on their way into the
  weights.

The compiler decides where to bootstrap. The decrypted weights exactly equal those of the same algorithm in the clear.

Run with --toy for a small and insecure size that takes seconds, and with --count to compile and count only. With
--checkpoint FOLDER the run is saved regularly and on Ctrl-C, and the same command goes on from there in another
process. Client and server are one program, so the folder has the secret key, which only its owner can read. A complete
run removes the folder. With --device sim:vector the program is compiled for that machine, and its report is printed.
`ringmill reproduce vector` times an iteration of the whole size without data.
"""

import argparse
import inspect
import resource
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from sklearn.datasets import load_digits

import ringmill as rm

PAPER = {"macro": 908_660, "mid": 850_564_991, "bootstraps": 513}
# The points where the sigmoid's pieces meet, and its values there. For negative points it is 1 minus these values.
BREAKPOINTS = ((0, 1, 2, 3, 5, 8), (0.5, 0.731, 0.881, 0.953, 0.993, 1.0))


@dataclass(frozen=True)
class Size:
    """Sizes and scales. A whole number stands for itself divided by the scale."""

    samples: int
    features: int
    largest_x: int
    scale_x: int
    scale_s: int  # of the sigmoid, the labels and the residuals
    largest_w: int
    step: int  # the weights change by the gradient times step / p^2


# On the example's data the weights stay within `largest_w` for any number of iterations.
WHOLE = Size(1024, 10, 15, 6, 64, 300, 7)
TOY = Size(8, 3, 5, 2, 16, 10, 3)


@dataclass(frozen=True)
class Data:
    x: np.ndarray  # samples x features
    y: np.ndarray
    w: np.ndarray  # the first weights


def table(size: Size) -> Data:
    """Returns the digits' pixels as fixed-point numbers, the labels, and the first weights."""
    digits = load_digits()
    pixels = digits.data[: size.samples]
    chosen = np.sort(np.argsort(-pixels.var(axis=0), kind="stable")[: size.features])
    pixels = pixels[:, chosen]
    normal = (pixels - pixels.mean(axis=0)) / np.maximum(pixels.std(axis=0), 1e-9)
    x = np.clip(np.rint(size.scale_x * normal), -size.largest_x, size.largest_x).astype(np.int64)
    y = (digits.target[: size.samples] % 2 == 0).astype(np.int64)
    w = np.random.default_rng(1).integers(-3, 4, size.features)
    return Data(x, y, w)


def sigmoid_values(prime: int, size: Size) -> list[int]:
    """Returns the sigmoid times its scale for each z from -(p - 1) / 2 to (p - 1) / 2."""
    half = prime // 2
    ends, values = BREAKPOINTS
    at = np.abs(np.arange(-half, half + 1)) * (ends[-1] / half)
    above = np.rint(size.scale_s * np.interp(at, ends, values)).astype(np.int64)
    below = size.scale_s - above
    return [int(a if z >= 0 else b) for z, a, b in zip(range(-half, half + 1), above, below, strict=True)]


def in_the_clear(data: Data, iterations: int, prime: int, exponent: int, size: Size) -> np.ndarray:
    """Runs the same algorithm on numpy's whole numbers. Exits if a number leaves the range of the residues."""
    values, half = sigmoid_values(prime, size), prime // 2

    def within(done: int, what: str, found: np.ndarray, most: int) -> None:
        largest = np.abs(found).max()
        if largest > most:
            raise SystemExit(
                f"after {done} of {iterations} iterations {what} reach {largest}, and the program has room for {most}: "
                "ask for fewer --iterations"
            )

    def split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        digit = (x + half) % prime - half
        return digit, (x - digit) // prime

    w = data.w.copy()
    for done in range(iterations):
        within(done, "the weights", w, size.largest_w)
        u = data.x @ w
        _, z = split(u)
        within(done, "the sigmoid's arguments", z, half)
        residuals = size.scale_s * data.y - np.array([values[k + half] for k in z])
        g = residuals @ data.x
        within(done, "the gradients", g, prime**exponent // 2)
        _, rest = split(g)
        second, third = split(rest)
        w = w + size.step * third + split(size.step * second)[1]
    return w


def sigmoid(setup: rm.Bootstrapping, size: Size) -> Callable[[rm.Encrypted], rm.Encrypted]:
    """Returns a procedure that computes the sigmoid of sums of products."""
    values, half = sigmoid_values(setup.prime, size), setup.half

    @rm.procedure
    def looked_up(u: rm.Encrypted) -> rm.Encrypted:
        sums = setup.fixed(u, 1, setup.prime * half + half)
        return sums.rounded_table(lambda z: values[z + half], size.scale_s).vector

    return looked_up


def trainer(setup: rm.Bootstrapping, size: Size, iterations: int) -> rm.Program:
    """Returns the program, which computes new weights from weights and samples."""
    slots = setup.slots
    blocks, features = range(size.samples // slots), range(size.features)
    kind = Annotated[rm.Encrypted, rm.Encrypted[rm.integer[slots]]]
    names = ["w", *(f"y{b}" for b in blocks), *(f"x{b}_{j}" for b in blocks for j in features)]
    s = sigmoid(setup, size)
    masks = [np.eye(slots, dtype=np.int64)[j] for j in features]

    def update(g: rm.Fixed) -> rm.Fixed:
        """Returns step g / p^2, rounded in two steps."""
        rest = setup.shifted(g.vector, setup.low_digit(g.vector))
        second = setup.low_digit(rest)
        digits = range(-setup.half, setup.half + 1)
        rounded = [(2 * size.step * d + setup.prime) // (2 * setup.prime) for d in digits]
        low = setup.digit_table(rest, rounded)
        third = setup.low_digit(setup.shifted(rest, second))
        return setup.fixed(third * size.step + low, 1, size.step * (setup.half + 1))

    def train(**inputs: Any) -> rm.Encrypted:
        labels = [setup.fixed(inputs[f"y{b}"], size.scale_s, size.scale_s) for b in blocks]
        samples = [[setup.fixed(inputs[f"x{b}_{j}"], size.scale_x, size.largest_x) for j in features] for b in blocks]

        def iteration(packed: rm.Encrypted) -> rm.Encrypted:
            w = [setup.fixed(rm.sum(packed * mask, slots), 1, size.largest_w) for mask in masks]
            gradient: list[rm.Fixed | None] = [None for _ in features]
            for y, x in zip(labels, samples, strict=True):
                products = [a * b for a, b in zip(x, w, strict=True)]
                u = products[0].vector
                for product in products[1:]:
                    u = u + product.vector
                residual = y - setup.fixed(s(u), size.scale_s, size.scale_s)
                for j, a in enumerate(x):
                    term, known = residual * a, gradient[j]
                    gradient[j] = term if known is None else known + term
            total: rm.Encrypted | None = None
            for g, mask in zip(gradient, masks, strict=True):
                assert g is not None
                one = rm.sum(g.vector, slots) * mask
                total = one if total is None else total + one
            assert total is not None
            g = setup.fixed(total, size.scale_s * size.scale_x, size.scale_s * size.largest_x * size.samples)
            return packed + update(g).vector

        weights: rm.Encrypted = rm.repeat(iterations, iteration, inputs["w"])
        return weights

    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind) for name in names]
    train.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return rm.program(train)


def inputs_of(data: Data, slots: int, size: Size) -> dict[str, np.ndarray]:
    """Returns a vector for each input of the program, by name."""
    vectors = {"w": np.pad(data.w, (0, slots - len(data.w)))}
    for b in range(size.samples // slots):
        rows = slice(b * slots, (b + 1) * slots)
        vectors[f"y{b}"] = size.scale_s * data.y[rows]
        vectors |= {f"x{b}_{j}": data.x[rows, j] for j in range(size.features)}
    return vectors


def one_sigmoid(setup: rm.Bootstrapping, size: Size) -> rm.Program:
    s = sigmoid(setup, size)

    def evaluate(u: rm.Encrypted) -> rm.Encrypted:
        return s(u)

    kind = Annotated[rm.Encrypted, rm.Encrypted[rm.integer[setup.slots]]]
    evaluate.__annotations__["u"] = kind
    return rm.program(evaluate)


def show_counts(compiled: rm.Compiled, of: str) -> None:
    macro, mid = compiled.counts()
    executed = sum(count for op, count in macro.items() if op not in ("INPUT", "OUTPUT", "ENCODE"))
    bootstraps = macro.get("BOOTSTRAP", 0)
    print(f"{of}: {executed:,} macro instructions, {bootstraps} of them BOOTSTRAP; {sum(mid.values()):,} mid")
    print("  " + ", ".join(f"{op} {count:,}" for op, count in sorted(mid.items(), key=lambda item: -item[1])))


@dataclass(frozen=True)
class Kept:
    """The folder that another process needs to go on: keys, encrypted inputs and the checkpoint."""

    folder: Path

    @property
    def checkpoint(self) -> Path:
        return self.folder / "run.checkpoint"

    @property
    def secret(self) -> Path:
        return self.folder / "secret.key"

    @property
    def complete(self) -> Path:
        """The file with the arguments of the run. It is written last, when all keys and inputs are there."""
        return self.folder / "asked"

    def cipher(self, name: str) -> Path:
        return self.folder / f"{name}.ct"

    def holds(self, asked: str) -> bool:
        if not self.complete.exists():
            return False
        if self.complete.read_text() != asked:
            raise SystemExit(f"{self.folder} holds a run of other arguments; give it these, or this run another folder")
        return True

    def put(self, client: rm.Client, inputs: rm.Inputs, asked: str) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.checkpoint.unlink(missing_ok=True)
        client.save_secret_key(self.secret)
        client.evaluation_keys.save(self.folder / "keys")
        for name, ciphertext in inputs.ciphertexts.items():
            ciphertext.save(self.cipher(name))
        self.complete.write_text(asked)

    def get(self, compiled: rm.Compiled, names: Sequence[str]) -> rm.Inputs:
        keys = rm.EvaluationKeys.load(self.folder / "keys", compiled.params)
        return rm.Inputs({name: rm.Ciphertext.load(self.cipher(name), compiled.params) for name in names}, keys)


def run(compiled: rm.Compiled, vectors: dict[str, np.ndarray], options: argparse.Namespace) -> np.ndarray:
    """Runs the training and returns the weights. With a folder, it goes on where another process was interrupted."""
    kept = Kept(Path(options.checkpoint)) if options.checkpoint else None
    asked = f"{'toy' if options.toy else 'whole'}, {options.iterations} iterations"
    if kept and kept.holds(asked):
        goes_on = kept.checkpoint.exists()
        print("going on from the checkpoint" if goes_on else "from the beginning, with the keys that are there")
        inputs, client = kept.get(compiled, list(vectors)), None
    else:
        client, goes_on = compiled.keygen(), False
        print(f"evaluation keys of {compiled.key_bytes / 2**20:,.0f} MiB at most; encrypting {len(vectors)} vectors")
        inputs = client.encrypt(**vectors)
        if kept:
            kept.put(client, inputs, asked)
    began = time.perf_counter()
    try:
        done = compiled.run(
            inputs,
            device=options.device,
            checkpoint=kept.checkpoint if kept else None,
            every=options.every,
            resume=kept.checkpoint if kept and goes_on else None,
        )
    except rm.Interrupted:
        if kept and kept.checkpoint.exists():
            print("interrupted and saved: the same command goes on")
        raise
    print(f"ran in {time.perf_counter() - began:.1f} s on {options.device}")
    if options.device != "cpu":
        print(done.report)
    if client is None:
        assert kept is not None
        client = compiled.load_secret_key(kept.secret)
    weights = np.asarray(client.decrypt(done))
    if kept:
        shutil.rmtree(kept.folder)
    return weights


def toy(target: str | None = None) -> rm.Bootstrapping:
    """Returns a small and insecure bootstrapping, with primes that suit the machine if one is named."""
    return rm.bootstrapping(
        log_n=9,
        prime=17,
        exponents=(3, 4),
        primes=(39, 13),
        weight=8,
        target=target,
        allow_insecure_parameters_for_tests_only=True,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--toy", action="store_true", help="a small size, insecure")
    parser.add_argument("--count", action="store_true", help="compile and count, and run nothing")
    parser.add_argument("--iterations", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--checkpoint", help="a folder that the run is saved in, and goes on from")
    parser.add_argument("--every", type=float, default=600.0, help="seconds between two savings at least")
    options = parser.parse_args(arguments)
    machine = options.device.removeprefix("sim:") if options.device.startswith("sim:") else None
    setup = toy(machine) if options.toy else rm.bootstrapping("basalisc", target=machine)
    size = TOY if options.toy else WHOLE
    print(setup)
    data = table(size)
    expected = in_the_clear(data, options.iterations, setup.prime, setup.exponent, size)
    began = time.perf_counter()
    compiled = trainer(setup, size, options.iterations).compile(bootstrapping=setup, target=machine)
    print(f"compiled in {time.perf_counter() - began:.1f} s")
    show_counts(compiled, f"training, {options.iterations} of {size.samples} samples x {size.features} features")
    print(
        f"  the paper's iteration: {PAPER['macro']:,} macro, {PAPER['bootstraps']} of them bootstraps, "
        f"{PAPER['mid']:,} mid"
    )
    show_counts(one_sigmoid(setup, size).compile(bootstrapping=setup, target=machine), "one sigmoid")
    if options.count:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"most memory so far: {peak / 2**10:,.0f} MiB")
        return 0
    weights = run(compiled, inputs_of(data, setup.slots, size), options)[: size.features]
    accuracy = np.mean((data.x @ weights > 0) == data.y)
    print(f"weights {weights.tolist()}, in the clear {expected.tolist()}; {accuracy:.0%} of the samples on their side")
    if not np.array_equal(weights, expected):
        print("they differ", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
