// SPDX-License-Identifier: Apache-2.0
//! Our bootstrapping engine beside the designs of Tables IV and VI of the paper of Kong and Li. Cycles come from the
//! model, which lockstep holds to the RTL. Resources come from synthesis of the engine's modules, or from the
//! description's needs.

use ringmill_circuits::tfhe::{
    Decomposition, LweDimension, Params, ParamsBuilder, TfheError, Transforms, Unrolling,
};
use ringmill_hdl::parts::Part;
use ringmill_hdl::torus::parts::{parts, unit};
use ringmill_machines::Machine;
use ringmill_machines::fpga::Resource;
use ringmill_machines::torus::{Description, Schedule, Shape, Sizes, TorusMachine};

use crate::error::PaperError;
use crate::mapping::Mapping;
use crate::scope::{Record, Scope, record};
use crate::value::{Value, counted, model, synthesised};

/// log2 of the butterflies of the widest unit whose LUT and FF are synthesised. In a wider engine the module that
/// rotates accumulators was not mapped to an FPGA's cells.
const WIDEST: u32 = 6;

/// Returns an engine's LUT, FF, DSP and block RAM as a record. Resources that were not synthesised count as not
/// measured.
fn area([lut, ff, dsp, bram]: [Value; 4]) -> Record {
    record([
        ("engine.lut", lut),
        ("engine.ff", ff),
        ("engine.dsp", dsp),
        ("engine.bram", bram),
    ])
}

/// Returns LUT, FF, DSP and 36-Kbit block RAMs of the engine's hardware parts, or `None` if they are not mapped.
pub fn synthesis(mapping: &Mapping<'_>, parts: &[Part]) -> Result<Option<Record>, PaperError> {
    let found = mapping.resources(parts)?.map(|found| {
        area([
            synthesised(found.lut + found.lut_memory),
            synthesised(found.ff),
            synthesised(found.dsp),
            synthesised(found.bram18 as f64 / 2.0),
        ])
    });
    Ok(found)
}

/// Returns a record without figures, for a design in the tables of the paper of Kong and Li that is not ours.
pub fn none() -> Record {
    let mut found = area([Value::None, Value::None, Value::None, Value::None]);
    found.insert("engine.cycles".to_owned(), Value::None);
    found.insert("engine.each".to_owned(), Value::None);
    found.insert("places".to_owned(), Value::None);
    found
}

/// Returns cycles and resources of a transform unit for N = 1024 with eight butterflies, as in Table IV of the paper of
/// Kong and Li.
pub fn ntt(mapping: &Mapping<'_>) -> Result<Record, PaperError> {
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
    let missing = || area([const { Value::NotMeasured }; 4]);
    let mut found = synthesis(mapping, &unit(10, LOG_LANES))?.unwrap_or_else(missing);
    found.insert("engine.cycles".to_owned(), model(shape.transform_cycles()));
    Ok(found)
}

/// Returns the cycles of a whole bootstrap on one of our engines, with its load, key switch and output, and the
/// engine's resources.
pub fn engine(machine: &TorusMachine, mapping: &Mapping<'_>) -> Result<Record, PaperError> {
    let shape = machine.shape();
    let sizes = shape.sizes();
    let totals = &machine.fit().totals;
    let needed = |resource| {
        let total = totals.iter().find(|total| total.resource == resource);
        total.map_or(Value::None, |total| counted(total.used))
    };
    let taken = match sizes.log_lanes <= WIDEST {
        true => synthesis(mapping, &parts(shape))?,
        false => None,
    };
    let mut found = taken.unwrap_or_else(|| {
        area([
            Value::NotMeasured,
            Value::NotMeasured,
            needed(Resource::Dsp),
            needed(Resource::BlockRam),
        ])
    });
    let places = sizes.places;
    let each = match places {
        1 => Value::None,
        _ => model(machine.bootstraps(places, true).div_ceil(places as u64)),
    };
    found.extend(record([
        ("engine.cycles", model(machine.bootstraps(1, true))),
        ("engine.each", each),
        ("places", (places as f64).into()),
        ("m", (sizes.unroll as f64).into()),
    ]));
    Ok(found)
}

