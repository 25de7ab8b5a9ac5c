# SPDX-License-Identifier: Apache-2.0
"""Arrays of any shape in programs on encrypted data, with numpy's meaning."""

from ringmill.arrays import functions, methods
from ringmill.arrays.interface import Interface
from ringmill.arrays.tracing import traced
from ringmill.arrays.value import Array, PlainArray, Traced

__all__ = ["Array", "Interface", "PlainArray", "Traced", "functions", "methods", "traced"]
