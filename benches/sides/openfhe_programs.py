# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of `make bench` with OpenFHE. Each is written by hand for OpenFHE's Python wheel.

All have hybrid key switching, FLEXIBLEAUTO, HEStd_128_classic and the ring degree that OpenFHE chooses for it. Numbers
of digits are tried in turn, and the fastest is kept. `Plan` has the choices that were made by hand. Constant vectors
are encoded before a run. Single numbers are encoded by OpenFHE while it multiplies.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openfhe as fhe
from harness.tasks import INFERENCE_BOUND, TOLERANCE, Task
from serve import Group, serve


@dataclass
class Machine:
    """A context with its keys, and the operations that programs take from it."""

    context: Any
    keys: Any
    slots: int

    def plain(self, values: Sequence[float], level: int) -> Any:
        """Returns values encoded for ciphertexts of a level. Levels count from the top: a fresh ciphertext is
        at 0.
        """
        return self.context.MakeCKKSPackedPlaintext(list(map(float, values)), 1, level, None, self.slots)

    def multiply(self, a: Any, b: Any) -> Any:
        return self.context.EvalMult(a, b)

    def square(self, a: Any) -> Any:
        return self.context.EvalSquare(a)

    def add(self, a: Any, b: Any) -> Any:
        return self.context.EvalAdd(a, b)

    def subtract(self, a: Any, b: Any) -> Any:
        return self.context.EvalSub(a, b)

    def rotate(self, a: Any, steps: int) -> Any:
        return self.context.EvalRotate(a, steps)

    def rotations(self, a: Any, steps: Sequence[int]) -> list[Any]:
        """Returns rotations of one ciphertext, which share its decomposition."""
        digits = self.context.EvalFastRotationPrecompute(a)
        return [self.context.EvalFastRotation(a, step, digits) if step else a for step in steps]

    def sum(self, a: Any, steps: Sequence[int]) -> Any:
        for step in steps:
            a = self.add(a, self.rotate(a, step))
        return a


Inputs = dict[str, Any]
Run = Callable[[], list[Any]]


@dataclass(frozen=True)
class Plan:
    """A program: its depth, the bits of its first prime and of its scale, the steps it rotates by, and what makes it
    ready.

    The scale is the smallest that keeps six digits, and the first prime leaves room for the outputs above it. Both
    were found by trial in steps of a bit.
    """

    depth: int
    first: int
    scale: int
    steps: Callable[[Task], Sequence[int]]
    ready: Callable[[Machine, Task, Inputs], Run]
    note: str = ""  # what the library's Python wheel cannot do


# Products in the extended basis would share the giant steps' divisions by P.
ONE_HOIST = "its wheel encodes no plaintext in the extended basis, so products are hoisted once, not twice"


def powers(count: int, stride: int = 1) -> list[int]:
    """Returns the rotation steps that add up `count` values at a stride by doubling. `count` is a power of two."""
    return [stride << bit for bit in range((count - 1).bit_length())]


def no_steps(_task: Task) -> list[int]:
    return []


def number(task: Task, name: str) -> int:
    return int(task.constants[name])


def dot(m: Machine, task: Task, x: Inputs) -> Run:
    steps = powers(task.slots)
    return lambda: [m.sum(m.multiply(x["x"], x["y"]), steps)]


def variance(m: Machine, task: Task, x: Inputs) -> Run:
    steps, share = powers(task.slots), 1 / number(task, "size")

    def run() -> list[Any]:
        squares = m.multiply(m.sum(m.square(x["x"]), steps), share)
        return [m.subtract(squares, m.square(m.multiply(m.sum(x["x"], steps), share)))]

    return run


def product_steps(rows: int, baby: int, stride: int) -> list[int]:
    return [step * stride for step in (*range(1, baby), *range(baby, rows, baby))]


