// SPDX-License-Identifier: Apache-2.0
//! Checks whether the RTL can build a vector machine (`rtl/vector`). The RTL fixes the pipeline stages of the units,
//! one twiddle factory for each transform unit, and keys that are stored whole. It bounds the words of a chunk and the
//! time between two chunks that enter a unit.

use super::description::{Description, Factory, Masks, Stages};
use crate::MachineError;
use crate::fields::{ensure, range};

/// The pipeline stages of the RTL's multiplier (`MulStages` of `rm_vector_pkg`).
const MULTIPLIER: u64 = 4;

/// Returns the pipeline stages of the RTL's units for transforms of radix 2^`log_radix`.
pub fn stages(log_radix: u8) -> Stages {
    let ranks = u64::from(log_radix);
    Stages {
        read_permutation: ranks + 1,
        transform: MULTIPLIER + ranks * (1 + MULTIPLIER) + MULTIPLIER,
        write_permutation: ranks + 1,
        mac: 2 + MULTIPLIER,
    }
}

/// Checks that the RTL can build the vector machine of a description.
///
/// # Errors
/// [`MachineError::Field`] with the first field that the RTL does not support.
pub fn check(d: &Description) -> Result<(), MachineError> {
    let (s, own) = (d.stages, stages(d.log_radix));
    for (field, got, needed) in [
        (
            "stages.read_permutation",
            s.read_permutation,
            own.read_permutation,
        ),
        ("stages.transform", s.transform, own.transform),
        (
            "stages.write_permutation",
            s.write_permutation,
            own.write_permutation,
        ),
        ("stages.mac", s.mac, own.mac),
    ] {
        let expected = format!("{needed}, what the RTL has at this radix");
        ensure(got == needed, field, got, &expected)?;
    }
    let radix = u64::from(d.log_radix);
    range("log_lanes", d.log_lanes.into(), radix + 1, 2 * radix - 1)?;
    let unit = d.factory == Factory::Unit;
    ensure(
        unit,
        "factory",
        "\"shared\"",
        "\"unit\", a factory beside each transform unit",
    )?;
    let stored = d.key_masks == Masks::Stored;
    ensure(stored, "key_masks", "\"generated\"", "\"stored\"")?;
    // A chunk is there two cycles after it was read, and until its second half has been taken.
    range("micro.mac", d.micro.mac, 3, 1000)?;
    range("micro.transform", d.micro.transform, 3, 999)?;
    range("micro.buffer", d.micro.buffer, d.micro.transform + 1, 1000)
}