/// The parameters of a bootstrapping engine that the paper of Kong and Li prints in Table VI.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Printed {
    pub dim: usize,
    pub levels: usize,
    pub unroll: usize,
    pub clock_mhz: f64,
}

impl Printed {
    /// Returns the engine parameters in that row of Table VI of the paper of Kong and Li which the current row of
    /// `data/torus.toml` names. Returns `None` for a row that is not the paper's own engine.
    pub fn of(at: &Scope<'_>) -> Result<Option<Self>, PaperError> {
        if !at.text("design")?.starts_with("Proposed") {
            return Ok(None);
        }
        let (dim, levels) = if at.size("bits")? > 110.0 {
            (630, 3)
        } else {
            (500, 2)
        };
        Ok(Some(Self {
            dim,
            levels,
            unroll: at.count("m")?,
            clock_mhz: at.size("mhz")?,
        }))
    }

    /// Returns our engine with this schedule, for the parameters that Kong and Li print for one of theirs.
    pub fn machine(self, schedule: Schedule) -> Result<TorusMachine, PaperError> {
        Ok(TorusMachine::new(description(self, schedule)?)?)
    }
}

/// Returns the description of our engine with this schedule, for the parameters of an engine in Table VI of the paper
/// of Kong and Li. It has as many butterflies and product multipliers as that engine.
fn description(printed: Printed, schedule: Schedule) -> Result<Description, PaperError> {
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
            // The links of the paper's designs (section IV-F).
            d.key.gbyte_per_second = if printed.unroll == 3 { 31.5 } else { 15.74 };
        }
        // Eight butterflies for each pair: 96 of three digits, 64 of two.
        Schedule::Sums | Schedule::Coefficients => {
            if printed.levels == 2 {
                (d.units, d.log_lanes) = (4, 4);
            }
            d = d.cheapest()?;
        }
    }
    Ok(d)
}

/// The effect that digits of one width have on the gates of an engine in Table VI of the paper of Kong and Li.
struct Digits {
    /// Whether every sum of products with these digits stays within the one prime modulo which the engine
    /// transforms. `why` is the proof, or the refusal and the widest digits that have a proof.
    exact: bool,
    why: String,
    /// log2 of the probability that noise makes a gate fail, if products are exact.
    fails: Option<f64>,
}

/// Returns whether products with digits of `log_base` bits are exact modulo the one prime of the engine's
/// transforms, and how often a gate fails. For m > 1 secret bits in each step, a second proof is for keys that are
/// summed to one (bundled) before the products.
pub fn proofs(printed: Printed, log_base: u32) -> Result<Vec<Record>, PaperError> {
    let proof = |proof: &str, form: &str, unit: &str, proven: f64, why: String| {
        record([
            ("proof", proof.into()),
            ("form", form.into()),
            ("proof_unit", unit.into()),
            ("proven", counted(proven)),
            ("why", why.into()),
        ])
    };
    let exact = |form: &str, digits: &Digits| {
        let proven = f64::from(u8::from(digits.exact));
        proof(
            "exact in one prime",
            form,
            "1 = yes",
            proven,
            digits.why.clone(),
        )
    };
    let found = digits(printed, log_base)?;
    let mut rows = vec![exact("", &found)];
    if printed.unroll > 1 {
        // A bundle in coefficient form is one gadget ciphertext, so its sums are those of m = 1.
        let single = Printed {
            unroll: 1,
            ..printed
        };
        rows.push(exact(
            ", bundled in coefficient form",
            &digits(single, log_base)?,
        ));
    }
    if let Some(fails) = found.fails {
        let why = "with the TFHE library's noise".to_owned();
        rows.push(proof("a gate fails", "", "log2", fails, why));
    }
    Ok(rows)
}

/// Checks digits of `log_base` bits on an engine in Table VI of the paper of Kong and Li. The noise is the TFHE
/// library's for n = 630 and n = 500. Nothing is encrypted here.
fn digits(printed: Printed, log_base: u32) -> Result<Digits, PaperError> {
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
