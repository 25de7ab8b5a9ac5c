// SPDX-License-Identifier: Apache-2.0
//! Figures of the paper of Kong and Li: counts of the bootstrap's program, primes, security, our engines, and a step in
//! the order of the paper's own engine. Key switches with secure masks and the time of a gate on this computer come
//! with them. The rows of the paper's tables are in `data/torus.toml`.

mod engine;
mod gate;
mod keys;
mod peer;
pub(crate) mod primes;
mod program;
mod set;

use std::path::Path;
use std::sync::Arc;

use ringmill_circuits::tfhe::Params;
use ringmill_device::progress::Progress;
use ringmill_hdl::Hdl;
use ringmill_machines::fpga::Printed;
use ringmill_machines::torus::{Schedule, TorusMachine};

use crate::error::PaperError;
use crate::mapping::{self, Mapping};
use crate::paper::{Asked, Paper, Reproduced};
use crate::run::{Figures, no_list};
use crate::scope::{Record, Scope, record};
use crate::sheet::Sheet;
use crate::value::{Value, measured};

pub const SHEET: &str = include_str!("../../data/torus.toml");

/// The paper of Kong and Li on a bootstrapping engine: its Tables I to VI.
pub struct Bootstrapping;

impl Paper for Bootstrapping {
    fn name(&self) -> &'static str {
        "torus"
    }

    fn title(&self) -> &'static str {
        "Hardware Acceleration and Implementation of Fully Homomorphic Encryption Over the Torus"
    }

    fn printed(&self) -> Result<Printed, PaperError> {
        Sheet::read(SHEET)?.printed(self.name())
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        let hdl = match asked.sources.synthesis {
            true => Some(Hdl::find(Path::new("."))?),
            false => None,
        };
        let sheet = Sheet::read(SHEET)?;
        let params = gate::params()?;
        let gate = gate()?;
        let made = |mapping: &Mapping<'_>, asks: bool| {
            let mut figures = Ours {
                params: Arc::clone(&params),
                gate: gate.clone(),
                mapping,
                asks,
            };
            sheet.reproduce(self.name(), &mut figures, asked.sources)
        };
        match &hdl {
            Some(hdl) => {
                mapping::map(hdl, |asks| made(asks, true).map(drop), progress)?;
                made(&Mapping::By(hdl), false)
            }
            None => made(&Mapping::LeftOut, false),
        }
    }
}

/// Returns the milliseconds of our gate and of tfhe-rs's on this computer, as a record.
fn gate() -> Result<Record, PaperError> {
    let gate = gate::milliseconds()?;
    let (peer, said) = match gate.peer {
        Some(ms) => (measured(ms), "in turns with ours, one thread"),
        None => (Value::NotMeasured, peer::HOW),
    };
    Ok(record([
        ("gate", measured(gate.ours)),
        ("peer", peer),
        ("peer_said", said.into()),
    ]))
}

struct Ours<'a> {
    params: Arc<Params>,
    gate: Record,
    mapping: &'a Mapping<'a>,
    /// Whether this run of `data/torus.toml` only collects the hardware modules that the tables need.
    asks: bool,
}

impl Figures for Ours<'_> {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        let (params, mapping) = (&self.params, self.mapping);
        let one = match name {
            "gate" => self.gate.clone(),
            "ntt" if at.text("design")? == "fpga" => engine::ntt(mapping)?,
            "ntt" => engine::none(),
            "engine" => match engine::Printed::of(at)? {
                Some(printed) => engine::engine(&printed.machine(Schedule::Sums)?, mapping)?,
                None => engine::none(),
            },
            "paper_engine" => match engine::Printed::of(at)? {
                Some(printed) => engine::engine(&printed.machine(Schedule::Pairs)?, mapping)?,
                None => return Ok(Vec::new()),
            },
            "shipped" => engine::engine(&TorusMachine::new(keys::shipped(at)?)?, mapping)?,
            "key_switch" => keys::switched(at, params, mapping)?,
            // The other figures need no module.
            _ if self.asks => return Ok(Vec::new()),
            "step" => program::step(at, params)?,
            "special_numbers" => primes::figures(at)?,
            "security" => program::security(at)?,
            "key_rate" => keys::rate(at)?,
            "proofs" => match engine::Printed::of(at)? {
                Some(printed) => return engine::proofs(printed, at.count("log_base")? as u32),
                None => return Ok(Vec::new()),
            },
            "set_engines" => return set::figures(),
            "own_order" => keys::own_order(at)?,
            "keys" => return keys::engines(),
            "key_runs" => return keys::runs(at),
            _ => return Err(no_list(name)),
        };
        Ok(vec![one])
    }
}
