//! The papers' printed figures, as data.

use serde::{Deserialize, Deserializer};

use crate::error::CliError;

pub(super) const TABLES: &str = include_str!("../../../data/paper_tables.toml");

/// Figures of one parameter set's operations.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Operations {
    pub add: f64,
    pub mult_relin: f64,
    pub rescale: f64,
}

#[derive(Debug, Deserialize)]
pub struct LogisticRegression {
    /// Records in one batch.
    pub samples: f64,
    pub rotations: f64,
    pub rescales: f64,
    pub multiplications: f64,
    pub seal_s: f64,
    pub total_ms: f64,
    pub communication_ms: f64,
    pub cycles: f64,
    pub instructions: f64,
}

/// A cell of a table: a figure, or a text where there is none.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    Figure(f64),
    Text(String),
}

impl Cell {
    pub fn figure(&self) -> Option<f64> {
        match self {
            Self::Figure(figure) => Some(*figure),
            Self::Text(_) => None,
        }
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Figure(figure) => write!(f, "{figure}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// PrivFT's inference on Medha (section 5.3).
#[derive(Debug, Deserialize)]
pub struct PrivFt {
    pub scalar_multiplications: f64,
    pub additions: f64,
    pub rotations: f64,
    pub seconds: f64,
    pub speedup_over_gpu: f64,
}

/// The GMDH network's forecast on Medha (section 5.3).
#[derive(Debug, Deserialize)]
pub struct Gmdh {
    pub hidden_layers: f64,
    pub evaluations_per_half_hour: f64,
}

/// What a part of Medha takes on its FPGA (Table 3).
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Taken {
    pub bram: f64,
    pub uram: f64,
    pub dsp: f64,
}

/// RPAUs that one die region holds (section 4.3.3).
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Floorplan {
    pub rpaus_per_slr: u64,
}

/// The ring paper: Tables 2 to 4 and section 5.3. Cycles, and microseconds of SEAL.
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
    pub set1_a_second: Operations,
    pub set2_a_second: Operations,
    pub seal_us_set1: Operations,
    pub seal_us_set2: Operations,
    /// Of the whole cryptoprocessor, and of the RPAUs of 60-bit and of 54-bit residues.
    #[serde(flatten)]
    pub taken: Taken,
    pub rpau_60: Taken,
    pub rpau_54: Taken,
    pub floorplan: Floorplan,
    pub logistic_regression: LogisticRegression,
    pub privft: PrivFt,
    pub gmdh: Gmdh,
    /// Table 3: module, LUT, registers, block RAM, ultra RAM, DSP.
    pub resources: Vec<(String, f64, f64, Cell, Cell, Cell)>,
    /// Table 4: set, work, three latencies in microseconds, Medha's speed-up in the same.
    pub latency_comparison: Vec<(String, String, [Cell; 3], [Cell; 3])>,
    /// Table 5. ASICs: work, node, whether it is real, speed-up over software, GHz, mm^2, US$.
    pub asics: Vec<(String, String, bool, f64, Cell, f64, f64)>,
    /// FPGAs: work, platform, whether it is real, speed-up over software, GHz, % of logic and of RAM, US$.
    pub fpgas: Vec<FpgaWork>,
    pub two_threads: TwoThreads,
    pub estimate_n16: EstimateN16,
    pub heax: Heax,
    pub f1: F1,
    pub f1_on_u250: F1OnU250,
    pub gpu_dgx1: Gpu,
    pub medha_over_gpu_dgx1: OverGpu,
}

/// A row of Table 5's FPGAs.
pub type FpgaWork = (String, String, bool, Cell, f64, f64, f64, Cell);

/// What the dyadic cores give and take (section 4.3.1).
#[derive(Debug, Deserialize)]
pub struct TwoThreads {
    pub latency_saved_percent: f64,
    pub area_added_percent: f64,
}

/// What N = 2^16 would take (section 6).
#[derive(Debug, Deserialize)]
pub struct EstimateN16 {
    pub ciphertext_polynomials: f64,
    pub key_polynomials: f64,
    pub bram_per_rpau: f64,
    pub uram_per_rpau: f64,
}

/// Section 5.3.
#[derive(Debug, Deserialize)]
pub struct Heax {
    pub mult_relin_per_s: f64,
    pub clock_mhz: f64,
    pub keyswitch_cycles: f64,
}

#[derive(Debug, Deserialize)]
pub struct F1 {
    pub mult_relin_per_s: f64,
}

#[derive(Debug, Deserialize)]
pub struct F1OnU250 {
    pub slowdown: f64,
}

/// BHM+20 on eight V100.
#[derive(Debug, Deserialize)]
pub struct Gpu {
    pub add_ms: f64,
    pub mult_relin_ms: f64,
    pub power_w: f64,
    pub price_usd: f64,
}

/// Medha against it.
#[derive(Debug, Deserialize)]
pub struct OverGpu {
    pub add: f64,
    pub mult_relin: f64,
    pub power: f64,
    pub price: f64,
}

impl Ring {
    /// Throughput as Table 2 has it: one after another at the clock.
    pub fn a_second(&self, cycles: f64) -> f64 {
        (self.clock_mhz * 1e6 / cycles).floor()
    }
}

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

#[derive(Debug, Deserialize)]
struct Tables {
    ring: Ring,
    polymul: Polymul,
}

fn tables() -> Result<Tables, CliError> {
    toml::from_str(TABLES).map_err(|e| CliError::Usage(format!("the built-in paper tables: {e}")))
}

pub fn ring() -> Result<Ring, CliError> {
    Ok(tables()?.ring)
}

pub fn polymul() -> Result<Polymul, CliError> {
    Ok(tables()?.polymul)
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
        assert_eq!((ring.taken.uram, ring.rpau_60.uram), (930.0, 102.0));
        let polymul = super::polymul().unwrap();
        assert_eq!(polymul.sets.last(), Some(&(4096, 32)));
        for list in [&polymul.ntt_cycles, &polymul.fpm_cycles, &polymul.fpm_us] {
            assert_eq!(list.len(), polymul.sets.len());
        }
        assert_eq!(polymul.rivals.len(), 18);
        let stockham = polymul.rivals.iter().find(|r| r.work == "12").unwrap();
        assert_eq!((stockham.bram, stockham.ntt_us), (Some(1.0), None));
    }
}
