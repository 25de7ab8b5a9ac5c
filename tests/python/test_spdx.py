# SPDX-License-Identifier: Apache-2.0
"""Checks that every source file names its licence in its first line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "release"))

import spdx  # noqa: E402


def test_every_source_file_names_its_licence():
    sources = spdx.sources()
    assert len(sources) > 1000
    lacking = [str(path.relative_to(ROOT)) for path in sources if not spdx.named(path, path.read_text())]
    assert lacking == [], f"run `python release/spdx.py`: {len(lacking)} files do not name their licence"


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.rs", "//! A.\n", "// SPDX-License-Identifier: Apache-2.0\n//! A.\n"),
        ("a.rs", "#![no_main]\n", "// SPDX-License-Identifier: Apache-2.0\n#![no_main]\n"),
        ("a.py", "x = 1\n", "# SPDX-License-Identifier: Apache-2.0\nx = 1\n"),
        ("a.sh", "#!/bin/sh\nx\n", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\nx\n"),
        ("a.sv", "module a;\n", "// SPDX-License-Identifier: Apache-2.0\nmodule a;\n"),
    ],
)
def test_the_line_is_written_once(name, text, wanted):
    path = Path(name)
    assert not spdx.named(path, text)
    assert spdx.with_line(path, text) == wanted
    assert spdx.named(path, wanted)
