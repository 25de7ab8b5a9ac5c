// SPDX-License-Identifier: Apache-2.0
//! Finds cures for a program with too many products in sequence by trying them. Bootstrapping takes long and is not
//! tried: the compiler only checks that the slots, operations, constants and ranges suit a program that bootstraps.

use ringmill_isa::macros::op::MacroKeys;
use ringmill_isa::macros::{Constant, MacroInstr, MacroOp, MacroProgram};
use ringmill_math::slots::SlotStructure;
use ringmill_schemes::bgv::bootstrap::Set;

use crate::accuracy::Accuracy;
use crate::bootstrappable;
use crate::error::CompileError;
use crate::exact::held::held;
use crate::exact::{IntegerRange, constants};
use crate::numbers::{Ends, Numbers};
use crate::scheme::options::{Options, ParamsChoice};
use crate::scheme::{Compiles, ErrorOf};

/// Returns the error of a program with too many products in sequence, with the cures that help it. Other errors are
/// returned unchanged. `source` is the traced program, and `relinearised` the program that the scheme refused.
pub(crate) fn with_cures<S: Compiles>(
    mut error: ErrorOf<S>,
    source: &MacroProgram,
    relinearised: &MacroProgram,
    options: &Options<S>,
    ranges: &[S::Range],
) -> ErrorOf<S> {
    let try_with = |options: &Options<S>, ranges: &[S::Range]| {
        let fitted = S::fit(relinearised, options, ranges);
        fitted.is_ok()
    };
    let is_chosen = matches!(options.params, ParamsChoice::Choose(_));
    let is_whole = S::NUMBERS == Numbers::Whole;
    let (CompileError::NoParameters { cures, .. }
    | CompileError::TooDeep { cures, .. }
    | CompileError::TooNoisy { cures, .. }) = &mut error
    else {
        return error;
    };
    // A program that bootstraps has no other cure.
    if options.bootstrapping.is_some() {
        return error;
    }
    if !is_chosen {
        let chosen = Options {
            params: ParamsChoice::Choose(S::Wanted::default()),
            ..options.clone()
        };
        cures.chosen = try_with(&chosen, ranges);
    }
    cures.accuracy = accuracy(options, |options| try_with(options, ranges));
    if is_whole && is_chosen {
        let narrow = S::declared(Ends::Whole(-1, 1));
        let narrow = narrow.map(|range| vec![range; ranges.len()]);
        cures.narrower =
            narrow.is_some_and(|narrow| narrow != ranges && try_with(options, &narrow));
    }
    cures.bootstrapping = bootstrapping::<S>(source, relinearised, ranges);
    cures.real = !is_whole;
    error
}

/// Returns the highest accuracy below the user's demand, and of at least one bit or digit, with which a program
/// compiles. Returns `None` if there is none, or for parameters that the user gives.
fn accuracy<S: Compiles>(
    options: &Options<S>,
    compiles: impl Fn(&Options<S>) -> bool,
) -> Option<Accuracy> {
    let ParamsChoice::Choose(wanted) = &options.params else {
        return None;
    };
    let asked = S::accuracy(wanted)?;
    let with = |count| {
        let params = ParamsChoice::Choose(S::with_accuracy(wanted, asked.with_count(count)));
        compiles(&Options {
            params,
            ..options.clone()
        })
    };
    if asked.count() <= 1 || !with(1) {
        return None;
    }
    let (mut fits, mut fails) = (1, asked.count());
    while fits + 1 < fails {
        let middle = u32::midpoint(fits, fails);
        match with(middle) {
            true => fits = middle,
            false => fails = middle,
        }
    }
    Some(asked.with_count(fits))
}

/// Returns the name of the parameter set with which a program of whole numbers can bootstrap. Returns `None` if
/// bootstrapping forbids a part of the program, or if its vectors, constants, inputs or outputs do not fit the set.
fn bootstrapping<S: Compiles>(
    source: &MacroProgram,
    relinearised: &MacroProgram,
    ranges: &[S::Range],
) -> Option<&'static str> {
    let set = Set::BASALISC;
    let modulus = set.prime.checked_pow(*set.exponents.first()?)?;
    let half = i128::from(modulus / 2);
    let bodies = source.procs.iter().map(|proc| &proc.instrs);
    let mut instrs = bodies.chain([&source.instrs]).flatten();
    let whole = |value: f64| value.fract() == 0.0 && value.abs() <= half as f64;
    let takes = |instr: &MacroInstr| {
        let constant = match Constant::of(&instr.imm) {
            None => true,
            Some(Constant::Real { value, .. }) => whole(value),
            Some(Constant::Integer(value)) => value.unsigned_abs() <= half.unsigned_abs(),
        };
        let rotates = instr.op == MacroOp::Rotate;
        let conjugates = instr.op.columns().keys == MacroKeys::Galois && !rotates;
        constant && !conjugates
    };
    let mut vectors = source.data.iter().flatten();
    let slots = SlotStructure::new(set.log_n.into(), set.prime)
        .ok()?
        .columns();
    let fits = source.slots as usize <= slots
        && bootstrappable::check(source).is_ok()
        && instrs.all(takes)
        && vectors.all(|&(re, im)| whole(re) && im == 0.0);
    // Arithmetic is modulo the set's modulus, which must hold all inputs and outputs.
    let within = |range: IntegerRange| range.low() >= -half && range.high() <= half;
    let inputs = ranges.iter().map(|range| match S::ends(range) {
        Ends::Whole(low, high) => IntegerRange::new(low, high),
        Ends::Real(low, high) => IntegerRange::new(low.floor() as i128, high.ceil() as i128),
        Ends::Disc(radius) => IntegerRange::new(-(radius.ceil() as i128), radius.ceil() as i128),
    });
    let inputs: Vec<IntegerRange> = inputs.collect::<Option<_>>()?;
    let program = constants::run::<S::Error>(relinearised.clone()).ok()?;
    let outputs = held::<S::Error>(&program, &inputs).ok()?.outputs;
    let held = inputs.into_iter().chain(outputs).all(within);
    (fits && held).then_some(set.name)
}
