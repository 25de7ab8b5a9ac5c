// SPDX-License-Identifier: Apache-2.0
//! The gates that synthesis instantiates, by the names of Yosys' fine-grained cells.

/// Returns a cell's input pins in order, its output pin and its truth table. Returns `None` for an unknown cell, as
/// flip-flops are.
pub fn cell(kind: &str) -> Option<(&'static [&'static str], &'static str, u64)> {
    let table = |inputs: &'static [&'static str], f: fn(bool, bool, bool, bool) -> bool| {
        let row = |row: u64| {
            let bit = |i: u32| row >> i & 1 == 1;
            f(bit(0), bit(1), bit(2), bit(3))
        };
        let rows = (0..1u64 << inputs.len()).map(|r| u64::from(row(r)) << r);
        Some((inputs, "Y", rows.sum()))
    };
    const A: &[&str] = &["A"];
    const AB: &[&str] = &["A", "B"];
    const ABC: &[&str] = &["A", "B", "C"];
    const ABS: &[&str] = &["A", "B", "S"];
    const ABCD: &[&str] = &["A", "B", "C", "D"];
    match kind {
        "$_BUF_" => table(A, |a, _, _, _| a),
        "$_NOT_" => table(A, |a, _, _, _| !a),
        "$_AND_" => table(AB, |a, b, _, _| a & b),
        "$_NAND_" => table(AB, |a, b, _, _| !(a & b)),
        "$_OR_" => table(AB, |a, b, _, _| a | b),
        "$_NOR_" => table(AB, |a, b, _, _| !(a | b)),
        "$_XOR_" => table(AB, |a, b, _, _| a ^ b),
        "$_XNOR_" => table(AB, |a, b, _, _| !(a ^ b)),
        "$_ANDNOT_" => table(AB, |a, b, _, _| a & !b),
        "$_ORNOT_" => table(AB, |a, b, _, _| a | !b),
        "$_MUX_" => table(ABS, |a, b, s, _| if s { b } else { a }),
        "$_NMUX_" => table(ABS, |a, b, s, _| !(if s { b } else { a })),
        "$_AOI3_" => table(ABC, |a, b, c, _| !((a & b) | c)),
        "$_OAI3_" => table(ABC, |a, b, c, _| !((a | b) & c)),
        "$_AOI4_" => table(ABCD, |a, b, c, d| !((a & b) | (c & d))),
        "$_OAI4_" => table(ABCD, |a, b, c, d| !((a | b) & (c | d))),
        _ => None,
    }
}

/// Returns whether a cell drives nothing and so changes no output. Such cells are scopes that flattening leaves, and
/// checks and prints of simulation.
pub fn silent(kind: &str) -> bool {
    matches!(
        kind,
        "$scopeinfo" | "$assert" | "$assume" | "$cover" | "$live" | "$fair" | "$check" | "$print"
    )
}
