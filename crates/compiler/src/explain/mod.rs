// SPDX-License-Identifier: Apache-2.0
//! What the compiler decided about a program: levels and the products that take them, digits, keys, and what each decision costs.
//!
//! [`explain`] reads a compiled program and runs nothing. [`advice`](Explanation::advice) has only changes that the compiler tried.

mod advice;
mod chain;
mod costs;
mod keys;
mod text;

use ringmill_isa::macros::{MacroOp, MacroProgram, MacroType};
use ringmill_isa::source::SourceLoc;
use ringmill_schemes::ParameterSet;
use ringmill_schemes::rlwe::{KeyRequest, RingParams};
use serde::Serialize;

pub use advice::Advice;
pub use chain::{Chain, Step, Taken};
pub use costs::{Costs, Count, Place, Work};
pub use keys::{KeyCost, KeyKind};

use crate::compile::Compiled;
use crate::scheme::options::Options;
use crate::scheme::{Compiles, ErrorOf};

/// A line of the user's program; nothing where the program's text carries none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
pub struct Line {
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl Line {
    fn of(loc: Option<&SourceLoc>) -> Self {
        Self {
            file: loc.map(|loc| loc.file.to_string()),
            line: loc.map(|loc| loc.line),
        }
    }
}

/// The levels of a program. A ciphertext at level l has l + 1 primes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Levels {
    /// The highest level that the parameters have.
    pub available: u32,
    /// The highest level at which the program has a ciphertext; `None` for a scheme whose ciphertexts never go down.
    pub needed: Option<u32>,
    /// Products in sequence on the longest chain.
    pub products: u64,
}

/// How key switching cuts ciphertexts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Digits {
    pub dnum: usize,
    pub ciphertext_primes: usize,
    pub special_primes: usize,
}

/// What the compiler decided about a program, and what each decision costs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Explanation {
    pub program: String,
    pub scheme: &'static str,
    /// log2 of the ring degree.
    pub log_n: u8,
    pub levels: Levels,
    /// The longest chain of products, from an input to an output.
    pub chain: Chain,
    pub digits: Digits,
    /// Bytes of all evaluation keys.
    pub key_bytes: u64,
    pub keys: Vec<KeyCost>,
    pub costs: Costs,
    /// Changes that the compiler tried and that make the program cheaper.
    pub advice: Vec<Advice>,
    /// Why no change was tried, where none was.
    pub advice_left_out: Option<&'static str>,
}

/// A scheme whose compiled programs can be explained: one on rings, with the keys that ring schemes share.
pub trait Explained: Compiles<KeyName = KeyRequest, Params: RingParams> {}

impl<S: Compiles<KeyName = KeyRequest, Params: RingParams>> Explained for S {}

/// Explains a compiled program; `options` are those that it was compiled with.
///
/// # Errors
/// Work that `options.watch` stops; rotations that the parameters do not have.
pub fn explain<S: Explained>(
    compiled: &Compiled<S>,
    options: &Options<S>,
) -> Result<Explanation, ErrorOf<S>> {
    options.watch.check()?;
    let params = compiled.params.ring_params();
    let chain = Chain::of(&compiled.managed);
    let (advice, advice_left_out) = advice::of(compiled, options)?;
    Ok(Explanation {
        program: compiled.source.name.clone(),
        scheme: S::NAME,
        log_n: params.log_n(),
        levels: Levels {
            available: params.max_level().0,
            needed: MacroOp::Rescale
                .is_of(S::NAME)
                .then(|| highest(&compiled.managed)),
            products: chain.products,
        },
        chain,
        digits: Digits {
            dnum: params.dnum(),
            ciphertext_primes: params.cipher_count(),
            special_primes: params.special_count(),
        },
        key_bytes: compiled.key_bytes(),
        keys: keys::of(compiled)?,
        costs: costs::of(compiled)?,
        advice,
        advice_left_out,
    })
}

/// Returns the highest level at which a managed program has a ciphertext.
fn highest(managed: &MacroProgram) -> u32 {
    let procs = managed.procs.iter().flat_map(|proc| &proc.types);
    let types = procs.chain(&managed.types);
    let ciphers = types.filter(|ty| matches!(ty, MacroType::Cipher { .. }));
    let levels = ciphers.filter_map(|ty| ty.at());
    levels.map(|at| at.level.0).max().unwrap_or(0)
}

/// Returns the size of all evaluation keys, the ring degree and the levels of a program, by which two are compared.
fn size<S: Explained>(compiled: &Compiled<S>) -> (u64, u8, u32) {
    let log_n = compiled.params.log_n();
    (compiled.key_bytes(), log_n, highest(&compiled.managed))
}
