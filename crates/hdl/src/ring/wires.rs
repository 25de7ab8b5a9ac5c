// SPDX-License-Identifier: Apache-2.0
//! The ports by which tables are loaded into the ring machine. A single RPAU and the whole machine
//! have the same ports.

use super::twiddles::Table;
use crate::{HdlError, In, Model};

/// The input ports by which table words enter an RPAU or the ring machine. They keep their values
/// until they are set again.
pub(super) struct Wires {
    load: In,
    load_kind: In,
    load_table: In,
    load_addr: In,
    load_data: In,
}

impl Wires {
    pub fn new(model: &Model) -> Result<Self, HdlError> {
        Ok(Self {
            load: model.input("load_i")?,
            load_kind: model.input("load_kind_i")?,
            load_table: model.input("load_table_i")?,
            load_addr: model.input("load_addr_i")?,
            load_data: model.input("load_data_i")?,
        })
    }

    /// Puts one table word on the ports for the next clock edge; `None` clears the ports.
    pub fn table(&self, model: &mut Model, word: Option<Table>) -> Result<(), HdlError> {
        model.set(self.load, u64::from(word.is_some()))?;
        let Some(word) = word else { return Ok(()) };
        model.set(self.load_kind, word.kind.bits())?;
        model.set(self.load_table, word.table)?;
        model.set(self.load_addr, word.address)?;
        model.set(self.load_data, word.word)
    }
}
