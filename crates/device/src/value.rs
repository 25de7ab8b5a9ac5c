// SPDX-License-Identifier: Apache-2.0
//! Limbs as runs hold them.

use std::sync::Arc;

use crate::call::written_out;
use ringmill_math::Residues;

use crate::DeviceError;
use crate::constant::Constant;
use crate::expanded::{Made, Usage};
use crate::pool::Buf;

/// A limb as a run holds it.
#[derive(Clone)]
pub enum Value<'a> {
    /// Bound by the caller; never written.
    Bound(&'a [u64]),
    /// Bound by the caller in words of 32 bits; never written.
    Short(&'a [u32]),
    /// Bound by the caller by its values, each for a run of equal ones, and its length.
    Spread(&'a [u64], usize),
    /// Shared with the caller; never written.
    Shared(Arc<[u64]>),
    /// Of a constant, the limb modulo that modulus: encoded when a step reads it.
    Constant(&'a Constant<'a>, usize),
    /// What a seed or a constant was expanded to, and the number of a constant's modulus; never written.
    Expanded(Arc<Made>, usize),
    /// The run's own, from its pool.
    Pooled(Arc<Buf>),
}

impl Value<'_> {
    /// A limb that is known by its values, with all of them; one in short words, in words of 64 bits.
    pub fn write_out(&mut self) {
        self.write_values_out();
        if let Residues::Short(words) = self.held() {
            *self = Value::Shared(words.iter().map(|&x| x.into()).collect());
        }
    }

    /// A limb that is known by its values, with all of them.
    pub fn write_values_out(&mut self) {
        if let Value::Spread(values, len) = *self {
            *self = Value::Shared(written_out(values, len).into());
        }
    }

    /// The residues, in the words that they are held in; none of a constant that is still to be read, or of what is known by its
    /// values.
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

    /// The residues where they are in words of 64 bits; none otherwise, as of what is to be read or written out.
    pub fn wide(&self) -> &[u64] {
        match self.held() {
            Residues::Wide(words) => words,
            Residues::Short(_) => &[],
        }
    }

    /// Whether they are in words of 32 bits.
    pub fn is_short(&self) -> bool {
        matches!(self.held(), Residues::Short(_))
    }

    /// Reads a constant; everything else has its residues.
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

    /// Whether this is the only reference to a buffer of the run's own, of words of 64 bits.
    pub fn is_sole(&self) -> bool {
        matches!(self, Value::Pooled(b) if Arc::strong_count(b) == 1 && !b.is_short())
    }
}
