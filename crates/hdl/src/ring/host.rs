// SPDX-License-Identifier: Apache-2.0
//! The host's part of the ring machine's link: the limbs that it sends and receives, and the cycles in which it does
//! so.

use crate::{HdlError, In, Model, Out};

/// How the ring machine names a limb to the host: by a place in host memory, or as a key limb.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A limb in host memory, by its number in the instruction word of the `LOAD` or `STORE`.
    Limb(u16),
    /// A key limb, by its index in the key table of the call.
    Key(u8),
}

/// A transfer that the ring machine asks the host for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    pub rpau: usize,
    pub place: Place,
}

/// The host of a ring machine, which sends the limbs that the machine loads and receives those that
/// it stores. If the host sends a limb of a wrong length, the machine ends with an error code.
pub trait Host {
    /// Returns the limb that a `LOAD` of the ring machine asks for.
    fn give(&mut self, wanted: Wanted) -> Vec<u64>;

    /// Receives the limb that a `STORE` of the ring machine sends.
    fn take(&mut self, wanted: Wanted, limb: Vec<u64>);

    /// Returns for each beat (residue) of the next transfer the first cycle in which the host lets it pass, in
    /// ascending order. Cycle 0 is the first in which a beat could pass. A beat for which the machine is not ready
    /// passes later. If the list has too few, each further beat passes as soon as the machine allows.
    fn beats(&mut self) -> Vec<u64> {
        Vec::new()
    }
}

/// A host for procedures without transfers. It sends limbs of a wrong length, so that the machine
/// refuses a load.
pub struct NoHost;

impl Host for NoHost {
    fn give(&mut self, _: Wanted) -> Vec<u64> {
        vec![0]
    }

    fn take(&mut self, _: Wanted, _: Vec<u64>) {}
}

/// The pins of the link between the ring machine and its host, and the transfer in progress.
pub(super) struct Link {
    want: Out,
    store: Out,
    key: Out,
    rpau: Out,
    place: Out,
    in_valid: In,
    in_ready: Out,
    in_data: In,
    in_last: In,
    out_valid: Out,
    out_ready: In,
    out_data: Out,
    out_last: Out,
    transfer: Option<Transfer>,
}

struct Transfer {
    wanted: Wanted,
    store: bool,
    limb: Vec<u64>,
    beats: Vec<u64>,
    passed: usize,
    /// The cycles since the first cycle in which a beat of the transfer could pass.
    cycle: u64,
}

impl Transfer {
    /// Returns whether the host lets the next beat (residue) of the transfer pass in this cycle.
    fn is_due(&self) -> bool {
        let at = self.beats.get(self.passed);
        at.is_none_or(|&at| at <= self.cycle)
    }
}

impl Link {
    pub fn new(model: &Model) -> Result<Self, HdlError> {
        Ok(Self {
            want: model.output("want_o")?,
            store: model.output("want_store_o")?,
            key: model.output("want_key_o")?,
            rpau: model.output("want_rpau_o")?,
            place: model.output("want_place_o")?,
            in_valid: model.input("in_valid_i")?,
            in_ready: model.output("in_ready_o")?,
            in_data: model.input("in_data_i")?,
            in_last: model.input("in_last_i")?,
            out_valid: model.output("out_valid_o")?,
            out_ready: model.input("out_ready_i")?,
            out_data: model.output("out_data_o")?,
            out_last: model.output("out_last_o")?,
            transfer: None,
        })
    }

    /// Ends any transfer and sets the link's pins so that no beat (residue) passes.
    pub fn rest(&mut self, model: &mut Model) -> Result<(), HdlError> {
        self.transfer = None;
        model.set(self.in_valid, 0)?;
        model.set(self.out_ready, 0)
    }

    /// Sets the link's input pins for this cycle, from the machine's outputs in the same cycle. The caller has
    /// evaluated the outputs. During a transfer this function evaluates them again.
    pub fn drive(&mut self, model: &mut Model, host: &mut dyn Host) -> Result<(), HdlError> {
        if self.transfer.is_none() {
            self.transfer = self.begun(model, host)?;
        }
        let Some(t) = &mut self.transfer else {
            return Ok(());
        };
        let due = t.is_due();
        t.cycle += 1;
        let done = if t.store {
            model.set(self.out_ready, due.into())?;
            model.eval()?;
            let passes = due && model.get(self.out_valid)? == 1;
            if passes {
                t.limb.push(model.get(self.out_data)?);
                t.passed += 1;
            }
            passes && model.get(self.out_last)? == 1
        } else {
            let last = t.passed + 1 >= t.limb.len();
            model.set(self.in_valid, due.into())?;
            model.set(
                self.in_data,
                t.limb.get(t.passed).copied().unwrap_or_default(),
            )?;
            model.set(self.in_last, last.into())?;
            model.eval()?;
            let passes = due && model.get(self.in_ready)? == 1;
            t.passed += usize::from(passes);
            passes && last
        };
        if let Some(t) = self.transfer.take_if(|t| done && t.store) {
            host.take(t.wanted, t.limb);
        } else if done {
            self.transfer = None;
        }
        Ok(())
    }

    /// Clears the link's input pins after the clock edge, if no transfer is in progress.
    pub fn settle(&mut self, model: &mut Model) -> Result<(), HdlError> {
        if self.transfer.is_none() {
            model.set(self.in_valid, 0)?;
            model.set(self.out_ready, 0)?;
        }
        Ok(())
    }

    /// Returns the transfer whose first beat could pass in this cycle, or `None` if the machine
    /// asks for none yet.
    fn begun(
        &mut self,
        model: &mut Model,
        host: &mut dyn Host,
    ) -> Result<Option<Transfer>, HdlError> {
        if model.get(self.want)? == 0 {
            return Ok(None);
        }
        let store = model.get(self.store)? == 1;
        if model.get(if store { self.out_valid } else { self.in_ready })? == 0 {
            return Ok(None);
        }
        let place = model.get(self.place)?;
        let wanted = Wanted {
            rpau: model.get(self.rpau)? as usize,
            place: if model.get(self.key)? == 1 {
                Place::Key(place as u8)
            } else {
                Place::Limb(place as u16)
            },
        };
        Ok(Some(Transfer {
            wanted,
            store,
            limb: if store { Vec::new() } else { host.give(wanted) },
            beats: host.beats(),
            passed: 0,
            cycle: 0,
        }))
    }
}
