// SPDX-License-Identifier: Apache-2.0
//! The figures of a ring machine in the report of a run.

use std::fmt;

use serde::Serialize;

use ringmill_device::report::{How, OwnReport, Remarks, Rows, bytes, grouped, seconds};

/// The size of a ring machine, and its use of slots, key limbs, spills and cut calls in the run of a program.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RingUse {
    pub rpaus: usize,
    pub multipliers_per_rpau: usize,
    pub memory: SlotUse,
    pub keys: KeyUse,
    pub spills: Spills,
    pub cuts: Cuts,
}

/// The numbers of memory slots that an RPAU has, for polynomials and for keys, and how many of them a program uses.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SlotUse {
    pub slots: usize,
    /// The bytes of one slot in the machine's word size.
    pub slot_bytes: u64,
    /// For each RPAU, the most slots in use at once.
    pub peak_slots: Vec<u8>,
    pub key_slots: usize,
    /// The number of different key limbs, counted as in [`KeyUse`], that the program uses on the RPAU that uses most of
    /// them. If it is above `key_slots`, the keys cannot all stay in key memory.
    pub key_limbs: usize,
}

/// The numbers of key limbs of the program over all RPAUs. They are counted as the machine stores them: at twice the
/// native ring degree, each is half a limb of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct KeyUse {
    /// The number of different key limbs that the program uses.
    pub needed: u64,
    /// How many of the needed key limbs the key memories of all RPAUs hold at once.
    pub fit: u64,
    /// The number of key limbs that count as loaded before the run; 0 without the option `resident_keys`.
    pub resident: u64,
    /// The number of loads over the host link during the run. A limb may be loaded more than once.
    pub loaded: u64,
}

impl KeyUse {
    /// Returns the number of loads of limbs that had been in key memory before. Each needed limb is there before the
    /// run or is loaded a first time; every other load repeats one.
    pub fn again(&self) -> u64 {
        (self.resident + self.loaded).saturating_sub(self.needed)
    }
}

/// The calls of several ciphertexts (hoisted rotations) that were cut because they do not fit whole or take fewer
/// cycles in parts, and the calls of fewer ciphertexts that replace them. Each part computes the shared steps again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Cuts {
    pub calls: u64,
    pub parts: u64,
}

/// The limbs that left the machine between calls for lack of room, and those that came in, without the first transfer
/// of each input. `bytes` and `seconds` are those of these transfers on the link, which the machine's cycles do not
/// contain. `inside` has the limbs that moved inside procedures.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Spills {
    pub stores: u64,
    pub loads: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub inside: Inside,
    /// The time of the link for the limbs that moved for lack of room, between and inside calls and
    /// without key limbs, in cycles of the machine's clock.
    pub cycles: u64,
    /// The share of the end-to-end time that the link takes for the limbs that moved for lack of
    /// room, from 0 to 1. Transfers during which other work runs count in full.
    pub share: f64,
}

/// The numbers of limbs that crossed the link inside procedures that do not fit the memory. At twice the native
/// degree the machine stores a limb as two, and counts two. The machine's cycles contain the time of these
/// transfers, unless other work hides it.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Inside {
    pub stores: u64,
    pub loads: u64,
    /// The number of key limbs that were loaded into key memory.
    pub key_loads: u64,
    pub bytes: u64,
    pub seconds: f64,
}

impl OwnReport for RingUse {
    const KEY: &'static str = "ring";

    /// Writes the rows of the report: the use of slots, key limbs, cut calls and spills. They come
    /// from the model even if the cycles come from RTL, since the scheduler decides slots and
    /// transfers.
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
    /// Returns the bytes of the key limbs that were loaded inside procedures.
    fn key_bytes(&self) -> u64 {
        let inside = &self.inside;
        let limbs = inside.stores + inside.loads + inside.key_loads;
        inside.bytes.checked_div(limbs).unwrap_or(0) * inside.key_loads
    }
}
