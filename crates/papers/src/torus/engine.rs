// SPDX-License-Identifier: Apache-2.0
//! Our engine beside the designs of Tables IV and VI: cycles of the model, which lockstep holds to the RTL; resources by synthesis
//! of its modules, or as the description's needs count them.

use ringmill_circuits::tfhe::{
    Decomposition, LweDimension, Params, ParamsBuilder, TfheError, Transforms, Unrolling,
};
use ringmill_hdl::parts::Part;
use ringmill_hdl::torus::parts::{parts, unit};
use ringmill_machines::Machine;
use ringmill_machines::fpga::Resource;
use ringmill_machines::torus::{Description, Schedule, Shape, Sizes, TorusMachine};

use crate::error::PaperError;
use crate::figure::How;
use crate::mapping::Mapping;
use crate::row::Ours;

/// Bits of a block of RAM.
const BLOCK: f64 = 36.0 * 1024.0;
/// Butterflies of the widest unit, 2^`WIDEST`, whose engine's LUT and FF are counted: the turn of a wider one was not mapped.
const WIDEST: u32 = 6;

/// What a design takes; what was not synthesised is not there.
pub struct Figures {
    pub cycles: u64,
    /// Ciphertexts interleaved, and the cycles of each.
    pub interleaved: Option<(usize, u64)>,
    lut: Ours,
    ff: Ours,
    dsp: Ours,
    /// Blocks of 36 Kbit.
    bram: Ours,
}

impl Figures {
    /// The figure of a column: its metric, its unit, and the clock that the paper's design has.
    pub fn of(&self, metric: &str, unit: &str, clock_mhz: Option<f64>) -> Ours {
        let microseconds = clock_mhz.map(|mhz| self.cycles as f64 / mhz);
        let (what, is_product) = match metric.strip_suffix(" area-time product") {
            Some(area) => (area, true),
            None => (metric, false),
        };
        let per = match unit {
            "K" | "K s" => 1e3,
            _ => 1.0,
        };
        let area = match what {
            "latency" => {
                let in_unit = if unit == "ms" { 1e3 } else { 1.0 };
                return match microseconds {
                    Some(us) => Ours::AtPapersClock(us / in_unit, How::Model),
                    None => Ours::None,
                };
            }
            "LUT" => self.lut,
            "FF" => self.ff,
            "DSP" => self.dsp,
            "block RAM" => self.bram,
            "RAM" => scaled(self.bram, BLOCK / 1e6),
            _ => return Ours::None,
        };
        match (area, is_product, microseconds) {
            (area, false, _) => scaled(area, 1.0 / per),
            // Of a table in microseconds, milliseconds times an area; in milliseconds, seconds.
            (Ours::Is(area, how), true, Some(us)) => {
                let time = if unit == "ms" { us / 1e3 } else { us / 1e6 };
                Ours::AtPapersClock(area / per * time, how)
            }
            (Ours::Is(..), true, None) => Ours::None,
            (other, true, _) => other,
        }
    }
}

fn scaled(ours: Ours, by: f64) -> Ours {
    match ours {
        Ours::Is(value, how) => Ours::Is(value * by, how),
        other => other,
    }
}

/// LUT, FF, DSP and blocks of RAM of the parts, where they are mapped.
fn synthesised(mapping: &Mapping<'_>, parts: &[Part]) -> Result<Option<[Ours; 4]>, PaperError> {
    let Some(found) = mapping.resources(parts)? else {
        return Ok(None);
    };
    let lut = (found.lut + found.lut_memory) as f64;
    let counts = [
        lut,
        found.ff as f64,
        found.dsp as f64,
        found.bram18 as f64 / 2.0,
    ];
    Ok(Some(counts.map(|count| Ours::Is(count, How::Synthesis))))
}

/// A transform unit of N = 1024 by eight butterflies, as Table IV has it.
pub fn ntt(mapping: &Mapping<'_>) -> Result<Figures, PaperError> {
    const LOG_LANES: u32 = 3;
    let d = Description::read(Description::PAPER)?;
    let shape = Shape::scheduled(
        Sizes {
            log_n: 10,
            levels: 3,
            log_base: 7,
            dim: 1,
            unroll: 1,
            units: 12,
            log_lanes: LOG_LANES,
            log_pos: 2,
            places: 1,
            group: 1,
            key_beats: 2,
            switch: d.shape()?.sizes().switch,
        },
        Schedule::Pairs,
    );
    let shape = shape.map_err(|e| PaperError::Internal(format!("a unit of Table IV: {e}")))?;
    let taken = synthesised(mapping, &unit(10, LOG_LANES))?;
    let [lut, ff, dsp, bram] = taken.unwrap_or([Ours::NotMeasured; 4]);
    Ok(Figures {
        cycles: shape.transform_cycles(),
        interleaved: None,
        lut,
        ff,
        dsp,
        bram,
    })
}

