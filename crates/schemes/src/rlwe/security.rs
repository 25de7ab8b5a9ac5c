// SPDX-License-Identifier: Apache-2.0
//! The security tables: the largest allowed base-2 logarithm of Q P (the product of all primes) for a ring degree,
//! and the smallest noise for an LWE dimension.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use super::distributions::SecretDistribution;
use super::error::RlweError;
use super::params::Params;

/// A table of security bounds. [`SecurityTable::name`] is the name of a section of `data/security_tables.toml`, except
/// for [`Self::SparseTernary2026`], which joins several sections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SecurityTable {
    /// The Security Guidelines for Implementing Homomorphic Encryption (2024), for ternary secrets.
    #[default]
    Guidelines2024Ternary,
    /// The Security Guidelines for Implementing Homomorphic Encryption (2024), for secrets from the error distribution.
    Guidelines2024Gaussian,
    /// The 2018 HomomorphicEncryption.org standard, for ternary secrets: SEAL's bounds (128 bits, log N = 10 to 15).
    Standard2018Ternary,
    /// Ringmill's own estimates for ternary secrets: 128 bits, log N = 9 to 16.
    Estimator2026Ternary,
    /// The bounds for sparse ternary secrets of weight 32 or more: 128 bits, log N = 12 to 17. Each is the smallest of
    /// the bounds of Ringmill's own estimates, of the table for the rotated primal hybrid attack ([`sparse_bounds`]),
    /// and of [`Self::Guidelines2024Ternary`]. One of the first two may lack a row for the weight or the degree, and
    /// then does not count.
    SparseTernary2026,
}

impl SecurityTable {
    pub const ALL: [Self; 5] = [
        Self::Guidelines2024Ternary,
        Self::Guidelines2024Gaussian,
        Self::Standard2018Ternary,
        Self::Estimator2026Ternary,
        Self::SparseTernary2026,
    ];

    /// Another name by which files and callers may name the table of sparse secrets.
    const SPARSE_BEFORE: &'static str = "estimator_2026.sparse_ternary";

    pub const fn name(self) -> &'static str {
        match self {
            Self::Guidelines2024Ternary => "guidelines_2024.ternary",
            Self::Guidelines2024Gaussian => "guidelines_2024.gaussian",
            Self::Standard2018Ternary => "standard_2018.ternary",
            Self::Estimator2026Ternary => "estimator_2026.ternary",
            Self::SparseTernary2026 => "sparse_ternary_2026",
        }
    }

    /// Returns the names of all security tables, for error messages.
    pub fn names() -> String {
        let [first @ .., last] = Self::ALL.map(Self::name);
        format!("{} or {last}", first.join(", "))
    }

    /// Returns the table with this name. `guidelines_2024`, `standard_2018` and `estimator_2026` alone mean the ternary
    /// tables. `estimator_2026.sparse_ternary` is a second name of [`Self::SparseTernary2026`].
    ///
    /// # Errors
    /// [`RlweError::UnknownSecurityTable`] for a name that no table has.
    pub fn from_name(name: &str) -> Result<Self, RlweError> {
        let alias = |t: &Self| t.is_named(name) || t.name().strip_suffix(".ternary") == Some(name);
        Self::ALL
            .into_iter()
            .find(alias)
            .ok_or_else(|| RlweError::UnknownSecurityTable {
                got: name.to_owned(),
            })
    }

    fn is_named(self, name: &str) -> bool {
        self.name() == name || (self == Self::SparseTernary2026 && name == Self::SPARSE_BEFORE)
    }

    /// Returns whether a reader that accepts `name` accepts this table: if `name` is a name of the table, or the part
    /// of its name before the point, such as `guidelines_2024`.
    pub(crate) fn belongs_to(self, name: &str) -> bool {
        let publication = self
            .name()
            .split_once('.')
            .map(|(publication, _)| publication);
        self.is_named(name) || publication == Some(name)
    }

    /// Returns whether the security table was computed for secrets with this distribution.
    pub const fn covers(self, secret: SecretDistribution) -> bool {
        match (self, secret) {
            (
                Self::Guidelines2024Ternary
                | Self::Standard2018Ternary
                | Self::Estimator2026Ternary,
                SecretDistribution::Ternary,
            )
            | (Self::Guidelines2024Gaussian, SecretDistribution::Gaussian)
            | (Self::SparseTernary2026, SecretDistribution::SparseTernary { .. }) => true,
            (
                Self::Guidelines2024Ternary
                | Self::Guidelines2024Gaussian
                | Self::Standard2018Ternary
                | Self::Estimator2026Ternary
                | Self::SparseTernary2026,
                SecretDistribution::Ternary
                | SecretDistribution::SparseTernary { .. }
                | SecretDistribution::Gaussian
                | SecretDistribution::Binary,
            ) => false,
        }
    }
}