def product(m: Machine, x: Any, lines: Sequence[Any], baby: int, stride: int = 1) -> Any:
    """Returns a plain matrix times an encrypted vector, by hoisted baby steps and giant steps. `lines` are the encoded
    diagonals of `harness.tasks.diagonals`. If the matrix has more columns than rows, the caller adds the partial sums.
    """
    turned = m.rotations(x, [step * stride for step in range(baby)])
    total = None
    for giant in range(0, len(lines), baby):
        part = m.multiply(turned[0], lines[giant])
        for a, line in zip(turned[1:], lines[giant + 1 : giant + baby]):  # noqa: B905 - as many as there are
            m.context.EvalAddInPlace(part, m.multiply(a, line))
        if giant:
            part = m.rotate(part, giant * stride)
        total = part if total is None else m.add(total, part)
    return total


def matrix_vector(m: Machine, task: Task, x: Inputs) -> Run:
    lines = [m.plain(line, 0) for line in task.constants["diagonals"]]
    return lambda: [product(m, x["x"], lines, number(task, "baby"))]


def box_blur(m: Machine, task: Task, x: Inputs) -> Run:
    side = number(task, "side")

    def run() -> list[Any]:
        up, down = m.rotations(x["x"], [side, -side])
        rows = m.add(m.add(up, x["x"]), down)
        left, right = m.rotations(rows, [1, -1])
        return [m.multiply(m.add(m.add(left, rows), right), 1 / 9)]

    return run


def roberts_cross(m: Machine, task: Task, x: Inputs) -> Run:
    side = number(task, "side")

    def run() -> list[Any]:
        corner, below, right = m.rotations(x["x"], [side + 1, side, 1])
        return [m.add(m.square(m.subtract(x["x"], corner)), m.square(m.subtract(below, right)))]

    return run


def polynomial(m: Machine, task: Task, x: Inputs) -> Run:
    coefficients = task.constants["coefficients"].tolist()
    return lambda: [m.context.EvalPolyPS(x["x"], coefficients)]


def odd(m: Machine, z: Any, coefficients: Sequence[float]) -> Any:
    """Returns c0 + c1 z + c3 z^3, or the same up to degree 7, at depth 2 or 3. Constants are multiplied with z and not
    with its powers.
    """
    square = m.square(z)
    low = m.add(m.multiply(m.multiply(z, coefficients[3]), square), m.multiply(z, coefficients[1]))
    if len(coefficients) > 4:
        high = m.add(m.multiply(m.multiply(z, coefficients[7]), square), m.multiply(z, coefficients[5]))
        low = m.add(low, m.multiply(high, m.square(square)))
    return m.add(low, coefficients[0])


