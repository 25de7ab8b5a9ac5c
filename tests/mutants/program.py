# SPDX-License-Identifier: Apache-2.0
"""What is a test program? A file that holds the tests of one crate."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Program:
    """A test program, the name of the crate whose tests it holds, and the folder of its package."""

    crate: str
    folder: Path
    path: Path
