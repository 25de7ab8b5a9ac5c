// SPDX-License-Identifier: Apache-2.0
//! Counts the cycles of base-extension units, in RTL simulation if the tools are there, else by the model.

use ringmill_device::DeviceError;
use ringmill_hdl::basext::Extender;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_machines::MachineError;
use ringmill_machines::basext::{BasextError, Extension, Shape, Unit, Word};
use ringmill_math::primes::ntt_primes;
use ringmill_math::{Modulus, RnsBasis};

use crate::error::PaperError;
use crate::figure::How;
use crate::row::Ours;

/// Counts the cycles of base-extension units, by RTL simulations if there are tools, otherwise by the cycle model.
pub struct Cycles<'h> {
    pub rtl: Option<&'h Hdl>,
}

/// Returns the shape of a folded base-extension unit: rings of one size, at most l source moduli and k target moduli.
pub fn shape(
    word: Word,
    lanes: usize,
    log_n: u32,
    l: usize,
    k: usize,
) -> Result<Shape, PaperError> {
    let shape = Shape::new(word, lanes, log_n..=log_n, l, k);
    Ok(shape.map_err(MachineError::from)?)
}

/// Returns the word type that a base-extension unit needs for moduli of `bits` bits.
pub fn word(bits: u32) -> Word {
    if bits <= 32 {
        Word::Bits32
    } else {
        Word::Bits64
    }
}

impl Cycles<'_> {
    fn label(&self) -> How {
        match self.rtl {
            Some(_) => How::Rtl,
            None => How::Model,
        }
    }

    /// Counts the cycles of an exact base extension of random residues, without stalls. The sources are the l largest
    /// moduli, the targets the next k. In RTL every residue is compared with the golden extension.
    pub fn exact(
        &self,
        unit: impl Into<Unit>,
        l: usize,
        k: usize,
        log_n: u32,
    ) -> Result<Ours, PaperError> {
        let unit = unit.into();
        let taken = match self.rtl {
            None => unit.cycles(Extension::Exact, l, k, log_n, 1),
            Some(hdl) => simulated(hdl, unit, l, k, log_n)?,
        };
        Ok(Ours::Is(taken as f64, self.label()))
    }
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
        optimise: if shape.lanes() < 8 {
            Optimise::Run
        } else {
            Optimise::default()
        },
        waves: false,
        open: false,
    };
    let fault = |e| PaperError::from(DeviceError::from(e));
    let mut unit = Extender::new(hdl, made, options)?;
    unit.load(&constants).map_err(fault)?;
    let (got, taken) = unit.extend(Extension::Exact, &limbs).map_err(fault)?;
    let want = made.golden(&sources, redundant, targets, Extension::Exact, &limbs);
    let want = want.map_err(refused)?;
    match got == want {
        true => Ok(taken),
        false => Err(PaperError::Disagreement(format!(
            "the RTL of {made:?} gives other residues than the reference: please report it"
        ))),
    }
}
