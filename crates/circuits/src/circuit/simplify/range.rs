// SPDX-License-Identifier: Apache-2.0
//! Bounds the values of an instruction by the ranges of its operands.

use crate::circuit::program::{Binary, Comparison, Instr, Op, Shift, Type, Value};

/// A lower and an upper bound on the values of an instruction's result. Both are values of its type.
pub(super) type Range = (i128, i128);

/// Returns a range that holds the result of an instruction, for operands of the types and ranges that `operand`
/// returns.
pub(super) fn of(instr: &Instr, operand: impl Fn(Value) -> (Type, Range)) -> Range {
    let kind = instr.kind;
    let full = kind.ends();
    let of = |v: Value| operand(v).1;
    match &instr.op {
        Op::Input { .. } => full,
        Op::Constant(bits) => {
            let value = kind.read(*bits);
            (value, value)
        }
        Op::Binary(op, a, b) => binary(*op, of(*a), of(*b), full),
        Op::Compare(op, a, b) => match decided(*op, of(*a), of(*b)) {
            Some(value) => (value.into(), value.into()),
            None => (0, 1),
        },
        Op::Not(a) => {
            let (low, high) = of(*a);
            // Inversion maps the ends of the type onto each other.
            let all = full.0 + full.1;
            (all - high, all - low)
        }
        Op::ShiftBy(shift, a, by) => moved(kind, *shift, of(*a), *by),
        Op::Shift(shift, a, _) => moved_by(kind, *shift, of(*a)),
        Op::Select(_, a, b) => joined(of(*a), of(*b)),
        Op::Sum(terms) => {
            let zero = Some((0, 0));
            let sum = terms.iter().fold(zero, |sum: Option<Range>, &v| {
                let (all, one) = (sum?, of(v));
                Some((all.0.checked_add(one.0)?, all.1.checked_add(one.1)?))
            });
            within(sum, full)
        }
        Op::Table(index, entries) => {
            let (low, high) = of(*index);
            // An index has at most eight bits, so all entries can be visited.
            let reached = (low..=high).map(|i| {
                let entry = usize::try_from(i).ok().and_then(|i| entries.get(i));
                kind.read(entry.copied().unwrap_or(0))
            });
            let each = reached.map(|entry| (entry, entry));
            each.reduce(joined).unwrap_or(full)
        }
        Op::Convert(a) => within(Some(of(*a)), full),
    }
}

fn joined(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Returns the range of a result if its type holds all of it. Otherwise returns the type's full range, since a value
/// beyond one end wraps around to the other.
fn within(range: Option<Range>, full: Range) -> Range {
    range
        .filter(|range| range.0 >= full.0 && range.1 <= full.1)
        .unwrap_or(full)
}

fn binary(op: Binary, a: Range, b: Range, full: Range) -> Range {
    let positive = a.0 >= 0 && b.0 >= 0;
    // 2^k - 1 for the least k with all values of a and b below 2^k.
    let filled = || {
        let most = a.1.max(b.1) as u128;
        (u128::MAX.checked_shr(most.leading_zeros()).unwrap_or(0)) as i128
    };
    match op {
        Binary::Add => within(Some((a.0 + b.0, a.1 + b.1)), full),
        Binary::Sub => within(Some((a.0 - b.1, a.1 - b.0)), full),
        Binary::Mul => {
            let products = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
            let each = products.map(|(x, y)| x.checked_mul(y).map(|p| (p, p)));
            let all = each.into_iter().reduce(|x, y| Some(joined(x?, y?)));
            within(all.flatten(), full)
        }
        Binary::Div if a.0 >= 0 && b.0 > 0 => (a.0 / b.1, a.1 / b.0),
        Binary::Div => full,
        Binary::Rem => {
            // A remainder has the sign of a, and its magnitude is at most that of a.
            let (low, high) = (a.0.min(0), a.1.max(0));
            if b.0 > 0 {
                (low.max(1 - b.1), high.min(b.1 - 1))
            } else {
                (low, high)
            }
        }
        Binary::And if positive => (0, a.1.min(b.1)),
        Binary::And if a.0 >= 0 => (0, a.1),
        Binary::And if b.0 >= 0 => (0, b.1),
        Binary::Or if positive => (a.0.max(b.0), filled()),
        Binary::Xor if positive => (0, filled()),
        Binary::And | Binary::Or | Binary::Xor => full,
        Binary::Min => (a.0.min(b.0), a.1.min(b.1)),
        Binary::Max => (a.0.max(b.0), a.1.max(b.1)),
    }
}

/// Returns the result of a comparison if it is the same for all pairs of values of the two ranges, else `None`.
fn decided(op: Comparison, a: Range, b: Range) -> Option<bool> {
    let apart = a.1 < b.0 || b.1 < a.0;
    match op {
        Comparison::Equal => apart.then_some(false),
        Comparison::NotEqual => apart.then_some(true),
        Comparison::Less if a.1 < b.0 => Some(true),
        Comparison::Less if a.0 >= b.1 => Some(false),
        Comparison::LessOrEqual if a.1 <= b.0 => Some(true),
        Comparison::LessOrEqual if a.0 > b.1 => Some(false),
        Comparison::Less | Comparison::LessOrEqual => None,
    }
}

/// Returns whether every value of the range stays the same if its bits are read as two's complement.
fn as_signed(kind: Type, (low, high): Range) -> bool {
    kind.signed() || (low >= 0 && high < 1 << (kind.bits() - 1))
}

fn moved(kind: Type, shift: Shift, range: Range, by: u32) -> Range {
    let full = kind.ends();
    let (low, high) = range;
    match shift {
        Shift::RotateLeft => full,
        Shift::Left | Shift::Right if by >= kind.bits() => (0, 0),
        Shift::Left => {
            let factor = 1i128 << by;
            let both = low.checked_mul(factor).zip(high.checked_mul(factor));
            within(both, full)
        }
        Shift::Right if low >= 0 => (low >> by, high >> by),
        Shift::RightSigned if as_signed(kind, range) => (low >> by.min(64), high >> by.min(64)),
        Shift::Right | Shift::RightSigned => full,
    }
}

fn moved_by(kind: Type, shift: Shift, range: Range) -> Range {
    let (low, high) = range;
    match shift {
        Shift::Right if low >= 0 => (0, high),
        // A signed shift moves positive values towards 0 and negative ones towards -1.
        Shift::RightSigned if as_signed(kind, range) => (low.min(0), high.max(-1)),
        Shift::Left | Shift::Right | Shift::RightSigned | Shift::RotateLeft => kind.ends(),
    }
}
