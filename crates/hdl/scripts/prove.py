"""{..., "seconds"} to [{"assertion", "verdict", "seconds", "counterexample"}].

Yosys elaborates the top and replaces each register by a wire; what is left is combinational. Each assertion is then one
BTOR2 problem (its negation under the assumptions) for bitwuzla.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import bitwuzla
from pyosys import libyosys as ys
from rtl import Tell, read, serve

TRANSPARENT = r"""
module \$dff (CLK, D, Q);
  parameter WIDTH = 1;
  parameter CLK_POLARITY = 1;
  input CLK;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  assign Q = D;
endmodule
"""


def elaborate(request: dict, scratch: Path) -> list[str]:
    """Lines of the BTOR2 text."""
    design = read(request, scratch)
    (scratch / "transparent.v").write_text(TRANSPARENT)
    ys.run_pass(f"prep -flatten -top {request['top']}", design)
    ys.run_pass(f"techmap -map {scratch}/transparent.v", design)
    ys.run_pass("opt", design)
    ys.run_pass("chformal -lower", design)
    ys.run_pass(f"write_btor {scratch}/top.btor", design)
    return (scratch / "top.btor").read_text().splitlines()


def solve(lines: list[str], bad: int | None, seconds: int, path: Path) -> dict:
    """Decides the assertion in line `bad`: unsatisfiable negation is a proof. None asks for the assumptions alone."""
    problem = []
    for at, line in enumerate(lines):
        fields = line.split(";")[0].split()
        if len(fields) < 2 or fields[1] == "output":
            continue
        if fields[1] in ("state", "init", "next"):
            raise SystemExit(f"not combinational: {line}")
        if fields[1] == "bad":
            if at != bad:
                continue
            fields[1] = "constraint"
        problem.append(" ".join(fields[:3] if fields[1] == "constraint" else fields))
    path.write_text("\n".join(problem) + "\n")
    terms = bitwuzla.TermManager()
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.TIME_LIMIT_PER, seconds * 1000)
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    parser = bitwuzla.Parser(terms, options, "btor2")
    began = time.monotonic()
    parser.parse(str(path), True)
    solver = parser.bitwuzla()
    result = solver.check_sat()
    verdict = {bitwuzla.Result.UNSAT: "proved", bitwuzla.Result.SAT: "refuted"}.get(result, "unknown")
    model = []
    if verdict == "refuted":
        model = [(str(v), str(solver.get_value(v))) for v in parser.get_declared_funs()]
    return {
        "verdict": verdict,
        "seconds": round(time.monotonic() - began, 3),
        "counterexample": model,
    }


def prove(request: dict, scratch: Path, tell: Tell) -> list[dict]:
    """The outcome of every assertion."""
    lines = elaborate(request, scratch)
    assumed = solve(lines, None, request["seconds"], scratch / "one.btor")
    if assumed["verdict"] == "proved":
        raise SystemExit("the assumptions contradict each other, so every assertion would hold")
    wanted = [(at, found) for at, line in enumerate(lines) if (found := re.match(r"\d+ bad \d+ ?(.*)", line))]
    proofs = []
    for at, found in wanted:
        tell("prove", len(proofs), len(wanted))
        label = found.group(1).split(";")[0].strip() or f"line {at}"
        outcome = solve(lines, at, request["seconds"], scratch / "one.btor")
        proofs.append({"assertion": label, **outcome})
    return proofs


serve(prove)
