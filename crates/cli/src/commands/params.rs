// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill params`, and the search for the parameters that any command names.

use std::path::Path;
use std::sync::Arc;

use ringmill_runtime::html::{Section, of_parameters};
use ringmill_runtime::with_scheme;
use ringmill_runtime::{Known, Own, RuntimeError, Served};
use ringmill_schemes::ckks::{Ckks, Params, SecurityLevel, SecurityTable};
use ringmill_schemes::file::{AcceptedTables, peek_scheme};
use ringmill_schemes::rlwe::RingParams;
use ringmill_schemes::{self as schemes, ParameterSet};
use serde_json::{Value, json};

use crate::args::{ParamsArgs, SecurityArgs};
use crate::commands::pages;
use crate::error::CliError;
use crate::{inputs, numbers, output};

/// The most bytes of a parameter file that is read. The longest valid one takes less than a kilobyte.
const LARGEST: u64 = 1 << 16;

/// The names of the parameter sets that the command lists.
const NAMED: [&str; 2] = ["set1", "set2"];

impl SecurityArgs {
    /// Returns the security table and level that the command line asks for, or their defaults.
    ///
    /// # Errors
    /// Fails for an unknown table or level.
    pub fn wanted(&self) -> Result<(SecurityTable, SecurityLevel), CliError> {
        let table = self.table.as_deref().map(SecurityTable::from_name);
        let level = self.security.map(SecurityLevel::from_bits);
        Ok((
            table.transpose()?.unwrap_or_default(),
            level.transpose()?.unwrap_or_default(),
        ))
    }

    /// Returns the security tables that a parameter file may name.
    fn accepted(&self) -> Result<AcceptedTables, CliError> {
        let named = self.table.as_deref();
        let named = named.map(|name| AcceptedTables::named([name]));
        Ok(named.transpose()?.unwrap_or_default())
    }

    /// Refuses the option `--security` if it is given, since it would have no effect. The error gives `because` as the
    /// reason.
    fn no_level(&self, because: &str) -> Result<(), CliError> {
        refuse("--security", self.security.is_some(), because)
    }

    /// Refuses the options `--table` and `--security` if they are given, since they would have no effect. The error
    /// gives `because` as the reason.
    fn none(&self, because: &str) -> Result<(), CliError> {
        refuse("--table", self.table.is_some(), because)?;
        self.no_level(because)
    }
}

fn refuse(flag: &str, given: bool, because: &str) -> Result<(), CliError> {
    match given {
        true => Err(CliError::Usage(format!("{because}; leave {flag} out"))),
        false => Ok(()),
    }
}

/// Returns the named parameter set of a scheme, or reads it from a parameter file.
///
/// # Errors
/// Fails if no set has the name and no such file exists. For a file, fails if it is no parameter file, if no accepted
/// table admits its parameters, or if the command line names a level.
pub fn find<S: Served>(set: &str, security: &SecurityArgs) -> Result<Arc<S::Params>, CliError> {
    if NAMED.contains(&set) || !Path::new(set).exists() {
        let (table, level) = security.wanted()?;
        let own = Own {
            log_n: 0,
            bits: None,
            dnum: None,
            table,
            level,
            scale: None,
            plain_modulus: None,
            insecure: false,
        };
        return match S::named(set, &own) {
            Some(made) => Ok(made.map_err(RuntimeError::Scheme)?),
            None => Err(CliError::Usage(format!(
                "there is no set of {} parameters named `{set}`, and no such file; name a parameter file, or let `auto` choose",
                S::NAME
            ))),
        };
    }
    security.no_level(&format!(
        "the parameter file {set} states its own security level"
    ))?;
    let accepted = security.accepted()?;
    let path = Path::new(set);
    let bytes = inputs::read_bytes(path, LARGEST)?;
    S::read_params(&bytes, accepted.into()).map_err(|fault| CliError::Input {
        path: path.to_owned(),
        reason: fault.to_string(),
    })
}

/// A parameter set in three forms: as JSON, as text, and as a section of an HTML page.
type Shown = (Value, String, Section);

