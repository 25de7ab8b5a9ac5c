// SPDX-License-Identifier: Apache-2.0
//! Checks the security of a parameter set by the estimates of `security_tables.toml` for binary secrets.

use std::sync::LazyLock;

use ringmill_math::torus::Coefficients;
use ringmill_schemes::rlwe::security::{SECURITY_TABLES, lwe_binary_log2_std};
use serde::Deserialize;

use super::TfheError;
use super::params::Sizes;

/// A row of the table `estimator_2026.lwe_binary` in `security_tables.toml`: a dimension, a noise, and the estimated
/// bits of security.
#[derive(Deserialize)]
struct Row {
    n: usize,
    std: f64,
    matzov: f64,
}

#[derive(Deserialize)]
struct Binary {
    sets: Vec<Row>,
}

#[derive(Deserialize)]
struct Estimator {
    lwe_binary: Binary,
}

#[derive(Deserialize)]
struct Tables {
    estimator_2026: Estimator,
}

static TABLES: LazyLock<Result<Tables, String>> =
    LazyLock::new(|| toml::from_str(SECURITY_TABLES).map_err(|e: toml::de::Error| e.to_string()));

/// The security that a parameter set must reach to be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    Bits(u32),
    NothingForTestsOnly,
}

/// The security of one secret, as `security_tables.toml` estimates it.
#[derive(Clone, PartialEq, Debug)]
pub enum Estimate {
    /// The bits of security in a row of the tables, by the estimator's cost model RC.MATZOV.
    Row(f64),
    /// At least 128 bits of security, by the curve that was fitted to the tables.
    Curve128,
    /// No security table covers the secret. The text is the reason.
    Unknown(String),
}

impl Estimate {
    /// Returns the estimated security in bits, or `None` if no table has an estimate. For [`Estimate::Curve128`] it is
    /// the lower bound 128.
    pub fn bits(&self) -> Option<f64> {
        match self {
            Self::Row(bits) => Some(*bits),
            Self::Curve128 => Some(128.0),
            Self::Unknown(_) => None,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Row(bits) => format!("{bits:.1} bits"),
            Self::Curve128 => "at least 128 bits".to_owned(),
            Self::Unknown(why) => format!("not estimated ({why})"),
        }
    }
}

/// The result of the security check of a parameter set.
#[derive(Clone, PartialEq, Debug)]
pub struct Security {
    /// The estimated security of the small key, an LWE secret.
    pub lwe: Estimate,
    /// The estimated security of the ring key, a GLWE secret.
    pub glwe: Estimate,
    /// The reason why the tables do not confirm 128 bits of security for a set that was built with
    /// [`Wanted::NothingForTestsOnly`]. It is `None` if they do, and for every set that was built with
    /// [`Wanted::Bits`].
    pub insecure: Option<String>,
}

/// The least standard deviation of the noise, in units of a residue modulo q, that the estimates cover. From this noise
/// on, which is well above 1, they depend only on the ratio of noise to q. (The least noise in the table
/// `estimator_2026.lwe_binary` is 4, at n = 1536 and n = 2048.)
const LEAST_NOISE: f64 = 3.0;

fn estimate(n: usize, std: f64, q: Coefficients) -> Result<Estimate, TfheError> {
    let absolute = std * 2f64.powi(q.bits() as i32);
    if absolute < LEAST_NOISE {
        let why = format!("noise of {absolute:.2} in units of the ciphertext modulus");
        return Ok(Estimate::Unknown(why));
    }
    let tables = TABLES.as_ref().map_err(|e| TfheError::Tables(e.clone()))?;
    let rows = &tables.estimator_2026.lwe_binary.sets;
    // As the noise is well above 1, only its ratio to the modulus matters, and the modulus does not.
    let same = |row: &&Row| row.n == n && row.std == std;
    if let Some(row) = rows.iter().find(same) {
        return Ok(Estimate::Row(row.matzov));
    }
    let smallest = u32::try_from(n).map(lwe_binary_log2_std);
    let smallest = smallest
        .unwrap_or(Ok(None))
        .map_err(|e| TfheError::Tables(e.to_string()))?;
    Ok(match smallest {
        Some(least) if std.log2() >= least => Estimate::Curve128,
        Some(least) => Estimate::Unknown(format!(
            "dimension {n} reaches 128 bits from noise of 2^{least:.2} on, not 2^{:.2}",
            std.log2()
        )),
        None => Estimate::Unknown(format!("no table covers dimension {n}")),
    })
}

impl Security {
    /// Checks the small key and the ring key of a parameter set by the estimates of `security_tables.toml`.
    ///
    /// # Errors
    /// [`TfheError::Insecure`] if the tables do not confirm the wanted security; [`TfheError::Tables`] if they cannot
    /// be read.
    pub fn check(s: &Sizes, q: Coefficients, wanted: Wanted) -> Result<Self, TfheError> {
        let lwe = estimate(s.n.0, s.lwe_std, q)?;
        let glwe = estimate(s.large_dimension(), s.glwe_std, q)?;
        let needed = match wanted {
            Wanted::Bits(bits) => bits,
            Wanted::NothingForTestsOnly => 128,
        };
        let reaches = |e: &Estimate| e.bits().is_some_and(|bits| bits >= f64::from(needed));
        let insecure = (!reaches(&lwe) || !reaches(&glwe)).then(|| {
            format!(
                "the small key has {}, the ring key {}",
                lwe.text(),
                glwe.text()
            )
        });
        match (insecure, wanted) {
            (Some(reason), Wanted::Bits(wanted)) => Err(TfheError::Insecure { reason, wanted }),
            (insecure, _) => Ok(Self {
                lwe,
                glwe,
                insecure,
            }),
        }
    }

    /// Returns one line of text for reports: the estimates of both keys, or why the parameters are insecure.
    pub fn summary(&self) -> String {
        match &self.insecure {
            Some(reason) => format!("INSECURE parameters, allowed for tests only: {reason}"),
            None => format!(
                "small key: {}, ring key: {} (estimator_2026.lwe_binary, RC.MATZOV)",
                self.lwe.text(),
                self.glwe.text()
            ),
        }
    }
}
