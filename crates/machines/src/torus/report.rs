// SPDX-License-Identifier: Apache-2.0
//! The figures of a bootstrapping engine in the report of a run.

use std::fmt;

use serde::Serialize;

use ringmill_device::report::{How, Interleaved, OwnReport, Rows};

/// The cycles of a bootstrapping engine for one ciphertext and for several.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TorusUse {
    /// The cycles of one ciphertext by itself: load, blind rotation and extraction, the key switch if the program
    /// has one, and the output.
    pub alone: u64,
    /// The number of ciphertexts that are bootstrapped together, interleaved. `interleaved` has the cycles of all of
    /// them divided by that number.
    pub places: usize,
    pub interleaved: u64,
    /// The least cycles in which the engine's butterflies and multipliers could do one ciphertext's blind rotation. A
    /// last step with fewer secret bits counts as a whole step.
    pub floor: u64,
    /// The cycles in which products of the interleaved ciphertexts, or transforms of bundles (sums of keys over a
    /// step's patterns of secret bits), waited for the key. In the order `pairs` with an unrolled key, waits for
    /// bundles that are not complete count, too.
    pub starved: u64,
    /// The cycles of the engine's key switch, or `None` for a program without a key switch.
    pub switch: Option<SwitchUse>,
}

/// The cycles of the key switch that an engine does after the blind rotation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SwitchUse {
    /// The cycles of the key switch for one ciphertext. `together` has the cycles for all interleaved ciphertexts
    /// together.
    pub alone: u64,
    pub together: u64,
    /// The least cycles in which the unit's generators could expand the masks of a key switch.
    pub floor: u64,
}

impl OwnReport for TorusUse {
    const KEY: &'static str = "torus";

    /// Writes the report's rows: the cycles of one bootstrap by itself and of several interleaved ones, beside the
    /// lower bound.
    fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result {
        let how = Some(how);
        rows.row(
            "one ciphertext alone",
            format!("{} cycles", self.alone),
            how,
        )?;
        let several = format!("{} cycles each", self.interleaved);
        rows.row(&format!("{} interleaved", self.places), several, how)?;
        let floor = format!("{} cycles", self.floor);
        rows.row("floor of butterflies, products", floor, Some(How::Counted))?;
        rows.row(
            "waiting for the key",
            format!("{} cycles", self.starved),
            how,
        )?;
        if let Some(switch) = self.switch {
            let (alone, together) = (switch.alone, switch.together);
            let cycles = format!("{alone} cycles, {together} for {}", self.places);
            rows.row("of that, the key switch", cycles, how)?;
            let floor = format!("{} cycles", switch.floor);
            rows.row("floor of masks", floor, Some(How::Counted))?;
        }
        Ok(())
    }

    fn interleaved(&self) -> Option<Interleaved> {
        Some(Interleaved {
            places: self.places,
            cycles: self.interleaved,
        })
    }
}
