// SPDX-License-Identifier: Apache-2.0
//! Advice on a compiled program: changes that make it cheaper. The compiler tries each change before it advises
//! it.

use ringmill_isa::macros::op::MacroNote;
use ringmill_isa::macros::{MacroInstr, MacroOp, MacroProgram, MacroValue};
use serde::Serialize;

use super::{Explained, Line, Size};
use crate::compile::{Compiled, attempt};
use crate::error::CompileError;
use crate::rewrite::is_cipher;
use crate::scheme::ErrorOf;
use crate::scheme::options::{Options, ParamsChoice};

/// The largest program that the compiler compiles again to try changes, in instructions.
const LARGEST: usize = 1 << 12;
/// The most outputs at which the compiler tries to leave out a last product.
const MOST_TRIED: usize = 4;

/// A change to a program that the compiler tried, with what it saves.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Advice {
    /// The line of the user's program to change, or an empty line if the change is one of the compiler's
    /// options.
    #[serde(flatten)]
    pub line: Line,
    /// The change, in words.
    pub change: String,
    /// The highest level of a ciphertext in the program, before and after the change.
    pub levels: [u32; 2],
    /// log2 of the ring degree, before and after the change.
    pub log_n: [u8; 2],
    /// The bytes of the evaluation keys, before and after the change.
    pub key_bytes: [u64; 2],
}

/// Tries changes to a compiled program and returns those that make it cheaper. If it tries none, it also returns
/// the reason in words.
///
/// # Errors
/// Fails if the options' watch stops the work.
pub(super) fn of<S: Explained>(
    compiled: &Compiled<S>,
    options: &Options<S>,
) -> Result<(Vec<Advice>, Option<&'static str>), ErrorOf<S>> {
    if options.bootstrapping.is_some() {
        let why = "a program that bootstraps takes long to compile, so no change was tried";
        return Ok((Vec::new(), Some(why)));
    }
    if compiled.managed.instrs.len() > LARGEST {
        let why = "the program is long, so no change was tried";
        return Ok((Vec::new(), Some(why)));
    }
    let mut tried = Tried {
        before: Size::of(compiled),
        source: &compiled.source,
        advice: Vec::new(),
    };
    tried.parameters(options)?;
    tried.accuracy(options)?;
    tried.products_at_outputs(options)?;
    Ok((tried.advice, None))
}

struct Tried<'a> {
    source: &'a MacroProgram,
    before: Size,
    advice: Vec<Advice>,
}

impl Tried<'_> {
    /// Compiles a changed program and returns its size. Returns `None` if the compiler refuses it, or if it is no
    /// cheaper.
    fn cheaper<S: Explained>(
        &self,
        source: &MacroProgram,
        options: &Options<S>,
    ) -> Result<Option<Size>, ErrorOf<S>> {
        match attempt(source.clone(), options) {
            Ok(other) => {
                let after = Size::of(&other);
                Ok(after.is_less_than(self.before).then_some(after))
            }
            Err(error @ CompileError::Halt(_)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    fn add(&mut self, line: Line, change: String, after: Size) {
        let before = self.before;
        self.advice.push(Advice {
            line,
            change,
            levels: [before.levels, after.levels],
            log_n: [before.log_n, after.log_n],
            key_bytes: [before.key_bytes, after.key_bytes],
        });
    }

    /// Tries parameters that the compiler chooses in place of given ones.
    fn parameters<S: Explained>(&mut self, options: &Options<S>) -> Result<(), ErrorOf<S>> {
        let ParamsChoice::Given(_) = &options.params else {
            return Ok(());
        };
        let wanted = S::Wanted::default();
        let accuracy = S::accuracy(&wanted);
        let chosen = Options {
            params: ParamsChoice::Choose(wanted),
            ..options.clone()
        };
        if let Some(other) = self.cheaper(self.source, &chosen)? {
            let by = accuracy.map_or_else(String::new, |accuracy| format!(", for {accuracy}"));
            let change = format!("let the compiler choose the parameters{by}");
            self.add(Line::default(), change, other);
        }
        Ok(())
    }

    /// Searches for the highest accuracy below the user's demand at which the program is cheaper.
    fn accuracy<S: Explained>(&mut self, options: &Options<S>) -> Result<(), ErrorOf<S>> {
        let ParamsChoice::Choose(wanted) = &options.params else {
            return Ok(());
        };
        let Some(asked) = S::accuracy(wanted) else {
            return Ok(());
        };
        let mut found = None;
        let (mut low, mut high) = (1, asked.count());
        while low < high {
            options.watch.check()?;
            // The lowest accuracy is tried first: if it saves nothing, none does.
            let count = match found {
                None => low,
                Some(_) => u32::midpoint(low, high),
            };
            let lower = Options {
                params: ParamsChoice::Choose(S::with_accuracy(wanted, asked.with_count(count))),
                ..options.clone()
            };
            match self.cheaper(self.source, &lower)? {
                Some(other) => (low, found) = (count + 1, Some((count, other))),
                None if found.is_none() => return Ok(()),
                None => high = count,
            }
        }
        if let Some((count, other)) = found {
            let change = format!("ask for {} in place of {asked}", asked.with_count(count));
            self.add(Line::default(), change, other);
        }
        Ok(())
    }

    /// Tries to leave out the product with a constant that makes an output. Whoever decrypts the output can
    /// multiply it in the clear.
    fn products_at_outputs<S: Explained>(
        &mut self,
        options: &Options<S>,
    ) -> Result<(), ErrorOf<S>> {
        let source = self.source;
        let outputs = source.instrs.iter().enumerate();
        let outputs = outputs.filter(|(_, instr)| instr.op == MacroOp::Output);
        for (number, output) in outputs.take(MOST_TRIED) {
            let Some((product, before)) = last_product(source, output) else {
                continue;
            };
            let mut without = source.clone();
            if let Some(output) = without.instrs.get_mut(number) {
                output.src = vec![before];
            }
            if let Some(other) = self.cheaper(&without, options)? {
                let line = Line::of(product.loc.as_ref());
                let change =
                    "leave out this product with a constant, and multiply the decrypted output by it".to_owned();
                self.add(line, change, other);
            }
        }
        Ok(())
    }
}

/// Returns the product with a constant or a constant vector that makes an output, and the ciphertext that it
/// multiplies.
fn last_product<'a>(
    source: &'a MacroProgram,
    output: &MacroInstr,
) -> Option<(&'a MacroInstr, MacroValue)> {
    let made_by = |v: MacroValue| source.instrs.iter().find(|instr| instr.dst.contains(&v));
    let product = made_by(*output.src.first()?)?;
    let before = *product.src.first()?;
    let constant = match product.op.columns().note {
        MacroNote::ConstantProduct => true,
        MacroNote::Product => {
            let other = product.src.get(1).copied().and_then(made_by);
            other.is_some_and(|instr| instr.op == MacroOp::Encode)
        }
        MacroNote::Chosen
        | MacroNote::Equal
        | MacroNote::Same
        | MacroNote::Divided
        | MacroNote::Refactored
        | MacroNote::Refreshed
        | MacroNote::Combined
        | MacroNote::Lowered
        | MacroNote::Key
        | MacroNote::Declared => false,
    };
    (constant && is_cipher(&source.types, before)).then_some((product, before))
}
