# SPDX-License-Identifier: Apache-2.0
"""Programs on encrypted data: written once in Python, run on the CPU and on simulated accelerators.

>>> import numpy as np
>>> import ringmill as rm
>>> @rm.program
... def distance(x: rm.Encrypted, y: rm.Plain):
...     return rm.sum((x - y) ** 2, 256) / 256
>>> compiled = distance.compile(slots=256, input_bound=1)
>>> client = compiled.keygen()
>>> inputs = client.encrypt(x=np.full(256, 0.5))
>>> run = compiled.run(inputs, plain={"y": np.zeros(256)}, device="cpu")
>>> bool(np.allclose(client.decrypt(run), 0.25, atol=1e-5))
True
"""

import typing as _typing

from ringmill._ringmill import Ciphertext, EvaluationKeys, MacroProgram, Params, PublicKey, __version__
from ringmill.arrays.filters import avg_pool2d, conv1d, conv2d, upsample
from ringmill.arrays.pins import layout
from ringmill.bootstrapping import Bootstrapping, Fixed, bootstrapping
from ringmill.circuit import Circuit, Netlist, circuit, netlist
from ringmill.circuit_integers import Integer, add_all, lookup, maximum, minimum, select
from ringmill.circuit_run import (
    CircuitClient,
    CircuitEvaluationKeys,
    CircuitInputs,
    CircuitParams,
    CircuitRun,
    CompiledCircuit,
    EncryptedIntegers,
    load_circuit,
)
from ringmill.circuit_run import parameters as circuit_params
from ringmill.client import Client, Precision, Share
from ringmill.compare import compare
from ringmill.compiled import Compiled
from ringmill.errors import (
    ArgumentError,
    CompileError,
    DataError,
    DefaultBoundWarning,
    DeviceError,
    FileError,
    Interrupted,
    KeysError,
    KeysWarning,
    ParameterError,
    RingmillError,
)
from ringmill.interrupt import install as _end_as_interrupted
from ringmill.limbs import NegacyclicProduct, negacyclic_product
from ringmill.limits import Limits, limits
from ringmill.loading import load
from ringmill.matrix import Matrix
from ringmill.messages import Inputs, Run
from ringmill.ops import bounded, conj, equal, mean, polynomial, rotate, sum, two_real
from ringmill.parameters import devices, params, plain_modulus
from ringmill.procedure import Procedure, procedure, repeat
from ringmill.program import Program, program
from ringmill.refusals import install as _refuse
from ringmill.refusals import missing_from_module as _missing
from ringmill.report import Report
from ringmill.trace import Encrypted, Plain
from ringmill.types import bit, integer, real, sint, uint
from ringmill.values import tile

_end_as_interrupted()

__all__ = [
    "ArgumentError",
    "Bootstrapping",
    "Ciphertext",
    "Circuit",
    "CircuitClient",
    "CircuitEvaluationKeys",
    "CircuitInputs",
    "CircuitParams",
    "CircuitRun",
    "Client",
    "CompileError",
    "Compiled",
    "CompiledCircuit",
    "DataError",
    "DefaultBoundWarning",
    "DeviceError",
    "Encrypted",
    "EncryptedIntegers",
    "EvaluationKeys",
    "FileError",
    "Fixed",
    "Inputs",
    "Integer",
    "Interrupted",
    "KeysError",
    "KeysWarning",
    "Limits",
    "MacroProgram",
    "Matrix",
    "NegacyclicProduct",
    "Netlist",
    "ParameterError",
    "Params",
    "Plain",
    "Precision",
    "Procedure",
    "Program",
    "PublicKey",
    "Report",
    "RingmillError",
    "Run",
    "Share",
    "__version__",
    "add_all",
    "avg_pool2d",
    "bit",
    "bootstrapping",
    "bounded",
    "circuit",
    "circuit_params",
    "compare",
    "conj",
    "conv1d",
    "conv2d",
    "devices",
    "equal",
    "integer",
    "layout",
    "limits",
    "load",
    "load_circuit",
    "lookup",
    "maximum",
    "mean",
    "minimum",
    "negacyclic_product",
    "netlist",
    "params",
    "plain_modulus",
    "polynomial",
    "procedure",
    "program",
    "real",
    "repeat",
    "rotate",
    "select",
    "sint",
    "sum",
    "tile",
    "two_real",
    "uint",
    "upsample",
]


def __dir__() -> list[str]:
    return [*__all__, *({"seal"} & globals().keys())]


# A type checker must not see this function: it reports unknown names itself.
if not _typing.TYPE_CHECKING:

    def __getattr__(name):
        raise _missing(name, __dir__())


_objects = [globals()[_name] for _name in __all__]
_classes = {item if isinstance(item, type) else type(item) for item in _objects}
_refuse(cls for cls in _classes if cls.__module__.startswith("ringmill") and not issubclass(cls, BaseException))
