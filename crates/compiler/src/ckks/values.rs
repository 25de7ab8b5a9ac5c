//! Where the slots of inputs lie: declared, or as large as on a sample, or within one bound for all.

use num_complex::Complex64;
use ringmill_isa::macros::MacroInput;

use super::Options;
use super::range::InputRange;
use crate::error::CompileError;

/// The range of every input of a program: declared, the sample's, or the bound.
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
        let largest = |v: &Vec<Complex64>| v.iter().map(|z| z.norm()).fold(0.0, f64::max);
        let range = match (declared, sample.map(largest)) {
            (Some(range), _) => range,
            (None, Some(0.0)) => {
                let why = "its sample is zero in every slot, which says nothing of its size; \
                           declare its range";
                return Err(refused(&input.name, why.to_owned()));
            }
            (None, Some(largest)) => InputRange::Disc {
                radius: options.margin * largest,
            },
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
