# SPDX-License-Identifier: Apache-2.0
"""Loads programs from files: saved programs, and macro text written by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from ringmill._ringmill import MacroProgram, Params, ProgramFile, program_of_bytes, read_program
from ringmill.arrays.interface import MARK, Interface, read
from ringmill.check import Path, arguments, flag, guarded, optional, path, text
from ringmill.compiled import Compiled
from ringmill.errors import CompileError, FileError, ParameterError
from ringmill.files import source, take
from ringmill.parameters import TABLES, params_made
from ringmill.program import check_options, compile_arrays, compile_traced
from ringmill.schemes import choose_for_text, of_text
from ringmill.shape import Shape
from ringmill.waiting import waiting

guarded("@rm.program functions and files make programs", FileError, path=path, text=text(FileError))(MacroProgram)

# What messages call a program that does not come from a path.
_BYTES = "the program's bytes"


@arguments(
    "rm.load",
    path=source,
    params=optional(params_made),
    scheme=optional(text(CompileError)),
    tables=TABLES,
    allow_insecure_parameters_for_tests_only=flag(ParameterError),
)
def load(
    path: Path | BinaryIO,
    params: Params | None = None,
    *,
    scheme: str | None = None,
    tables: list[str] | None = None,
    allow_insecure_parameters_for_tests_only: bool = False,
    **options: Any,
) -> Compiled:
    """Loads a program that :meth:`Compiled.save` wrote, with its parameters and options, from a path or an open binary
    file.

    Macro text written by hand (.rmac) has neither. It is compiled with `params` and `options`, which are those of
    :meth:`Program.compile`. If either is given for a saved program, it is compiled anew with them, and its own
    parameters and options are ignored. Parameters in a file that are not secure are refused unless they are allowed.

    A saved program names the security table that its parameters are checked with, and `tables` names the tables that
    you accept. The default is ``"guidelines_2024"``, and for sparse secrets ``"sparse_ternary_2026"``. A list replaces
    both: ``tables=["guidelines_2024", "standard_2018"]``.

    A file names its scheme, and a file of another scheme than `scheme` is refused. The file of a program of arrays
    keeps the types of its arguments. Other files keep only lengths. Their inputs are whole numbers if the scheme is one
    of integers, and otherwise real or complex numbers.

    Raises :class:`FileError` or :class:`CompileError`.
    """
    check_options("rm.load", params, options)
    is_path = isinstance(path, (str, bytes, os.PathLike))
    name = os.fsdecode(path) if is_path else str(getattr(path, "name", _BYTES))
    with waiting(f'loading "{name}"'):
        file = read_program(path) if is_path else program_of_bytes(take(path))
        return _loaded(file, name, params, scheme, tables, allow_insecure_parameters_for_tests_only, options)


def of_bytes(data: bytes, tables: list[str] | None, allow_insecure_parameters_for_tests_only: bool) -> Compiled:
    """Loads a program from the content of a file, with its parameters and options."""
    with waiting("loading a program"):
        file = program_of_bytes(data)
        return _loaded(file, _BYTES, None, None, tables, allow_insecure_parameters_for_tests_only, {})


def _loaded(
    file: ProgramFile,
    name: str,
    params: Params | None,
    scheme: str | None,
    tables: list[str] | None,
    allow_insecure_parameters_for_tests_only: bool,
    options: Mapping[str, Any],
) -> Compiled:
    line = file.comment(MARK)
    arrays = None if line is None else read(line, name)
    if params is None and not options:
        saved = file.compiled(tables, allow_insecure_parameters_for_tests_only)
        if saved is not None:
            if arrays is not None:
                _check_arrays(arrays, saved.inputs, saved.outputs, saved.slots, name)
                found = choose_for_text(scheme, saved.scheme)
                return Compiled(saved, arrays.shape, arrays.signature, found, arrays)
            returned, inputs, outputs = saved.arrays
            shape, signature = Shape.of_text(saved.outputs, returned, outputs), of_text(saved.scheme, inputs)
            return Compiled(saved, shape, signature, choose_for_text(scheme, saved.scheme))
    program = file.program()
    choice = choose_for_text(scheme, program.scheme)
    if arrays is not None:
        _check_arrays(arrays, program.inputs, program.outputs, program.slots, name)
        return compile_arrays(program, arrays, params, choice, options)
    returned, inputs, outputs = program.arrays
    shape, signature = Shape.of_text(program.outputs, returned, outputs), of_text(program.scheme, inputs)
    return compile_traced(program, shape, params, signature=signature, choice=choice, **options)


def _check_arrays(
    arrays: Interface, inputs: Sequence[tuple[str, bool]], outputs: Sequence[str], slots: int, name: str
) -> None:
    """Refuses arrays that do not stand in the vectors of a program."""
    own = {(vector, argument.encrypted) for argument in arrays.arguments for vector in argument.vectors}
    if own != set(inputs) or set(arrays.shape.names) != set(outputs) or arrays.slots != slots:
        raise FileError(f"{name}: the comment that says how arrays stand in slots is of another program")