def inference_steps(task: Task) -> list[int]:
    batch = number(task, "batch")
    return powers(task.slots // batch, batch)


def inference(m: Machine, task: Task, x: Inputs) -> Run:
    """Returns the run of the inference. The weights are divided by the bound of the logits, so powers of a logit are at
    most 1.
    """
    weights, steps = m.plain(task.constants["weights"] / INFERENCE_BOUND, 0), inference_steps(task)
    fit = [c * INFERENCE_BOUND**power for power, c in enumerate(task.constants["sigmoid"].tolist())]
    return lambda: [odd(m, m.sum(m.multiply(x["x"], weights), steps), fit)]


def training_steps(task: Task) -> list[int]:
    samples = number(task, "samples")
    return [*powers(task.slots), *(-step for step in powers(samples))]


def training(m: Machine, task: Task, x: Inputs) -> Run:
    samples, fit = number(task, "samples"), task.constants["sigmoid"].tolist()
    features = powers(task.slots // samples, samples)
    # The mask meets each iteration's fifth product, four levels below the weights.
    masks = [m.plain(task.constants["mask"], 5 * turn + 4) for turn in range(number(task, "iterations"))]

    def run() -> list[Any]:
        w = x["w"]
        for mask in masks:
            logits = m.sum(m.multiply(x["x"], w), features)
            residuals = m.multiply(m.subtract(x["y"], odd(m, logits, fit)), x["x"])
            means = m.multiply(m.sum(residuals, powers(samples)), mask)
            w = m.add(w, m.sum(means, [-step for step in powers(samples)]))
        return [w]

    return run


def network_steps(task: Task) -> list[int]:
    batch, (inputs, hidden, outputs) = number(task, "batch"), task.constants["shape"].tolist()
    first, second = task.constants["baby"].tolist()
    steps = [*product_steps(hidden, first, batch), *powers(inputs // hidden, hidden * batch)]
    return [*steps, *product_steps(outputs, second, batch), *powers(hidden // outputs, outputs * batch)]


def network(m: Machine, task: Task, x: Inputs) -> Run:
    batch, (inputs, hidden, outputs) = number(task, "batch"), task.constants["shape"].tolist()
    baby = task.constants["baby"].tolist()
    first = [m.plain(line, 0) for line in task.constants["first"]]
    bias = m.plain(task.constants["bias"], 1)
    second = [m.plain(line, 2) for line in task.constants["second"]]

    def run() -> list[Any]:
        h = m.sum(product(m, x["x"], first, baby[0], batch), powers(inputs // hidden, hidden * batch))
        h = m.square(m.add(h, bias))
        return [m.sum(product(m, h, second, baby[1], batch), powers(hidden // outputs, outputs * batch))]

    return run


def iteration(m: Machine, task: Task, x: Inputs) -> Run:
    """Returns the run of the iteration. With u = y / 2 a turn is u^2 + x / 20, so x / 20 is computed once, outside the
    loop.
    """
    depth = number(task, "depth")

    def run() -> list[Any]:
        u, part = m.multiply(x["x"], 0.5), m.multiply(x["x"], 0.05)
        for _ in range(depth):
            u = m.add(m.square(u), part)
        return [m.add(u, u)]

    return run


def k_means_steps(task: Task) -> list[int]:
    return powers(number(task, "features"), number(task, "points"))


def k_means(m: Machine, task: Task, x: Inputs) -> Run:
    centres, steps = [m.plain(line, 0) for line in task.constants["centres"]], k_means_steps(task)
    return lambda: [m.sum(m.square(m.subtract(x["x"], centre)), steps) for centre in centres]


def moving_average(m: Machine, task: Task, x: Inputs) -> Run:
    taps = number(task, "taps")
    return lambda: [m.multiply(m.sum(x["x"], powers(taps)), 1 / taps)]


def matrix_steps(task: Task) -> list[int]:
    return product_steps(task.slots, number(task, "baby"), 1)


def blur_steps(task: Task) -> list[int]:
    side = number(task, "side")
    return [side, -side, 1, -1]


def roberts_steps(task: Task) -> list[int]:
    side = number(task, "side")
    return [side + 1, side, 1]


def all_powers(task: Task) -> list[int]:
    return powers(task.slots)


PLANS: dict[str, Plan] = {
    "dot": Plan(1, 46, 32, all_powers, dot),
    "variance": Plan(2, 41, 34, all_powers, variance),
    "matrix_vector": Plan(1, 44, 36, matrix_steps, matrix_vector, ONE_HOIST),
    "box_blur": Plan(1, 45, 39, blur_steps, box_blur),
    "roberts_cross": Plan(1, 45, 39, roberts_steps, roberts_cross),
    "polynomial": Plan(6, 51, 43, no_steps, polynomial),
    "inference": Plan(4, 45, 37, inference_steps, inference),
    "training": Plan(10, 51, 43, training_steps, training),
    "network": Plan(3, 47, 39, network_steps, network, ONE_HOIST),
    "iteration_10": Plan(11, 46, 40, no_steps, iteration),
    "iteration_20": Plan(21, 46, 40, no_steps, iteration),
    "k_means": Plan(1, 46, 38, k_means_steps, k_means),
    "moving_average": Plan(1, 42, 36, lambda task: powers(number(task, "taps")), moving_average),
}


# Programs of fewer levels than this are tried with one digit, too. In deeper ones one digit would take special primes
# as long as all others together.
SHALLOW = 4
# A trial that takes this many seconds or more is made once.
LONG_SECONDS = 0.5


def machine(plan: Plan, digits: int, slots: int, steps: Sequence[int]) -> Machine:
    parms = fhe.CCParamsCKKSRNS()
    parms.SetSecurityLevel(fhe.SecurityLevel.HEStd_128_classic)
    parms.SetMultiplicativeDepth(plan.depth)
    parms.SetFirstModSize(plan.first)
    parms.SetScalingModSize(plan.scale)
    parms.SetScalingTechnique(fhe.ScalingTechnique.FLEXIBLEAUTO)
    parms.SetKeySwitchTechnique(fhe.KeySwitchTechnique.HYBRID)
    parms.SetNumLargeDigits(digits)
    parms.SetBatchSize(slots)
    context = fhe.GenCryptoContext(parms)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE", "ADVANCEDSHE"):
        context.Enable(getattr(fhe.PKESchemeFeature, feature))
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    if steps:
        context.EvalRotateKeyGen(keys.secretKey, list(steps))
    return Machine(context, keys, slots)


def stored_keys(m: Machine, rotates: bool) -> int:
    """Returns the bytes of the keys for products and rotations, as OpenFHE serialises them."""
    with tempfile.TemporaryDirectory() as folder:
        tag = m.keys.secretKey.GetKeyTag()
        for name in ("EvalMultKey", *(["EvalAutomorphismKey"] if rotates else [])):
            getattr(m.context, f"Serialize{name}")(str(Path(folder) / name), fhe.BINARY, tag)
        return sum(path.stat().st_size for path in Path(folder).iterdir())


def opened(m: Machine, results: Sequence[Any]) -> list[np.ndarray]:
    values = []
    for result in results:
        plain = m.context.Decrypt(result, m.keys.secretKey)
        plain.SetLength(m.slots)
        values.append(np.array(plain.GetRealPackedValue()))
    return values


def forget_keys() -> None:
    """Frees the keys of all contexts, which OpenFHE holds in tables of its own."""
    fhe.ClearEvalMultKeys()
    fhe.CryptoContext.ClearEvalAutomorphismKeys()


def ready(plan: Plan, digits: int, task: Task) -> tuple[Machine, Run] | None:
    """Returns a context with keys, and the program's run on encrypted inputs. Returns None if OpenFHE cannot split the
    primes into this number of digits.
    """
    forget_keys()
    try:
        m = machine(plan, digits, task.slots, sorted(set(plan.steps(task))))
    except RuntimeError as error:
        if "distribute" in str(error):
            return None
        raise
    ciphertexts = {
        name: m.context.Encrypt(m.keys.publicKey, m.plain(values, 0)) for name, values in task.encrypted.items()
    }
    return m, plan.ready(m, task, ciphertexts)


def processor_seconds(run: Run) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def fastest_digits(plan: Plan, task: Task) -> dict[int, float]:
    """Returns the seconds of a run by the number of digits, in the order of the trials. Numbers go up until two in a
    row gain nothing.
    """
    seconds: dict[int, float] = {}
    slower = 0
    for digits in range(1 if plan.depth < SHALLOW else 2, plan.depth + 2):
        found = ready(plan, digits, task)
        if found is None:
            continue
        once = processor_seconds(found[1])
        again = 0 if once >= LONG_SECONDS else 3
        least = min([once, *(processor_seconds(found[1]) for _ in range(again))])
        slower = 0 if least < min(seconds.values(), default=math.inf) else slower + 1
        seconds[digits] = least
        if slower == 2:
            break
    return seconds


def make(request: dict[str, Any]) -> Group:
    """Makes the row `run` of a program, with the fastest number of digits."""
    task = Task.load(request["file"])
    plan = PLANS[task.name]
    seconds = fastest_digits(plan, task)
    digits = min(seconds, key=lambda tried: seconds[tried])
    found = ready(plan, digits, task)
    assert found is not None
    m, run = found
    error = task.error(opened(m, run()))
    log_n, count = m.context.GetRingDimension().bit_length() - 1, 1 + len(set(plan.steps(task)))
    stored = stored_keys(m, count > 1)
    group = Group()
    group.runs["run"] = run
    group.equal["run"] = error <= TOLERANCE
    group.facts = {
        "log_n": log_n,
        "primes": [plan.first, *[plan.scale] * plan.depth],
        # The limbs of a key beyond those of the ciphertext primes, since OpenFHE's interface does not tell the special
        # primes.
        "special": (stored >> log_n + 4) // (digits * count) - plan.depth - 1,
        "digits": digits,
        "keys": count,
        "key_bytes_stored": stored,
        "measured_digits": round(-math.log10(error), 2),
        "note": plan.note,
        "tried_seconds": {str(tried): round(least, 4) for tried, least in seconds.items()},
    }
    return group


if __name__ == "__main__":
    serve(make)
