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
use crate::scope::{Record, Scope, record};

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

/// Returns the times of a bootstrap with the method of digit removal that the current row of `data/vector.toml` names.
/// The record is empty if no number of primes has room for the method.
///
/// # Errors
/// Fails if the row names no method, or if the machine refuses the bootstrap.
pub fn figures(
    procedure: &Procedure,
    at: &Scope<'_>,
    progress: &dyn Progress,
) -> Result<Vec<Record>, PaperError> {
    let method = match at.text("removal")?.as_str() {
        "halevi_shoup" => Method::HaleviShoup,
        "all_digits" => Method::AllDigits,
        name => return Err(PaperError::Tables(format!("no removal of digits `{name}`"))),
    };
    let Some(made) = with_room(procedure, method)? else {
        return Ok(vec![Record::new()]);
    };
    let d = machine::machine(made.params().log_n())?;
    let mut found = machine::simulate(d, &one_bootstrap(&made)?.program, progress)?;
    let params = made.params();
    let more = params.cipher_count() - procedure.params().cipher_count();
    found.extend(record([
        ("end", u64::from(made.end().0.0).into()),
        ("cipher", params.cipher_count().into()),
        ("special", params.special_count().into()),
        ("more", more.into()),
    ]));
    Ok(vec![found])
}
