// SPDX-License-Identifier: Apache-2.0
//! Section 6 of the Medha paper: rings of N = 2^16, whose limbs the ring machine splits twice.

use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::{Description, RingMachine};
use ringmill_schemes::ckks::{Params, ProcCache};

use super::operations::keys;
use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::single::{self, own, simulate};
use crate::value::{model, stated};

fn description() -> Result<Description, PaperError> {
    Ok(Description::parse(Description::LARGE)?)
}

/// Returns the cycles of homomorphic operations at N = 2^16 on a machine whose memory holds all their values.
/// `moved` counts the limbs that leave the machine and come back.
pub fn operations() -> Result<Vec<Record>, PaperError> {
    let d = description()?;
    let mut bits = [54; 9];
    bits[0] = 60;
    let params = Params::builder(16).prime_bits(&bits, &[54]).build()?;
    let keys = keys(&params);
    let procs = ProcCache::new(params);
    let machine = RingMachine::new(d.clone())?;
    let runs = keys.into_iter().map(|(name, _, key)| {
        let report = simulate(&machine, &single::program(procs.get(&key)?)?)?;
        let inside = own(&report)?.spills.inside;
        Ok(record([
            ("machine", d.name.as_str().into()),
            ("operation", name.into()),
            ("cycles", model(report.cycles)),
            ("moved", ((inside.stores + inside.loads) as f64).into()),
        ]))
    });
    runs.collect()
}

/// Returns the number of limbs of N = 2^16 that an RPAU (residue polynomial arithmetic unit) of each machine holds.
pub fn limbs() -> Result<Vec<Record>, PaperError> {
    let d = description()?;
    Ok(vec![record([
        ("limbs.ciphertexts", stated(d.slots())),
        ("limbs.keys", stated(d.keys.slots)),
    ])])
}

/// Returns the memory for polynomials and keys that an RPAU of each prime size needs at N = 2^16.
pub fn needs() -> Result<Vec<Record>, PaperError> {
    let d = description()?;
    let widths = [54, 60].into_iter().map(|bits| {
        let fit = d.needs_at(bits)?.fit()?;
        let needed = |kind| {
            let own = fit.needs.iter().filter(|n| n.units.is_some());
            let own = own.filter(|n| n.resource == kind && !n.name.contains("twiddle"));
            stated(own.map(|n| n.each).sum::<f64>())
        };
        Ok(record([
            ("bits", f64::from(bits).into()),
            ("needed.bram", needed(Resource::BlockRam)),
            ("needed.uram", needed(Resource::UltraRam)),
        ]))
    });
    widths.collect()
}
