// SPDX-License-Identifier: Apache-2.0
//! Counts the FPGA resources of a machine that is too large to be mapped whole: each module is mapped once and counted
//! for each instance.

use crate::{Family, Hdl, HdlError, Resources, Top};

/// A module of a machine, and its number of instances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    pub top: Top,
    pub count: u64,
}

/// Returns the sum of the parts, each synthesised once; the cache keeps the counts.
///
/// # Errors
/// The errors of Yosys.
pub fn resources(hdl: &Hdl, parts: &[Part], family: Family) -> Result<Resources, HdlError> {
    let mut sum = Resources::default();
    for Part { top, count } in parts {
        let found = hdl.synthesise_for(top, family)?.resources;
        sum = sum.plus(&found, *count);
    }
    Ok(sum)
}
