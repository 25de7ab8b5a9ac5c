// SPDX-License-Identifier: Apache-2.0
//! What a bootstrapping engine tells of a run.

use std::fmt;

use serde::Serialize;

use ringmill_device::report::{How, Interleaved, OwnReport, Rows};

/// What a bootstrapping engine takes for one ciphertext and for several.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TorusUse {
    /// Cycles of one ciphertext: load, blind rotation and extraction, the key switch where the program has one, the result.
    pub alone: u64,
    /// Ciphertexts that are interleaved, and each one's share of the cycles of them all.
    pub places: usize,
    pub interleaved: u64,
    /// The least that butterflies and multipliers take for one ciphertext's blind rotation.
    pub floor: u64,
    /// Cycles of the interleaved run in which products waited for the key.
    pub starved: u64,
    /// Of a program that switches keys.
    pub switch: Option<SwitchUse>,
}

/// What the key switch takes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SwitchUse {
    /// Cycles for one ciphertext, and for all places together.
    pub alone: u64,
    pub together: u64,
    /// The least in which the generators make a switch's masks.
    pub floor: u64,
}

impl OwnReport for TorusUse {
    const KEY: &'static str = "torus";

    /// One bootstrap alone and among others, beside the floor.
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
