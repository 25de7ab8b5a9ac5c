//! The security tables: the largest log2(QP) allowed for a ring degree, the smallest noise for an LWE dimension.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use super::distributions::SecretDistribution;
use super::error::RlweError;
use super::params::Params;

/// Which table of bounds is used. The names are those of `data/security_tables.toml`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SecurityTable {
    /// Security Guidelines for Implementing Homomorphic Encryption (2024), ternary secrets.
    #[default]
    Guidelines2024Ternary,
    /// The same, secrets from the error distribution.
    Guidelines2024Gaussian,
    /// The 2018 HomomorphicEncryption.org standard, ternary secrets: SEAL's bounds (128 bits, log N = 10 to 15).
    Standard2018Ternary,
    /// Own estimates, ternary secrets: 128 bits, log N = 9 to 16.
    Estimator2026Ternary,
    /// Own estimates, sparse ternary secrets: 128 bits, log N = 14 to 16, a weight of 32 or more.
    Estimator2026SparseTernary,
}

impl SecurityTable {
    pub const ALL: [Self; 5] = [
        Self::Guidelines2024Ternary,
        Self::Guidelines2024Gaussian,
        Self::Standard2018Ternary,
        Self::Estimator2026Ternary,
        Self::Estimator2026SparseTernary,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Guidelines2024Ternary => "guidelines_2024.ternary",
            Self::Guidelines2024Gaussian => "guidelines_2024.gaussian",
            Self::Standard2018Ternary => "standard_2018.ternary",
            Self::Estimator2026Ternary => "estimator_2026.ternary",
            Self::Estimator2026SparseTernary => "estimator_2026.sparse_ternary",
        }
    }

    /// All names, for messages.
    pub fn names() -> String {
        let [first @ .., last] = Self::ALL.map(Self::name);
        format!("{} or {last}", first.join(", "))
    }

    /// The table of that name; `guidelines_2024`, `standard_2018` and `estimator_2026` alone mean the ternary tables.
    pub fn from_name(name: &str) -> Result<Self, RlweError> {
        let alias = |t: &Self| t.name() == name || t.name().strip_suffix(".ternary") == Some(name);
        Self::ALL
            .into_iter()
            .find(alias)
            .ok_or_else(|| RlweError::UnknownSecurityTable {
                got: name.to_owned(),
            })
    }

    /// Whether the table was computed for secrets of this distribution.
    pub const fn covers(self, secret: SecretDistribution) -> bool {
        match (self, secret) {
            (
                Self::Guidelines2024Ternary
                | Self::Standard2018Ternary
                | Self::Estimator2026Ternary,
                SecretDistribution::Ternary,
            )
            | (Self::Guidelines2024Gaussian, SecretDistribution::Gaussian)
            | (Self::Estimator2026SparseTernary, SecretDistribution::SparseTernary { .. }) => true,
            (
                Self::Guidelines2024Ternary
                | Self::Guidelines2024Gaussian
                | Self::Standard2018Ternary
                | Self::Estimator2026Ternary
                | Self::Estimator2026SparseTernary,
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

/// Classical security in bits.
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

/// Rows with the ring degrees they are for.
#[derive(Deserialize)]
struct Estimate {
    log_n: Vec<u8>,
    #[serde(flatten)]
    rows: Rows,
}

#[derive(Deserialize)]
struct LweCurve {
    /// Dimensions the curve was fitted on, ascending.
    n: Vec<u32>,
    fit: [f64; 3],
    fit_margin: f64,
}

#[derive(Deserialize)]
struct Estimator {
    ternary: Estimate,
    /// By `h` and the weight.
    sparse_ternary: BTreeMap<String, Estimate>,
    lwe_binary_128: LweCurve,
}

#[derive(Deserialize)]
struct Tables {
    log_n: Vec<u8>,
    guidelines_2024: Guidelines,
    standard_2018: Standard,
    estimator_2026: Estimator,
}

static TABLES: LazyLock<Result<Tables, String>> = LazyLock::new(|| {
    toml::from_str(include_str!("../../data/security_tables.toml"))
        .map_err(|e: toml::de::Error| e.to_string())
});

fn tables() -> Result<&'static Tables, RlweError> {
    TABLES
        .as_ref()
        .map_err(|e| RlweError::SecurityTables(e.clone()))
}

impl Tables {
    /// The table's rows for such secrets, with their ring degrees; `None` where it does not cover them. Of a sparse
    /// secret, the rows of the largest weight in the table that is not above its own: more weight is no easier to guess.
    fn rows(&self, table: SecurityTable, secret: SecretDistribution) -> Option<(&[u8], &Rows)> {
        if !table.covers(secret) {
            return None;
        }
        match (table, secret) {
            (SecurityTable::Guidelines2024Ternary, _) => {
                Some((&self.log_n, &self.guidelines_2024.ternary))
            }
            (SecurityTable::Guidelines2024Gaussian, _) => {
                Some((&self.log_n, &self.guidelines_2024.gaussian))
            }
            (SecurityTable::Standard2018Ternary, _) => {
                Some((&self.log_n, &self.standard_2018.ternary))
            }
            (SecurityTable::Estimator2026Ternary, _) => {
                let found = &self.estimator_2026.ternary;
                Some((&found.log_n, &found.rows))
            }
            (
                SecurityTable::Estimator2026SparseTernary,
                SecretDistribution::SparseTernary { weight },
            ) => {
                let weights = self.estimator_2026.sparse_ternary.iter();
                let weights = weights.filter_map(|(name, e)| {
                    let h: u32 = name.strip_prefix('h')?.parse().ok()?;
                    (h <= weight).then_some((h, e))
                });
                let (_, found) = weights.max_by_key(|(h, _)| *h)?;
                Some((&found.log_n, &found.rows))
            }
            (SecurityTable::Estimator2026SparseTernary, _) => None,
        }
    }
}

/// The largest number of bits of QP that `table` allows at ring degree 2^`log_n` with such secrets, or `None` where it
/// offers none.
///
/// ```
/// use ringmill_schemes::rlwe::SecretDistribution::{SparseTernary, Ternary};
/// use ringmill_schemes::rlwe::{SecurityLevel, SecurityTable, security::bound};
/// let bits = SecurityLevel::Bits128;
/// assert_eq!(bound(SecurityTable::Standard2018Ternary, Ternary, bits, 14).unwrap(), Some(438));
/// let sparse = SparseTernary { weight: 200 }; // more than 192, less than 256
/// assert_eq!(bound(SecurityTable::Estimator2026SparseTernary, sparse, bits, 15).unwrap(), Some(807));
/// ```
pub fn bound(
    table: SecurityTable,
    secret: SecretDistribution,
    level: SecurityLevel,
    log_n: u8,
) -> Result<Option<u32>, RlweError> {
    let Some((columns, rows)) = tables()?.rows(table, secret) else {
        return Ok(None);
    };
    let row = match level {
        SecurityLevel::Bits128 => &rows.bits128,
        SecurityLevel::Bits192 => &rows.bits192,
        SecurityLevel::Bits256 => &rows.bits256,
    };
    let column = columns.iter().position(|&l| l == log_n);
    Ok(column
        .and_then(|c| row.get(c))
        .and_then(|&b| u32::try_from(b).ok()))
}

/// log2 of the smallest ring degree at which a QP of `qp_bits` bits is secure with such secrets, or the largest bound the
/// table has.
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

/// log2 of the smallest standard deviation, as a fraction of the torus, at which LWE of dimension `n` with binary
/// secrets has 128 bits (own estimates); `None` outside the dimensions that were estimated, 512 to 2048.
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

/// What was checked when parameters were built; reports repeat [`SecurityRecord::summary`].
#[derive(Clone, PartialEq, Debug)]
pub struct SecurityRecord {
    pub table: SecurityTable,
    pub level: SecurityLevel,
    /// log2(QP), rounded to a double, for reports; the check itself compares `qp_bits`.
    pub log_qp: f64,
    /// Exact bit length of QP: the smallest b with QP < 2^b.
    pub qp_bits: u32,
    /// The table's bound at this ring degree.
    pub bound: Option<u32>,
    /// Why the parameters do not reach the level; only possible after the explicit opt-out.
    pub insecure: Option<String>,
}

impl SecurityRecord {
    /// One line for reports.
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

#[cfg(test)]
mod tests {
    use super::*;

    const DENSE: SecretDistribution = SecretDistribution::Ternary;

    #[test]
    fn bounds_and_smallest_degrees() {
        let (new, old) = (
            SecurityTable::Guidelines2024Ternary,
            SecurityTable::Standard2018Ternary,
        );
        let bound = |table, level, log_n| bound(table, DENSE, level, log_n).unwrap();
        assert_eq!(bound(new, SecurityLevel::Bits128, 14), Some(430));
        assert_eq!(bound(new, SecurityLevel::Bits192, 10), None);
        assert_eq!(bound(old, SecurityLevel::Bits256, 14), None);
        assert_eq!(bound(new, SecurityLevel::Bits128, 9), None);
        let smallest = |bits, table| smallest_log_n(bits, table, DENSE, SecurityLevel::Bits128);
        assert_eq!(smallest(438, new).unwrap(), 15);
        assert_eq!(smallest(438, old).unwrap(), 14);
        assert!(smallest(4000, new).is_err());
        assert_eq!(SecurityTable::from_name("standard_2018").unwrap(), old);
        assert!(SecurityTable::from_name("2017").is_err());
    }

    #[test]
    fn own_estimates_cover_small_rings_and_sparse_secrets() {
        let own = SecurityTable::Estimator2026Ternary;
        let sparse = SecurityTable::Estimator2026SparseTernary;
        let bits = SecurityLevel::Bits128;
        assert_eq!(bound(own, DENSE, bits, 9).unwrap(), Some(13));
        assert_eq!(bound(own, DENSE, bits, 16).unwrap(), Some(1746));
        assert_eq!(bound(own, DENSE, SecurityLevel::Bits192, 14).unwrap(), None);
        let at = |weight, log_n| {
            let secret = SecretDistribution::SparseTernary { weight };
            bound(sparse, secret, bits, log_n).unwrap()
        };
        assert_eq!(
            (at(31, 15), at(32, 15), at(63, 15)),
            (None, Some(217), Some(217))
        );
        assert_eq!(
            (at(192, 16), at(256, 14), at(1000, 14)),
            (Some(1634), Some(415), Some(415))
        );
        assert_eq!((at(192, 13), at(192, 17)), (None, None));
        // No estimate is above the published table, and less weight never allows more.
        for log_n in 10..=16 {
            let published = bound(SecurityTable::Guidelines2024Ternary, DENSE, bits, log_n);
            assert!(bound(own, DENSE, bits, log_n).unwrap() <= published.unwrap());
            let weights = [32, 64, 128, 192, 256].map(|weight| at(weight, log_n));
            assert!(weights.is_sorted(), "{weights:?}");
        }
    }

    #[test]
    fn a_table_is_for_its_own_secrets() {
        let secrets = [
            DENSE,
            SecretDistribution::SparseTernary { weight: 256 },
            SecretDistribution::Gaussian,
            SecretDistribution::Binary,
        ];
        for table in SecurityTable::ALL {
            let covered = secrets.map(|secret| table.covers(secret));
            assert_eq!(covered.iter().filter(|&&c| c).count(), 1, "{table}");
            for (secret, covered) in secrets.into_iter().zip(covered) {
                let found = bound(table, secret, SecurityLevel::Bits128, 15).unwrap();
                assert_eq!(found.is_some(), covered, "{table} {secret:?}");
            }
        }
    }

    #[test]
    fn the_noise_of_lwe_is_never_below_an_estimate() {
        let curve = [
            (512, -10.57),
            (600, -12.82),
            (630, -13.57),
            (700, -15.37),
            (750, -16.67),
            (800, -17.94),
            (850, -19.21),
            (900, -20.52),
            (1024, -23.71),
            (1536, -36.99),
            (2048, -50.36),
        ];
        for (n, computed) in curve {
            let smallest = lwe_binary_log2_std(n).unwrap().unwrap();
            assert!(
                (0.0..0.05).contains(&(smallest - computed)),
                "{n}: {smallest}"
            );
        }
        assert_eq!(lwe_binary_log2_std(511).unwrap(), None);
        assert_eq!(lwe_binary_log2_std(2049).unwrap(), None);
    }
}
