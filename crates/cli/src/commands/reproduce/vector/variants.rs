//! What another memory would change: keys' uniform halves made on chip from seeds, high-bandwidth memory, and a key that a batch of
//! ciphertexts shares.

use std::sync::Arc;

use ringmill_compiler::bgv::one_bootstrap;
use ringmill_devices::progress::Progress;
use ringmill_machines::vector::description::Masks;
use ringmill_machines::vector::{Counting, Description, alone, resident, time};
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::bgv::{OpKey, ProcCache};

use super::super::figure::How;
use super::super::row::{Ours, Row};
use super::machine;
use crate::error::CliError;

const TABLE: &str =
    "Another memory: a key switch and a bootstrap with distant memory and instructions counted";
/// Ciphertexts that share a key.
const BATCHES: [u64; 3] = [2, 4, 16];
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

pub fn rows(procedure: &Arc<Procedure>, progress: &dyn Progress) -> Result<Vec<Row>, CliError> {
    let params = procedure.params();
    let paper = machine::machine(params.log_n())?;
    let key = OpKey::relin(params.max_level(), false);
    let switch = ProcCache::new(Arc::clone(params)).get(&key)?;
    let compiled = one_bootstrap(procedure)?;
    let mut found = Vec::new();
    for (case, d) in variants(&paper) {
        let made = alone(&d, &switch, &resident(&d, &switch), Counting::WHOLE)?;
        let (core, _) = time(&d, &made.program, Counting::PAPER)?;
        let us = |micro: u64| 1e6 * d.seconds(micro);
        let ours = Ours::Is(us(made.micro), How::Model);
        let row = Row::new(TABLE, case, "key switch", "us", None, ours);
        let loaded = made.tally.loads / u64::from(d.shape(params.log_n()).limb_chunks());
        found.push(row.remarked(format!(
            "{loaded} limbs loaded; {:.0} us without memory's time",
            us(core)
        )));
        let (report, own) = machine::simulate(d.clone(), &compiled.program, progress)?;
        let ours = Ours::Is(1e3 * report.seconds, How::Model);
        let row = Row::new(TABLE, case, "bootstrap", "ms", None, ours);
        found.push(row.remarked(format!("{} limbs loaded", own.limbs_loaded)));
        found.extend(batches(
            case,
            &d,
            params.log_n(),
            params.moduli().len(),
            core,
        ));
    }
    Ok(found)
}

/// Of a batch whose members take each limb of the key one after another: the key's share of the channels' time or the core's time,
/// whichever is more.
fn batches(case: &str, d: &Description, log_n: u8, primes: usize, core: u64) -> Vec<Row> {
    let halves = match d.key_masks {
        Masks::Stored => 2,
        Masks::Generated => 1,
    };
    let shape = d.shape(log_n);
    let limbs = 3 * primes as u64 * halves;
    let chunks = limbs * u64::from(shape.limb_chunks());
    let key = chunks * d.chunk_micro(shape) / d.distant.channels as u64;
    let rows = BATCHES.iter().map(|&batch| {
        let micro = core.max(key / batch);
        let ours = Ours::Is(1e6 * d.seconds(micro), How::Counted);
        let metric = format!("key switch, one of {batch} with a key");
        let row = Row::new(TABLE, case, metric, "us", None, ours);
        row.remarked(match core < key / batch {
            true => "the key's time on the channels",
            false => "the core's time",
        })
    });
    rows.collect()
}
