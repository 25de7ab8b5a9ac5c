//! The security tables: the largest log2(QP) allowed for a ring degree.

use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use super::error::CkksError;

/// Which published table of bounds is used. The names are those of `data/security_tables.toml`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SecurityTable {
    /// Security Guidelines for Implementing Homomorphic Encryption (2024), ternary secrets.
    #[default]
    Guidelines2024Ternary,
    /// The same, secrets from the error distribution.
    Guidelines2024Gaussian,
    /// The 2018 HomomorphicEncryption.org standard, ternary secrets: SEAL's bounds (128 bits, log N = 10 to 15).
    Standard2018Ternary,
}

impl SecurityTable {
    pub const ALL: [Self; 3] = [
        Self::Guidelines2024Ternary,
        Self::Guidelines2024Gaussian,
        Self::Standard2018Ternary,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Guidelines2024Ternary => "guidelines_2024.ternary",
            Self::Guidelines2024Gaussian => "guidelines_2024.gaussian",
            Self::Standard2018Ternary => "standard_2018.ternary",
        }
    }

    /// The table of that name; `guidelines_2024` and `standard_2018` alone mean the ternary tables.
    pub fn from_name(name: &str) -> Result<Self, CkksError> {
        let alias = |t: &Self| t.name() == name || t.name().strip_suffix(".ternary") == Some(name);
        Self::ALL
            .into_iter()
            .find(alias)
            .ok_or_else(|| CkksError::UnknownSecurityTable {
                got: name.to_owned(),
            })
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

    pub fn from_bits(bits: u32) -> Result<Self, CkksError> {
        [Self::Bits128, Self::Bits192, Self::Bits256]
            .into_iter()
            .find(|l| l.bits() == bits)
            .ok_or(CkksError::UnknownSecurityLevel { got: bits })
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

#[derive(Deserialize)]
struct Tables {
    log_n: Vec<u8>,
    guidelines_2024: Guidelines,
    standard_2018: Standard,
}

static TABLES: LazyLock<Result<Tables, String>> = LazyLock::new(|| {
    toml::from_str(include_str!("../../data/security_tables.toml"))
        .map_err(|e: toml::de::Error| e.to_string())
});

fn tables() -> Result<&'static Tables, CkksError> {
    TABLES
        .as_ref()
        .map_err(|e| CkksError::SecurityTables(e.clone()))
}

/// The largest number of bits of QP that `table` allows at ring degree 2^`log_n`, or `None` where it offers none.
///
/// ```
/// use ringmill_schemes::ckks::security::{SecurityLevel, SecurityTable, bound};
/// assert_eq!(bound(SecurityTable::Standard2018Ternary, SecurityLevel::Bits128, 14).unwrap(), Some(438));
/// ```
pub fn bound(
    table: SecurityTable,
    level: SecurityLevel,
    log_n: u8,
) -> Result<Option<u32>, CkksError> {
    let tables = tables()?;
    let rows = match table {
        SecurityTable::Guidelines2024Ternary => &tables.guidelines_2024.ternary,
        SecurityTable::Guidelines2024Gaussian => &tables.guidelines_2024.gaussian,
        SecurityTable::Standard2018Ternary => &tables.standard_2018.ternary,
    };
    let row = match level {
        SecurityLevel::Bits128 => &rows.bits128,
        SecurityLevel::Bits192 => &rows.bits192,
        SecurityLevel::Bits256 => &rows.bits256,
    };
    let column = tables.log_n.iter().position(|&l| l == log_n);
    Ok(column
        .and_then(|c| row.get(c))
        .and_then(|&b| u32::try_from(b).ok()))
}

/// log2 of the smallest ring degree at which a QP of `qp_bits` bits is secure, or the largest bound the table has.
pub fn smallest_log_n(
    qp_bits: u32,
    table: SecurityTable,
    level: SecurityLevel,
) -> Result<u8, CkksError> {
    let mut largest = 0;
    for &log_n in &tables()?.log_n {
        match bound(table, level, log_n)? {
            Some(bits) if qp_bits <= bits => return Ok(log_n),
            Some(bits) => largest = largest.max(bits),
            None => {}
        }
    }
    Err(CkksError::NoSecureDegree {
        qp_bits,
        table,
        level: level.bits(),
        largest,
    })
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

    #[test]
    fn bounds_and_smallest_degrees() {
        let (new, old) = (
            SecurityTable::Guidelines2024Ternary,
            SecurityTable::Standard2018Ternary,
        );
        assert_eq!(bound(new, SecurityLevel::Bits128, 14).unwrap(), Some(430));
        assert_eq!(bound(new, SecurityLevel::Bits192, 10).unwrap(), None);
        assert_eq!(bound(old, SecurityLevel::Bits256, 14).unwrap(), None);
        assert_eq!(bound(new, SecurityLevel::Bits128, 9).unwrap(), None);
        assert_eq!(
            smallest_log_n(438, new, SecurityLevel::Bits128).unwrap(),
            15
        );
        assert_eq!(
            smallest_log_n(438, old, SecurityLevel::Bits128).unwrap(),
            14
        );
        assert!(smallest_log_n(4000, new, SecurityLevel::Bits128).is_err());
        assert_eq!(SecurityTable::from_name("standard_2018").unwrap(), old);
        assert!(SecurityTable::from_name("2017").is_err());
    }
}
