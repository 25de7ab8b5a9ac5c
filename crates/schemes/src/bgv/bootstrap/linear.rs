// SPDX-License-Identifier: Apache-2.0
//! Emits the linear maps of a bootstrap as baby steps and giant steps. The baby steps are hoisted. Their products
//! with constants are added, and the automorphisms of the giant steps share divisions by the special primes.

use std::sync::Arc;

use ringmill_isa::macros::linked::{Elements, Turns};
use ringmill_isa::macros::{MacroImm, MacroOp, MacroType};
use ringmill_isa::{Galois, Level};
use ringmill_math::slots::linear::{Factor as Term, Giant, LinearMap, Stage};

use super::emit::{Emitted, Emitter};
use super::error::BootstrapError;
use super::lift::Lift;
use super::maps::{MapNumber, OfStage};
use crate::bgv::{Factor, Noise};
use crate::rlwe::RlweError;

/// The most giant steps that share one division by the special primes. The sums that they turn are all in memory at one
/// time.
const GIANTS_TOGETHER: usize = 2;

impl Emitter<'_> {
    /// Emits the stages of a linear map, applied to the value `a`. The result is divided down to the level at which
    /// its noise is small. `low` chooses Galois keys for low levels only, instead of those for all levels.
    pub fn map(
        &self,
        mut a: Emitted,
        (number, map): (MapNumber, &LinearMap),
        low: bool,
    ) -> Result<Emitted, BootstrapError> {
        for (place, stage) in map.stages.iter().enumerate() {
            a = match sum_of(stage) {
                Some(elements) => self.sum_turned(a, elements, low)?,
                None => {
                    let (level, factor) = (a.level, a.factor);
                    let known = (number, place, level);
                    let constants = self.constants.of(self.params, known, stage, factor)?;
                    self.map_stage(a, stage, &constants, low)?
                }
            };
            a = self.check("a linear map", a)?;
        }
        self.settle(a)
    }

    /// Returns the level to which a value should be divided after a key switch, and its noise there. `a` is its
    /// noise before the key switch, at `level`.
    fn switched(
        &self,
        a: Noise,
        level: Level,
        factor: Factor,
    ) -> Result<(Level, Noise), BootstrapError> {
        let model = self.model(factor)?;
        let before = model.switch_key(a, level);
        self.check_room("a linear map", before, level, factor)?;
        let to = self.settled(model, before, level);
        let count = level.primes() - to.primes();
        Ok((to, model.switch_key_by(a, level, count)))
    }

    /// Emits the sum of a value and its automorphisms. The automorphisms share one decomposition into key-switching
    /// digits and one division by the special primes.
    fn sum_turned(
        &self,
        a: Emitted,
        of: Vec<Galois>,
        low: bool,
    ) -> Result<Emitted, BootstrapError> {
        let (level, count) = (a.level, of.len() as u64);
        let model = self.model(a.factor)?;
        // Each automorphism has the errors of its own key.
        let turned = model.mul_integer(model.switch_key(a.noise, level), count);
        let (to, noise) = self.switched(model.add(a.noise, turned), level, a.factor)?;
        let factor = self.over(a.factor, level, to)?;
        let elements = Elements { of, low };
        let imm = MacroImm::Turns(Turns { elements, to });
        Ok(self.step(MacroOp::Sumrot, &[a], imm, (to, factor, noise)))
    }

    /// Emits several automorphisms of a value that share one decomposition into key-switching digits.
    fn turned(&self, a: Emitted, of: Vec<Galois>, low: bool) -> Result<Vec<Emitted>, RlweError> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let noise = self.model(a.factor)?.switch_key(a.noise, a.level);
        let at = Emitted::at(a.level, a.factor);
        let types = vec![MacroType::Cipher { size: 2, at }; of.len()];
        let imm = MacroImm::Elements(Elements { of, low });
        let made = self.with(|code| code.push(MacroOp::Hturn, vec![a.value], imm, types));
        let made = made.into_iter();
        Ok(made.map(|value| Emitted { value, noise, ..a }).collect())
    }

    /// Emits one stage of a linear map. Hoisted baby steps are multiplied by constants and added for each giant
    /// step. The automorphisms of a few giant steps then share one division by the special primes.
    fn map_stage(
        &self,
        a: Emitted,
        stage: &Stage,
        constants: &OfStage,
        low: bool,
    ) -> Result<Emitted, BootstrapError> {
        let (level, factor) = (a.level, a.factor);
        let model = self.model(factor)?;
        let moved = |g: &u64| (*g != 1).then_some(Galois(*g as u32));
        let others: Vec<Galois> = stage.babies.iter().filter_map(moved).collect();
        let mut turned = self.turned(a, others, low)?.into_iter();
        let mut still = Some(a);
        let babies = stage.babies.iter().map(|&g| match g {
            1 => still.take(),
            _ => turned.next(),
        });
        let babies: Vec<Emitted> = babies.flatten().collect();
        // All sums share one level, which follows from everything that is summed.
        let mut before: Option<Noise> = None;
        for (giant, constants) in stage.giants.iter().zip(constants) {
            for (term, constant) in giant.terms.iter().zip(constants) {
                let baby = babies.get(term.baby).ok_or_else(misshapen)?.noise;
                let size = constant.as_ref().map_or(1.0, |lift| lift.lifted.size());
                let term = model.mul_known(baby, size);
                before = Some(before.map_or(term, |sum| model.add(sum, term)));
            }
            if giant.galois != 1 {
                before = before.map(|sum| model.switch_key(sum, level));
            }
        }
        let before = before.ok_or_else(misshapen)?;
        let sum = |number: usize| {
            let (giant, constants) = stage.giants.get(number).zip(constants.get(number))?;
            Some(self.sum_of_terms(&babies, giant, constants))
        };
        let (here, there): (Vec<usize>, Vec<usize>) = (0..stage.giants.len())
            .partition(|&i| stage.giants.get(i).is_some_and(|g| g.galois == 1));
        let mut total: Option<Emitted> = None;
        for &number in &here {
            let own = sum(number).ok_or_else(misshapen)??;
            total = Some(match total {
                Some(total) => self.added(total, own),
                None => own,
            });
        }
        let (to, noise) = match there.is_empty() {
            true => (level, before),
            false => self.switched(before, level, factor)?,
        };
        let (odd, even) = there.split_at(there.len() % GIANTS_TOGETHER);
        let groups = [odd]
            .into_iter()
            .filter(|odd| !odd.is_empty())
            .chain(even.chunks(GIANTS_TOGETHER));
        let last = there.len().div_ceil(GIANTS_TOGETHER);
        for (at, group) in groups.enumerate() {
            let sums = group
                .iter()
                .map(|&number| sum(number).ok_or_else(misshapen)?);
            let mut sums = sums.collect::<Result<Vec<_>, _>>()?;
            sums.extend(total.take());
            let of = group.iter().filter_map(|&i| stage.giants.get(i));
            let of = of.map(|giant| Galois(giant.galois as u32)).collect();
            let (to, factor) = match at + 1 == last {
                true => (to, self.over(factor, level, to)?),
                false => (level, factor),
            };
            let elements = Elements { of, low };
            let imm = MacroImm::Turns(Turns { elements, to });
            total = Some(self.step(MacroOp::Sumturn, &sums, imm, (to, factor, noise)));
        }
        let total = total.ok_or_else(misshapen)?;
        Ok(Emitted { noise, ..total })
    }

    /// Emits the sum of two values of one level and one correction factor. The result carries the noise bound of
    /// `a`, which is too low; the caller sets the right one.
    fn added(&self, a: Emitted, b: Emitted) -> Emitted {
        self.step(
            MacroOp::Add,
            &[a, b],
            MacroImm::None,
            (a.level, a.factor, a.noise),
        )
    }

    fn sum_of_terms(
        &self,
        babies: &[Emitted],
        giant: &Giant,
        constants: &[Option<Arc<Lift>>],
    ) -> Result<Emitted, BootstrapError> {
        let (mut multiplied, mut plain) = (Vec::new(), Vec::new());
        for (term, constant) in giant.terms.iter().zip(constants) {
            let baby = *babies.get(term.baby).ok_or_else(misshapen)?;
            match constant {
                Some(constant) => multiplied.push((baby, constant)),
                None => plain.push(baby),
            }
        }
        let products = match multiplied.is_empty() {
            true => None,
            false => Some(self.sum_plain(&multiplied)?),
        };
        let sum = products
            .into_iter()
            .chain(plain)
            .reduce(|sum, own| self.added(sum, own));
        sum.ok_or_else(misshapen)
    }

    /// Emits a sum of values, at least one, each times a constant. The result carries the noise bound of the first
    /// value. A caller whose sum has more noise sets the right bound.
    pub fn sum_plain(&self, terms: &[(Emitted, &Arc<Lift>)]) -> Result<Emitted, BootstrapError> {
        let first = terms.first().ok_or_else(misshapen)?.0;
        let mut src: Vec<_> = terms.iter().map(|(cipher, _)| cipher.value).collect();
        for (_, lift) in terms {
            let at = Emitted::at(lift.lifted.level, Factor::ONE);
            src.push(self.with(|code| code.lift(lift, MacroType::Lifted { special: false, at })));
        }
        let made = (first.level, first.factor, first.noise);
        Ok(self.step_of(MacroOp::Sumplain, src, MacroImm::None, made))
    }
}

/// Returns the automorphisms of a stage of a linear map that adds automorphisms of its input to the input and does
/// nothing else. Returns `None` for any other stage.
fn sum_of(stage: &Stage) -> Option<Vec<Galois>> {
    let [giant] = stage.giants.as_slice() else {
        return None;
    };
    let plain = giant.terms.iter().all(|term| term.factor == Term::One);
    let in_order = giant.terms.iter().map(|term| term.baby);
    let all = giant.galois == 1 && in_order.eq(0..stage.babies.len());
    match stage.babies.split_first() {
        Some((1, others)) if plain && all && !others.is_empty() => {
            Some(others.iter().map(|&g| Galois(g as u32)).collect())
        }
        _ => None,
    }
}

fn misshapen() -> BootstrapError {
    BootstrapError::Parameters {
        reason: "a linear map whose terms do not fit it".into(),
    }
}
