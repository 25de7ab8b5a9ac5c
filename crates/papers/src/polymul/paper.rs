// SPDX-License-Identifier: Apache-2.0
//! What the paper prints.

use serde::{Deserialize, Deserializer};

use crate::error::PaperError;
use crate::tables;

/// SEAL's BFV decryption, in parts (Table 3) and with its half product on the multiplier (section 5): microseconds; and
/// polynomials that the link lets in (section 4.1).
#[derive(Debug, Deserialize)]
pub struct SealDecrypt {
    pub n: usize,
    pub k: u32,
    pub software_multiply_us: f64,
    pub fastbconv_us: f64,
    pub others_us: f64,
    pub inputs_per_second: f64,
    /// A polynomial on the link, and what it should be where that is known to be something else.
    pub transfer_us: f64,
    pub transfer_should_be_us: Option<f64>,
    pub software_decrypt_us: f64,
    pub accelerator_multiply_us: f64,
    pub accelerator_multiply_with_io_us: f64,
    pub decrypt_with_accelerator_us: f64,
}

/// A figure, or none where the paper prints a dash.
fn printed<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Printed {
        Figure(f64),
        Dash(serde::de::IgnoredAny),
    }
    Ok(match Printed::deserialize(from)? {
        Printed::Figure(figure) => Some(figure),
        Printed::Dash(_) => None,
    })
}

/// Another work in Tables 4 and 5.
#[derive(Debug, Deserialize)]
pub struct Rival {
    /// Its number among the paper's references.
    pub work: String,
    pub platform: String,
    pub n: usize,
    pub bits: u32,
    /// Whether its modulus is fixed.
    pub fixed: bool,
    #[serde(deserialize_with = "printed")]
    pub lut: Option<f64>,
    #[serde(deserialize_with = "printed")]
    pub dsp: Option<f64>,
    #[serde(deserialize_with = "printed")]
    pub bram: Option<f64>,
    #[serde(deserialize_with = "printed")]
    pub clock_mhz: Option<f64>,
    #[serde(deserialize_with = "printed")]
    pub ntt_us: Option<f64>,
    #[serde(deserialize_with = "printed")]
    pub multiply_us: Option<f64>,
}

/// A figure for each of three reductions.
#[derive(Debug, Deserialize)]
pub struct Reductions {
    #[serde(default)]
    pub word_level: f64,
    pub montgomery: f64,
    pub barrett: f64,
}

/// The polymul paper: Tables 2 to 5 and section 5. Lists have one entry for each set (n, K).
#[derive(Debug, Deserialize)]
pub struct Polymul {
    pub clock_mhz: f64,
    pub processing_units: f64,
    pub lut: f64,
    pub ff: f64,
    pub bram: f64,
    pub dsp: f64,
    pub sets: Vec<(usize, u32)>,
    pub ntt_cycles: Vec<f64>,
    pub intt_cycles: Vec<f64>,
    pub hpm_cycles: Vec<f64>,
    pub fpm_cycles: Vec<f64>,
    pub ntt_us: Vec<f64>,
    pub fpm_us: Vec<f64>,
    pub pcie_effective_gbps: f64,
    pub rivals: Vec<Rival>,
    /// DSP blocks (section 3.1).
    pub reduction_dsp: Reductions,
    pub reduction_dsp_saving_percent: Reductions,
    pub seal_decrypt: Vec<SealDecrypt>,
}

pub fn polymul() -> Result<Polymul, PaperError> {
    tables::of("polymul")
}
