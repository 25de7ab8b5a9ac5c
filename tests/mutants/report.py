# SPDX-License-Identifier: Apache-2.0
"""Reports which faults no test catches, and what share the tests catch."""

import json
from collections import Counter

from .suite import Suite
from .trial import Verdict


def as_json(seed: int, suite: Suite, verdicts: list[Verdict]) -> str:
    """Returns all verdicts as a JSON object."""
    rows = [
        {
            "number": v.number,
            "crate": v.fault.crate,
            "file": v.fault.path,
            "line": v.fault.line,
            "old": v.fault.old,
            "new": v.fault.new,
            "caught_by": v.caught,
            "tests_that_reach_it": v.tests,
        }
        for v in verdicts
    ]
    caught = sum(v.caught is not None for v in verdicts)
    answer = {"seed": seed, "faults": len(rows), "caught": caught, "tests_left_out": suite.failed, "verdicts": rows}
    return json.dumps(answer, indent=1)


def as_text(seed: int, suite: Suite, verdicts: list[Verdict]) -> str:
    """Returns as text the faults that no test caught, and the numbers caught for each crate and in all."""
    lines = [f"left out, because it fails without a fault: {name}" for name in suite.failed]
    for v in sorted((v for v in verdicts if v.caught is None), key=lambda v: (v.fault.path, v.fault.line)):
        lines.append(f"{v.fault} (number {v.number}, {v.tests} tests reach it)")
    drawn, caught = Counter(v.fault.crate for v in verdicts), Counter(v.fault.crate for v in verdicts if v.caught)
    lines += [f"{crate}: {caught[crate]} of {drawn[crate]}" for crate in sorted(drawn)]
    share = 100 * caught.total() / max(drawn.total(), 1)
    return "\n".join([*lines, f"seed {seed}: {caught.total()} of {drawn.total()} faults caught, {share:.1f} %"])
