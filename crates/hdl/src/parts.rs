// SPDX-License-Identifier: Apache-2.0
//! Counts the FPGA resources of a machine that is too large for one synthesis. Each module is mapped once and counted
//! for each instance.

use crate::{Family, Hdl, HdlError, Resources, Top};

/// A module of a machine, and the number of its instances in the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    pub top: Top,
    pub count: u64,
}

/// Returns the sum of the resources of all parts. Each module is synthesised once; the cache stores its counts.
///
/// # Errors
/// The errors of [`Hdl::synthesise_for`].
pub fn resources(hdl: &Hdl, parts: &[Part], family: Family) -> Result<Resources, HdlError> {
    let mut sum = Resources::default();
    for Part { top, count } in parts {
        let found = hdl.synthesise_for(top, family)?.resources;
        sum = sum.plus(&found, *count);
    }
    Ok(sum)
}
