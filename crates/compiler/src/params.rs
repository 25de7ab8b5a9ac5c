//! Choosing parameters: the smallest secure ones that give a program its levels, its slots and its precision.

use std::sync::Arc;

use ringmill_isa::macros::MacroProgram;
use ringmill_math::primes::{is_prime, ntt_primes};
use ringmill_schemes::ckks::security::bound;
use ringmill_schemes::ckks::{CkksError, Params};

use crate::depth::Depths;
use crate::error::CompileError;
use crate::options::{Options, Wanted};
use crate::pipeline;
use crate::precision::{Precision, predict};

/// Sizes of rescaling primes: below, a large ring has too few primes near the scale; above, arithmetic ends.
const SCALE_BITS: std::ops::RangeInclusive<u32> = 28..=58;
/// Largest prime.
const MAX_BITS: u32 = 60;
/// Ring degrees that the security tables cover.
const LOG_N: std::ops::RangeInclusive<u32> = 10..=17;
/// Sign, and room for the sum of a value and its error.
const MARGIN_BITS: u32 = 2;
/// Where the search for the scale begins; any value would do.
const FIRST_GUESS: u32 = 40;

/// Parameters for `program`, which has its relinearisations, and the managed program and precision with them.
///
/// The predicted precision grows by about a bit with each bit of the scale, so one try tells where the answer lies; from
/// there the scale goes down while the precision suffices and up until it does.
///
/// # Errors
/// [`CompileError::NoParameters`], [`CompileError::TooPrecise`], [`CompileError::TooLarge`].
pub(crate) fn choose(
    program: &MacroProgram,
    wanted: &Wanted,
    options: &Options,
) -> Result<Arc<Params>, CompileError> {
    let levels = Depths::new(program, options.output_level).levels(options.output_level);
    let shape = Shape {
        levels,
        slots: program.slots,
        wanted,
    };
    let (lowest, highest) = (*SCALE_BITS.start(), shape.highest_scale()?);
    let enough = f64::from(wanted.precision_bits);
    let attempt = |scale_bits: u32| -> Result<(Arc<Params>, f64), CompileError> {
        let params = shape.smallest(scale_bits)?;
        let managed = pipeline::managed(program.clone(), &params, options.output_level)?;
        let predicted = predict(&managed, &params, options.assumed())?;
        Ok((
            params,
            predicted
                .iter()
                .map(Precision::bits)
                .fold(f64::INFINITY, f64::min),
        ))
    };
    let first = FIRST_GUESS.clamp(lowest, highest);
    // The guess itself may need a ring that no table has, where a smaller scale would not.
    let shortfall = match attempt(first) {
        Ok((_, bits)) => (enough - bits).ceil().clamp(-64.0, 64.0) as i64,
        Err(CompileError::NoParameters { .. }) => i64::from(lowest) - i64::from(first),
        Err(error) => return Err(error),
    };
    let start =
        (i64::from(first) + shortfall - 1).clamp(i64::from(lowest), i64::from(highest)) as u32;
    let mut reached = f64::NEG_INFINITY;
    for scale_bits in start..=highest {
        let (params, bits) = attempt(scale_bits)?;
        if bits >= enough {
            return Ok(params);
        }
        reached = bits;
    }
    Err(CompileError::TooPrecise {
        precision_bits: wanted.precision_bits,
        integer_bits: wanted.integer_bits,
        scale_bits: highest,
        reachable_bits: reached.max(0.0).floor() as u32,
    })
}

/// What parameters must hold.
struct Shape<'a> {
    levels: u32,
    slots: u32,
    wanted: &'a Wanted,
}

