// SPDX-License-Identifier: Apache-2.0
//! The figures of a ring machine in the report of a run.

use std::fmt;

use serde::Serialize;

use ringmill_device::report::{How, OwnReport, Remarks, Rows, bytes, grouped, seconds};

/// The use of a ring machine's memories.
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
    /// The bytes of a slot, at the machine's stored width.
    pub slot_bytes: u64,
    /// The most slots in use at once, for each RPAU.
    pub peak_slots: Vec<u8>,
    pub key_slots: usize,
    /// The different key limbs that the program uses on the RPAU with most. If there are more than `key_slots`, they
    /// cannot all be resident.
    pub key_limbs: usize,
}

/// The key limbs of the program over all RPAUs, as the machine stores them: at twice the native ring degree each is
/// half a limb of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct KeyUse {
    /// The different key limbs that the program uses.
    pub needed: u64,
    /// How many of these the key memory holds at once. With resident keys that many are there at the start.
    pub fit: u64,
    /// Taken to be in the key memory before the run.
    pub resident: u64,
    /// Loads over the host link during the run; one limb may come more than once.
    pub loaded: u64,
}

impl KeyUse {
    /// Loads of limbs that had been in the key memory before: each limb needed is there before the run or loaded once, and every
    /// other load is of these.
    pub fn again(&self) -> u64 {
        (self.resident + self.loaded).saturating_sub(self.needed)
    }
}

/// The calls of procedures that give several ciphertexts and do not fit whole (hoisted rotations), and the calls of
/// fewer ciphertexts that replace them. Each part computes the shared steps again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Cuts {
    pub calls: u64,
    pub parts: u64,
}

/// The limbs that had to leave the machine for lack of room between calls, and their cost on the link, which is not in
/// the machine's cycles. Then the limbs that moved inside procedures.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Spills {
    pub stores: u64,
    pub loads: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub inside: Inside,
    /// The cycles of the machine's clock that the link takes for these limbs, between calls and inside them, without
    /// key limbs.
    pub cycles: u64,
    /// Their share of the end-to-end time, 0 to 1, hidden or not.
    pub share: f64,
}

/// The limbs, as the machine stores them, that crossed the link inside procedures that do not fit. Their time is in the
/// machine's cycles unless other work hides it.
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

    /// The scheduler decides places, and a link's time is its bytes at the description's rate, for every source of the
    /// cycles.
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
                    "{} needed, {} fit; {} there before, {} loaded, {} of these again",
                    all.needed,
                    all.fit,
                    all.resident,
                    all.loaded,
                    all.again()
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
            keys: (self.memory.key_slots > 0).then(|| match keys.again() {
                0 => format!("{} limbs of {} in use", keys.loaded, keys.needed),
                again => format!(
                    "{} limbs, {again} of them again; {} in use",
                    keys.loaded, keys.needed
                ),
            }),
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
    /// Returns the bytes of the key limbs that were moved inside procedures.
    fn key_bytes(&self) -> u64 {
        let inside = &self.inside;
        let limbs = inside.stores + inside.loads + inside.key_loads;
        inside.bytes.checked_div(limbs).unwrap_or(0) * inside.key_loads
    }
}
