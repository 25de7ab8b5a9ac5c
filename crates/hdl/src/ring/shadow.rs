// SPDX-License-Identifier: Apache-2.0
//! Tracks the content of the RPAUs' memories from the RTL's writes, and compares it with the model's results.

use ringmill_machines::ring::encode::encode;
use ringmill_machines::ring::interpret::Target;
use ringmill_machines::ring::micro::{OpWord, Unit, Word};

use super::{RpauError, Shape};
use crate::{HdlError, Model, Out};

/// An instruction word as the cycle model ran it, with its first cycle, its number of cycles and
/// its results.
#[derive(Clone, Debug)]
pub struct Lockstep {
    pub word: OpWord,
    pub start: u64,
    pub cycles: u64,
    /// How many cycles of each period the word leaves to words of the dyadic cores, on each memory
    /// port that it uses. A period is the time in which the dyadic cores take one memory row.
    pub turns: u64,
    /// The residues of each result of the word, with the memory slot or other place to which the
    /// result goes.
    pub results: Vec<(Target, Vec<u64>)>,
}

/// The limbs that the RTL has written, by RPAU and memory slot, and the cycle after each limb's last write, in which
/// the limb is in memory.
pub(super) struct Shadow {
    shape: Shape,
    rpaus: usize,
    limbs: Vec<Vec<Option<u64>>>,
    landed: Vec<u64>,
    we: Out,
    slot: Out,
    addr: Out,
    data: Out,
}

/// Returns the `width` bits from bit `at` on, of a number in 32-bit words, lowest first.
fn bits(words: &[u32], at: usize, width: usize) -> u64 {
    let word = |i: usize| u128::from(words.get(i).copied().unwrap_or(0));
    let wide = word(at / 32) | word(at / 32 + 1) << 32 | word(at / 32 + 2) << 64;
    (wide >> (at % 32)) as u64 & (u64::MAX >> (64 - width))
}

impl Shadow {
    /// Makes an empty record of what `rpaus` RPAUs write to memory. The RTL module shows these
    /// writes at its `watch_*` ports.
    pub fn new(shape: &Shape, rpaus: usize, model: &Model) -> Result<Self, HdlError> {
        let slots = rpaus * shape.slots();
        Ok(Self {
            shape: *shape,
            rpaus,
            limbs: vec![vec![None; 1 << shape.log_n]; slots],
            landed: vec![0; slots],
            we: model.output("watch_we_o")?,
            slot: model.output("watch_slot_o")?,
            addr: model.output("watch_addr_o")?,
            data: model.output("watch_data_o")?,
        })
    }

    /// Records the residues that the RPAUs write in this cycle. They are in memory in the next
    /// cycle.
    pub fn take(&mut self, model: &Model, cycle: u64) -> Result<(), HdlError> {
        let we = model.get_words(self.we)?;
        if we.iter().all(|&w| w == 0) {
            return Ok(());
        }
        let s = self.shape;
        let (row, groups) = (s.row(), s.groups());
        let (steps, width) = ((s.log_n - s.log_row) as usize, s.word_bits as usize);
        let slots = model.get_words(self.slot)?;
        let addresses = model.get_words(self.addr)?;
        let data = model.get_words(self.data)?;
        let places = (0..self.rpaus * groups * row).filter(|&i| bits(&we, i, 1) == 1);
        for i in places {
            let (port, column) = (i / row, i % row);
            let (rpau, group) = (port / groups, port % groups);
            let inner = bits(&slots, 5 * port, 5) as usize;
            let slot = match group {
                0 => inner,
                narrow if narrow > s.singles => s.shared + s.singles + inner,
                single => s.shared + single - 1,
            };
            let address = bits(&addresses, i * steps, steps) as usize;
            let pieces = (0..steps).filter(|k| address >> k & 1 == 1);
            let mask = pieces.fold(0, |m, k| m ^ 1 << (k % s.log_row as usize));
            let index = address << s.log_row | (column ^ mask);
            let at = rpau * s.slots() + slot;
            self.limbs[at][index] = Some(bits(&data, i * width, width));
            self.landed[at] = cycle + 1;
        }
        Ok(())
    }

    /// Checks an instruction word when it ends: the memory slots of its results must have the model's residues. The
    /// last residue must land in memory in the word's last cycle, the cycle after its write. Results that go to key
    /// memory or to the host are not checked here. The last residue of a word of the dyadic cores may land earlier. The
    /// RTL is `late` cycles behind the model, except for words that use the link.
    pub fn check(&self, w: &Lockstep, late: u64) -> Result<(), RpauError> {
        let differs = |what: String| {
            Err(RpauError::Differs {
                word: Word::Op(w.word).to_string(),
                start: w.start,
                what,
            })
        };
        let mut landings = Vec::new();
        for (target, limb) in &w.results {
            // Writes to key memory are not visible, and the host checks its own limbs.
            let Target::Slot(rpau, slot) = target else {
                continue;
            };
            let at = rpau * self.shape.slots() + usize::from(*slot);
            let (held, landed) = (&self.limbs[at], self.landed[at]);
            let wrong: Vec<usize> = (0..limb.len())
                .filter(|&x| held[x] != Some(limb[x]))
                .collect();
            if let Some(&x) = wrong.first() {
                return differs(format!(
                    "slot {slot} of RPAU {rpau} has {:?} at {x} and not {} ({} of {} differ; word {:#x}; the last write \
                     landed in cycle {landed})",
                    held[x],
                    limb[x],
                    wrong.len(),
                    limb.len(),
                    encode(&Word::Op(w.word)),
                ));
            }
            landings.push(landed);
        }
        // A broadcast reaches its receivers one after another, and the latest landing counts. The board learns of the
        // end of a transfer over the link after that end, so nothing is late there.
        let late = if w.word.op.on_link() { 0 } else { late };
        let (Some(landed), last) = (landings.into_iter().max(), w.start + w.cycles - 1 + late)
        else {
            return Ok(());
        };
        let dyadic = w.word.on_cores() && w.word.unit == Unit::Dyadic;
        if landed > last || (landed < last && !dyadic) {
            return differs(format!(
                "the last residue landed in cycle {landed}, not {last}"
            ));
        }
        Ok(())
    }
}
