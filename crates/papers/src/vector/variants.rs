// SPDX-License-Identifier: Apache-2.0
//! What another memory would change: keys' uniform halves made on chip from seeds, high-bandwidth memory, and a key that a batch of
//! ciphertexts shares.

use std::sync::Arc;

use ringmill_compiler::bgv::one_bootstrap;
use ringmill_device::progress::Progress;
use ringmill_machines::vector::description::Masks;
use ringmill_machines::vector::{Counting, Description, alone, resident, time};
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::bgv::{BgvError, OpKey, ProcCache};

use super::{batches, machine};
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str =
    "Another memory: a key switch and a bootstrap with distant memory and instructions counted";
/// Two stacks of HBM2E: 32 pseudo-channels of 28.8 GB/s.
const HBM: (usize, f64) = (32, 28.8);

fn variants(paper: &Description) -> [(&'static str, Description); 4] {
    let with = |masks: Masks, hbm: bool| {
        let mut d = paper.clone();
        d.key_masks = masks;
        if hbm {
            (d.distant.channels, d.distant.gbyte_per_second) = HBM;
            d.distant.gbyte = 1;
            // Enough on its way for the latency.
            (d.load_chunks, d.store_chunks) = (128, 128);
        }
        d
    };
    [
        ("two channels of DDR4", with(Masks::Stored, false)),
        ("masks made on chip", with(Masks::Generated, false)),
        ("HBM, 32 x 28.8 GB/s", with(Masks::Stored, true)),
        ("HBM and masks made", with(Masks::Generated, true)),
    ]
}

pub fn rows(procedure: &Arc<Procedure>, progress: &dyn Progress) -> Result<Vec<Row>, PaperError> {
    let params = procedure.params();
    let paper = machine::machine(params.log_n())?;
    let cache = ProcCache::new(Arc::clone(params));
    let mut found = Vec::new();
    for (case, d) in variants(&paper) {
        // Masks are made of seeds.
        let seeded = d.key_masks == Masks::Generated;
        let switch = cache.get(&OpKey::relin(params.max_level(), seeded))?;
        let made = alone(&d, &switch, &resident(&d, &switch), Counting::WHOLE)?;
        let (core, _) = time(&d, &made.program, Counting::PAPER)?;
        let us = |micro: u64| 1e6 * d.seconds(micro);
        let ours = Ours::Is(us(made.micro), How::Model);
        let row = Row::new(TABLE, case, "key switch", "us", None, ours);
        found.push(row.remarked(format!(
            "{} limbs loaded, {} masks made; {:.0} us without memory's time",
            made.loads + made.reloaded,
            made.made,
            us(core)
        )));
        let (setup, maps) = (procedure.setup().clone(), procedure.maps().clone());
        let own = Procedure::new(setup, maps, seeded).map_err(BgvError::from)?;
        let compiled = one_bootstrap(&Arc::new(own))?;
        let (report, own) = machine::simulate(d.clone(), &compiled.program, progress)?;
        let ours = Ours::Is(1e3 * report.seconds, How::Model);
        let row = Row::new(TABLE, case, "bootstrap", "ms", None, ours);
        found.push(row.remarked(format!(
            "{} limbs loaded, {} masks made",
            own.limbs_loaded, own.limbs_made
        )));
        found.extend(batches::rows(TABLE, case, &d, &switch)?);
    }
    Ok(found)
}
