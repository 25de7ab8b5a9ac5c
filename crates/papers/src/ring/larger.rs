// SPDX-License-Identifier: Apache-2.0
//! Section 6 of the ring paper: N = 2^16, whose limbs are split twice.

use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::{Description, RingMachine};
use ringmill_schemes::ckks::{OpKey, Params, ProcCache};

use super::paper::Ring;
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};
use crate::single::{self, own, simulate};

const TABLE: &str = "Section 6: N = 2^16, nine ciphertext primes";

/// The operations on a machine with the memory that they need, and that memory beside the paper's estimate.
pub fn rows(paper: &Ring) -> Result<Vec<Row>, PaperError> {
    let d = Description::parse(Description::LARGE)?;
    let e = &paper.estimate_n16;
    let mut bits = [54; 9];
    bits[0] = 60;
    let params = Params::builder(16).prime_bits(&bits, &[54]).build()?;
    let level = params.max_level();
    let procs = ProcCache::new(params);
    let machine = RingMachine::new(d.clone())?;
    let mut rows = Vec::new();
    for (metric, key) in [
        ("add", OpKey::add(level, 2, 2)),
        ("multiply + relinearise", OpKey::mul_relin(level, true)),
        ("rescale", OpKey::rescale(level, 2)),
    ] {
        let program = single::program(procs.get(&key)?)?;
        let report = simulate(&machine, &program)?;
        let cycles = Ours::Is(report.cycles as f64, How::Model);
        let inside = own(&report)?.spills.inside;
        let row = Row::new(TABLE, d.name.as_str(), metric, "cycles", None, cycles);
        let moved = inside.stores + inside.loads;
        rows.push(match moved {
            0 => row.remarked("all of it on chip"),
            _ => row.remarked(format!("{moved} limbs out and in")),
        });
    }
    for (metric, printed, ours) in [
        ("limbs of ciphertexts", e.ciphertext_polynomials, d.slots()),
        ("limbs of keys", e.key_polynomials, d.keys.slots),
    ] {
        let ours = Ours::Is(ours as f64, How::Stated);
        rows.push(Row::new(TABLE, "an RPAU", metric, "", Some(printed), ours));
    }
    for bits in [54, 60] {
        let fit = d.needs_at(bits)?.fit()?;
        for (kind, printed) in [
            (Resource::BlockRam, e.bram_per_rpau),
            (Resource::UltraRam, e.uram_per_rpau),
        ] {
            let own = fit.needs.iter().filter(|n| n.units.is_some());
            let each: f64 = own
                .filter(|n| n.resource == kind)
                .filter(|n| !n.name.contains("twiddle"))
                .map(|n| n.each)
                .sum();
            let case = format!("an RPAU of {bits} bits");
            let ours = Ours::Is(each, How::Stated);
            let row = Row::new(TABLE, case, kind.name(), "", Some(printed), ours);
            rows.push(row.remarked("of polynomials and keys"));
        }
    }
    Ok(rows)
}