impl fmt::Display for SecurityTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A level of security against classical computers, in bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub enum SecurityLevel {
    #[default]
    Bits128,
    Bits192,
    Bits256,
}

impl SecurityLevel {
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits128 => 128,
            Self::Bits192 => 192,
            Self::Bits256 => 256,
        }
    }

    pub fn from_bits(bits: u32) -> Result<Self, RlweError> {
        [Self::Bits128, Self::Bits192, Self::Bits256]
            .into_iter()
            .find(|l| l.bits() == bits)
            .ok_or(RlweError::UnknownSecurityLevel { got: bits })
    }
}

#[derive(Deserialize)]
struct Rows {
    #[serde(rename = "128")]
    bits128: Vec<i64>,
    #[serde(rename = "192", default)]
    bits192: Vec<i64>,
    #[serde(rename = "256", default)]
    bits256: Vec<i64>,
}

#[derive(Deserialize)]
struct Guidelines {
    ternary: Rows,
    gaussian: Rows,
}

#[derive(Deserialize)]
struct Standard {
    ternary: Rows,
}

/// The rows of one security table, one for each security level, and the ring degrees to which its columns belong.
#[derive(Deserialize)]
struct Estimate {
    log_n: Vec<u8>,
    #[serde(flatten)]
    rows: Rows,
}

#[derive(Deserialize)]
struct LweCurve {
    /// The LWE dimensions to which the table's curve of the smallest noise was fitted, in ascending order.
    n: Vec<u32>,
    fit: [f64; 3],
    fit_margin: f64,
}

/// The rows of a table for sparse secrets. A row's key is the letter `h` and the weight, such as `h64`.
#[derive(Deserialize)]
#[serde(transparent)]
struct SparseRows(BTreeMap<String, Estimate>);

impl SparseRows {
    fn rows(&self) -> impl Iterator<Item = (u32, &Estimate)> {
        let weight = |name: &str| name.strip_prefix('h')?.parse().ok();
        self.0
            .iter()
            .filter_map(move |(name, rows)| Some((weight(name)?, rows)))
    }

    /// Returns the largest weight in the table that is not above `weight`. The bounds for that weight serve for
    /// `weight`, because a secret of larger weight is no easier to guess.
    fn up_to(&self, weight: u32) -> Option<u32> {
        let weights = self.rows().map(|(h, _)| h);
        weights.filter(|&h| h <= weight).max()
    }

    fn of(&self, weight: u32) -> Option<&Estimate> {
        self.rows()
            .find(|&(h, _)| h == weight)
            .map(|(_, rows)| rows)
    }
}

#[derive(Deserialize)]
struct Estimator {
    ternary: Estimate,
    sparse_ternary: SparseRows,
    lwe_binary_128: LweCurve,
}

#[derive(Deserialize)]
struct RotatedHybrid {
    sparse_ternary: SparseRows,
}

#[derive(Deserialize)]
struct Tables {
    log_n: Vec<u8>,
    guidelines_2024: Guidelines,
    standard_2018: Standard,
    estimator_2026: Estimator,
    rotated_hybrid_2026: RotatedHybrid,
}

/// The text of `data/security_tables.toml`, for schemes that have sections of their own in it.
pub const SECURITY_TABLES: &str = include_str!("../../data/security_tables.toml");

static TABLES: LazyLock<Result<Tables, String>> =
    LazyLock::new(|| toml::from_str(SECURITY_TABLES).map_err(|e: toml::de::Error| e.to_string()));

fn tables() -> Result<&'static Tables, RlweError> {
    TABLES
        .as_ref()
        .map_err(|e| RlweError::SecurityTables(e.clone()))
}

impl Rows {
    /// Returns the bound for a security level at the ring degree of the table's column `column`, or `None` if the
    /// table has none.
    fn bound(&self, level: SecurityLevel, column: usize) -> Option<u32> {
        let row = match level {
            SecurityLevel::Bits128 => &self.bits128,
            SecurityLevel::Bits192 => &self.bits192,
            SecurityLevel::Bits256 => &self.bits256,
        };
        u32::try_from(*row.get(column)?).ok()
    }
}

