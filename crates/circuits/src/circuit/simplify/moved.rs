// SPDX-License-Identifier: Apache-2.0
//! Simplification rules of programs for shifts, conversions and tables.

use super::Simplifier;
use crate::circuit::integer::mask;
use crate::circuit::program::{Op, Shift, Type, Value};

impl Simplifier {
    pub(super) fn moved(&mut self, shift: Shift, a: Value, by: u32, kind: Type) -> Option<Value> {
        let bits = kind.bits();
        let least = match shift {
            Shift::RotateLeft => by % bits,
            Shift::Left | Shift::Right => by.min(bits),
            Shift::RightSigned => by.min(bits - 1),
        };
        if least == 0 {
            return Some(a);
        }
        if let Op::ShiftBy(inner, x, before) = *self.get(a)
            && inner == shift
        {
            return Some(self.shifted(shift, x, least.saturating_add(before)));
        }
        (least != by).then(|| self.shifted(shift, a, least))
    }

    pub(super) fn moved_by(
        &mut self,
        shift: Shift,
        a: Value,
        by: Value,
        kind: Type,
    ) -> Option<Value> {
        let bits = i128::from(kind.bits());
        if let Some(by) = self.known(by) {
            let least = match shift {
                Shift::RotateLeft => by % bits,
                Shift::Left | Shift::Right | Shift::RightSigned => by.min(bits),
            };
            return Some(self.shifted(shift, a, u32::try_from(least).ok()?));
        }
        if let Some(x) = self.known(a) {
            let (bits, all) = (self.bits(a), mask(kind.bits()));
            let stays = match shift {
                Shift::Left | Shift::Right => x == 0,
                Shift::RightSigned | Shift::RotateLeft => bits == 0 || bits == all,
            };
            if stays {
                return Some(a);
            }
        }
        match shift {
            Shift::RotateLeft => (bits == 1).then_some(a),
            Shift::Left | Shift::Right | Shift::RightSigned => {
                let out = self.range(by).0 >= bits;
                out.then(|| self.shifted(shift, a, kind.bits()))
            }
        }
    }

    pub(super) fn converted(&mut self, a: Value, kind: Type) -> Option<Value> {
        let from = self.kind(a);
        if from == kind {
            return Some(a);
        }
        let Op::Convert(x) = *self.get(a) else {
            return None;
        };
        // A conversion by way of another type is direct if the other type cuts nothing off that the result keeps: it is
        // at least as wide, or it holds all values of x.
        let (low, high) = self.range(x);
        let (least, most) = from.ends();
        let through = from.bits() >= kind.bits() || (low >= least && high <= most);
        through.then(|| self.make(Op::Convert(x), kind))
    }

    /// Replaces a table whose entries equal their indices by a conversion of the index. Returns `None` for other
    /// tables.
    pub(super) fn entry(&mut self, index: Value, entries: &[u64], kind: Type) -> Option<Value> {
        let (low, high) = self.range(index);
        let mut reached = low..=high;
        let same = reached.all(|i| {
            let entry = usize::try_from(i).ok().and_then(|i| entries.get(i));
            i128::from(entry.copied().unwrap_or(0)) == i
        });
        same.then(|| self.make(Op::Convert(index), kind))
    }
}
