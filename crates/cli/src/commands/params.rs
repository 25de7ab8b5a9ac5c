//! `ringmill params`, and how every command finds the parameters it is given.

use std::path::Path;
use std::sync::Arc;

use ringmill_schemes::ckks::file::{self, InsecureParams};
use ringmill_schemes::ckks::{Params, ParamsBuilder, SecurityLevel, SecurityTable};
use serde_json::{Value, json};

use crate::args::{ParamsArgs, SecurityArgs};
use crate::error::CliError;
use crate::{inputs, output};

/// Longest parameter file read: the longest there is takes less than a kilobyte.
const LARGEST: u64 = 1 << 16;

/// The sets known by name.
const NAMED: [&str; 2] = ["set1", "set2"];

impl SecurityArgs {
    /// The table and level asked for, or their defaults.
    pub fn wanted(&self) -> Result<(SecurityTable, SecurityLevel), CliError> {
        let table = self.table.as_deref().map(SecurityTable::from_name);
        let level = self.security.map(SecurityLevel::from_bits);
        Ok((
            table.transpose()?.unwrap_or_default(),
            level.transpose()?.unwrap_or_default(),
        ))
    }

    /// Refuses them where they decide nothing.
    fn none(&self, because: &str) -> Result<(), CliError> {
        let given = [
            ("--table", self.table.is_some()),
            ("--security", self.security.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(CliError::Usage(format!("{because}; leave {flag} out"))),
            None => Ok(()),
        }
    }
}

/// A named set, or one read from a parameter file.
pub fn find(set: &str, security: &SecurityArgs) -> Result<Arc<Params>, CliError> {
    if NAMED.contains(&set) || !Path::new(set).exists() {
        let (table, level) = security.wanted()?;
        return Ok(ParamsBuilder::named(set)?.security(table, level).build()?);
    }
    security.none(&format!(
        "the parameter file {set} states its own security table and level"
    ))?;
    let path = Path::new(set);
    let bytes = inputs::read_bytes(path, LARGEST)?;
    file::read_params(&bytes, InsecureParams::Refuse).map_err(|fault| CliError::Input {
        path: path.to_owned(),
        reason: fault.to_string(),
    })
}

pub fn params(args: &ParamsArgs) -> Result<(), CliError> {
    if let Some(log_n) = args.log_n {
        let Some((special, cipher)) = args.bits.split_last() else {
            return Err(CliError::Usage(
                "--bits needs at least two primes, the last one special".to_owned(),
            ));
        };
        let (table, level) = args.security.wanted()?;
        let own = Params::builder(log_n)
            .prime_bits(cipher, &[*special])
            .security(table, level)
            .build()?;
        return show("your own", &own, args.json);
    }
    if let Some(set) = &args.set {
        return show(set, find(set, &args.security)?.as_ref(), args.json);
    }
    args.security.none(
        "each named set is shown under its own table; name one set to check it under another",
    )?;
    // The named sets, each under its own table: set1 is from before the guidelines and says so.
    for set in NAMED {
        show(set, Params::named(set)?.as_ref(), args.json)?;
    }
    Ok(())
}

fn show(name: &str, params: &Params, as_json: bool) -> Result<(), CliError> {
    if as_json {
        return output::json(&describe(name, params));
    }
    let mut text = format!("{name}: {}\n", params.summary());
    for (i, q) in params.moduli().iter().enumerate() {
        let role = if i < params.cipher_count() {
            format!("q{i}")
        } else {
            format!("p{}", i - params.cipher_count())
        };
        text += &format!("  {role:<4} {q:>20}  {} bits\n", 64 - q.leading_zeros());
    }
    output::text(&text)
}

/// The parameters as JSON.
pub fn describe(name: &str, params: &Params) -> Value {
    let security = params.security();
    json!({
        "name": name,
        "log_n": params.log_n(),
        "slots": params.slots(),
        "ciphertext_primes": params.cipher_moduli(),
        "special_primes": params.special_moduli(),
        "dnum": params.dnum(),
        "scale_log2": params.default_scale().log2(),
        "log2_qp": security.log_qp,
        "security": { "table": security.table.name(), "bits": security.level.bits(), "bound": security.bound, "insecure": security.insecure },
        "id": params.id().iter().map(|b| format!("{b:02x}")).collect::<String>(),
    })
}