impl Estimate {
    fn bound(&self, level: SecurityLevel, log_n: u8) -> Option<u32> {
        let column = self.log_n.iter().position(|&l| l == log_n)?;
        self.rows.bound(level, column)
    }
}

/// Returns the most bits of Q P, the product of all primes, that `table` allows at ring degree 2^`log_n` for
/// secrets of the distribution `secret`. Returns `None` if the table does not cover the distribution, or has no bound
/// for the level, the ring degree or the weight of a sparse secret.
///
/// # Errors
/// [`RlweError::SecurityTables`] if the built-in tables cannot be read.
///
/// ```
/// use ringmill_schemes::rlwe::SecretDistribution::{SparseTernary, Ternary};
/// use ringmill_schemes::rlwe::{SecurityLevel, SecurityTable, security::bound};
/// let bits = SecurityLevel::Bits128;
/// assert_eq!(bound(SecurityTable::Standard2018Ternary, Ternary, bits, 14).unwrap(), Some(438));
/// let sparse = SparseTernary { weight: 200 }; // more than 192, less than 256
/// assert_eq!(bound(SecurityTable::SparseTernary2026, sparse, bits, 15).unwrap(), Some(739));
/// ```
pub fn bound(
    table: SecurityTable,
    secret: SecretDistribution,
    level: SecurityLevel,
    log_n: u8,
) -> Result<Option<u32>, RlweError> {
    if !table.covers(secret) {
        return Ok(None);
    }
    let tables = tables()?;
    let published = |rows: &Rows| {
        let column = tables.log_n.iter().position(|&l| l == log_n)?;
        rows.bound(level, column)
    };
    Ok(match table {
        SecurityTable::Guidelines2024Ternary => published(&tables.guidelines_2024.ternary),
        SecurityTable::Guidelines2024Gaussian => published(&tables.guidelines_2024.gaussian),
        SecurityTable::Standard2018Ternary => published(&tables.standard_2018.ternary),
        SecurityTable::Estimator2026Ternary => tables.estimator_2026.ternary.bound(level, log_n),
        SecurityTable::SparseTernary2026 => match secret {
            // A sparse secret is no harder to find than a dense one, but one sparse row allows more: a weight of 1024
            // at 2^12.
            SecretDistribution::SparseTernary { weight } => {
                let sparse = sparse_bounds(weight, level, log_n)?.smaller();
                let dense = published(&tables.guidelines_2024.ternary);
                sparse.zip(dense).map(|(sparse, dense)| sparse.min(dense))
            }
            SecretDistribution::Ternary
            | SecretDistribution::Gaussian
            | SecretDistribution::Binary => None,
        },
    })
}

/// The bounds of both tables for sparse ternary secrets, for one weight, level and ring degree. A bound is `None` if a
/// table has none for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SparseBounds {
    /// The bound of `estimator_2026.sparse_ternary`, Ringmill's own estimates, in bits of Q P, the product of all
    /// primes.
    pub estimator: Option<u32>,
    /// The bound of `rotated_hybrid_2026.sparse_ternary`, the rotated primal hybrid attack (IACR ePrint 2026/279),
    /// in bits of Q P, the product of all primes.
    pub rotated_hybrid: Option<u32>,
}

impl SparseBounds {
    /// Returns the smaller of the two bounds, or the only one if one table has no row, or `None` if neither has
    /// one.
    pub fn smaller(self) -> Option<u32> {
        let both = [self.estimator, self.rotated_hybrid];
        both.into_iter().flatten().min()
    }
}

/// Returns the bounds of both tables for sparse secrets on the bits of Q P, the product of all primes, at ring
/// degree 2^`log_n`. Both bounds are for the largest weight in either table that is not above `weight`. A table without
/// that weight has no bound. For N = 2^17, a bound is that of N = 2^16.
///
/// ```
/// use ringmill_schemes::rlwe::{SecurityLevel, security::sparse_bounds};
/// let found = sparse_bounds(64, SecurityLevel::Bits128, 16).unwrap();
/// assert_eq!((found.estimator, found.rotated_hybrid), (Some(1150), Some(961)));
/// ```
pub fn sparse_bounds(
    weight: u32,
    level: SecurityLevel,
    log_n: u8,
) -> Result<SparseBounds, RlweError> {
    let tables = tables()?;
    // A larger ring is no easier to attack, and no table has a row for 2^17.
    let log_n = if log_n == 17 { 16 } else { log_n };
    let estimator = &tables.estimator_2026.sparse_ternary;
    let rotated_hybrid = &tables.rotated_hybrid_2026.sparse_ternary;
    let weight = estimator.up_to(weight).max(rotated_hybrid.up_to(weight));
    let row = |rows: &SparseRows| rows.of(weight?)?.bound(level, log_n);
    Ok(SparseBounds {
        estimator: row(estimator),
        rotated_hybrid: row(rotated_hybrid),
    })
}

