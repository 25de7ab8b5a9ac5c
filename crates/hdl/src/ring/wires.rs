//! The wires by which tables and limbs come, the same at an RPAU's pins and at the machine's.

use super::twiddles::Table;
use crate::{HdlError, In, Model};

/// Ports; what is set holds until it is set again.
pub(super) struct Wires {
    load: In,
    load_kind: In,
    load_table: In,
    load_addr: In,
    load_data: In,
    link_valid: In,
    link_slot: In,
    link_index: In,
    link_data: In,
    link_key_start: In,
    link_key_slot: In,
    link_key: In,
}

impl Wires {
    pub fn new(model: &Model) -> Result<Self, HdlError> {
        Ok(Self {
            load: model.input("load_i")?,
            load_kind: model.input("load_kind_i")?,
            load_table: model.input("load_table_i")?,
            load_addr: model.input("load_addr_i")?,
            load_data: model.input("load_data_i")?,
            link_valid: model.input("link_valid_i")?,
            link_slot: model.input("link_slot_i")?,
            link_index: model.input("link_index_i")?,
            link_data: model.input("link_data_i")?,
            link_key_start: model.input("link_key_start_i")?,
            link_key_slot: model.input("link_key_slot_i")?,
            link_key: model.input("link_key_i")?,
        })
    }

    /// Nothing comes.
    pub fn rest(&self, model: &mut Model) -> Result<(), HdlError> {
        for port in [
            self.load,
            self.link_valid,
            self.link_key_start,
            self.link_key,
        ] {
            model.set(port, 0)?;
        }
        Ok(())
    }

    /// A word of a table, or none.
    pub fn table(&self, model: &mut Model, word: Option<Table>) -> Result<(), HdlError> {
        model.set(self.load, u64::from(word.is_some()))?;
        let Some(word) = word else { return Ok(()) };
        model.set(self.load_kind, word.kind)?;
        model.set(self.load_table, word.table)?;
        model.set(self.load_addr, word.address)?;
        model.set(self.load_data, word.word)
    }

    /// A residue by its slot and index, or none.
    pub fn residue(
        &self,
        model: &mut Model,
        residue: Option<(u8, u64, u64)>,
    ) -> Result<(), HdlError> {
        model.set(self.link_valid, u64::from(residue.is_some()))?;
        let Some((slot, index, data)) = residue else {
            return Ok(());
        };
        model.set(self.link_slot, slot.into())?;
        model.set(self.link_index, index)?;
        model.set(self.link_data, data)
    }

    /// A limb for a key slot begins.
    pub fn key(&self, model: &mut Model, slot: u8) -> Result<(), HdlError> {
        model.set(self.link_key_start, 1)?;
        model.set(self.link_key_slot, slot.into())
    }

    /// The next residue of that limb, or none.
    pub fn key_residue(&self, model: &mut Model, residue: Option<u64>) -> Result<(), HdlError> {
        model.set(self.link_key_start, 0)?;
        model.set(self.link_key, u64::from(residue.is_some()))?;
        match residue {
            Some(data) => model.set(self.link_data, data),
            None => Ok(()),
        }
    }
}
