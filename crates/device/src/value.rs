// SPDX-License-Identifier: Apache-2.0
//! The forms in which a run holds a limb: borrowed, shared, expanded, or in a buffer of its pool.

use std::sync::Arc;

use crate::call::written_out;
use ringmill_math::Residues;

use crate::DeviceError;
use crate::constant::Constant;
use crate::expanded::{Made, Usage};
use crate::pool::Buf;

/// A limb in a run.
#[derive(Clone)]
pub enum Value<'a> {
    /// A limb that the caller bound; it is never written.
    Bound(&'a [u64]),
    /// A limb that the caller bound in words of 32 bits; it is never written.
    Short(&'a [u32]),
    /// A limb of equal runs that the caller bound: the value of each run, and the length of the limb.
    Spread(&'a [u64], usize),
    /// A limb that is shared with the caller; it is never written.
    Shared(Arc<[u64]>),
    /// The limb of a constant modulo this modulus, which is encoded when a step reads it.
    Constant(&'a Constant<'a>, usize),
    /// The expanded limbs of a seed or a constant, and the number of a constant's modulus; they are never written.
    Expanded(Arc<Made>, usize),
    /// A limb in a buffer of the run's pool.
    Pooled(Arc<Buf>),
}

impl Value<'_> {
    /// Converts a limb of equal runs to all its residues, and a limb of 32-bit words to words of 64 bits.
    pub fn write_out(&mut self) {
        self.write_values_out();
        if let Residues::Short(words) = self.held() {
            *self = Value::Shared(words.iter().map(|&x| x.into()).collect());
        }
    }

    /// Converts a limb of equal runs to all its residues.
    pub fn write_values_out(&mut self) {
        if let Value::Spread(values, len) = *self {
            *self = Value::Shared(written_out(values, len).into());
        }
    }

    /// Returns the residues in words of 32 or 64 bits, as held. A constant before its first read, and a limb of equal
    /// runs, have none.
    pub fn held(&self) -> Residues<'_> {
        match self {
            Value::Bound(d) => Residues::Wide(d),
            Value::Short(d) => Residues::Short(d),
            Value::Shared(d) => Residues::Wide(d),
            Value::Constant(..) | Value::Spread(..) => Residues::Wide(&[]),
            Value::Expanded(made, modulus) => made.limb(*modulus),
            Value::Pooled(b) => b.residues(),
        }
    }

    /// Returns the residues if they are in words of 64 bits, otherwise none, as before a read or a conversion.
    pub fn wide(&self) -> &[u64] {
        match self.held() {
            Residues::Wide(words) => words,
            Residues::Short(_) => &[],
        }
    }

    /// Returns whether the residues are in words of 32 bits.
    pub fn is_short(&self) -> bool {
        matches!(self.held(), Residues::Short(_))
    }

    /// Reads a constant; other values have their residues already.
    pub fn read(&mut self, usage: &Usage) -> Result<(), DeviceError> {
        if let Value::Constant(constant, modulus) = self {
            let (made, modulus) = (constant.read(usage)?, *modulus);
            if made.limb(modulus).len() != constant.len {
                let text = format!("a constant has no limb modulo modulus {modulus}");
                return Err(DeviceError::Malformed(text));
            }
            *self = Value::Expanded(made, modulus);
        }
        Ok(())
    }

    /// Returns whether this is the only reference to a buffer of the run's pool with words of 64 bits.
    pub fn is_sole(&self) -> bool {
        matches!(self, Value::Pooled(b) if Arc::strong_count(b) == 1 && !b.is_short())
    }
}
