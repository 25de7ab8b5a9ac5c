# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of `make bench` with Ringmill. Each is written as a user of the Python package writes it.

A program is compiled with its data as the sample and with `OPTIONS`; the compiler chooses all else. The constants of a
task are constants of the program, which every run after the first finds encoded. Annotations have lengths from local
variables, so they are evaluated at once.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from harness.tasks import INFERENCE_BOUND, TOLERANCE, TRAINING_BOUND, Task
from serve import Group, serve

import ringmill as rm

# With margin 1 inputs are as large as in the sample, rounded up to a power of two. The preference is the default, and
# stands here so that the record has it.
OPTIONS: dict[str, Any] = {"margin": 1, "prefer": "speed"}


def dot(task: Task) -> rm.Program:
    size = task.slots

    @rm.program
    def dot(x: rm.Encrypted[rm.real[size]], y: rm.Encrypted[rm.real[size]]):
        return rm.sum(x * y)

    return dot


def variance(task: Task) -> rm.Program:
    size = int(task.constants["size"])

    @rm.program
    def variance(x: rm.Encrypted[rm.real[size]]):
        return rm.mean(x * x) - rm.mean(x) ** 2

    return variance


def product(x: rm.Encrypted, diagonals: Sequence[Any], baby: int, stride: int = 1) -> rm.Encrypted:
    """Returns a plain matrix times an encrypted vector, by baby steps and giant steps. If the matrix has more columns
    than rows, the caller adds the partial sums.
    """
    turned = [x << step * stride for step in range(baby)]
    total = 0
    for giant in range(0, len(diagonals), baby):
        part = sum(a * line for a, line in zip(turned, diagonals[giant : giant + baby], strict=True))
        total = (part << giant * stride) + total
    return total


def matrix_vector(task: Task) -> rm.Program:
    diagonals, baby = task.constants["diagonals"], int(task.constants["baby"])

    @rm.program
    def matrix_vector(x: rm.Encrypted[rm.real[task.slots]]):
        return product(x, diagonals, baby)

    return matrix_vector


def box_blur(task: Task) -> rm.Program:
    side = int(task.constants["side"])

    @rm.program
    def box_blur(x: rm.Encrypted[rm.real[task.slots]]):
        rows = (x << side) + x + (x >> side)
        return ((rows << 1) + rows + (rows >> 1)) / 9

    return box_blur


def roberts_cross(task: Task) -> rm.Program:
    side = int(task.constants["side"])

    @rm.program
    def roberts_cross(x: rm.Encrypted[rm.real[task.slots]]):
        falling = x - (x << side + 1)
        rising = (x << side) - (x << 1)
        return falling**2 + rising**2

    return roberts_cross


def polynomial(task: Task) -> rm.Program:
    coefficients = task.constants["coefficients"]

    @rm.program
    def polynomial(x: rm.Encrypted[rm.real[task.slots]]):
        return rm.polynomial(x, coefficients)

    return polynomial


