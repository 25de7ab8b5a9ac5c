// SPDX-License-Identifier: Apache-2.0
//! What a ring machine tells of a run.

use std::fmt;

use serde::Serialize;

use ringmill_device::report::{How, OwnReport, Remarks, Rows, bytes, grouped, seconds};

/// What a ring machine did with its memories.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RingUse {
    pub rpaus: usize,
    pub multipliers_per_rpau: usize,
    pub memory: SlotUse,
    pub keys: KeyUse,
    pub spills: Spills,
    pub cuts: Cuts,
}

/// Slots of polynomial and key memory on each RPAU.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SlotUse {
    pub slots: usize,
    /// At the machine's stored width.
    pub slot_bytes: u64,
    /// Most in use at once, per RPAU.
    pub peak_slots: Vec<u8>,
    pub key_slots: usize,
    /// Distinct key limbs that the program uses on the RPAU with most. Above `key_slots` they cannot all be resident.
    pub key_limbs: usize,
}

/// Key limbs of the program over all RPAUs, as the machine stores them: half a limb of the program each at twice the native
/// ring degree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct KeyUse {
    /// Distinct ones that the program uses.
    pub needed: u64,
    /// Of these, how many the key memory holds at once. With resident keys that many are there at the start.
    pub fit: u64,
    /// Loads over the host link during the run; one limb may come more than once.
    pub loaded: u64,
}

/// Calls of procedures that give several ciphertexts and do not fit whole (hoisted rotations), and the calls of fewer
/// ciphertexts that stand for them. What the parts share is computed by each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Cuts {
    pub calls: u64,
    pub parts: u64,
}

/// Limbs that had to leave the machine for want of room between calls, and what that cost on the link, apart from the
/// machine's cycles; then those that moved inside procedures.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Spills {
    pub stores: u64,
    pub loads: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub inside: Inside,
    /// Cycles of the machine's clock that the link takes for these limbs, between calls and inside them; key limbs apart.
    pub cycles: u64,
    /// Their share of the end-to-end time, 0 to 1, hidden or not.
    pub share: f64,
}

/// Limbs, as the machine stores them, that crossed the link inside procedures that do not fit. Their time is in the
/// machine's cycles as far as other work does not hide it.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Inside {
    pub stores: u64,
    pub loads: u64,
    /// Key limbs, loaded into key memory.
    pub key_loads: u64,
    pub bytes: u64,
    pub seconds: f64,
}

impl OwnReport for RingUse {
    const KEY: &'static str = "ring";

    /// Places are the scheduler's, a link's time is its bytes at the description's rate: wherever the cycles come from.
    fn rows(&self, rows: &mut Rows<'_, '_>, _: How) -> fmt::Result {
        let how = Some(How::Model);
        let slots = self.memory.slots;
        let peak = self.memory.peak_slots.iter().max().copied().unwrap_or(0);
        let text = format!("{peak} of {slots} slots");
        rows.row("polynomials, fullest unit", text, how)?;
        // A machine without key memory keeps none.
        if self.memory.key_slots > 0 {
            let (keys, room) = (self.memory.key_limbs, self.memory.key_slots);
            rows.row(
                "key limbs, fullest unit",
                format!("{keys} needed, room for {room}"),
                how,
            )?;
            let all = &self.keys;
            rows.row(
                "key limbs",
                format!(
                    "{} needed, {} fit, {} loaded in the run",
                    all.needed, all.fit, all.loaded
                ),
                how,
            )?;
        }
        self.spill_rows(rows, how)
    }

    fn remarks(&self) -> Remarks {
        let (keys, spills) = (&self.keys, &self.spills);
        let moved = spills.bytes + spills.inside.bytes - spills.key_bytes();
        Remarks {
            multipliers: Some(format!(
                "{} in each of {} units",
                self.multipliers_per_rpau, self.rpaus
            )),
            keys: (self.memory.key_slots > 0)
                .then(|| format!("{} limbs loaded, {} in use", keys.loaded, keys.needed)),
            spills: (moved > 0).then(|| {
                let inside = &spills.inside;
                let limbs = spills.stores + spills.loads + inside.stores + inside.loads;
                format!(
                    "{limbs} limbs out and in, {}, {} cycles",
                    bytes(moved),
                    grouped(spills.cycles)
                )
            }),
            ..Remarks::default()
        }
    }
}

impl RingUse {
    fn spill_rows(&self, rows: &mut Rows<'_, '_>, how: Option<How>) -> fmt::Result {
        let cuts = &self.cuts;
        if cuts.calls > 0 {
            let text = format!("{} into {} that fit", cuts.calls, cuts.parts);
            rows.row("calls cut", text, how)?;
        }
        let s = &self.spills;
        if s.stores + s.loads > 0 {
            let text = format!(
                "{} out, {} in; {}, {}",
                s.stores,
                s.loads,
                bytes(s.bytes),
                seconds(s.seconds)
            );
            rows.row("spilled limbs", text, how)?;
        }
        let inside = &s.inside;
        if inside.bytes > 0 {
            let text = format!(
                "{} out, {} in, {} of keys; {}, {} (waits are in the cycles)",
                inside.stores,
                inside.loads,
                inside.key_loads,
                bytes(inside.bytes),
                seconds(inside.seconds)
            );
            rows.row("limbs moved inside procedures", text, how)?;
        }
        Ok(())
    }
}

impl Spills {
    /// Bytes of the key limbs that were moved inside procedures.
    fn key_bytes(&self) -> u64 {
        let inside = &self.inside;
        let limbs = inside.stores + inside.loads + inside.key_loads;
        inside.bytes.checked_div(limbs).unwrap_or(0) * inside.key_loads
    }
}
