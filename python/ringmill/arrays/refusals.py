# SPDX-License-Identifier: Apache-2.0
"""Says what to write instead of functions and attributes that traced arrays lack."""

from __future__ import annotations

from ringmill import advice

_ORDER = (
    "values cannot be compared while they are encrypted: rm.polynomial(x, coefficients) approximates a step, rm.equal "
    "compares whole numbers, and @rm.circuit has maximum, minimum and sorting"
)
_INSTEAD = {
    **dict.fromkeys(
        ["max", "min", "amax", "amin", "argmax", "argmin", "clip", "sort", "argsort", "median", "maximum", "minimum"],
        _ORDER,
    ),
    **dict.fromkeys(["nonzero", "argwhere", "unique", "any", "all", "searchsorted", "ptp", "percentile"], _ORDER),
    **dict.fromkeys(["std", "nanstd"], "the variance is x.var(); take np.sqrt of what is decrypted"),
    **dict.fromkeys(["astype", "dtype", "view"], "its values keep the type that is declared, rm.real or whole numbers"),
    **dict.fromkeys(["item", "tolist", "tobytes"], "its values are not known in a trace; client.decrypt(run) has them"),
    **dict.fromkeys(
        ["zeros_like", "ones_like", "full_like", "empty_like"], "constants are numpy arrays, as np.zeros(x.shape)"
    ),
    **dict.fromkeys(["real", "imag", "angle"], "rm.conj(x) is the conjugate, (x + rm.conj(x)) / 2 the real part"),
    **dict.fromkeys(
        ["round", "around", "rint", "floor", "ceil", "trunc"],
        "round what is decrypted, as np.round(client.decrypt(run))",
    ),
    **dict.fromkeys(
        ["inv", "solve", "det", "eig", "svd", "qr", "cholesky", "pinv", "lstsq"], "it has @, sums and products"
    ),
}
_ELSE = (
    "arrays have + - * @, ** with a whole number, / by numbers, indexing, sums, means, variances, and the functions of "
    "numpy that rearrange, multiply and add up values; rm.polynomial approximates others"
)


def instead(name: str) -> str:
    """Returns the advice for a function of numpy, or for an attribute of arrays."""
    if name in _INSTEAD:
        return _INSTEAD[name]
    known = advice.instead(name)
    return known if "np.interp" in known or "coefficients[::-1]" in known else _ELSE
