// SPDX-License-Identifier: Apache-2.0
//! What the paper prints.

use serde::Deserialize;

use crate::error::PaperError;
use crate::tables::{self, Cell};

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

pub fn ring() -> Result<Ring, PaperError> {
    tables::of("ring")
}