impl Shape<'_> {
    fn first_bits(&self, scale_bits: u32) -> u32 {
        scale_bits
            .saturating_add(self.wanted.integer_bits)
            .saturating_add(MARGIN_BITS)
    }

    /// Largest scale beside which the integer part fits the first prime.
    fn highest_scale(&self) -> Result<u32, CompileError> {
        let highest = MAX_BITS.saturating_sub(self.wanted.integer_bits.saturating_add(MARGIN_BITS));
        let highest = highest.min(*SCALE_BITS.end());
        if SCALE_BITS.contains(&highest) {
            return Ok(highest);
        }
        let max = MAX_BITS - MARGIN_BITS - SCALE_BITS.start();
        Err(CompileError::TooLarge {
            integer_bits: self.wanted.integer_bits,
            max,
        })
    }

    /// The smallest secure ring, with primes as near the scale as they come.
    fn smallest(&self, scale_bits: u32) -> Result<Arc<Params>, CompileError> {
        let first_bits = self.first_bits(scale_bits);
        let qp_bits = self
            .levels
            .saturating_mul(scale_bits)
            .saturating_add(2 * first_bits);
        let least = (self.slots.trailing_zeros() + 1).max(*LOG_N.start());
        for log_n in least..=*LOG_N.end() {
            let allowed = bound(self.wanted.table, self.wanted.level, log_n as u8)?;
            if allowed.is_none_or(|allowed| qp_bits > allowed) {
                continue;
            }
            match self.build(log_n, scale_bits) {
                // The primes' product may be a bit larger than the sum of their sizes.
                Err(CkksError::Insecure { .. }) => {}
                built => return Ok(built?),
            }
        }
        let largest = *LOG_N.end();
        Err(CompileError::NoParameters {
            levels: self.levels,
            scale_bits,
            first_bits,
            needed_bits: qp_bits,
            log_n: largest,
            allowed_bits: bound(self.wanted.table, self.wanted.level, largest as u8)?.unwrap_or(0),
        })
    }

    fn build(&self, log_n: u32, scale_bits: u32) -> Result<Arc<Params>, CkksError> {
        // The first prime and, as large, the special one: key switching then adds less error than a rescale.
        let mut ends = ntt_primes(self.first_bits(scale_bits), log_n, 2)?;
        let special = ends.split_off(1);
        let mut cipher = ends;
        cipher.extend(rescaling_primes(scale_bits, log_n, self.levels)?);
        Params::builder(log_n as u8)
            .primes(&cipher, &special)
            .default_scale(f64::from(scale_bits).exp2())
            .security(self.wanted.table, self.wanted.level)
            .build()
    }
}

/// q_1 ..= q_levels, each chosen, from the top down, so that the canonical scale below it returns as near to
/// `2^scale_bits` as it can; a fixed list of primes would let the deviation double at every level.
fn rescaling_primes(scale_bits: u32, log_n: u32, levels: u32) -> Result<Vec<u64>, CkksError> {
    let wanted = f64::from(scale_bits).exp2();
    let mut scale = wanted;
    let mut chosen: Vec<u64> = Vec::new();
    for _ in 0..levels {
        let prime =
            nearest_prime(scale * scale / wanted, log_n, &chosen).ok_or(CkksError::Parameter {
                what: "the number of rescaling primes",
                expected: format!(
                    "at most {} near 2^{scale_bits} at N = 2^{log_n}",
                    chosen.len()
                ),
                got: levels.to_string(),
            })?;
        scale = scale * scale / prime as f64;
        chosen.push(prime);
    }
    chosen.reverse();
    Ok(chosen)
}

/// The prime nearest `target` that is 1 mod 2N and not among `taken`, within a factor of about two.
fn nearest_prime(target: f64, log_n: u32, taken: &[u64]) -> Option<u64> {
    let step = 2u64 << log_n;
    let centre = (target / step as f64).round() as u64;
    let fits = |k: u64| {
        let q = k.checked_mul(step)?.checked_add(1)?;
        (!taken.contains(&q) && q >> 61 == 0 && is_prime(q)).then_some(q)
    };
    (0..centre.div_ceil(2)).find_map(|d| fits(centre - d).or_else(|| fits(centre + d)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::CanonicalScales;

    #[test]
    fn canonical_scales_stay_near_the_scale_at_any_depth() {
        for (bits, log_n, levels) in [(40, 15, 30), (30, 16, 20), (50, 12, 40)] {
            let mut primes = vec![(1 << 60) - 93];
            primes.extend(rescaling_primes(bits, log_n, levels).unwrap());
            let wanted = f64::from(bits).exp2();
            let scales = CanonicalScales::new(&primes, wanted).unwrap();
            for level in 0..=levels {
                let drift = (scales.normal(level) / wanted).log2().abs();
                assert!(drift < 0.05, "2^{bits}, level {level}: {drift}");
            }
        }
    }

    #[test]
    fn primes_run_out_with_an_error() {
        assert!(rescaling_primes(20, 17, 40).is_err());
    }
}
