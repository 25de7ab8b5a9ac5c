// SPDX-License-Identifier: Apache-2.0
//! Constants that are encoded when they are read.

use std::sync::Arc;

use ringmill_limits::room;

use crate::expanded::{Form, Item, Made, Usage};
use crate::{DeviceError, Expanded, Limbed};

/// Makes all limbs of a constant.
pub type Encode<'a> =
    Box<dyn Fn() -> Result<Box<dyn Limbed + Send + Sync>, DeviceError> + Send + Sync + 'a>;

/// A constant that is encoded when it is read, and kept where `expanded` says.
pub struct Constant<'a> {
    pub expanded: Arc<Expanded>,
    /// Its own among the constants there.
    pub number: u32,
    /// Of all its limbs.
    pub bytes: u64,
    /// Residues of one limb.
    pub len: usize,
    pub encode: Encode<'a>,
}

impl Constant<'_> {
    /// All limbs.
    ///
    /// # Errors
    /// A constant that cannot be encoded, or not now.
    pub fn read(&self, usage: &Usage) -> Result<Arc<Made>, DeviceError> {
        let encode = || {
            room("a constant", self.bytes)?;
            Ok(Form::Constant((self.encode)()?))
        };
        let item = Item::Constant(self.number);
        self.expanded.get(item, self.bytes, usage, encode)
    }
}
