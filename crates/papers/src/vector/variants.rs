// SPDX-License-Identifier: Apache-2.0
//! Variants of the vector machine's memory: uniform halves of keys made on chip from seeds, high-bandwidth memory, and
//! a key that a batch of ciphertexts shares.

use std::sync::Arc;

use ringmill_compiler::bgv::one_bootstrap;
use ringmill_device::progress::Progress;
use ringmill_isa::mid;
use ringmill_machines::vector::description::Masks;
use ringmill_machines::vector::lower::{Prepared, alone_prepared};
use ringmill_machines::vector::{Counting, Description, alone, resident, time};
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::bgv::{BgvError, OpKey, ProcCache};

use super::machine;
use crate::error::PaperError;
use crate::scope::{Record, Scope, record};
use crate::value::{Value, model};

/// Two stacks of HBM2E memory: the number of pseudo-channels, and the GB/s of each.
const HBM: (usize, f64) = (32, 28.8);

/// Returns the BASALISC paper's machine with the memory that the current row of `data/vector.toml` names.
fn variant(procedure: &Procedure, at: &Scope<'_>) -> Result<Description, PaperError> {
    let mut d = machine::machine(procedure.params().log_n())?;
    d.key_masks = match at.size("generated")? > 0.0 {
        true => Masks::Generated,
        false => Masks::Stored,
    };
    if at.size("hbm")? > 0.0 {
        (d.distant.channels, d.distant.gbyte_per_second) = HBM;
        d.distant.gbyte = 1;
        // Enough chunks in flight to cover the latency.
        (d.load_chunks, d.store_chunks) = (128, 128);
    }
    Ok(d)
}

/// Times a key switch and a bootstrap on the vector machine with one variant of memory.
///
/// # Errors
/// Fails if the row's memory is refused, or if the machine cannot run the programs.
pub fn figures(
    procedure: &Arc<Procedure>,
    at: &Scope<'_>,
    progress: &dyn Progress,
) -> Result<Vec<Record>, PaperError> {
    let d = variant(procedure, at)?;
    let switch = switch(procedure, &d)?;
    let made = alone(&d, &switch, &resident(&d, &switch), Counting::WHOLE)?;
    let (core, _) = time(&d, &made.program, Counting::PAPER)?;
    let us = |micro: u64| 1e6 * d.seconds(micro);
    let (setup, maps) = (procedure.setup().clone(), procedure.maps().clone());
    let own = Procedure::new(setup, maps, seeded(&d)).map_err(BgvError::from)?;
    let compiled = one_bootstrap(&Arc::new(own))?;
    let mut found = machine::simulate(d.clone(), &compiled.program, progress)?;
    found.extend(record([
        ("switch_us", model(us(made.micro))),
        ("switch_loaded", (made.loads + made.reloaded).into()),
        ("switch_made", made.made.into()),
        ("core_us", us(core).into()),
    ]));
    Ok(vec![found])
}

/// Returns whether the machine makes the masks of keys on chip from seeds.
fn seeded(d: &Description) -> bool {
    d.key_masks == Masks::Generated
}

fn switch(procedure: &Procedure, d: &Description) -> Result<Arc<mid::Procedure>, PaperError> {
    let params = procedure.params();
    let cache = ProcCache::new(Arc::clone(params));
    Ok(cache.get(&OpKey::relin(params.max_level(), seeded(d)))?)
}

/// The number of ciphertexts of a batch. `TOGETHER` lists how many of them use a limb of the key before the next limb
/// comes.
const BATCH: u16 = 8;
const TOGETHER: [u16; 4] = [1, 2, 4, 8];

/// Returns the time for each ciphertext of a batch that shares the key, with distant memory and instructions counted
/// too. Operands and key are in distant memory, and results go there.
///
/// # Errors
/// Fails if the row's memory is refused, or if the machine cannot run the batches.
pub fn batches(procedure: &Procedure, at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
    let d = variant(procedure, at)?;
    let switch = switch(procedure, &d)?;
    let found = TOGETHER.into_iter().map(|together| {
        let (batch, prepared) = Prepared::batch(&d, &switch, BATCH, together)?;
        let made = alone_prepared(&d, &batch, &prepared, &|_| false, Counting::WHOLE)?;
        let (core, _) = time(&d, &made.program, Counting::PAPER)?;
        let us = |micro: u64| 1e6 * d.seconds(micro) / f64::from(BATCH);
        let each = |limbs: u64| Value::from(limbs / u64::from(BATCH));
        Ok(record([
            ("batch", f64::from(BATCH).into()),
            ("together", f64::from(together).into()),
            ("each_us", model(us(made.micro))),
            ("loaded", each(made.loads + made.reloaded)),
            ("stored", each(made.spilled)),
            ("made", each(made.made)),
            ("core_us", us(core).into()),
        ]))
    });
    found.collect()
}
