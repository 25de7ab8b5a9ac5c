# SPDX-License-Identifier: Apache-2.0
"""`make mutants` runs the tests that reach a fault, and says which faults no test catches."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutants import tree
from mutants.fault import Fault
from mutants.program import Program
from mutants.report import as_json, as_text
from mutants.suite import Suite
from mutants.trial import judge

PROGRAM = """#!/bin/sh
case "$*" in
*--list*--ignored*) ;;
*--list*) printf 'adds: test\\nwaits: test\\n' ;;
*)
    if [ -n "$RINGMILL_MUTANTS_REACHED" ]; then printf '1\\n2\\n' > "$RINGMILL_MUTANTS_REACHED"; fi
    [ "$RINGMILL_MUTANT" = 1 ] && echo 'test adds ... FAILED' && exit 101
    exit 0 ;;
esac
"""


def fault(name: str) -> Fault:
    return Fault("isa", f"{name}.rs", 1, 0, 1, "expression", ("0",), "1", "0")


def test_a_fault_is_caught_by_a_test_that_fails_or_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tree, "WORK", tmp_path)
    path = tmp_path / "tests-of-isa"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    suite = Suite([Program("isa", tmp_path, path)])
    suite.measure(workers=2)
    verdicts = list(judge(suite, dict(enumerate(map(fault, "abc"), 1)), workers=2))
    assert [verdict.caught for verdict in verdicts] == ["isa", None, None]
    assert [verdict.tests for verdict in verdicts] == [2, 2, 0]
    assert "seed 5: 1 of 3 faults caught, 33.3 %" in as_text(5, suite, verdicts)
    assert json.loads(as_json(5, suite, verdicts))["caught"] == 1
