# SPDX-License-Identifier: Apache-2.0
"""Loads programs from files: saved programs, and macro text written by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ringmill._ringmill import Params, read_program
from ringmill.arrays.interface import MARK, Interface, read
from ringmill.check import arguments, flag, items, optional, path, text
from ringmill.errors import CompileError, FileError, ParameterError
from ringmill.parameters import params_made
from ringmill.program import check_options, compile_arrays, compile_traced
from ringmill.runtime import Compiled, Path
from ringmill.schemes import choose_for_text, of_text
from ringmill.shape import Shape
from ringmill.waiting import waiting


@arguments(
    "rm.load",
    path=path,
    params=optional(params_made),
    scheme=optional(text(CompileError)),
    tables=optional(items(text(ParameterError), "a list of security tables", ParameterError)),
    allow_insecure_parameters_for_tests_only=flag(ParameterError),
)
def load(
    path: Path,
    params: Params | None = None,
    *,
    scheme: str | None = None,
    tables: list[str] | None = None,
    allow_insecure_parameters_for_tests_only: bool = False,
    **options: Any,
) -> Compiled:
    """Loads a program that :meth:`Compiled.save` wrote, with its parameters and options.

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
    with waiting(f'loading "{os.fsdecode(path)}"'):
        return _loaded(path, params, scheme, tables, allow_insecure_parameters_for_tests_only, options)


def _loaded(
    path: Path,
    params: Params | None,
    scheme: str | None,
    tables: list[str] | None,
    allow_insecure_parameters_for_tests_only: bool,
    options: Mapping[str, Any],
) -> Compiled:
    file = read_program(path)
    line = file.comment(MARK)
    arrays = None if line is None else read(line, os.fsdecode(path))
    if params is None and not options:
        saved = file.compiled(tables, allow_insecure_parameters_for_tests_only)
        if saved is not None:
            if arrays is not None:
                _check_arrays(arrays, saved.inputs, saved.outputs, saved.slots, path)
                found = choose_for_text(scheme, saved.scheme)
                return Compiled(saved, arrays.shape, arrays.signature, found, arrays)
            returned, inputs, outputs = saved.arrays
            shape, signature = Shape.of_text(saved.outputs, returned, outputs), of_text(saved.scheme, inputs)
            return Compiled(saved, shape, signature, choose_for_text(scheme, saved.scheme))
    program = file.program()
    choice = choose_for_text(scheme, program.scheme)
    if arrays is not None:
        _check_arrays(arrays, program.inputs, program.outputs, program.slots, path)
        return compile_arrays(program, arrays, params, choice, options)
    returned, inputs, outputs = program.arrays
    shape, signature = Shape.of_text(program.outputs, returned, outputs), of_text(program.scheme, inputs)
    return compile_traced(program, shape, params, signature=signature, choice=choice, **options)


def _check_arrays(
    arrays: Interface, inputs: Sequence[tuple[str, bool]], outputs: Sequence[str], slots: int, path: Path
) -> None:
    """Refuses arrays that do not stand in the vectors of a program."""
    own = {(name, argument.encrypted) for argument in arrays.arguments for name in argument.vectors}
    if own != set(inputs) or set(arrays.shape.names) != set(outputs) or arrays.slots != slots:
        raise FileError(f"{os.fsdecode(path)}: the comment that says how arrays stand in slots is of another program")