/// Returns in words why `table` has no bound for secrets of a distribution that it covers.
pub(crate) fn no_bound(
    table: SecurityTable,
    secret: SecretDistribution,
    level: SecurityLevel,
    log_n: u8,
) -> String {
    let level = level.bits();
    match secret {
        SecretDistribution::SparseTernary { weight } => format!(
            "table {table} offers no {level}-bit parameters for a secret of weight {weight} at N = 2^{log_n}: it has 128 bits, weights from 32 on, N = 2^12 to 2^17"
        ),
        SecretDistribution::Ternary | SecretDistribution::Gaussian | SecretDistribution::Binary => {
            format!("table {table} offers no {level}-bit parameters at N = 2^{log_n}")
        }
    }
}

/// Returns the base-2 logarithm of the smallest ring degree at which a product Q P of all primes with `qp_bits`
/// bits is secure, for secrets of the distribution `secret`.
///
/// # Errors
/// [`RlweError::NoSecureDegree`] if no ring degree is secure. It holds the largest bound that the table has for such
/// secrets at this level, or 0 if it has none.
pub fn smallest_log_n(
    qp_bits: u32,
    table: SecurityTable,
    secret: SecretDistribution,
    level: SecurityLevel,
) -> Result<u8, RlweError> {
    let mut largest = 0;
    for log_n in Params::LOG_N {
        match bound(table, secret, level, log_n)? {
            Some(bits) if qp_bits <= bits => return Ok(log_n),
            Some(bits) => largest = largest.max(bits),
            None => {}
        }
    }
    Err(RlweError::NoSecureDegree {
        qp_bits,
        table,
        level: level.bits(),
        largest,
    })
}

/// Returns the base-2 logarithm of the smallest standard deviation, as a fraction of the torus, at which LWE of
/// dimension `n` with binary secrets has 128 bits of security (Ringmill's own estimates). Returns `None` outside of the
/// estimated dimensions, 512 to 2048.
///
/// ```
/// use ringmill_schemes::rlwe::security::lwe_binary_log2_std;
/// let smallest = lwe_binary_log2_std(630).unwrap().unwrap();
/// assert!(smallest > -13.58 && smallest < -13.50);
/// assert_eq!(lwe_binary_log2_std(500).unwrap(), None);
/// ```
pub fn lwe_binary_log2_std(n: u32) -> Result<Option<f64>, RlweError> {
    let curve = &tables()?.estimator_2026.lwe_binary_128;
    let inside = match (curve.n.first(), curve.n.last()) {
        (Some(first), Some(last)) => (*first..=*last).contains(&n),
        _ => false,
    };
    let (x, [a, b, c]) = (f64::from(n), curve.fit);
    Ok(inside.then_some(a * x * x + b * x + c + curve.fit_margin))
}

/// The result of the security check of a parameter set. Reports repeat its [`SecurityRecord::summary`].
#[derive(Clone, PartialEq, Debug)]
pub struct SecurityRecord {
    pub table: SecurityTable,
    pub level: SecurityLevel,
    /// The base-2 logarithm of Q P, the product of all primes, rounded to a double, for reports. The check itself
    /// compares `qp_bits`.
    pub log_qp: f64,
    /// The exact number of bits of Q P, the product of all primes: the smallest b with Q P < 2^b.
    pub qp_bits: u32,
    /// The most bits of Q P, the product of all primes, that the table allows at this ring degree, or `None` if it
    /// has no bound.
    pub bound: Option<u32>,
    /// The reason for which the parameters miss the security level, which is possible only after the explicit opt-out.
    pub insecure: Option<String>,
}

impl SecurityRecord {
    /// Returns the result of the check as one line, for reports.
    pub fn summary(&self) -> String {
        let level = self.level.bits();
        match (&self.insecure, self.bound) {
            (Some(reason), _) => format!("INSECURE parameters, allowed for tests only: {reason}"),
            (None, Some(bound)) => {
                format!(
                    "{level}-bit by {}: log2(QP) = {:.2}, at most {bound}",
                    self.table, self.log_qp
                )
            }
            (None, None) => format!("INSECURE: {} has no bound here", self.table),
        }
    }
}
