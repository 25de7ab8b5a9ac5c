// SPDX-License-Identifier: Apache-2.0
//! Explains the compiler's decisions about a program: the levels and the products that take them, digits, keys, and
//! what each decision costs.
//!
//! [`explain`] reads a compiled program and runs nothing. [`advice`](Explanation::advice) names only changes that the
//! compiler tried.

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
pub use text::MOST_LISTED;

use crate::compile::Compiled;
use crate::scheme::options::Options;
use crate::scheme::{Compiles, ErrorOf};

/// A line of the user's program. Both fields are `None` if the program's text carries no lines.
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

/// The levels that a program uses. A ciphertext at level l has l + 1 primes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Levels {
    /// The highest level that the program's parameters have.
    pub available: u32,
    /// The highest level at which the program has a ciphertext, or `None` for a scheme whose ciphertexts never lose
    /// primes.
    pub needed: Option<u32>,
    /// The number of products in sequence on the program's longest chain, as [`Chain::products`] counts them.
    pub products: u64,
}

/// The digits into which a key switch cuts a ciphertext.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Digits {
    pub dnum: usize,
    pub ciphertext_primes: usize,
    pub special_primes: usize,
}

/// The compiler's decisions about a program, with the cost of each.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Explanation {
    pub program: String,
    pub scheme: &'static str,
    /// log2 of the ring degree.
    pub log_n: u8,
    pub levels: Levels,
    /// The program's longest chain of products, from an input to an output.
    pub chain: Chain,
    pub digits: Digits,
    /// The bytes of all evaluation keys of the program, each counted as a key for the highest level. Some keys of a
    /// bootstrap are smaller.
    pub key_bytes: u64,
    pub keys: Vec<KeyCost>,
    pub costs: Costs,
    /// The changes that the compiler tried and that make the program cheaper.
    pub advice: Vec<Advice>,
    /// The reason in words if the compiler tried no change.
    pub advice_left_out: Option<&'static str>,
}

/// A scheme whose compiled programs can be explained: a ring scheme, with the keys that all ring schemes have.
pub trait Explained: Compiles<KeyName = KeyRequest, Params: RingParams> {}

impl<S: Compiles<KeyName = KeyRequest, Params: RingParams>> Explained for S {}

/// Explains a compiled program. `options` are the options that it was compiled with.
///
/// # Errors
/// Fails if `options.watch` stops the work, or for rotations that the parameters do not have.
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

/// Returns the highest level that a ciphertext of the program or of its procedures has.
fn highest(managed: &MacroProgram) -> u32 {
    let procs = managed.procs.iter().flat_map(|proc| &proc.types);
    let types = procs.chain(&managed.types);
    let ciphers = types.filter(|ty| matches!(ty, MacroType::Cipher { .. }));
    let levels = ciphers.filter_map(|ty| ty.at());
    levels.map(|at| at.level.0).max().unwrap_or(0)
}

/// The size of a compiled program, by which two programs are compared.
#[derive(Clone, Copy)]
struct Size {
    /// The bytes of all evaluation keys.
    key_bytes: u64,
    /// log2 of the ring degree.
    log_n: u8,
    /// The highest level at which the program has a ciphertext.
    levels: u32,
}

impl Size {
    fn of<S: Explained>(compiled: &Compiled<S>) -> Self {
        Self {
            key_bytes: compiled.key_bytes(),
            log_n: compiled.params.log_n(),
            levels: highest(&compiled.managed),
        }
    }

    /// Returns whether this size has fewer key bytes or levels than `other`, and no more of either,
    /// at no larger ring degree.
    fn is_less_than(self, other: Self) -> bool {
        let less = self.key_bytes < other.key_bytes || self.levels < other.levels;
        let no_larger = self.key_bytes <= other.key_bytes
            && self.log_n <= other.log_n
            && self.levels <= other.levels;
        less && no_larger
    }
}
