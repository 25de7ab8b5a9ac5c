// SPDX-License-Identifier: Apache-2.0
//! The figures of a bootstrapping engine in the report of a run.

use std::fmt;

use serde::Serialize;

use ringmill_device::report::{How, Interleaved, OwnReport, Rows};

/// The cycles of a bootstrapping engine for one ciphertext and for several.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TorusUse {
    /// The cycles of one ciphertext: load, blind rotation and extraction, the key switch if the program has one, the
    /// result.
    pub alone: u64,
    /// The ciphertexts that are interleaved. `interleaved`: each one's share of the cycles of all.
    pub places: usize,
    pub interleaved: u64,
    /// The least cycles of butterflies and multipliers for one ciphertext's blind rotation.
    pub floor: u64,
    /// The cycles of the interleaved run in which products waited for the key.
    pub starved: u64,
    /// The figures of the key switch, for a program that switches keys.
    pub switch: Option<SwitchUse>,
}

/// The figures of a key switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SwitchUse {
    /// The cycles for one ciphertext. `together`: those for all places together.
    pub alone: u64,
    pub together: u64,
    /// The least cycles in which the generators make a switch's masks.
    pub floor: u64,
}

impl OwnReport for TorusUse {
    const KEY: &'static str = "torus";

    /// Writes one bootstrap alone and among others, beside the floor.
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
