// SPDX-License-Identifier: Apache-2.0
//! A host of the ring machine that repeats the transfers of a run of the model.

use std::collections::VecDeque;

use ringmill_machines::ring::micro::{MicroCode, Opcode, Operand, Word};
use ringmill_machines::ring::{Description, timing};

use super::RpauError;
use super::host::{Host, Place, Wanted};
use super::shadow::Lockstep;

/// A host that repeats a run of the cycle model: it sends the limbs of that run. The beats
/// (residues) of each transfer take as many cycles as in that run.
pub(super) struct ModelsHost<'a> {
    /// The model's transfers that the RTL has not begun, each with the cycles that its beats
    /// (residues) take.
    transfers: VecDeque<(&'a Lockstep, u64)>,
    sending: Option<&'a Lockstep>,
    limb: usize,
    pub error: Option<RpauError>,
}

impl<'a> ModelsHost<'a> {
    pub fn new(d: &Description, code: &MicroCode, words: &'a [Lockstep]) -> Self {
        let groups = d.slot_groups();
        let mut transfers: Vec<&Lockstep> = words.iter().filter(|w| w.word.op.on_link()).collect();
        transfers.sort_by_key(|w| w.start);
        let beats = |w: &&Lockstep| {
            let unstalled = timing::beside(d, &groups, code.log_n, &w.word, w.turns).total;
            timing::link(d, code.log_n) + w.cycles - unstalled
        };
        Self {
            transfers: transfers.into_iter().map(|w| (w, beats(&w))).collect(),
            sending: None,
            limb: 1 << code.log_n,
            error: None,
        }
    }

    /// Compares the transfer `wanted`, for which the machine asks, with `expected`, the next
    /// transfer of the model's run. Records an error if they differ. Returns the limb of
    /// `expected`, or `None` if the model's run has no further transfer.
    fn asked(&mut self, wanted: Wanted, expected: Option<&'a Lockstep>) -> Option<&'a [u64]> {
        let place = |w: &Lockstep| match w.word.b {
            Operand::Key(k) if w.word.op == Opcode::Load => Place::Key(k),
            _ => Place::Limb(w.word.imm),
        };
        let of = |w: &Lockstep| Wanted {
            rpau: w.word.rpaus().next().unwrap_or_default(),
            place: place(w),
        };
        if expected.map(of) != Some(wanted) {
            self.error.get_or_insert(RpauError::Asked {
                found: format!("{wanted:?}"),
                expected: format!("{:?}", expected.map(of)),
            });
        }
        let (_, limb) = expected?.results.first()?;
        Some(limb)
    }
}

/// Returns the cycle of each of `limb` beats (residues) of a transfer, spread evenly over `cycles` cycles, or over
/// `limb` cycles if that is more. The last beat is in the last cycle.
pub fn evenly(limb: u64, cycles: u64) -> Vec<u64> {
    let cycles = cycles.max(limb);
    let beats = (1..=limb).map(|i| (i * cycles).div_ceil(limb) - 1);
    beats.collect()
}

impl Host for ModelsHost<'_> {
    fn give(&mut self, wanted: Wanted) -> Vec<u64> {
        let next = self.transfers.front().map(|&(w, _)| w);
        let limb = self.asked(wanted, next);
        limb.unwrap_or_default().to_vec()
    }

    fn take(&mut self, wanted: Wanted, limb: Vec<u64>) {
        let word = self.sending.take();
        if self.asked(wanted, word) != Some(&limb) {
            let word = word.map(|w| Word::Op(w.word).to_string());
            self.error.get_or_insert(RpauError::Sent {
                word: word.unwrap_or_default(),
            });
        }
    }

    /// Returns a random cycle for each beat (residue) of the next transfer. The last beat is in the
    /// last cycle that the transfer has in the model's run.
    fn beats(&mut self) -> Vec<u64> {
        let n = self.limb as u64;
        let Some((word, cycles)) = self.transfers.pop_front() else {
            return Vec::new();
        };
        self.sending = Some(word);
        let mut draw = word.start.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut beats = Vec::with_capacity(self.limb);
        for at in 0..cycles.saturating_sub(1) {
            // Each remaining beat takes one of the remaining cycles, all with the same chance.
            draw ^= draw << 13;
            draw ^= draw >> 7;
            draw ^= draw << 17;
            let left = n - 1 - beats.len() as u64;
            if draw % (cycles - 1 - at) < left {
                beats.push(at);
            }
        }
        beats.push(cycles.saturating_sub(1));
        beats
    }
}
