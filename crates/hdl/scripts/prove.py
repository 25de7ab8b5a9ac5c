# SPDX-License-Identifier: Apache-2.0
"""{..., "seconds", "steps"} to [{"assertion", "verdict", "seconds", "counterexample"}].

With no steps, Yosys elaborates the top and replaces each register by a wire; what is left is combinational. With k
steps registers stay, and an assertion is proved by induction: it holds in the k cycles after a cycle of reset,
whatever came before, and without reset in each cycle that follows k cycles in which all assertions held. Each of
these is one BTOR2 problem (the assertion's negation under the assumptions) for bitwuzla.
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


RESET = "rst_ni"


def elaborate(request: dict, scratch: Path) -> list[str]:
    """Lines of the BTOR2 text."""
    design = read(request, scratch)
    ys.run_pass(f"hierarchy -top {request['top']}", design)
    for one in ("proc", "flatten"):
        ys.run_pass(one, design)
    if not request["steps"]:
        # Before anything is simplified: what a register holds from cycle to cycle is as constant as what it takes.
        (scratch / "transparent.v").write_text(TRANSPARENT)
        ys.run_pass(f"techmap -map {scratch}/transparent.v", design)
    ys.run_pass(f"prep -flatten -top {request['top']}", design)
    if request["steps"]:
        for one in ("memory_map", "async2sync", "opt_clean", "dffunmap"):
            ys.run_pass(one, design)
    ys.run_pass("opt -nodffe -nosdff", design)
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
    return decide(problem, seconds, path)


def decide(problem: list[str], seconds: int, path: Path) -> dict:
    """Whether the constraints of a combinational text contradict each other, which is a proof, or what meets them."""
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


def unrolled(lines: list[str], frames: int) -> tuple[list[str], list[list[str]]]:
    """The design in so many cycles as one combinational text, without its assertions, and the nodes that are true where
    an assertion fails, cycle by cycle."""
    split = [fields for line in lines if len(fields := line.split(";")[0].split()) > 1]
    after = {fields[3]: fields[4] for fields in split if fields[1] == "next"}
    text: list[str] = []
    fails: list[list[str]] = []
    sorts: dict[str, str] = {}
    before: dict[str, str] = {}
    for frame in range(frames):
        here = dict(sorts)
        fails.append([])
        for fields in split:
            number, kind, *rest = fields
            if kind in ("next", "init", "output"):
                continue
            if kind == "state" and frame:
                here[number] = before[after[number]] if number in after else here.get(number, "")
                if number in after:
                    continue
            if kind == "sort":
                if frame == 0:
                    sorts[number] = here[number] = str(len(text) + 1)
                    text.append(
                        " ".join([sorts[number], "sort", rest[0], *renamed(rest[1:], here, rest[0] == "array")])
                    )
                continue
            if kind == "bad":
                fails[-1].append(here[rest[0]] if rest[0][0] != "-" else "-" + here[rest[0][1:]])
                continue
            here[number] = new = str(len(text) + 1)
            if kind in ("input", "state"):
                called = rest[1] if len(rest) > 1 else f"n{number}"
                text.append(f"{new} input {here[rest[0]]} {called}@{frame}")
                if called == RESET:
                    here[RESET] = new
            elif kind in ("const", "constd", "consth"):
                text.append(f"{new} {kind} {here[rest[0]]} {rest[1]}")
            elif kind in ("zero", "one", "ones"):
                text.append(f"{new} {kind} {here[rest[0]]}")
            elif kind == "constraint":
                text.append(f"{new} constraint {renamed(rest[:1], here, True)[0]}")
            else:
                count = {"slice": 2, "uext": 2, "sext": 2}.get(kind, len(rest))
                nodes = renamed(rest[:count], here, True)
                numbers = rest[count:] if kind in ("slice", "uext", "sext") else []
                text.append(" ".join([new, kind, *nodes, *numbers]))
        if RESET not in here:
            raise SystemExit(f"induction needs an input {RESET}")
        fails[-1].insert(0, here[RESET])
        before = here
    return text, fails


def renamed(nodes: list[str], here: dict[str, str], names: bool) -> list[str]:
    """Node numbers of this cycle; a negated one has a sign. Symbols behind them are left out."""
    if not names:
        return nodes
    numbers = [node for node in nodes if node.lstrip("-").isdigit()]
    return [("-" if node[0] == "-" else "") + here[node.lstrip("-")] for node in numbers]


def induction(lines: list[str], at: int, request: dict, path: Path) -> dict:
    """Decides assertion number `at` in the cycles after reset, then in one cycle after others."""
    steps = request["steps"]
    text, fails = unrolled(lines, steps + 1)
    spent = 0.0
    for is_step in (False, True):
        problem = list(text)

        def constrain(node: str, problem: list[str] = problem) -> None:
            problem.append(f"{len(problem) + 1} constraint {node}")

        for frame, (reset, *bad) in enumerate(fails):
            constrain(reset if is_step or frame else f"-{reset}")
            if is_step and frame < steps:
                for node in bad:
                    constrain(node[1:] if node[0] == "-" else f"-{node}")
        # Any of the cycles after reset, or the last.
        wanted = [bad[at] for _, *bad in (fails[-1:] if is_step else fails[1:])]
        sort = len(problem) + 1
        problem.append(f"{sort} sort bitvec 1")
        some = wanted[0]
        for node in wanted[1:]:
            problem.append(f"{len(problem) + 1} or {sort} {some} {node}")
            some = str(len(problem))
        problem.append(f"{len(problem) + 1} constraint {some}")
        outcome = decide(problem, request["seconds"], path)
        spent += outcome["seconds"]
        if outcome["verdict"] != "proved":
            break
    return {**outcome, "seconds": round(spent, 3)}


def prove(request: dict, scratch: Path, tell: Tell) -> list[dict]:
    """The outcome of every assertion."""
    lines = elaborate(request, scratch)
    if not request["steps"]:
        assumed = solve(lines, None, request["seconds"], scratch / "one.btor")
    else:
        text, fails = unrolled(lines, request["steps"] + 1)
        ordinary = [f"{len(text) + 1 + n} constraint {reset}" for n, (reset, *_) in enumerate(fails)]
        assumed = decide([*text, *ordinary], request["seconds"], scratch / "one.btor")
    if assumed["verdict"] == "proved":
        raise SystemExit("the assumptions contradict each other, so every assertion would hold")
    wanted = [(at, found) for at, line in enumerate(lines) if (found := re.match(r"\d+ bad \d+ ?(.*)", line))]
    proofs = []
    for number, (at, found) in enumerate(wanted):
        tell("prove", len(proofs), len(wanted))
        label = found.group(1).split(";")[0].strip() or f"line {at}"
        path = scratch / "one.btor"
        if request["steps"]:
            outcome = induction(lines, number, request, path)
        else:
            outcome = solve(lines, at, request["seconds"], path)
        proofs.append({"assertion": label, **outcome})
    return proofs


serve(prove)
