// SPDX-License-Identifier: Apache-2.0
//! Determines the range of each input's slots: the declared one, the one of a sample up to powers of two, or one bound
//! for all inputs.

use num_complex::Complex64;
use ringmill_isa::macros::MacroInput;

use super::Options;
use super::range::InputRange;
use crate::error::CompileError;

/// Returns the largest power of two that is at most `x`, which is positive and no smaller than the least normal number.
fn power_below(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & f64::INFINITY.to_bits())
}

/// Returns the least power of two that is at least `x`, which is positive.
fn power_above(x: f64) -> f64 {
    let below = power_below(x);
    if below < x {
        (2.0 * below).max(f64::MIN_POSITIVE)
    } else {
        below
    }
}

/// Returns the margin times the largest absolute value of a slot in a sample of an input.
pub(super) fn as_large(sample: &[Complex64], margin: f64) -> f64 {
    margin * sample.iter().map(|z| z.norm()).fold(0.0, f64::max)
}

/// Returns the disc whose radius is the largest power of two up to a range's magnitude. If the range is a disc, it is
/// the widest such disc within the range.
pub(super) fn narrowed(range: InputRange) -> InputRange {
    InputRange::Disc {
        radius: power_below(range.magnitude()),
    }
}

/// Returns the range of an input that its sample declares. Each end of real values, or the radius of complex ones, is
/// `margin` times as far out, up to a power of two, so that the range reveals no slot. If all values have one sign,
/// zero is an end. Returns `None` if all values are zero.
fn by_sample(sample: &[Complex64], margin: f64) -> Option<InputRange> {
    let end = |x: f64| {
        if x > 0.0 {
            power_above(margin * x)
        } else {
            0.0
        }
    };
    let most = |size: fn(&Complex64) -> f64| end(sample.iter().map(size).fold(0.0, f64::max));
    let range = match sample.iter().all(|z| z.im == 0.0) {
        true => InputRange::Real {
            lowest: 0.0 - most(|z| -z.re),
            highest: most(|z| z.re),
        },
        false => InputRange::Disc {
            radius: most(|z| z.norm()),
        },
    };
    (range.magnitude() > 0.0).then_some(range)
}

/// Returns the range of every input of a program: the declared one, the sample's, or the bound of the options.
///
/// # Errors
/// [`CompileError::Range`] for ranges, samples, margins or a bound that make no sense for these inputs.
pub(super) fn ranges(
    options: &Options,
    inputs: &[MacroInput],
) -> Result<Vec<InputRange>, CompileError> {
    let refused = |name: &str, why: String| CompileError::Range {
        name: name.to_owned(),
        why,
    };
    if !(options.margin.is_finite() && options.margin >= 1.0) {
        let why = format!(
            "the margin over a sample is a finite factor of at least 1, not {}",
            options.margin
        );
        return Err(refused("", why));
    }
    if options.ranges.len() > inputs.len() {
        let why = format!(
            "{} ranges were declared for {} inputs",
            options.ranges.len(),
            inputs.len()
        );
        return Err(refused("", why));
    }
    let one = |(i, input): (usize, &MacroInput)| {
        let declared = options.ranges.get(i).copied().flatten();
        let sample = options.sample.as_ref().and_then(|s| s.get(i));
        let range = match (declared, sample) {
            (Some(range), _) => range,
            (None, Some(slots)) => by_sample(slots, options.margin).ok_or_else(|| {
                let why = "its sample is zero in every slot, which says nothing of its size; \
                           declare its range";
                refused(&input.name, why.to_owned())
            })?,
            (None, None) => InputRange::Disc {
                radius: options.input_bound,
            },
        };
        if !range.is_valid() {
            let why = format!("its values cannot be {range}");
            return Err(refused(&input.name, why));
        }
        let mut typical = sample.into_iter().flatten().enumerate();
        if let Some((slot, z)) = typical.find(|(_, z)| !range.contains(z.re, z.im)) {
            let why = format!("value {slot} of its sample is {z} and its range is {range}");
            return Err(refused(&input.name, why));
        }
        Ok(range)
    };
    inputs.iter().enumerate().map(one).collect()
}
