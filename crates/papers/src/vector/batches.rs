// SPDX-License-Identifier: Apache-2.0
//! A key switch of a batch of ciphertexts that share the key: scheduled together, so that the key is brought once.

use ringmill_isa::mid::Procedure;
use ringmill_machines::vector::lower::{Prepared, alone_prepared};
use ringmill_machines::vector::{Counting, Description, time};

use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

/// Ciphertexts of a batch, and how many of them take a key's limb one after another before the next one comes.
const BATCH: u16 = 8;
const TOGETHER: [u16; 4] = [1, 2, 4, 8];

/// What a ciphertext takes of a batch, all times counted; operands and key are in distant memory, and results go there.
pub fn rows(
    table: &'static str,
    case: &str,
    d: &Description,
    switch: &Procedure,
) -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for together in TOGETHER {
        let (batch, prepared) = Prepared::batch(d, switch, BATCH, together)?;
        let made = alone_prepared(d, &batch, &prepared, &|_| false, Counting::WHOLE)?;
        let (core, _) = time(d, &made.program, Counting::PAPER)?;
        let us = |micro: u64| 1e6 * d.seconds(micro) / f64::from(BATCH);
        let metric = format!("key switch, of {BATCH} that share the key by {together}");
        let ours = Ours::Is(us(made.micro), How::Model);
        let row = Row::new(table, case, metric, "us", None, ours);
        let each = |limbs: u64| limbs / u64::from(BATCH);
        found.push(row.remarked(format!(
            "each: {} limbs loaded, {} stored, {} masks made; {:.0} us without memory's time",
            each(made.loads + made.reloaded),
            each(made.spilled),
            each(made.made),
            us(core)
        )));
    }
    Ok(found)
}
