"""Scheme parameters and devices."""

from __future__ import annotations

from collections.abc import Sequence

from ringmill import _ringmill
from ringmill._ringmill import Params
from ringmill.check import arguments, flag, instance, integer, items, number, optional, text
from ringmill.errors import ParameterError

# The check of a `params` argument.
PARAMS = instance(Params, "parameters, as rm.params makes them", ParameterError)


@arguments(
    "rm.params",
    name=optional(text(ParameterError)),
    log_n=optional(integer(0, 255, ParameterError)),
    bits=optional(items(integer(0, 2**32 - 1, ParameterError), "a list of prime sizes", ParameterError)),
    table=optional(text(ParameterError)),
    security=integer(0, 2**32 - 1, ParameterError),
    scale=optional(number(ParameterError)),
    allow_insecure_parameters_for_tests_only=flag(ParameterError),
)
def params(
    name: str | None = None,
    *,
    log_n: int | None = None,
    bits: Sequence[int] | None = None,
    table: str | None = None,
    security: int = 128,
    scale: float | None = None,
    allow_insecure_parameters_for_tests_only: bool = False,
) -> Params:
    """A named parameter set, or one of your own.

    ``"set1"`` (N = 2^14, 438 bits) and ``"set2"`` (N = 2^15, 546 bits) are those of the ring paper. Your own: `log_n`,
    and `bits`, the sizes of the primes: first the ciphertext primes, the special prime last. They are checked at
    `security` bits under `table`, ``"guidelines_2024"`` (the default), ``"standard_2018"`` (which ``"set1"`` needs) or
    ``"estimator_2026"`` (our own estimates, small rings too).

    Raises :class:`ParameterError` when they are malformed or not secure.

    >>> import ringmill as rm
    >>> rm.params(log_n=14, bits=[60, 54, 54, 54, 54, 54, 54]).levels
    5
    >>> rm.params("set1", table="standard_2018").slots
    8192
    """
    if (name is None) == (log_n is None) or (log_n is None) != (bits is None):
        raise ParameterError('give either the name of a set, as in rm.params("set2"), or both log_n= and bits=')
    table = table or "guidelines_2024"
    insecure = allow_insecure_parameters_for_tests_only
    return _ringmill.make_params(name, log_n, bits, table, security, scale, insecure)


@arguments("rm.devices")
def devices() -> list[str]:
    """The devices a program can run on, as ``Compiled.run`` takes them.

    >>> import ringmill as rm
    >>> "cpu" in rm.devices() and "sim:ring" in rm.devices()
    True
    """
    return _ringmill.devices()
