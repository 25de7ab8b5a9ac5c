// SPDX-License-Identifier: Apache-2.0
//! Writes limbs and tables directly into the memories of a simulated ring machine, so that a test starts
//! without delay.
//!
//! Loads over the machine's link take a cycle for each residue.

use ringmill_machines::ring::isa::TableKind;

use super::twiddles::Table;
use super::{RpauError, Shape};
use crate::Model;

/// Returns a 64-bit number in words of 32 bits, the lower one first.
fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

impl Shape {
    /// Returns the column of polynomial memory that holds the residue with index `index` of a limb.
    /// A column is a memory with one residue of each memory row.
    fn column(&self, index: usize) -> usize {
        let pieces = 0..self.log_n.div_ceil(self.log_row);
        let mask = self.row() - 1;
        pieces.fold(0, |c, i| c ^ index >> (i * self.log_row)) & mask
    }

    /// Writes a limb directly into a slot (the room of one limb) of a simulated RPAU's polynomial
    /// memory.
    pub(super) fn poke_slot(
        &self,
        model: &mut Model,
        rpau: usize,
        slot: usize,
        limb: &[u64],
    ) -> Result<(), RpauError> {
        let n = 1usize << self.log_n;
        let rows = n / self.row();
        let unit = format!("gen_rpau[{rpau}].u_rpau");
        let wide = self.shared + self.singles;
        if slot >= wide {
            let group = self.row() >> self.log_parts;
            let memory = format!("rm_ring.{unit}.gen_narrow.u_narrow.u_ram");
            for (at, residues) in limb.chunks(group).enumerate() {
                let at = (slot - wide) * (n / group) + at;
                let word = packed(residues, self.q_width() as usize);
                model.poke(&memory, at as u32, &word)?;
            }
            return Ok(());
        }
        let (group, inner) = match slot.checked_sub(self.shared) {
            None => (0, slot),
            Some(single) => (single + 1, 0),
        };
        let columns: Vec<String> = (0..self.row())
            .map(|c| format!("rm_ring.{unit}.gen_group[{group}].u_group.gen_column[{c}].u_ram"))
            .collect();
        for (index, &residue) in limb.iter().enumerate() {
            let at = inner * rows + (index >> self.log_row);
            model.poke(&columns[self.column(index)], at as u32, &halves(residue))?;
        }
        Ok(())
    }

    /// Writes a limb directly into a slot (the room of one limb) of a simulated RPAU's key memory.
    pub(super) fn poke_key(
        &self,
        model: &mut Model,
        rpau: usize,
        slot: usize,
        limb: &[u64],
    ) -> Result<(), RpauError> {
        let first = slot * ((1usize << self.log_n) / self.key_group);
        for (word, residues) in (first..).zip(limb.chunks(self.key_group)) {
            let (stripe, at) = (word % self.key_stripes, word / self.key_stripes);
            let memory =
                format!("rm_ring.gen_rpau[{rpau}].u_rpau.u_keys.gen_stripe[{stripe}].u_ram");
            let word = packed(residues, self.q_width() as usize);
            model.poke(&memory, at as u32, &word)?;
        }
        Ok(())
    }

    /// Writes a table word directly into a simulated RPAU's memory, if the word is a twiddle or a factor between
    /// twiddles. Returns false for a word of another kind, which is not written.
    pub(super) fn poke_twiddle(
        &self,
        model: &mut Model,
        rpau: usize,
        word: &Table,
    ) -> Result<bool, RpauError> {
        let table = word.table;
        let memory = match (self.stages, word.kind) {
            (1, TableKind::DeepA) => format!("gen_generated.u_a.gen_table[{table}].u_first"),
            (1, TableKind::DeepB) => "gen_generated.u_a.u_factors".to_owned(),
            (2, TableKind::FlatA) => format!("gen_stored.u_a.gen_table[{table}].u_flat"),
            (2, TableKind::FlatB) => format!("gen_stored.u_b.gen_table[{table}].u_flat"),
            (2, TableKind::DeepA) => format!("gen_stored.u_a.gen_table[{table}].u_deep"),
            (2, TableKind::DeepB) => format!("gen_stored.u_b.gen_table[{table}].u_deep"),
            _ => return Ok(false),
        };
        let memory = format!("rm_ring.gen_rpau[{rpau}].u_rpau.u_twiddles.{memory}");
        model.poke(&memory, word.address as u32, &halves(word.word))?;
        Ok(true)
    }
}

/// Packs numbers of `bits` bits one after the other into words of 32 bits.
pub fn packed(numbers: &[u64], bits: usize) -> Vec<u32> {
    let mut words = vec![0; (numbers.len() * bits).div_ceil(32)];
    for (i, &number) in numbers.iter().enumerate() {
        for bit in (0..bits).filter(|bit| number >> bit & 1 == 1) {
            let at = i * bits + bit;
            words[at / 32] |= 1 << (at % 32);
        }
    }
    words
}