/// An engine's whole bootstrap, load, key switch and what is given in it, and what it takes.
pub fn engine(machine: &TorusMachine, mapping: &Mapping<'_>) -> Result<Figures, PaperError> {
    let shape = machine.shape();
    let places = shape.sizes().places;
    let totals = &machine.fit().totals;
    let counted = |resource| {
        let total = totals.iter().find(|total| total.resource == resource);
        total.map_or(Ours::None, |total| Ours::Is(total.used, How::Counted))
    };
    let counts = [
        Ours::NotMeasured,
        Ours::NotMeasured,
        counted(Resource::Dsp),
        counted(Resource::BlockRam),
    ];
    let taken = match shape.sizes().log_lanes <= WIDEST {
        true => synthesised(mapping, &parts(shape))?,
        false => None,
    };
    let [lut, ff, dsp, bram] = taken.unwrap_or(counts);
    let together = machine.bootstraps(places, true).div_ceil(places as u64);
    Ok(Figures {
        cycles: machine.bootstraps(1, true),
        interleaved: (places > 1).then_some((places, together)),
        lut,
        ff,
        dsp,
        bram,
    })
}

/// A printed design's parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Printed {
    pub dim: usize,
    pub levels: usize,
    pub unroll: usize,
    pub clock_mhz: f64,
}

/// The description of an engine for a printed design's parameters, with as many butterflies and product multipliers as it has; ours
/// with whichever schedule takes fewer cycles.
pub fn description(printed: Printed, schedule: Schedule) -> Result<Description, PaperError> {
    let text = match schedule {
        Schedule::Sums | Schedule::Coefficients => Description::OURS,
        Schedule::Pairs => Description::PAPER,
    };
    let mut d = Description::read(text)?;
    d.dim = printed.dim;
    d.levels = printed.levels;
    d.unroll = printed.unroll;
    d.clock_mhz = printed.clock_mhz;
    match schedule {
        Schedule::Pairs => {
            d.units = 4 * printed.levels;
            // Its links (section IV-F).
            d.key.gbyte_per_second = if printed.unroll == 3 { 31.5 } else { 15.74 };
        }
        // Eight butterflies a pair: 96 of three digits, 64 of two.
        Schedule::Sums | Schedule::Coefficients => {
            if printed.levels == 2 {
                (d.units, d.log_lanes) = (4, 4);
            }
            d = d.cheapest()?;
        }
    }
    Ok(d)
}

/// What digits of so many bits do to a printed engine's gates.
pub struct Digits {
    /// Whether no sum outgrows the one prime: the proof, or the refusal and the widest digits that have one.
    pub exact: bool,
    pub why: String,
    /// log2 of the probability that a gate fails by its noise, where products are exact.
    pub fails: Option<f64>,
}

/// The noise is the TFHE library's for n = 630 and n = 500; nothing is encrypted here.
pub fn digits(printed: Printed, log_base: u32) -> Result<Digits, PaperError> {
    let prove = |log_base| {
        let set = match printed.levels {
            2 => "paper_110_bits_below_94_bits",
            _ => "tfhe_library_2020_below_128_bits",
        };
        let unrolling = match printed.unroll {
            1 => Unrolling::One,
            2 => Unrolling::Two,
            _ => Unrolling::Three,
        };
        let builder = ParamsBuilder::named(set)?
            .sizes(|s| s.n = LweDimension(printed.dim))
            .unrolling(unrolling)
            .bootstrap(Decomposition {
                log_base,
                levels: printed.levels,
            })
            .allow_any_failure_rate_for_tests_only();
        builder.transforms(Transforms::Solinas).build()
    };
    let said = |params: &Params| params.exactness().summary();
    match prove(log_base) {
        Ok(params) => Ok(Digits {
            exact: true,
            why: said(&params),
            fails: Some(params.failure_log2()),
        }),
        Err(refusal @ TfheError::Overflow { .. }) => {
            let narrower = (2..log_base).rev().map(|base| (base, prove(base)));
            let mut found = narrower.filter_map(|(base, params)| Some((base, params.ok()?)));
            let instead = match found.next() {
                Some((base, params)) => format!("Bg = 2^{base} has a proof: {}", said(&params)),
                None => "no narrower digits have a proof".to_owned(),
            };
            Ok(Digits {
                exact: false,
                why: format!("{refusal}; {instead}"),
                fails: None,
            })
        }
        Err(other) => Err(other.into()),
    }
}
