# SPDX-License-Identifier: Apache-2.0
"""`make mutants` changes what a run evaluates, one place at a time, and nothing else."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
pytest.importorskip("tree_sitter_rust", reason="requirements/full.txt is not installed")

from mutants.fault import Fault
from mutants.rewrite import rewrite
from mutants.sites import sites

SOURCE = b"""
const SIZE: usize = 4 + 1;
#[cfg(test)]
mod tests { fn f() -> u32 { 1 + 2 } }
const fn twice(x: u32) -> u32 { x * 2 }
fn clear(path: &Path) { remove_file(path); }
fn wanted(x: Option<[u8; 3]>, y: u32) -> bool {
    if let Some([1, ..]) = x { check(y)?; }
    y + 7 < 2
}
"""


def faults(source: bytes = SOURCE) -> list[Fault]:
    return [fault for place in sites("isa", "a.rs", source) for fault in place]


def applied(fault: Fault, source: bytes = SOURCE) -> str:
    return rewrite(source, {1: fault}).content.decode()


def test_constants_patterns_types_tests_and_removals_stay_as_they_are():
    changes = {(fault.old, fault.new) for fault in faults()}
    assert changes == {
        ("fn wanted", "return true;"),
        ("fn wanted", "return false;"),
        ("check(y)?;", "(nothing)"),
        ("y + 7 < 2", "y + 7 <= 2"),
        ("y + 7 < 2", "y + 7 >= 2"),
        ("y + 7", "y - 7"),
        ("7", "8"),
        ("7", "6"),
        ("2", "3"),
        ("2", "1"),
    }
    assert {fault.line for fault in faults()} == {7, 8, 9}


def test_a_fault_stands_behind_its_switch():
    by_change = {fault.new: fault for fault in faults()}
    switch = "crate::__mutant::is(1)"
    assert f"(if {switch} {{ y - 7 }} else {{ y + 7 }}) < 2" in applied(by_change["y - 7"])
    assert f"if !{switch} {{ check(y)?; }}" in applied(by_change["(nothing)"])
    assert f"-> bool {{ if {switch} {{ return true; }}" in applied(by_change["return true;"])


def test_faults_inside_a_fault_are_in_both_branches_and_name_their_bytes():
    found = {fault.new: fault for fault in faults()}
    made = rewrite(SOURCE, {1: found["y + 7 <= 2"], 2: found["8"]})
    text = made.content.decode()
    assert text.count("crate::__mutant::is(1)") == 1
    inner = "(if crate::__mutant::is(2) { 8 } else { 7 })"
    assert text.count(inner) == 2
    assert {text[start:end] for start, end, number in made.ranges if number == 2} == {inner}


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("a.min(b)", "a.max(b)"),
        ("0..n", "(n) - 1"),
        ("!a", "a"),
        ("vec![0; n << 1]", "n >> 1"),
        ("0x1f_u64", "32u64"),
        ("if a { b } else { c }", "true"),
    ],
)
def test_each_kind_of_expression_has_its_changes(source: str, change: str):
    assert change in {fault.new for fault in faults(f"fn f() {{ let x = {source}; }}".encode())}
