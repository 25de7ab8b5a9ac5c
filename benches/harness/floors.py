# SPDX-License-Identifier: Apache-2.0
"""Computes the floor of each row: the time of its instructions and bytes at the best rates that were measured on this
processor.

In a transform every vector instruction counts that the kernel which ran cannot do without (`KERNELS`). In other rows
multiplications alone count. There are several ways to do them (`WAYS`), and the cheapest gives the floor. Only
compulsory bytes count: operands and keys read once, results written once, at the best rate of a loop that touches no
more bytes than the row. A row below the smallest loop has that loop's rate. Whole programs count no bytes.

Each kind of instruction has a rate and a number of slots: the additions that one such instruction displaces. Every
arithmetic port does additions. So two lower bounds hold on every processor: the time of each kind alone, and the time
of the slots of all kinds together. A floor above a measurement must be counted wrong, and is not printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

WORD = 8  # bytes of a residue
ADD, MUL32, LOW32, LOW64, MUL52 = "vpaddq", "vpmuludq", "vpmulld", "vpmullq", "vpmadd52luq"
SHUFFLE = {512: "vpermt2q", 256: "vperm2i128"}
MULTIPLICATIONS = (MUL32, LOW32, LOW64, MUL52)
# The levels of instruction sets, the best last.
LEVELS = ("Scalar", "Avx2", "Avx512", "Avx512Ifma")


@dataclass(frozen=True)
class Work:
    """Numbers of vector instructions by kind, on vectors of `width` bits. Additions stand for all instructions that are
    as quick.
    """

    width: int
    counts: Mapping[str, float]

    def __add__(self, other: Work) -> Work:
        kinds = {*self.counts, *other.counts}
        return Work(self.width, {k: self.counts.get(k, 0) + other.counts.get(k, 0) for k in kinds})

    def __mul__(self, times: float) -> Work:
        return Work(self.width, {kind: count * times for kind, count in self.counts.items()})

    def seconds(self, rates: dict[str, Any]) -> dict[str, float] | None:
        """Returns two lower bounds on the seconds: of multiplications, and of all ports. Returns None if the processor
        lacks an instruction.
        """
        known = rates["instructions"].get(str(self.width), {})
        counts = {kind: count for kind, count in self.counts.items() if count}
        if ADD not in known or not counts.keys() <= known.keys():
            return None
        alone = {kind: count / known[kind]["per_second"] for kind, count in counts.items()}
        slots = sum(count * known[kind]["slots"] for kind, count in counts.items())
        others = max((time for kind, time in alone.items() if kind not in MULTIPLICATIONS), default=0.0)
        return {
            "multiply": max((time for kind, time in alone.items() if kind in MULTIPLICATIONS), default=0.0),
            "ports": max(slots / known[ADD]["per_second"], others),
        }


@dataclass(frozen=True)
class Count:
    """The least work of a row: the instructions of one of several alternatives, and bytes."""

    works: tuple[Work, ...]
    bytes: float


@dataclass(frozen=True)
class Way:
    """A way to multiply residues: its multiplications for one vector of `width` bits, on processors of a level or
    above.
    """

    level: str
    width: int
    constant: Mapping[str, float]  # a product with a constant whose quotient is known
    product: Mapping[str, float]  # a product of two residues, both halves
    reduction: Mapping[str, float]  # of such a product, or of a sum of them


PRODUCTS_32 = ({MUL32: 9}, {MUL32: 4}, {MUL32: 6})
WAYS = {
    50: (Way("Avx512Ifma", 512, {MUL52: 3}, {MUL52: 2}, {MUL52: 2}),),
    54: (Way("Avx512Ifma", 512, {MUL52: 1, LOW64: 3}, {MUL52: 5}, {MUL52: 1, LOW64: 1}),),
    61: (Way("Avx512Ifma", 512, {MUL52: 3, LOW64: 2}, {MUL52: 5}, {MUL52: 1, LOW64: 1}),),
}
# Ways for primes of every size. The quotient takes three products of halves, and a low half one instruction or three.
EVERY = (
    Way("Avx512", 512, {MUL32: 3, LOW64: 2}, {MUL32: 4}, {MUL32: 3, LOW64: 1}),
    Way("Avx512", 512, *PRODUCTS_32),
    Way("Avx2", 256, *PRODUCTS_32),
)


def ways(bits: int, level: str) -> list[Way]:
    own = next(ways for most, ways in WAYS.items() if bits <= most)
    return [way for way in (*own, *EVERY) if LEVELS.index(way.level) <= LEVELS.index(level)]


def works(bits: int, level: str, constants: float, products: float, reductions: float, other: float = 0) -> tuple:
    """Returns the alternatives in instructions for numbers of products with constants, products of residues, and
    reductions. `other` counts multiplications in double precision.
    """

    def work(way: Way) -> Work:
        parts = [
            Work(way.width, each) * times
            for each, times in ((way.constant, constants), (way.product, products), (way.reduction, reductions))
        ]
        whole = parts[0] + parts[1] + parts[2] + Work(way.width, {ADD: other})
        return whole * (64 / way.width)

    return tuple(work(way) for way in ways(bits, level))


@dataclass(frozen=True)
class Kernel:
    """The instructions of a transform kernel, by direction. `butterfly` has those of a butterfly on two vectors. `once`
    has those that two vectors take once in a transform: shuffles, twiddles, first and last stage. docs/benchmarks.md
    has the reasons.
    """

    width: int
    lanes: int
    butterfly: Mapping[str, Mapping[str, float]]
    once: Mapping[str, Mapping[str, float]]


def kernel(width: int, lanes: int, forward: tuple, inverse: tuple) -> Kernel:
    shuffle = SHUFFLE[width]
    names = [{"s": shuffle, "+": ADD, "32": MUL32, "l32": LOW32, "l64": LOW64, "52": MUL52}[k] for k in KEYS]
    both = [[dict(zip(names, row, strict=True)) for row in rows] for rows in (forward, inverse)]
    forward_rows, inverse_rows = both
    return Kernel(
        width,
        lanes,
        {"forward": forward_rows[0], "inverse": inverse_rows[0]},
        {"forward": forward_rows[1], "inverse": inverse_rows[1]},
    )


# The columns of the table that follows: additions and equally quick instructions, shuffles, multiplications by kind.
KEYS = ("+", "s", "52", "32", "l32", "l64")
# The kernels, by the width of words and the name of the arithmetic. Each has its width, its lanes, and for the forward
# and the inverse transform the instructions of a butterfly and those that come once.
KERNELS = {
    (32, "ifma 30"): kernel(512, 8, ((1, 0, 4, 0, 0, 0), (9, 6, 0, 0, 0, 0)), ((3, 0, 3, 0, 0, 0), (8, 6, 0, 0, 0, 0))),
    (32, "avx512 30"): kernel(
        512, 16, ((8, 0, 0, 2, 2, 0), (8, 10, 0, 0, 0, 0)), ((8, 0, 0, 2, 2, 0), (4, 10, 0, 2, 2, 0))
    ),
    (32, "avx2 30"): kernel(256, 8, ((9, 0, 0, 2, 2, 0), (8, 4, 0, 0, 0, 0)), ((9, 0, 0, 2, 2, 0), (4, 4, 0, 2, 2, 0))),
    (64, "ifma 50"): kernel(512, 8, ((3, 0, 4, 0, 0, 0), (8, 8, 0, 0, 0, 0)), ((3, 0, 5, 0, 0, 0), (2, 8, 3, 0, 0, 0))),
    (64, "ifma 50 spread"): kernel(
        512, 8, ((4, 0, 4, 0, 0, 0), (7, 8, 0, 0, 0, 0)), ((6, 0, 3, 0, 0, 0), (0, 8, 3, 0, 0, 0))
    ),
    (64, "ifma 54"): kernel(
        512, 8, ((7, 0, 1, 0, 0, 3), (12, 8, 2, 0, 0, 2)), ((8, 0, 1, 0, 0, 3), (13, 8, 1, 0, 0, 3))
    ),
    (64, "ifma 60"): kernel(
        512, 8, ((7, 0, 3, 0, 0, 2), (23, 8, 0, 0, 0, 0)), ((8, 0, 3, 0, 0, 2), (16, 8, 3, 0, 0, 2))
    ),
    (64, "avx512 60"): kernel(
        512, 8, ((10, 0, 0, 3, 0, 2), (14, 8, 0, 0, 0, 0)), ((11, 0, 0, 3, 0, 2), (12, 8, 0, 3, 0, 2))
    ),
    # Instructions on doubles stand with the additions: two units do products and two do sums where four add integers.
    (64, "fma 50"): kernel(
        256, 4, ((8.75, 0, 0, 0, 0, 0), (20, 4, 0, 0, 0, 0)), ((9.5, 0, 0, 0, 0, 0), (26, 4, 0, 0, 0, 0))
    ),
    (64, "fma 52"): kernel(
        256, 4, ((11, 0, 0, 0, 0, 0), (20, 4, 0, 0, 0, 0)), ((14, 0, 0, 0, 0, 0), (26, 4, 0, 0, 0, 0))
    ),
    (64, "avx2 60"): kernel(
        256, 4, ((16, 0, 0, 5, 2, 0), (10, 8, 0, 0, 0, 0)), ((16, 0, 0, 5, 2, 0), (17, 8, 0, 5, 2, 0))
    ),
    (64, "avx2 61"): kernel(
        256, 4, ((18, 0, 0, 5, 2, 0), (6, 8, 0, 0, 0, 0)), ((18, 0, 0, 5, 2, 0), (15, 8, 0, 5, 2, 0))
    ),
}

# The number of stages on 32-bit words that run in 52-bit arithmetic. Further stages run in 32-bit lanes.
NARROW_STAGES = 14


def transform(n: int) -> float:
    """Returns the number of products with a constant in one radix-2 transform of n points. Higher radices
    need as many.
    """
    return n / 2 * (n.bit_length() - 1)


def ntt(name: str, log_n: int, bits: int, ran: str) -> Count | None:
    """Returns the count of a transform in place, which reads and writes one limb. A residue of up to 32 bits takes four
    bytes. `ran` names the kernel. Returns None for a kernel whose instructions are not counted.
    """
    word_bits, n = (32 if bits <= 32 else 64), 1 << log_n
    # How many chunks go together changes the order of instructions, and not which they are.
    arithmetic = ran.partition(",")[0].removesuffix(" in step")
    found = KERNELS.get((word_bits, arithmetic))
    if found is None:
        return None
    outer = max(0, log_n - NARROW_STAGES) if (word_bits, arithmetic) == (32, "ifma 30") else 0
    work = Work(found.width, found.butterfly[name]) * (log_n - outer) + Work(found.width, found.once[name])
    work = work * (n / (2 * found.lanes))
    if outer:
        narrow = KERNELS[32, "avx512 30"]
        work += Work(narrow.width, narrow.butterfly[name]) * (outer * n / (2 * narrow.lanes))
    return Count((work,), 2 * n * word_bits / 8)


def basext(log_n: int, limbs: int, bits: int, level: str) -> Count:
    """Returns the count of a base extension from l = `limbs` moduli to l others. A coefficient takes l scalings, l^2
    products and l reductions (basext paper, equation 2.5).
    """
    n = 1 << log_n
    return Count(works(bits, level, n * limbs, n * limbs * limbs, n * limbs), 2 * limbs * n * WORD)


def ckks(operation: str, log_n: int, bits: list[int], level: str) -> Count:
    """Returns the count of a CKKS operation. `bits` has the sizes of the ciphertext primes, then of the one special
    prime. A digit of a key switch has one prime.
    """
    n, l = 1 << log_n, len(bits) - 1  # noqa: E741 - the field's name
    limb, turn = n * WORD, transform(n)
    # Each triple counts products with a constant, products of residues, and reductions. Transforms consist of the first
    # kind.
    multiply = (0, 4 * l * n, 3 * l * n)
    down = ((2 + 2 * l) * turn + 2 * l * n, 0, 0)
    switch = plus(((l + l * l) * turn, 2 * (l + 1) * n * l, 2 * (l + 1) * n), down)
    key = 2 * l * (l + 1) * limb
    rescale = ((2 + 2 * (l - 1)) * turn + 2 * (l - 1) * n, 0, 0)
    fft = n * (log_n - 1)
    residues = (0, l * n, l * n)
    # Then bytes, and multiplications in double precision.
    table: dict[str, tuple[tuple[float, ...], float, float]] = {
        "add": ((0, 0, 0), 6 * l * limb, 0),
        "multiply": (multiply, 7 * l * limb, 0),
        "multiply_relinearise": (plus(multiply, switch), 6 * l * limb + key, 0),
        "rescale": (rescale, (4 * l - 2) * limb, 0),
        "multiply_relinearise_rescale": (plus(multiply, switch, rescale), (6 * l - 2) * limb + key, 0),
        "rotate": (switch, 4 * l * limb + key, 0),
        "encode": ((l * turn, 0, 0), (l + 1 / 2) * limb, fft),
        # three small polynomials transformed modulo all primes, two products, mod-down; sampling not counted
        "encrypt": (
            plus((3 * (l + 1) * turn, 2 * (l + 1) * n, 2 * (l + 1) * n), down),
            (5 * l + 2) * limb,
            0,
        ),
        "encrypt_symmetric": (plus((l * turn, 0, 0), residues), 4 * l * limb, 0),
        "decrypt": (residues, 4 * l * limb, 0),
        # one scaling for each residue, to compose a double from residues
        "decode": ((l * turn + l * n, 0, 0), (l + 1 / 2) * limb, fft),
    }
    (constants, products, reductions), size, other = table[operation]
    # All primes count as if they had the size of the shortest.
    return Count(works(min(bits), level, constants, products, reductions, other), size)


def plus(*parts: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(map(sum, zip(*parts, strict=True)))


def floor(count: Count | None, rates: dict[str, Any], threads: int) -> dict[str, Any] | None:
    """Returns the floor of a count: the least microseconds, the bound that decides them, and the numbers behind it.
    Returns None if nothing is counted for this processor.
    """
    found = least(count.works, rates) if count else None
    if count is None or found is None:
        return None
    work, seconds = found
    copy = copy_for(count.bytes, rates["copies"])
    times = {name: time / threads for name, time in seconds.items()}
    times["bytes"] = count.bytes / copy["bytes_per_second"]
    bound = max(times, key=lambda name: times[name])
    return {
        "width": work.width,
        "instructions": {kind: round(n) for kind, n in sorted(work.counts.items()) if n},
        "bytes": count.bytes,
        "copy_footprint_bytes": copy["footprint_bytes"],
        **{f"{name}_us": round(time * 1e6, 3) for name, time in times.items()},
        "us": round(times[bound] * 1e6, 3),
        "bound": bound,
    }


def best(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Joins two measurements of one processor: takes the higher of each two rates, and the smaller number of slots."""

    def kind(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
        return {"per_second": max(a["per_second"], b["per_second"]), "slots": min(a["slots"], b["slots"])}

    kinds = {
        width: {name: kind(rate, other["instructions"][width][name]) for name, rate in rates.items()}
        for width, rates in one["instructions"].items()
    }
    copies = [
        {**a, "bytes_per_second": max(a["bytes_per_second"], b["bytes_per_second"])}
        for a, b in zip(one["copies"], other["copies"], strict=True)
    ]
    clock = max(one["clock_hz"], other["clock_hz"])
    return {**one, "clock_hz": clock, "instructions": kinds, "copies": copies}


def least(works: Iterable[Work], rates: dict[str, Any]) -> tuple[Work, dict[str, float]] | None:
    """Returns the work of least time among those that this processor can do, with its bounds, or None if none
    can be.
    """
    able = [(work, seconds) for work in works if (seconds := work.seconds(rates)) is not None]
    return min(able, key=lambda pair: max(pair[1].values()), default=None)


def copy_for(size: float, copies: list[dict[str, float]]) -> dict[str, float]:
    """Returns the measured copy with the largest footprint up to `size` bytes, or else the one with
    the smallest footprint.
    """
    fitting = [copy for copy in copies if copy["footprint_bytes"] <= size]
    return max(fitting or copies[:1], key=lambda copy: copy["footprint_bytes"])
