// SPDX-License-Identifier: Apache-2.0
//! Bootstraps of the BASALISC paper's parameter set with other methods to remove the lower digits of a plaintext: the
//! paper's own, and those between it and ours.

use std::sync::Arc;

use ringmill_compiler::bgv::one_bootstrap;
use ringmill_device::progress::Progress;
use ringmill_math::digits::Method;
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure};
use ringmill_schemes::bgv::{BgvError, ExactParams, Params};

use super::machine;
use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::value::{Value, model};

/// The largest number of extra ciphertext primes that is tried, and the largest number of all primes.
const MORE: usize = 14;
const MOST: usize = 64;

/// Returns the BGV bootstrap with one method of digit removal (digit extraction), for the parameter set or for a set
/// with more primes. It takes the fewest extra primes that the method needs, and as few key-switching digits as these
/// allow. Returns `None` if no number of primes is enough. The times hold for any parameters of these sizes, and no
/// key is made for them.
fn with_room(procedure: &Procedure, method: Method) -> Result<Option<Arc<Procedure>>, PaperError> {
    let (setup, seeded) = (procedure.setup(), procedure.seeded());
    let params = procedure.params();
    let digits = params.cipher_count().div_ceil(params.special_count());
    for more in 0..=MORE {
        let made = || -> Result<Procedure, BgvError> {
            let cipher = params.cipher_count() + more;
            let special = (digits..).map(|digits| cipher.div_ceil(digits));
            let special = special
                .take(cipher)
                .find(|special| cipher + special <= MOST);
            let special = special.unwrap_or(1);
            let setup = match more {
                0 => setup.clone(),
                _ => {
                    let larger = Params::builder(params.log_n(), params.plain_modulus())
                        .friendly_primes(cipher, special)?
                        .further_plain_moduli(params.last_plain())
                        .divide_modulo_primes_alone()
                        .allow_insecure_parameters_for_tests_only()
                        .build()?;
                    Bootstrapping::new(larger, setup.weight())?.with_map_depth(setup.shape().depth)
                }
            };
            let setup = setup.with_removal(method);
            let maps = Maps::new(&setup, setup.shape())?;
            Ok(Procedure::new(setup, maps, seeded)?)
        };
        match made() {
            Ok(made) => return Ok(Some(Arc::new(made))),
            Err(BgvError::Bootstrap(none)) if matches!(*none, BootstrapError::NoRoom { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(None)
}

/// Returns the times of a bootstrap with each method of digit removal, once as the BASALISC paper counts time, and once
/// with distant memory and instructions counted too.
pub fn figures(procedure: &Procedure, progress: &dyn Progress) -> Result<Vec<Record>, PaperError> {
    let methods = [
        (
            "one polynomial again and again (the paper's)",
            Method::HaleviShoup,
        ),
        (
            "one polynomial of all digits (Chen and Han)",
            Method::AllDigits,
        ),
    ];
    let found = methods.into_iter().map(|(name, method)| {
        let Some(made) = with_room(procedure, method)? else {
            let said = format!("{MORE} primes more are too few");
            return Ok(record([
                ("method", name.into()),
                ("paper_ms", Value::NotMeasured),
                ("whole_ms", Value::NotMeasured),
                ("said", said.into()),
                ("loaded", Value::NotMeasured),
                ("spilled", Value::NotMeasured),
            ]));
        };
        let d = machine::machine(made.params().log_n())?;
        let program = one_bootstrap(&made)?.program;
        let run = machine::simulate(d, &program, progress)?;
        let (report, own) = (&run.report, &run.own);
        let ms = |cycles: u64| model(cycles as f64 / (report.clock_mhz * 1e3));
        let (end, _) = made.end();
        let params = made.params();
        let (cipher, more) = (params.cipher_count(), params.special_count());
        let said = format!(
            "{} calls, {} instructions, level {end} is left; {}",
            report.calls,
            report.instructions,
            match cipher == procedure.params().cipher_count() {
                true => "of the set".to_owned(),
                false => format!(
                    "of {cipher} and {more} primes, as the set has too few: above the bound of security, timed alone"
                ),
            }
        );
        Ok(record([
            ("method", name.into()),
            ("paper_ms", ms(own.cycles_by_papers_counting)),
            ("whole_ms", ms(report.cycles)),
            ("said", said.into()),
            ("loaded", (own.limbs_loaded as f64).into()),
            ("spilled", (own.limbs_spilled as f64).into()),
        ]))
    });
    found.collect()
}