def inference(task: Task) -> rm.Program:
    weights, sigmoid, batch = task.constants["weights"], task.constants["sigmoid"], int(task.constants["batch"])

    @rm.program
    def inference(x: rm.Encrypted[rm.real[task.slots]]):
        logits = rm.bounded(rm.sum(x * weights, task.slots // batch, batch), -INFERENCE_BOUND, INFERENCE_BOUND)
        return rm.polynomial(logits, sigmoid)

    return inference


def training(task: Task) -> rm.Program:
    slots, samples, iterations = task.slots, int(task.constants["samples"]), int(task.constants["iterations"])
    sigmoid, mask = task.constants["sigmoid"], task.constants["mask"]
    spread = [1 << bit for bit in range(samples.bit_length() - 1)]

    @rm.program
    def training(x: rm.Encrypted[rm.real[slots]], y: rm.Encrypted[rm.real[slots]], w: rm.Encrypted[rm.real[slots]]):
        for _ in range(iterations):
            logits = rm.bounded(rm.sum(x * w, slots // samples, samples), -TRAINING_BOUND, TRAINING_BOUND)
            residuals = (y - rm.polynomial(logits, sigmoid)) * x
            means = rm.sum(residuals, samples) * mask  # in the first slot of each feature
            for step in spread:
                means = means + (means >> step)
            w = w + means
        return w

    return training


def network(task: Task) -> rm.Program:
    first, second, bias = (task.constants[name] for name in ("first", "second", "bias"))
    batch, baby = int(task.constants["batch"]), task.constants["baby"].tolist()
    inputs, hidden, outputs = task.constants["shape"].tolist()

    @rm.program
    def network(x: rm.Encrypted[rm.real[task.slots]]):
        h = rm.sum(product(x, first, baby[0], batch), inputs // hidden, hidden * batch) + bias
        return rm.sum(product(h * h, second, baby[1], batch), hidden // outputs, outputs * batch)

    return network


def iteration(task: Task) -> rm.Program:
    @rm.program
    def iteration(x: rm.Encrypted[rm.real[task.slots]]):
        y = x
        for _ in range(int(task.constants["depth"])):
            y = y * y * 0.5 + x * 0.1
        return y

    return iteration


def k_means(task: Task) -> rm.Program:
    features, points, centres = (
        int(task.constants["features"]),
        int(task.constants["points"]),
        task.constants["centres"],
    )

    @rm.program
    def k_means(x: rm.Encrypted[rm.real[task.slots]]):
        return tuple(rm.sum((x - centre) ** 2, features, points) for centre in centres)

    return k_means


def moving_average(task: Task) -> rm.Program:
    taps = int(task.constants["taps"])

    @rm.program
    def moving_average(x: rm.Encrypted[rm.real[task.slots]]):
        return rm.sum(x, taps) / taps

    return moving_average


PROGRAMS: dict[str, Callable[[Task], rm.Program]] = {
    "dot": dot,
    "variance": variance,
    "matrix_vector": matrix_vector,
    "box_blur": box_blur,
    "roberts_cross": roberts_cross,
    "polynomial": polynomial,
    "inference": inference,
    "training": training,
    "network": network,
    "iteration_10": iteration,
    "iteration_20": iteration,
    "k_means": k_means,
    "moving_average": moving_average,
}


def inputs_of(task: Task, program: rm.Program) -> dict[str, Any]:
    """Returns the encrypted inputs, each cut to the length of its declared type."""
    lengths = {name: kind.length for name, kind in program.signature.types.items()}
    return {name: values[: lengths[name]] for name, values in task.encrypted.items()}


def make(request: dict[str, Any]) -> Group:
    """Makes the row `run` of a program: from encrypted inputs to encrypted outputs."""
    task = Task.load(request["file"])
    program = PROGRAMS[task.name](task)
    inputs = inputs_of(task, program)
    begin = time.perf_counter()
    compiled = program.compile(slots=task.slots, sample=inputs, **OPTIONS)
    seconds = time.perf_counter() - begin
    client = compiled.keygen()
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder) / "keys"
        client.evaluation_keys.save(keys)
        stored = keys.stat().st_size
    encrypted = client.encrypt(**inputs)
    done = compiled.run(encrypted, device="cpu:1", progress=False)
    outputs = client.decrypt(done)
    error = task.error(list(outputs) if isinstance(outputs, tuple) else [outputs])
    params = compiled.params
    group = Group()
    group.runs["run"] = lambda: compiled.run(encrypted, device="cpu:1", progress=False)
    group.equal["run"] = error <= TOLERANCE
    group.facts = {
        "log_n": params.log_n,
        "primes": [q.bit_length() for q in params.ciphertext_primes],
        "special": [q.bit_length() for q in params.special_primes],
        "digits": params.dnum,
        # One half of each key is expanded from a seed: the bytes of the file, and those if it had both halves, as
        # OpenFHE's files have.
        "key_bytes_stored": stored,
        "key_bytes_whole": 2 * stored,
        "options": OPTIONS,
        "compile_seconds": round(seconds, 3),
        "predicted_digits": round(min(compiled.predicted_digits.values()), 2),
        "measured_digits": round(-float(np.log10(error)), 2),
        "conditional": bool(compiled.assumptions),
        "instructions": compiled.unrolled_counts(),
    }
    return group


if __name__ == "__main__":
    serve(make)
