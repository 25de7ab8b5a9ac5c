// SPDX-License-Identifier: Apache-2.0
//! Plaintext constants that are encoded when a step reads them, to save memory.

use std::sync::Arc;

use ringmill_limits::room;

use crate::expanded::{Form, Item, Made, Usage};
use crate::{DeviceError, Expanded, Limbed};

/// Encodes all limbs of a constant.
pub type Encode<'a> =
    Box<dyn Fn() -> Result<Box<dyn Limbed + Send + Sync>, DeviceError> + Send + Sync + 'a>;

/// A constant that is encoded when a step reads it; `expanded` keeps its limbs.
pub struct Constant<'a> {
    pub expanded: Arc<Expanded>,
    /// The number of this constant in `expanded`.
    pub number: u32,
    /// The bytes of all its limbs together.
    pub bytes: u64,
    /// The number of residues of one limb.
    pub len: usize,
    pub encode: Encode<'a>,
}

impl Constant<'_> {
    /// Returns all limbs, encoded now if they are not kept.
    ///
    /// # Errors
    /// A constant that cannot be encoded, a limit, or a stop.
    pub fn read(&self, usage: &Usage) -> Result<Arc<Made>, DeviceError> {
        let encode = || {
            room("a constant", self.bytes)?;
            Ok(Form::Constant((self.encode)()?))
        };
        let item = Item::Constant(self.number);
        self.expanded.get(item, self.bytes, usage, encode)
    }
}
