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
mod proofs;
mod set;

use std::path::Path;
use std::sync::Arc;

use ringmill_circuits::tfhe::Params;
use ringmill_device::progress::Progress;
use ringmill_hdl::Hdl;

use crate::error::PaperError;
use crate::mapping::{self, Mapped, Mapping};
use crate::paper::{Asked, Reproduced};
use crate::run::{Figures, no_list};
use crate::scope::{Record, Scope, record};
use crate::sheet::Sheet;
use crate::value::{Value, measured};

pub const SHEET: &str = include_str!("../../data/torus.toml");

/// Returns Tables I to VI of the paper of Kong and Li.
///
/// # Errors
/// Fails if the hardware's tools are asked for and missing, or if a figure cannot be computed.
pub fn tables(
    sheet: &Sheet,
    asked: &Asked,
    progress: &dyn Progress,
) -> Result<Reproduced, PaperError> {
    let hdl = match asked.sources.synthesis {
        true => Some(Hdl::find(Path::new("."))?),
        false => None,
    };
    let mut figures = Ours {
        params: gate::params()?,
        gate: gate()?,
        mapping: Mapping::LeftOut,
    };
    let hdl = hdl.as_ref();
    mapping::reproduce((sheet, "torus"), &mut figures, hdl, asked.sources, progress)
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
    mapping: Mapping<'a>,
}

impl<'a> Mapped<'a> for Ours<'a> {
    fn mapping(&mut self) -> &mut Mapping<'a> {
        &mut self.mapping
    }
}

impl Figures for Ours<'_> {
    fn records(&mut self, name: &str, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
        let mapping = &self.mapping;
        let one = match name {
            "gate" => self.gate.clone(),
            "transform" => engine::transform(at, mapping)?,
            "engine" => engine::engine(at, mapping)?,
            "key_switch" => keys::switched(at, &self.params, mapping)?,
            // The other figures need no module.
            _ if mapping.collects() => return Ok(Vec::new()),
            "program" => program::counts(&self.params)?,
            "special_numbers" => primes::figures(at)?,
            "security" => program::security(at)?,
            "description" => engine::description(at)?,
            "proofs" => return proofs::proofs(at),
            "set_engine" => set::figures(at)?,
            "order" => keys::order(at)?,
            "key_runs" => return keys::runs(at),
            _ => return Err(no_list(name)),
        };
        Ok(vec![one])
    }
}
