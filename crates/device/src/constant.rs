// SPDX-License-Identifier: Apache-2.0
//! Plaintext constants that are encoded when a step reads them, to save memory.

use std::sync::Arc;

use ringmill_limits::room;

use crate::expanded::{Form, Item, Made, Usage};
use crate::{DeviceError, Expanded, Limbed};

/// A function that encodes a plaintext constant and returns all its limbs.
pub type Encode<'a> =
    Box<dyn Fn() -> Result<Box<dyn Limbed + Send + Sync>, DeviceError> + Send + Sync + 'a>;

/// A plaintext constant that is encoded when a step reads it. The cache `expanded` keeps
/// its limbs for later reads.
pub struct Constant<'a> {
    pub expanded: Arc<Expanded>,
    /// The number of this constant among the constants that share the cache `expanded`.
    pub number: u32,
    /// The bytes of all limbs of the constant together.
    pub bytes: u64,
    /// The number of residues in one limb of the constant.
    pub len: usize,
    pub encode: Encode<'a>,
}

impl Constant<'_> {
    /// Returns all limbs of the constant. It encodes them unless the cache `expanded` still has
    /// them. `usage` is the run's registration with the cache.
    ///
    /// # Errors
    /// [`DeviceError`] if the constant cannot be encoded, a memory limit forbids it, or the run is stopped.
    pub fn read(&self, usage: &Usage) -> Result<Arc<Made>, DeviceError> {
        let encode = || {
            room("a constant", self.bytes)?;
            Ok(Form::Constant((self.encode)()?))
        };
        let item = Item::Constant(self.number);
        self.expanded.get(item, self.bytes, usage, encode)
    }
}
