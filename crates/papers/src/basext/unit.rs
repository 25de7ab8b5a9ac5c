// SPDX-License-Identifier: Apache-2.0
//! The base-extension units that the tables of Kırbıyık's thesis name, with their arithmetic and their cycles. The
//! RTL is elaborated or simulated if the tools are there. Otherwise the model counts.

use ringmill_device::DeviceError;
use ringmill_hdl::basext::{Extender, top_of};
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_machines::MachineError;
use ringmill_machines::basext::rowers::Algorithm;
use ringmill_machines::basext::{Arithmetic, BasextError, Extension, Radix, Shape, Unit, Word};
use ringmill_math::primes::ntt_primes;
use ringmill_math::{Modulus, RnsBasis};

use crate::error::PaperError;
use crate::how::How;
use crate::row::Ours;
use crate::scope::{Record, Scope, record};
use crate::value::stated;

/// Returns the shape of the folded unit with k targets. The current row of `data/basext.toml` names its bits, lanes,
/// ring degree, number of sources and k.
///
/// # Errors
/// Fails if the row lacks one of these numbers, or if no unit has these sizes.
pub fn folded(at: &Scope<'_>) -> Result<Shape, PaperError> {
    let word = match at.count("bits")? {
        0..=32 => Word::Bits32,
        _ => Word::Bits64,
    };
    let log_n = at.count("log_n")? as u32;
    let (lanes, l, k) = (at.count("TP")?, at.count("l")?, at.count("k")?);
    let shape = Shape::new(word, lanes, log_n..=log_n, l, k);
    Ok(shape.map_err(MachineError::from)?)
}

/// Returns our unit that does the work of the architecture in the current row of `data/basext.toml`. Returns `None` if
/// we have no such unit, or none for this number of moduli.
///
/// # Errors
/// Fails as [`folded`] does, and if the row has no architecture.
pub fn of(at: &Scope<'_>) -> Result<Option<Unit>, PaperError> {
    let shape = folded(at)?;
    Ok(match at.text("architecture")?.as_str() {
        "shenoy_kumaresan" | "shenoy_kumaresan_folded" => Some(Unit::Folded(shape)),
        "shenoy_kumaresan_pipelined" => Some(Unit::Pipelined(shape)),
        "cox_rower" => Some(Unit::Rowers(Algorithm::CoxRower, shape)),
        "mixed_radix" | "mixed_radix_iterative" => Some(Unit::Rowers(Algorithm::MixedRadix, shape)),
        "mixed_radix_pipelined" => Radix::new(shape).ok().map(Unit::Radix),
        _ => None,
    })
}

/// Counts the multipliers, modular adders and adders of a base-extension unit, and states how many target residues it
/// makes at once. With the hardware's tools it counts instances in the elaborated RTL, otherwise in the model. A test
/// holds both equal.
///
/// # Errors
/// Fails if the RTL cannot be elaborated.
pub fn arithmetic(unit: Unit, hdl: Option<&Hdl>) -> Result<Record, PaperError> {
    let (found, how) = match hdl {
        None => (unit.arithmetic(), How::Model),
        Some(hdl) => {
            let found = hdl.instances(&top_of(unit))?;
            let of = |module: &str| found.get(module).copied().unwrap_or(0);
            let counted = Arithmetic {
                multipliers: of("rm_wide_mul"),
                modular_adders: of("rm_mod_add") + of("rm_mod_sub"),
                adders: of("rm_basext_cox"),
            };
            (counted, How::Rtl)
        }
    };
    let of = |count: u64| Ours::Is(count as f64, how).into();
    let made = match unit {
        Unit::Rowers(_, shape) => shape.max_k(),
        Unit::Folded(_) | Unit::Shared(_) | Unit::Pipelined(_) | Unit::Radix(_) => 1,
    };
    Ok(record([
        ("unit.made", stated(made)),
        ("unit.multipliers", of(found.multipliers)),
        ("unit.modular_adders", of(found.modular_adders)),
        ("unit.adders", of(found.adders)),
    ]))
}

/// Counts the cycles of an exact base extension from l moduli to k others at ring degree 2^`log_n`, without stalls.
/// Without tools the cycle model counts. With tools the RTL extends random residues, and every result is compared with
/// the golden extension. The moduli of the RTL's run are the largest suitable primes of the unit's word size: l
/// sources, then the redundant modulus, then k targets.
///
/// # Errors
/// Fails if the RTL cannot be built or run, or if a result differs from the golden extension.
pub fn exact(
    rtl: Option<&Hdl>,
    unit: impl Into<Unit>,
    l: usize,
    k: usize,
    log_n: u32,
) -> Result<Ours, PaperError> {
    let unit = unit.into();
    Ok(match rtl {
        None => {
            let cycles = unit.cycles(Extension::Exact, l, k, log_n, 1);
            Ours::Is(cycles as f64, How::Model)
        }
        Some(hdl) => Ours::Is(simulated(hdl, unit, l, k, log_n)? as f64, How::Rtl),
    })
}

fn simulated(hdl: &Hdl, made: Unit, l: usize, k: usize, log_n: u32) -> Result<u64, PaperError> {
    let refused = |e: BasextError| PaperError::from(MachineError::from(e));
    let shape = made.shape();
    let bits = shape.word().modulus_bits();
    let primes = ntt_primes(bits, shape.max_log_n(), l + k + 1)?;
    let moduli = primes.into_iter().map(Modulus::new);
    let moduli = moduli.collect::<Result<Vec<_>, _>>()?;
    let (sources, rest) = moduli.split_at(l);
    let (redundant, targets) = rest.split_at(1);
    let (sources, redundant) = (RnsBasis::new(sources.to_vec())?, redundant.first().copied());
    let constants = made.constants(&sources, redundant, targets);
    let constants = constants.map_err(refused)?;
    let mut dice = Dice::new(1);
    let taken = redundant.filter(|_| made.takes_redundant(Extension::Exact));
    let of = sources.moduli().iter().copied().chain(taken);
    let limbs: Vec<Vec<u64>> = of.map(|q| dice.limb(1 << log_n, q.value())).collect();
    let limbs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
    let options = BuildOptions {
        // A wide model takes longer to build than to run its few cycles, so it is not optimised.
        optimise: match shape.lanes() < 8 {
            true => Optimise::Run,
            false => Optimise::default(),
        },
        ..BuildOptions::default()
    };
    let fault = |e| PaperError::from(DeviceError::from(e));
    let mut unit = Extender::new(hdl, made, options)?;
    unit.load(&constants).map_err(fault)?;
    let (got, taken) = unit.extend(Extension::Exact, &limbs).map_err(fault)?;
    let want = made.golden(&sources, redundant, targets, Extension::Exact, &limbs);
    match got == want.map_err(refused)? {
        true => Ok(taken),
        false => Err(PaperError::Disagreement(format!(
            "the RTL of {made:?} gives other residues than the reference: please report it"
        ))),
    }
}
