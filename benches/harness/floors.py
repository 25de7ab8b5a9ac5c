"""The floor of each row: vector instructions over their measured rate, bytes over measured bandwidth.

Of transforms every vector instruction that the method needs on the two arithmetic ports is counted: multiplications,
additions, corrections, shuffles (`PORTS`). Of other rows multiplications alone are, in vector instructions of eight
64-bit lanes; additions, corrections and shuffles share their ports and come on top. Only compulsory bytes are counted:
operands and keys read once, results written once, at the best rate of a loop that touches no more bytes than the row.
The multiplications, a coefficient:

| step | up to 50 bits (vpmadd52) | up to 61 bits (vpmuludq) |
| --- | --- | --- |
| product with a constant and its Shoup quotient | 3 | 9: 3 quotient, 3 + 3 low halves |
| product of two residues, both halves | 2 | 4 |
| reduction of it | 2 | 6: 3 quotient, 3 low half |
| a double-precision multiplication (the encoder's FFT) | 1 | 1 |
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

LANES = 8
WORD = 8  # bytes of a residue


@dataclass(frozen=True)
class Costs:
    """Vector multiplications a coefficient, on one kind of multiplier."""

    unit: str
    constant: int
    product: int
    reduction: int


def costs(bits: int) -> Costs:
    if bits <= 50:
        return Costs("vpmadd52", 3, 2, 2)
    return Costs("vpmuludq", 9, 4, 6)


@dataclass(frozen=True)
class Count:
    """What a row needs at least: multiplications of single lanes on a unit, bytes, and where all of them are counted,
    vector instructions."""

    unit: str
    multiplications: float
    bytes: float
    instructions: float | None = None


@dataclass(frozen=True)
class Ports:
    """Vector instructions of a transform on the arithmetic ports (docs/benchmarks.md has the reasons)."""

    butterfly: float  # on eight coefficients and eight others
    rest: float  # of sixteen coefficients beside their butterflies: shuffles, twiddles, first and last stage


def ports(name: str, bits: int) -> Ports:
    if bits <= 32:
        return {"forward": Ports(5, 15), "inverse": Ports(6, 14)}[name]
    if bits <= 50:
        return {"forward": Ports(7, 16), "inverse": Ports(8, 13)}[name]
    return {"forward": Ports(16, 31), "inverse": Ports(17, 33)}[name]


# Stages of up to 32 bits beyond this many run in 32-bit lanes: 14 instructions for twice as many coefficients.
NARROW_STAGES, NARROW_BUTTERFLY = 14, 7


def transform(n: int, cost: Costs) -> float:
    """Multiplications of one radix-2 transform; higher radices need as many."""
    return n / 2 * (n.bit_length() - 1) * cost.constant


def ntt(name: str, log_n: int, bits: int) -> Count:
    """In place: a limb read and written. A residue of up to 32 bits takes four bytes."""
    cost, need, n = costs(bits), ports(name, bits), 1 << log_n
    outer = max(0, log_n - NARROW_STAGES) if bits <= 32 else 0
    each = need.butterfly * (log_n - outer) + NARROW_BUTTERFLY * outer + need.rest
    return Count(cost.unit, transform(n, cost), 2 * n * (4 if bits <= 32 else WORD), n / (2 * LANES) * each)


def basext(log_n: int, limbs: int, bits: int) -> Count:
    """l scalings, l l products, l reductions a coefficient (basext paper, equation 2.5)."""
    cost, n = costs(bits), 1 << log_n
    each = limbs * cost.constant + limbs * limbs * cost.product + limbs * cost.reduction
    return Count(cost.unit, n * each, 2 * limbs * n * WORD)


def ckks(operation: str, log_n: int, bits: list[int]) -> Count:
    """`bits` are the sizes of the ciphertext primes, then of the one special prime; one prime a digit."""
    cost, n, l = costs(max(bits)), 1 << log_n, len(bits) - 1  # noqa: E741 - the field's name
    limb, turn = n * WORD, transform(n, cost)
    residues = cost.product + cost.reduction
    # (4 products and 3 reductions) and (transforms, inner products of l terms, mod-down)
    multiply = l * n * (4 * cost.product + 3 * cost.reduction)
    down = (2 + 2 * l) * turn + 2 * l * n * cost.constant
    switch = (l + l * l) * turn + 2 * (l + 1) * n * (l * cost.product + cost.reduction) + down
    key = 2 * l * (l + 1) * limb
    rescale = (2 + 2 * (l - 1)) * turn + 2 * (l - 1) * n * cost.constant
    fft = n * (log_n - 1)
    table: dict[str, tuple[float, float]] = {
        "add": (0, 6 * l * limb),
        "multiply": (multiply, 7 * l * limb),
        "multiply_relinearise": (multiply + switch, 6 * l * limb + key),
        "rescale": (rescale, (4 * l - 2) * limb),
        "multiply_relinearise_rescale": (multiply + switch + rescale, (6 * l - 2) * limb + key),
        "rotate": (switch, 4 * l * limb + key),
        "encode": (l * turn + fft, (l + 1 / 2) * limb),
        # three small polynomials transformed modulo all primes, two products, mod-down; sampling not counted
        "encrypt": (3 * (l + 1) * turn + 2 * (l + 1) * n * residues + down, (5 * l + 2) * limb),
        "encrypt_symmetric": (l * turn + l * n * residues, 4 * l * limb),
        "decrypt": (l * n * residues, 4 * l * limb),
        # a scaling and two short products a residue to compose it as a double
        "decode": (l * turn + l * n * (cost.constant + 2) + fft, (l + 1 / 2) * limb),
    }
    multiplications, size = table[operation]
    return Count(cost.unit, multiplications, size)


def floor(count: Count, rates: dict[str, Any], threads: int) -> dict[str, Any] | None:
    """Microseconds that the counts take at least, `None` where the processor lacks the unit. All instructions run at
    the rate of the multiplications, two a cycle; they are counted for processors with 52-bit multiply-add alone."""
    unit = rates.get(f"{count.unit}_per_second")
    if unit is None:
        return None
    copy = copy_for(count.bytes, rates["copies"])
    times = {"multiply": count.multiplications / LANES / unit / threads}
    if count.instructions is not None and rates.get("vpmadd52_per_second") is not None:
        times["ports"] = count.instructions / unit / threads
    times["bytes"] = count.bytes / copy["bytes_per_second"]
    bound = max(times, key=lambda name: times[name])
    return {
        **asdict(count),
        "copy_footprint_bytes": copy["footprint_bytes"],
        **{f"{name}_us": round(time * 1e6, 3) for name, time in times.items()},
        "us": round(times[bound] * 1e6, 3),
        "bound": bound,
    }


def copy_for(size: float, copies: list[dict[str, float]]) -> dict[str, float]:
    """The measured copy with the largest footprint up to `size`, or the smallest there is."""
    fitting = [copy for copy in copies if copy["footprint_bytes"] <= size]
    return max(fitting or copies[:1], key=lambda copy: copy["footprint_bytes"])
