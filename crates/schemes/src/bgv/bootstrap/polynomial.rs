//! Polynomials of ciphertexts, by baby steps and giant steps.

use ringmill_isa::Level;

use super::error::BootstrapError;
use super::value::{Engine, Value};
use crate::bgv::Factor;

/// Which powers a polynomial's coefficients are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Powers {
    /// x, x^3, x^5, ...
    Odd,
    /// x, x^2, x^3, ...
    All,
}

/// The polynomial without a constant that has these coefficients.
///
/// Of all powers it is the sum over j of x^(jk) (the sum over 0 < i <= k of c_(jk + i) x^i), of odd ones with y = x^2 the sum over j
/// of y^(jk) (the sum over i < k of c_(jk + i) x^(2i + 1)): no inner sum has a constant. The whole sum is relinearised once.
///
/// Constants carry the factors: each inner sum has the factor that its product with a giant step's power needs. The result's is 1 but
/// for the primes that it has dropped.
pub(super) fn polynomial(
    engine: &Engine<'_>,
    x: &Value,
    coefficients: &[u64],
    which: Powers,
) -> Result<Value, BootstrapError> {
    let factor = Factor::one_modulo(x.factor().plain());
    let t = engine.t(factor)?;
    let count = coefficients.len();
    let log_k = log2_babies(count);
    let k = 1usize << log_k;
    let (small, large) = (count.min(k), count.div_ceil(k).saturating_sub(1));
    let (babies, giants) = match which {
        Powers::Odd => odd_steps(engine, x, small, log_k, large)?,
        Powers::All => steps(engine, x, small, large)?,
    };
    let level = lowest(&babies).unwrap_or(x.level());
    let babies = babies.into_iter().map(|baby| engine.down(baby, level));
    let babies = babies.collect::<Result<Vec<_>, _>>()?;
    let inner = |j: usize, factor: Factor| -> Result<Option<Value>, BootstrapError> {
        let constants = coefficients.iter().skip(j * k);
        let mut sum: Option<Value> = None;
        for (power, &c) in babies.iter().zip(constants).filter(|(_, c)| **c != 0) {
            let term = engine.under(power, factor, c)?;
            sum = Some(match sum {
                Some(sum) => engine.add(&sum, &term)?,
                None => term,
            });
        }
        Ok(sum)
    };
    // The level of the products: where an inner sum's noise is little, or the powers' lowest.
    let target = match inner(0, factor)? {
        Some(sum) if !giants.is_empty() => engine.settle(sum)?.level(),
        _ => level,
    };
    let target = lowest(&giants).map_or(target, |giant| giant.min(target));
    // What a value's factor is divided by from `level` down to `target`.
    let mut dropped = factor;
    let primes = engine.params.moduli().get(target.primes()..level.primes());
    for &q in primes.unwrap_or_default() {
        dropped = dropped.over(q, t)?;
    }
    let raised = dropped.inverse(t)?;
    let mut sum: Option<Value> = None;
    for j in 0..=giants.len() {
        let giant = match j.checked_sub(1).and_then(|j| giants.get(j)) {
            Some(giant) => Some(engine.down(giant.clone(), target)?),
            None => None,
        };
        // The factor that is wanted, times `dropped` and the giant's own, is 1.
        let inverse = match &giant {
            Some(giant) => giant.factor().inverse(t)?,
            None => 1,
        };
        let wanted = Factor::new(t.mul(raised, inverse), t)?.modulo(factor.plain(), t);
        let Some(part) = inner(j, wanted)? else {
            continue;
        };
        let part = engine.down(part, target)?;
        let term = match giant {
            Some(giant) => engine.tensor(&part, &giant)?,
            None => part,
        };
        sum = Some(match sum {
            Some(sum) => engine.add(&term, &sum)?,
            None => term,
        });
    }
    let mut sum = sum.ok_or_else(|| BootstrapError::Parameters {
        reason: "a polynomial that is zero".into(),
    })?;
    if sum.cipher.size() > 2 {
        sum = engine.relinearise(&sum)?;
    }
    engine.settle(engine.check("a polynomial", sum)?)
}

fn lowest(values: &[Value]) -> Option<Level> {
    values.iter().map(Value::level).min()
}

/// log2 of the number k of baby steps of a polynomial of `count` powers: the fewest relinearisations, k - 1 for small powers of x, of odd
/// ones log2 k + 1 for squarings, the other giant steps and one.
fn log2_babies(count: usize) -> u32 {
    let cost = |log_k: &u32| (1usize << log_k) + *log_k as usize + count.div_ceil(1 << log_k);
    (0..count.max(1).ilog2() + 1).min_by_key(cost).unwrap_or(0)
}

/// The first `babies` powers of x, and the first `giants` powers of the last of these.
fn steps(
    engine: &Engine<'_>,
    x: &Value,
    babies: usize,
    giants: usize,
) -> Result<(Vec<Value>, Vec<Value>), BootstrapError> {
    let babies = powers(engine, x.clone(), babies)?;
    let giants = match babies.last() {
        Some(base) if giants > 0 => powers(engine, base.clone(), giants)?,
        _ => Vec::new(),
    };
    Ok((babies, giants))
}

/// The first `odd` odd powers of x, and the first `giants` powers of y^k, y = x^2 and k = 2^`log_k`.
fn odd_steps(
    engine: &Engine<'_>,
    x: &Value,
    odd: usize,
    log_k: u32,
    giants: usize,
) -> Result<(Vec<Value>, Vec<Value>), BootstrapError> {
    // y, y^2, y^4, ...
    let mut squares: Vec<Value> = Vec::new();
    let needed = log_k as usize + usize::from(giants > 0);
    while squares.len() < needed {
        let base = squares.last().unwrap_or(x);
        let square = engine.mul(base, base)?;
        squares.push(square);
    }
    let mut odds = vec![x.clone()];
    for i in 1..odd {
        let log = i.ilog2() as usize;
        let product = match (odds.get(i - (1 << log)), squares.get(log)) {
            (Some(odd), Some(square)) => engine.mul(odd, square)?,
            _ => break,
        };
        odds.push(product);
    }
    let giants = match squares.pop() {
        Some(base) if giants > 0 => powers(engine, base, giants)?,
        _ => Vec::new(),
    };
    Ok((odds, giants))
}

/// Powers 1 to `count` of a value.
fn powers(engine: &Engine<'_>, base: Value, count: usize) -> Result<Vec<Value>, BootstrapError> {
    let mut all = vec![base];
    for i in 2..=count {
        let (half, rest) = (i / 2, i - i / 2);
        let product = match (all.get(half - 1), all.get(rest - 1)) {
            (Some(a), Some(b)) => engine.mul(a, b)?,
            _ => break,
        };
        all.push(product);
    }
    all.truncate(count);
    Ok(all)
}
