// SPDX-License-Identifier: Apache-2.0
//! What a machine takes on an FPGA that is too large to be mapped whole: each of its modules mapped by itself, and counted as often
//! as it is there.

use crate::{Family, Hdl, HdlError, Resources, Top};

/// A module of a machine, and how often it is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    pub top: Top,
    pub count: u64,
}

/// The sum of parts, each synthesised once; the cache keeps the counts.
///
/// # Errors
/// What Yosys refuses.
pub fn resources(hdl: &Hdl, parts: &[Part], family: Family) -> Result<Resources, HdlError> {
    let mut sum = Resources::default();
    for Part { top, count } in parts {
        let found = hdl.synthesise_for(top, family)?.resources;
        sum = sum.plus(&found, *count);
    }
    Ok(sum)
}
