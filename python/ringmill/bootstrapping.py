"""Programs of any depth on whole numbers modulo p^r: parameters that bootstrap, and digits of what they compute on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ringmill import _ringmill
from ringmill._ringmill import Params
from ringmill.check import arguments, flag, instance, integer, optional, text
from ringmill.errors import ParameterError
from ringmill.trace import Encrypted, compile_error, refuse

_COUNT = integer(0, 2**32 - 1, ParameterError)


@dataclass(frozen=True)
class Bootstrapping:
    """Parameters modulo p^r that bootstrap, made by :func:`bootstrapping` for ``program.compile(bootstrapping=...)``.

    A program that is compiled so may be as deep as it likes, keeps its procedures and repeats, and computes modulo p^r.
    """

    inner: _ringmill.Bootstrapping

    @property
    def params(self) -> Params:
        return self.inner.params

    @property
    def slots(self) -> int:
        """The longest vector: a row of slots."""
        return self.inner.slots

    @property
    def prime(self) -> int:
        return self.inner.power[0]

    @property
    def exponent(self) -> int:
        return self.inner.power[1]

    @property
    def modulus(self) -> int:
        """p^r: whole numbers from -(p^r - 1) / 2 to (p^r - 1) / 2 stand for its residues."""
        prime, exponent = self.inner.power
        return prime**exponent

    @property
    def levels(self) -> tuple[int, int]:
        """The level that values are bootstrapped from, and the one they are bootstrapped to."""
        return self.inner.levels

    @property
    def budget(self) -> int:
        """Bits of noise budget that a bootstrap leaves at least."""
        return self.inner.budget

    @property
    def half(self) -> int:
        """(p - 1) / 2, the largest digit."""
        return self.prime // 2

    def fixed(self, x: Encrypted, scale: int, bound: int) -> Fixed:
        """An encrypted vector as fixed-point numbers: whole numbers up to `bound`, `scale` times too large."""
        return Fixed(self, x, scale, bound)

    def digit_table(self, x: Encrypted, values: Sequence[int]) -> Encrypted:
        """A function of the lowest digit of every slot, by its values from -(p - 1) / 2 to (p - 1) / 2."""
        if len(values) != self.prime:
            refuse(f"a table of the lowest digit has {self.prime} values, and this one has {len(values)}")
        table = [int(v) for v in values]
        return x._tracer.emit(x._kind, "digit_table", x._id, self.prime, self.exponent, table)

    def low_digit(self, x: Encrypted) -> Encrypted:
        """The lowest digit of every slot, from -(p - 1) / 2 to (p - 1) / 2."""
        return x._tracer.emit(x._kind, "low_digit", x._id, self.prime, self.exponent)

    def shifted(self, x: Encrypted, digit: Encrypted) -> Encrypted:
        """(x - digit) / p, for the lowest digit of x: known modulo p^(r - 1) alone, so take its digits."""
        rest = x - digit
        return rest._tracer.emit(rest._kind, "quotient", rest._id, self.prime)

    def __repr__(self) -> str:
        return repr(self.inner)


@dataclass(frozen=True)
class Fixed:
    """Encrypted signed fixed-point numbers: a whole number each, `scale` times as large as what it stands for.

    `bound` is the largest absolute value of the whole numbers; what may pass (p^r - 1) / 2 is refused at its line.
    """

    setup: Bootstrapping
    vector: Encrypted
    scale: int
    bound: int

    def __post_init__(self) -> None:
        most = self.setup.modulus // 2
        if self.bound > most:
            raise compile_error(
                f"fixed-point numbers here may be as large as {self.bound} / {self.scale}, and modulo "
                f"{self.setup.prime}^{self.setup.exponent} whole numbers up to {most} are held; round them before, or "
                "declare what is known of them by assume(bound)"
            )

    def _made(self, vector: Encrypted, scale: int, bound: int) -> Fixed:
        return Fixed(self.setup, vector, scale, bound)

    def _like(self, other: Fixed) -> Fixed:
        if self.scale != other.scale:
            refuse(f"numbers of scales {self.scale} and {other.scale} are not added; multiply one by a number")
        return other

    def __add__(self, other: Fixed) -> Fixed:
        other = self._like(other)
        return self._made(self.vector + other.vector, self.scale, self.bound + other.bound)

    def __sub__(self, other: Fixed) -> Fixed:
        other = self._like(other)
        return self._made(self.vector - other.vector, self.scale, self.bound + other.bound)

    def __mul__(self, other: Fixed) -> Fixed:
        return self._made(self.vector * other.vector, self.scale * other.scale, self.bound * other.bound)

    def times(self, factor: int) -> Fixed:
        """The whole numbers times a whole number; what they stand for, too."""
        return self._made(self.vector * factor, self.scale, self.bound * abs(factor))

    def assume(self, bound: int) -> Fixed:
        """The same with a bound that is known of the data at hand; larger numbers than that give wrong results."""
        return self._made(self.vector, self.scale, bound)

    def digits(self, count: int | None = None) -> list[Encrypted]:
        """The balanced digits in base p, the lowest first, as many as the bound needs or `count`."""
        needed = _digits(self.bound, self.setup.prime)
        found: list[Encrypted] = []
        rest = self.vector
        for place in range(needed if count is None else min(count, needed)):
            if place:
                rest = self.setup.shifted(rest, found[-1])
            found.append(self.setup.low_digit(rest))
        return found

    def rounded_table(self, function: Callable[[int], int], scale: int) -> Fixed:
        """`function` of each number over p, rounded, which is at most (p - 1) / 2: a table, at a new scale."""
        setup = self.setup
        if _digits(self.bound, setup.prime) > 2:
            most = setup.half * setup.prime + setup.half
            refuse(
                f"a table of numbers over {setup.prime} is for those up to {most}, and these may be as large as "
                f"{self.bound}"
            )
        values = [function(z) for z in range(-setup.half, setup.half + 1)]
        rest = setup.shifted(self.vector, setup.low_digit(self.vector))
        return self._made(setup.digit_table(rest, values), scale, max(abs(v) for v in values))

    def __repr__(self) -> str:
        return f"<fixed-point numbers up to {self.bound} / {self.scale}>"


def _digits(bound: int, prime: int) -> int:
    """Balanced digits of whole numbers up to a bound."""
    count, most = 0, 0
    while most < bound:
        most = most * prime + prime // 2
        count += 1
    return max(count, 1)


# The check of a `bootstrapping` argument.
SETUP = instance(Bootstrapping, "a set that bootstraps, as rm.bootstrapping makes it", ParameterError)


@arguments(
    "rm.bootstrapping",
    name=optional(text(ParameterError)),
    log_n=optional(integer(3, 16, ParameterError)),
    prime=optional(integer(3, 2**60, ParameterError)),
    exponents=lambda _name, value: value,
    primes=lambda _name, value: value,
    weight=optional(_COUNT),
    allow_insecure_parameters_for_tests_only=flag(ParameterError),
)
def bootstrapping(
    name: str | None = None,
    *,
    log_n: int | None = None,
    prime: int | None = None,
    exponents: tuple[int, int] | None = None,
    primes: tuple[int, int] | None = None,
    weight: int | None = None,
    allow_insecure_parameters_for_tests_only: bool = False,
) -> Bootstrapping:
    """A set of BGV parameters that bootstraps, by name or of your own.

    ``"basalisc"`` is the vector paper's (N = 2^16, 127^3, 64 slots). Your own: `log_n`; `prime` p and `exponents` r and
    e; `primes`, the numbers of ciphertext primes and of special ones; and the `weight` of the encapsulated secret.

    Raises :class:`ParameterError` where they are malformed, not secure, or do not bootstrap.

    >>> import ringmill as rm
    >>> toy = rm.bootstrapping(log_n=9, prime=17, exponents=(3, 4), primes=(39, 13), weight=8,
    ...                        allow_insecure_parameters_for_tests_only=True)
    >>> toy.slots, toy.modulus
    (4, 4913)
    """
    if name is not None:
        return Bootstrapping(_ringmill.named_bootstrapping(name))
    own = (log_n, prime, exponents, primes, weight)
    if None in own:
        raise ParameterError("give the name of a set, or all of log_n=, prime=, exponents=, primes= and weight=")
    (r, e), (cipher, special) = _pair("exponents", exponents), _pair("primes", primes)
    insecure = allow_insecure_parameters_for_tests_only
    return Bootstrapping(_ringmill.own_bootstrapping(log_n, (prime, r, e), (cipher, special), weight, insecure))


def _pair(name: str, value: Any) -> tuple[int, int]:
    try:
        first, second = value
    except (TypeError, ValueError):
        raise ParameterError(f"{name}= is a pair of whole numbers, and {value!r} is none") from None
    return _COUNT(name, first), _COUNT(name, second)
