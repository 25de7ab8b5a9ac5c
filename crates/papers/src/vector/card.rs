// SPDX-License-Identifier: Apache-2.0
//! Table 8 of the BASALISC paper on `vector-u250`, a machine that can be built, beside the paper's machine at the same
//! ring degree.
//!
//! The machine `vector-u250` takes rings up to N = 1024, so both machines are timed there, with as many primes as the
//! paper's parameter set has. At this size the buffer holds operands and results. A column that counts all transfers
//! loads the keys from distant memory.

use std::sync::Arc;

use ringmill_isa::mid;
use ringmill_machines::vector::{Alone, Counting, Description, alone, resident, time};
use ringmill_schemes::bgv::{ExactParams, Params};

use super::operations::procedures;
use crate::error::PaperError;
use crate::how::How;
use crate::row::Ours;
use crate::scope::{Record, record};
use crate::value::model;

/// log2 of the ring degree, the largest that `vector-u250` takes.
const LOG_N: u8 = 10;

/// Returns BGV parameters at the ring degree of `vector-u250`, with as many primes as `of` has.
///
/// # Errors
/// Fails if the parameters are refused.
pub fn params(of: &Params) -> Result<Arc<Params>, PaperError> {
    let params = Params::builder(LOG_N, of.plain_modulus())
        .friendly_primes(of.max_level().primes(), of.special_count())?
        .divide_modulo_primes_alone()
        .allow_insecure_parameters_for_tests_only()
        .build()?;
    Ok(params)
}

/// A homomorphic operation of Table 8 of the BASALISC paper as a micro program, with all operands in the buffer.
pub struct Operation {
    pub name: &'static str,
    pub procedure: Arc<mid::Procedure>,
    pub made: Alone,
}

/// Compiles the operations of Table 8 of the BASALISC paper to micro programs of a vector machine.
///
/// # Errors
/// Fails if the machine cannot run an operation.
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

/// Returns the microseconds of each operation of Table 8 of the BASALISC paper on `vector-u250` and on the paper's
/// machine. A second figure includes all times: the key comes from distant memory, and instructions cross the link.
///
/// # Errors
/// Fails if a machine cannot run an operation.
pub fn figures(of: &Params) -> Result<Vec<Record>, PaperError> {
    let params = params(of)?;
    let mut found = Vec::new();
    for (text, how) in [
        (Description::U250, How::Rtl),
        (Description::PAPER, How::Model),
    ] {
        let d = Description::read(text)?;
        let us = |micro: u64| 1e6 * d.seconds(micro);
        for operation in operations(&d, &params)? {
            let made = &operation.made;
            let procedure = &operation.procedure;
            let whole = alone(&d, procedure, &resident(&d, procedure), Counting::PAPER)?;
            let (micro, _) = time(&d, &whole.program, Counting::WHOLE)?;
            found.push(record([
                ("machine", d.name.as_str().into()),
                ("operation", operation.name.into()),
                ("us_in_buffer", Ours::Is(us(made.micro), how).into()),
                ("micro", made.micro.into()),
                ("cycles", made.micro.div_ceil(d.micro.buffer).into()),
                ("instructions", made.program.instrs.len().into()),
                ("us_all_counted", model(us(micro))),
                ("loads", whole.loads.into()),
            ]));
        }
    }
    Ok(found)
}