pub fn params(args: &ParamsArgs) -> Result<(), CliError> {
    let shown = chosen(args)?;
    for (json, text, _) in &shown {
        match args.json {
            true => output::json(json)?,
            false => output::text(text)?,
        }
    }
    match &args.html {
        None => Ok(()),
        Some(path) => {
            let sections: Vec<Section> = shown.into_iter().map(|(_, _, section)| section).collect();
            pages::write(path, "Parameters", &sections)
        }
    }
}

/// Returns the parameter sets that the command line asks for.
fn chosen(args: &ParamsArgs) -> Result<Vec<Shown>, CliError> {
    if let Some(log_n) = args.log_n {
        let split = args.bits.len().checked_sub(args.special);
        let split = split.filter(|&cipher| cipher > 0 && args.special > 0);
        let Some((cipher, special)) = split.and_then(|cipher| args.bits.split_at_checked(cipher))
        else {
            return Err(CliError::Usage(format!(
                "--bits needs at least one ciphertext prime and one special prime, and --special {} of {} primes leaves none; give more sizes, or fewer special primes",
                args.special,
                args.bits.len()
            )));
        };
        let (table, level) = args.security.wanted()?;
        let own = Params::builder(log_n)
            .prime_bits(cipher, special)
            .security(table, level);
        let own = match args.dnum {
            Some(dnum) => own.dnum(dnum),
            None => own,
        };
        let own = own.build()?;
        return Ok(vec![shown::<Ckks>("your own", &own)]);
    }
    if let Some(set) = &args.set {
        let scheme = match NAMED.contains(&set.as_str()) {
            true => Known::Ckks,
            false => scheme_of(set)?,
        };
        return with_scheme!(scheme, S => {
            Ok(vec![shown::<S>(set, find::<S>(set, &args.security)?.as_ref())])
        });
    }
    args.security.none(
        "each named set is shown under its own table; name one set to check it under another",
    )?;
    // Each named set has its own table: set1 is older than the guidelines and says so.
    let named = NAMED
        .iter()
        .map(|set| Ok(shown::<Ckks>(set, Params::named(set)?.as_ref())));
    named.collect()
}

/// Returns the scheme of the parameter file `set`. If there is no such file or it holds no parameters, the result is
/// CKKS, whose reader then reports the fault.
fn scheme_of(set: &str) -> Result<Known, CliError> {
    let path = Path::new(set);
    if !path.exists() {
        return Ok(Known::Ckks);
    }
    let byte = peek_scheme(&inputs::read_bytes(path, LARGEST)?);
    let mut all = Known::ALL.into_iter();
    let of =
        |scheme: &Known| with_scheme!(*scheme, S => Ok(<S as schemes::Scheme>::TAG.byte) == byte);
    Ok(all.find(of).unwrap_or(Known::Ckks))
}

fn shown<S: Served>(name: &str, params: &S::Params) -> Shown {
    let json = describe::<S>(name, params);
    let section = of_parameters::<S>(params);
    let section = Section {
        title: format!("{name}: parameters and security"),
        ..section
    };
    let mut text = format!("{name}: {}\n", params.summary());
    let params = params.ring_params();
    for (i, q) in params.moduli().iter().enumerate() {
        let role = if i < params.cipher_count() {
            format!("q{i}")
        } else {
            format!("p{}", i - params.cipher_count())
        };
        text += &format!("  {role:<4} {q:>20}  {} bits\n", 64 - q.leading_zeros());
    }
    (json, text, section)
}

/// Returns a parameter set as JSON.
pub fn describe<S: Served>(name: &str, params: &S::Params) -> Value {
    let own = numbers::describe::<S>(params);
    let params = params.ring_params();
    let security = params.security();
    let described = json!({
        "name": name,
        "log_n": params.log_n(),
        "slots": params.degree() / 2,
        "ciphertext_primes": params.cipher_moduli(),
        "special_primes": params.special_moduli(),
        "dnum": params.dnum(),
        "log2_qp": security.log_qp,
        "security": { "table": security.table.name(), "bits": security.level.bits(), "bound": security.bound, "insecure": security.insecure },
        "id": params.id().iter().map(|b| format!("{b:02x}")).collect::<String>(),
    });
    match described {
        Value::Object(mut described) => {
            described.extend(own);
            Value::Object(described)
        }
        other => other,
    }
}
