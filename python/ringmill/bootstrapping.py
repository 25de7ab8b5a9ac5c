# SPDX-License-Identifier: Apache-2.0
"""Programs of any depth: parameters that bootstrap, and operations on digits in base p of whole numbers modulo p^r."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ringmill import _ringmill
from ringmill._ringmill import Params
from ringmill.check import arguments, flag, instance, integer, items, optional, shown, text
from ringmill.errors import CompileError, ParameterError
from ringmill.trace import Encrypted, compile_error, refuse

_COUNT = integer(0, 2**32 - 1, ParameterError)
_SCALE = integer(1, 2**62, refusal=compile_error)
_SIZE = integer(0, 2**62, refusal=compile_error)
_WHOLE = integer(-(2**62), 2**62, refusal=compile_error)
_VECTOR = instance(Encrypted, "an encrypted vector of a program", compile_error)


def _function(name: str, value: Any) -> Any:
    if not callable(value):
        refuse(f"{name} must be a function of whole numbers, and is {shown(value)}")
    return value


def _fixed_point(name: str, value: Any) -> Any:
    if not isinstance(value, Fixed):
        refuse(f"{name} must be fixed-point numbers of the same set, and is {shown(value)}")
    return value


@dataclass(frozen=True)
class Bootstrapping:
    """Parameters that bootstrap, made by :func:`bootstrapping` for ``program.compile(bootstrapping=...)``.

    A program that is compiled with them may have any depth. One of whole numbers keeps its procedures and repeats, and
    computes modulo p^r. Sets for approximate numbers have no p^r and no budget, so these properties and the operations
    on digits raise :class:`ParameterError`.
    """

    inner: _ringmill.Bootstrapping

    @property
    def params(self) -> Params:
        return self.inner.params

    @property
    def slots(self) -> int:
        """The length of the longest vector: for whole numbers one row of slots, otherwise all slots."""
        return self.inner.slots

    @property
    def prime(self) -> int:
        return self.inner.power[0]

    @property
    def exponent(self) -> int:
        return self.inner.power[1]

    @property
    def modulus(self) -> int:
        """p^r. Whole numbers from -(p^r - 1) / 2 to (p^r - 1) / 2 stand for the residues."""
        prime, exponent = self.inner.power
        return prime**exponent

    @property
    def levels(self) -> tuple[int, int]:
        """The level that a bootstrap begins at, and the level of its result."""
        return self.inner.levels

    @property
    def budget(self) -> int:
        """The least noise budget in bits after a bootstrap."""
        return self.inner.budget

    @property
    def error(self) -> float:
        """A bound on the error that a bootstrap of real numbers up to 1 adds to a slot, or 0 for whole numbers."""
        return self.inner.error

    @property
    def half(self) -> int:
        """(p - 1) / 2, the largest digit."""
        return self.prime // 2

    @arguments("Bootstrapping.fixed", compile_error, x=_VECTOR, scale=_SCALE, bound=_SIZE)
    def fixed(self, x: Encrypted, scale: int, bound: int) -> Fixed:
        """Interprets an encrypted vector as fixed-point numbers. Its whole numbers are `scale` times the numbers that
        they stand for, and at most `bound` in absolute value.
        """
        return Fixed(self, x, scale, bound)

    @arguments(
        "Bootstrapping.digit_table", compile_error, x=_VECTOR, values=items(_WHOLE, "a list of values", compile_error)
    )
    def digit_table(self, x: Encrypted, values: Sequence[int]) -> Encrypted:
        """Applies a function to the lowest digit of every slot. `values` are its values from -(p - 1) / 2 to (p - 1) /
        2.
        """
        if len(values) != self.prime:
            refuse(f"a table of the lowest digit has {self.prime} values, and this one has {len(values)}")
        half = self.modulus // 2
        table = [(value + half) % self.modulus - half for value in values]
        return x._tracer.emit(x._kind, x._fill.unsure, "digit_table", x._id, self.prime, self.exponent, table)

    @arguments("Bootstrapping.low_digit", compile_error, x=_VECTOR)
    def low_digit(self, x: Encrypted) -> Encrypted:
        """Returns the lowest digit of every slot, from -(p - 1) / 2 to (p - 1) / 2."""
        return x._tracer.emit(x._kind, x._fill.unsure, "low_digit", x._id, self.prime, self.exponent)

    @arguments("Bootstrapping.shifted", compile_error, x=_VECTOR, digit=_VECTOR)
    def shifted(self, x: Encrypted, digit: Encrypted) -> Encrypted:
        """Returns (x - digit) / p for the lowest digit of x. The result is right modulo p^(r - 1) only, so only its
        lowest r - 1 digits mean something.
        """
        rest = x - digit
        return rest._tracer.emit(rest._kind, rest._fill.unsure, "quotient", rest._id, self.prime)

    @arguments("Bootstrapping.sign", compile_error, x=_VECTOR, digits=optional(_SCALE))
    def sign(self, x: Encrypted, digits: int | None = None) -> Encrypted:
        """Returns the sign of every slot, -1, 0 or 1. It is exact for whole numbers of `digits` balanced digits in base
        p.

        By default the numbers have r digits, as numbers modulo p^r have. The sign of a - b compares a with b.
        """
        return x._tracer.emit(x._kind, x._fill.unsure, "sign", x._id, self.prime, self.exponent, self._count(digits))

    @arguments("Bootstrapping.scaled", compile_error, x=_VECTOR, by=_SCALE, digits=optional(_SCALE))
    def scaled(self, x: Encrypted, by: int, digits: int | None = None) -> Encrypted:
        """Divides every slot by p^by and rounds to the nearest whole number. Slots have `digits` balanced digits in
        base p.

        By default the numbers have r digits, as numbers modulo p^r have.
        """
        if by >= (count := self._count(digits)):
            refuse(f"numbers of {count} digits are scaled by fewer, and by={by}")
        return x._tracer.emit(x._kind, x._fill.unsure, "scaled", x._id, self.prime, self.exponent, by, count)

    def _count(self, digits: int | None) -> int:
        count = self.exponent if digits is None else digits
        if count > self.exponent:
            refuse(f"whole numbers modulo {self.prime}^{self.exponent} have no {count} digits")
        return count

    def __repr__(self) -> str:
        return repr(self.inner)


@dataclass(frozen=True)
class Fixed:
    """Encrypted signed fixed-point numbers. Each is a whole number, `scale` times the number that it stands for.

    `bound` is the largest absolute value of the whole numbers. An operation whose result may exceed (p^r - 1) / 2 is
    refused at its line.
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
        other = self._fixed(other)
        if self.scale != other.scale:
            refuse(f"numbers of scales {self.scale} and {other.scale} are not added; multiply one by a number")
        return other

    def _fixed(self, other: object) -> Fixed:
        if not isinstance(other, Fixed) or other.setup is not self.setup:
            refuse(
                f"fixed-point numbers meet those of the same set, and this is {shown(other)}; times(c) is by a number"
            )
        return other

    def __add__(self, other: Fixed) -> Fixed:
        other = self._like(other)
        return self._made(self.vector + other.vector, self.scale, self.bound + other.bound)

    def __sub__(self, other: Fixed) -> Fixed:
        other = self._like(other)
        return self._made(self.vector - other.vector, self.scale, self.bound + other.bound)

    def __mul__(self, other: Fixed) -> Fixed:
        other = self._fixed(other)
        return self._made(self.vector * other.vector, self.scale * other.scale, self.bound * other.bound)

    @arguments("Fixed.times", compile_error, factor=_WHOLE)
    def times(self, factor: int) -> Fixed:
        """Multiplies the whole numbers, and so the numbers that they stand for, by a whole number."""
        return self._made(self.vector * factor, self.scale, self.bound * abs(factor))

    @arguments("Fixed.assume", compile_error, bound=_SIZE)
    def assume(self, bound: int) -> Fixed:
        """Returns the same numbers with a bound that the caller knows for the data at hand. If the numbers are larger,
        later results are wrong.
        """
        return self._made(self.vector, self.scale, bound)

    @arguments("Fixed.digits", compile_error, count=optional(_SCALE))
    def digits(self, count: int | None = None) -> list[Encrypted]:
        """Returns the balanced digits in base p, the lowest first. There are as many as the bound needs, or at most
        `count`.
        """
        needed = _digits(self.bound, self.setup.prime)
        found: list[Encrypted] = []
        rest = self.vector
        for place in range(needed if count is None else min(count, needed)):
            if place:
                rest = self.setup.shifted(rest, found[-1])
            found.append(self.setup.low_digit(rest))
        return found

    @arguments("Fixed.sign", compile_error)
    def sign(self) -> Encrypted:
        """Returns -1, 0 or 1 in every slot."""
        return self.setup.sign(self.vector, _digits(self.bound, self.setup.prime))

    @arguments("Fixed.less", compile_error, other=_fixed_point)
    def less(self, other: Fixed) -> Encrypted:
        """Returns 1 in every slot where the number is less than the other's, else 0."""
        sign = (self - other).sign()
        # (s - 1) s / 2 is 1 at -1, and 0 at 0 and 1.
        return (sign * sign - sign) * ((self.setup.modulus + 1) // 2)

    @arguments("Fixed.rescaled", compile_error, by=_SCALE)
    def rescaled(self, by: int = 1) -> Fixed:
        """Divides the whole numbers by p^by and rounds, for less precision. The scale, a multiple of p^by, is divided
        too.
        """
        prime = self.setup.prime
        count = _digits(self.bound, prime)
        if by >= count:
            refuse(f"numbers up to {self.bound} are 0 over {prime}^{by}")
        power = prime**by
        if self.scale % power:
            refuse(f"a scale of {self.scale} is no multiple of {prime}^{by}")
        vector = self.setup.scaled(self.vector, by, count)
        return self._made(vector, self.scale // power, (self.bound + power // 2) // power)

    @arguments("Fixed.rounded_table", compile_error, function=_function, scale=_SCALE)
    def rounded_table(self, function: Callable[[int], int], scale: int) -> Fixed:
        """Divides each whole number by p, rounds to the nearest one, and applies `function` to it by a table.

        The rounded quotients must lie within (p - 1) / 2 on both sides of 0. The result has the scale `scale`.
        """
        setup = self.setup
        if _digits(self.bound, setup.prime) > 2:
            most = setup.half * setup.prime + setup.half
            refuse(
                f"a table of numbers over {setup.prime} is for those up to {most}, and these may be as large as "
                f"{self.bound}"
            )
        try:
            values = [_WHOLE("a value of the table", function(z)) for z in range(-setup.half, setup.half + 1)]
        except CompileError:
            raise
        except Exception as error:
            refuse(f"function fails on whole numbers: {type(error).__name__}: {shown(str(error))}")
        rest = setup.shifted(self.vector, setup.low_digit(self.vector))
        return self._made(setup.digit_table(rest, values), scale, max(abs(v) for v in values))

    def __repr__(self) -> str:
        return f"<fixed-point numbers up to {self.bound} / {self.scale}>"


def _digits(bound: int, prime: int) -> int:
    """Returns the number of balanced digits in base `prime` of whole numbers up to a bound, at least 1."""
    count, most = 0, 0
    while most < bound:
        most = most * prime + prime // 2
        count += 1
    return max(count, 1)


# The check of a `bootstrapping` argument.
_SETUP = instance(
    Bootstrapping, "a set that bootstraps, as rm.bootstrapping makes it, or True or False", ParameterError
)


def setup_or_flag(name: str, value: Any) -> Any:
    return value if isinstance(value, bool) else _SETUP(name, value)


@arguments(
    "rm.bootstrapping",
    name=optional(text(ParameterError)),
    log_n=optional(integer(3, 16, ParameterError)),
    prime=optional(integer(3, 2**60, ParameterError)),
    exponents=optional(items(_COUNT, "a pair of whole numbers", ParameterError)),
    primes=optional(items(_COUNT, "a pair of whole numbers", ParameterError)),
    weight=optional(_COUNT),
    target=optional(text(ParameterError)),
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
    target: str | None = None,
    allow_insecure_parameters_for_tests_only: bool = False,
) -> Bootstrapping:
    """Returns parameters that bootstrap, by the name of a set or from sizes of your own.

    ``"deep"``, ``"fine"`` and ``"precise"`` are sets for approximate numbers (CKKS) with N = 2^16 and 32,768 slots.
    For numbers up to 1, ``"deep"`` has 15 levels between bootstraps and errors below 2^-20, ``"fine"`` 12 levels and
    errors below 2^-23. ``"precise"`` has 8 levels and errors below 2^-41, and its bootstraps take about twice as long.
    A CKKS program that needs bootstraps takes such a set without being asked. The other secure sets are for whole
    numbers (BGV). With a name, the sizes are not used. ``"basalisc"`` is the BASALISC paper's set (N = 2^16, 127^3, 64
    slots). Your own sizes are for whole numbers: `log_n`; `prime` p and `exponents` r and e; `primes`, the numbers of
    ciphertext primes and of special primes; and the `weight` of the encapsulated secret. `target` is for sets of whole
    numbers: the name of a machine or of its description file, to which the set is adapted. The vector machine divides
    modulo primes alone and stores its keys whole. Give the same target to ``compile``.

    Raises :class:`ParameterError` for parameters that are malformed, not secure, or do not bootstrap, and for a target
    with a set for approximate numbers. Raises :class:`DeviceError` for a target that does not exist.

    >>> import ringmill as rm
    >>> toy = rm.bootstrapping(log_n=9, prime=17, exponents=(3, 4), primes=(39, 13), weight=8,
    ...                        allow_insecure_parameters_for_tests_only=True)
    >>> toy.slots, toy.modulus
    (4, 4913)
    """
    if name is not None:
        return Bootstrapping(_ringmill.named_bootstrapping(name, target))
    if log_n is None or prime is None or exponents is None or primes is None or weight is None:
        raise ParameterError("give the name of a set, or all of log_n=, prime=, exponents=, primes= and weight=")
    (r, e), (cipher, special) = _pair("exponents", exponents), _pair("primes", primes)
    insecure = allow_insecure_parameters_for_tests_only
    sizes = (prime, r, e), (cipher, special), weight
    return Bootstrapping(_ringmill.own_bootstrapping(log_n, *sizes, insecure, target))


def _pair(name: str, value: Sequence[int]) -> tuple[int, int]:
    if len(value) != 2:
        raise ParameterError(f"{name}= is a pair of whole numbers, and has {len(value)}")
    return value[0], value[1]
