//! The papers' printed figures, as data.

use serde::Deserialize;

use crate::error::CliError;

const TABLES: &str = include_str!("../../../data/paper_tables.toml");

/// Figures of one parameter set's operations.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Operations {
    pub add: f64,
    pub mult_relin: f64,
    pub rescale: f64,
}

#[derive(Debug, Deserialize)]
pub struct LogisticRegression {
    pub rotations: f64,
    pub rescales: f64,
    pub multiplications: f64,
    pub seal_s: f64,
    pub total_ms: f64,
    pub communication_ms: f64,
    pub cycles: f64,
    pub instructions: f64,
}

/// The ring paper: Tables 2 and 4 and section 5.3. Cycles, and microseconds of SEAL.
#[derive(Debug, Deserialize)]
pub struct Ring {
    pub clock_mhz: f64,
    pub modular_multipliers_per_rpau: f64,
    pub ntt_reported: f64,
    pub broadcast: f64,
    pub scale: f64,
    pub coefficientwise_main: f64,
    pub coefficientwise_dyadic: f64,
    pub split_join: f64,
    pub automorphism: f64,
    pub set1: Operations,
    pub set2: Operations,
    pub seal_us_set1: Operations,
    pub seal_us_set2: Operations,
    pub logistic_regression: LogisticRegression,
}

#[derive(Debug, Deserialize)]
struct Tables {
    ring: Ring,
}

pub fn ring() -> Result<Ring, CliError> {
    let tables: Tables = toml::from_str(TABLES)
        .map_err(|e| CliError::Usage(format!("the built-in paper tables: {e}")))?;
    Ok(tables.ring)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_figures_are_the_papers() {
        let ring = super::ring().unwrap();
        assert_eq!(
            (
                ring.set1.mult_relin,
                ring.set2.rescale,
                ring.logistic_regression.cycles
            ),
            (99448.0, 75464.0, 1.3e6)
        );
    }
}
