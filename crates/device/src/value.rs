// SPDX-License-Identifier: Apache-2.0
//! The forms in which a run holds a limb: lent by the caller, shared, expanded from a seed or a constant, or in a
//! buffer of the run's pool.

use std::sync::Arc;

use crate::call::written_out;
use ringmill_math::Residues;

use crate::DeviceError;
use crate::constant::Constant;
use crate::expanded::{Made, Usage};
use crate::pool::Buf;

/// A limb as a run holds it. Only a limb in a buffer of the run's pool may be written.
#[derive(Clone)]
pub enum Value<'a> {
    /// A limb that the caller lends; the run never writes it.
    Bound(&'a [u64]),
    /// A limb that the caller lends in words of 32 bits; the run never writes it.
    Short(&'a [u32]),
    /// A limb that consists of blocks of equal residues and that the caller lends: one value for each block, and the
    /// number of residues of the limb.
    Spread(&'a [u64], usize),
    /// A limb that the run shares with the caller, and never writes.
    Shared(Arc<[u64]>),
    /// The limb of a plaintext constant modulo the modulus with this number. The constant is encoded when a step
    /// reads it.
    Constant(&'a Constant<'a>, usize),
    /// The expanded limbs of a seed or a constant, and the number of the modulus for a constant. The run never writes
    /// them.
    Expanded(Arc<Made>, usize),
    /// The limb of a constant that consists of blocks of equal residues, held as one value for each block. The constant
    /// is encoded already. The numbers are that of the modulus and the number of residues of the limb.
    Repeated(Arc<Made>, usize, usize),
    /// A limb in a buffer of the run's pool.
    Pooled(Arc<Buf>),
}

impl Value<'_> {
    /// Converts the limb to all its residues in words of 64 bits, if it is held as one value for each block of equal
    /// residues or in words of 32 bits.
    pub fn write_out(&mut self) {
        self.write_values_out();
        if let Residues::Short(words) = self.held() {
            *self = Value::Shared(words.iter().map(|&x| x.into()).collect());
        }
    }

    /// Converts a limb that is held as one value for each block of equal residues to all its residues.
    pub fn write_values_out(&mut self) {
        if let Some((values, len)) = self.blocks() {
            *self = Value::Shared(written_out(values, len).into());
        }
    }

    /// Returns one value for each block of equal residues, and the number of residues, if the limb is held as
    /// such values. It is `None` for any other limb.
    pub fn blocks(&self) -> Option<(&[u64], usize)> {
        match self {
            Value::Spread(values, len) => Some((values, *len)),
            Value::Repeated(made, modulus, len) => Some((made.spread(*modulus)?, *len)),
            Value::Bound(_)
            | Value::Short(_)
            | Value::Shared(_)
            | Value::Constant(..)
            | Value::Expanded(..)
            | Value::Pooled(_) => None,
        }
    }

    /// Returns the residues in words of 32 or 64 bits, as the run holds them. They are empty for a limb that is held as
    /// one value for each block of equal residues, and for a constant that is not yet encoded.
    pub fn held(&self) -> Residues<'_> {
        match self {
            Value::Bound(d) => Residues::Wide(d),
            Value::Short(d) => Residues::Short(d),
            Value::Shared(d) => Residues::Wide(d),
            Value::Constant(..) | Value::Spread(..) | Value::Repeated(..) => Residues::Wide(&[]),
            Value::Expanded(made, modulus) => made.limb(*modulus),
            Value::Pooled(b) => b.residues(),
        }
    }

    /// Returns the residues if the run holds them in words of 64 bits. Otherwise the slice is empty.
    pub fn wide(&self) -> &[u64] {
        match self.held() {
            Residues::Wide(words) => words,
            Residues::Short(_) => &[],
        }
    }

    /// Returns whether the run holds the residues of the limb in words of 32 bits.
    pub fn is_short(&self) -> bool {
        matches!(self.held(), Residues::Short(_))
    }

    /// Encodes the limb if it belongs to a constant that is not yet encoded. For other limbs it does nothing. `usage`
    /// is the run's registration with the cache of encoded constants.
    ///
    /// # Errors
    /// [`DeviceError`] if the constant cannot be encoded, a memory limit forbids it, or the run is stopped;
    /// [`DeviceError::Malformed`] if it has no limb of the expected length modulo its modulus.
    pub fn read(&mut self, usage: &Usage) -> Result<(), DeviceError> {
        if let Value::Constant(constant, modulus) = self {
            let (made, modulus, len) = (constant.read(usage)?, *modulus, constant.len);
            let blocks = made.spread(modulus).map(<[u64]>::len);
            let sound = match blocks {
                Some(blocks) => blocks > 0 && len.is_multiple_of(blocks),
                None => made.limb(modulus).len() == len,
            };
            if !sound {
                let text = format!("a constant has no limb modulo modulus {modulus}");
                return Err(DeviceError::Malformed(text));
            }
            *self = match blocks {
                Some(_) => Value::Repeated(made, modulus, len),
                None => Value::Expanded(made, modulus),
            };
        }
        Ok(())
    }

    /// Returns whether this is the only reference to a buffer of the run's pool, and the buffer has words of 64 bits.
    pub fn is_sole(&self) -> bool {
        matches!(self, Value::Pooled(b) if Arc::strong_count(b) == 1 && !b.is_short())
    }
}
