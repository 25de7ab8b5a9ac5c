// SPDX-License-Identifier: Apache-2.0
//! Table 8 on `vector-u250`, which one can build, beside the paper's machine at the same ring.
//!
//! The card's machine takes rings up to N = 1024, so both stand there, with as many primes as the set has. Operands, results and keys are
//! in the buffer, which holds them all at this size: nothing of a time hangs on distant memory.

use std::sync::Arc;

use ringmill_isa::mid;
use ringmill_machines::vector::{Alone, Counting, Description, alone, resident, time};
use ringmill_schemes::bgv::{ExactParams, Params};

use super::operations::procedures;
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str =
    "Table 8 at N = 1024: a machine for the Alveo U250 beside the paper's, operands in the buffer";

/// log2 of the ring degree: the largest of the card's machine.
const LOG_N: u8 = 10;

/// A set of the card's ring with as many primes.
pub fn params(of: &Params) -> Result<Arc<Params>, PaperError> {
    let params = Params::builder(LOG_N, of.plain_modulus())
        .friendly_primes(of.max_level().primes(), of.special_count())?
        .divide_modulo_primes_alone()
        .allow_insecure_parameters_for_tests_only()
        .build()?;
    Ok(params)
}

/// An operation, everything that it reads in the buffer.
pub struct Operation {
    pub name: &'static str,
    pub procedure: Arc<mid::Procedure>,
    pub made: Alone,
}

/// Table 8's operations as micro programs of a machine.
pub fn operations(d: &Description, params: &Arc<Params>) -> Result<Vec<Operation>, PaperError> {
    let found = procedures(params)?.into_iter().map(|(name, procedure)| {
        let made = alone(d, &procedure, &|_| true, Counting::PAPER)?;
        Ok(Operation {
            name,
            procedure,
            made,
        })
    });
    found.collect()
}

pub fn rows(of: &Params) -> Result<Vec<Row>, PaperError> {
    let params = params(of)?;
    let mut found = Vec::new();
    for (text, how) in [
        (Description::U250, How::Rtl),
        (Description::PAPER, How::Model),
    ] {
        let d = Description::read(text)?;
        let us = |micro: u64| 1e6 * d.seconds(micro);
        for Operation {
            name,
            procedure,
            made,
        } in operations(&d, &params)?
        {
            let ours = Ours::Is(us(made.micro), how);
            let row = Row::new(TABLE, &d.name, name, "us", None, ours);
            let cycles = made.micro.div_ceil(d.micro.buffer);
            found.push(row.remarked(format!(
                "{} micro-cycles, {cycles} of the buffer; {} instructions",
                made.micro,
                made.program.instrs.len()
            )));
            // A key that comes from distant memory, and instructions over the link.
            let made = alone(&d, &procedure, &resident(&d, &procedure), Counting::PAPER)?;
            let (whole, _) = time(&d, &made.program, Counting::WHOLE)?;
            let case = format!("{}, all counted", d.name);
            let ours = Ours::Is(us(whole), How::Model);
            let row = Row::new(TABLE, case, name, "us", None, ours);
            found.push(row.remarked(format!("{} limbs loaded", made.loads)));
        }
    }
    Ok(found)
}

/// What a reader must know of the table.
pub const NOTE: &str = "Table 8 at N = 1024: `vector-u250` at 150 MHz, which is good for the levels of logic of each of its modules; no open tool says that the \
whole\nreaches it on that part. Rows that say rtl are the cycles of programs that the RTL has run in lockstep with the model, as many in \
both (`make full`).\n";
