// SPDX-License-Identifier: Apache-2.0
//! Compiles turns of a blind rotation to one line: finds their limbs and exponents, and checks that they read the key
//! in the order in which it is stored.

use std::ops::Range;

use super::{Bound, Compiler, Source, other};
use crate::tfhe::TfheError;
use crate::tfhe::mid::RotationInput;
use crate::tfhe::plan::memory::together;
use crate::tfhe::plan::turn::Turn;
use crate::tfhe::plan::{Line, Place, Turns};

impl Compiler<'_> {
    /// Compiles `count` turns (steps of a blind rotation) on the same limbs to one line of the plan. Returns the memory
    /// places of the limbs.
    pub(super) fn turns(
        &mut self,
        turn: &Turn,
        count: usize,
        sources: &[Source],
    ) -> Result<Vec<Place>, TfheError> {
        let (params, cols) = (self.params, turn.limbs.len());
        let (ring, shape) = (params.ring(), params.shape());
        let fits = turn.lift == ring.lift()
            && turn.ring.len() == ring.degree()
            && turn.gadget == *params.bootstrap_gadget()
            && (turn.rows(), cols) == (shape.rows(), shape.cols())
            && turn.patterns.len() <= params.sizes().unrolling.patterns()
            // With one secret bit in a turn, the turn multiplies the limbs by X^e - 1. With several it multiplies the
            // products.
            && turn.before == (params.sizes().unrolling.m() == 1);
        if !fits {
            return Err(other("a turn of other sizes than its parameters"));
        }
        let mut places = Vec::with_capacity(cols);
        for &at in &turn.limbs {
            match sources.get(at) {
                Some(Source::Place(place)) => places.push(place.clone()),
                Some(Source::Inputs { .. }) | None => {
                    return Err(other("a turn of what is no limb"));
                }
            }
        }
        let limbs = together(&places);
        let limbs = limbs.ok_or_else(|| other("a turn of limbs that do not lie together"))?;
        let (exponents, patterns) = self.exponents(turn, count, sources)?;
        let first_key = self.keys(turn, count, sources)?;
        let all = params.sizes().unrolling.patterns();
        if !first_key.is_multiple_of(all) || (count > 1 && turn.patterns.len() != all) {
            return Err(other("a turn of some of a step's keys"));
        }
        self.plan.lines.push(Line::Turns(Turns {
            count,
            limbs,
            gadget: turn.gadget,
            before: turn.before,
            exponents,
            patterns,
            first_key,
            first_turn: first_key / all,
        }));
        Ok(places)
    }

    /// Returns the range of the first turn's exponents among the program's exponents. Also returns for each pattern of
    /// secret bits the positions of its exponents among the exponents of a turn, from 0 on.
    fn exponents(
        &self,
        turn: &Turn,
        count: usize,
        sources: &[Source],
    ) -> Result<(Range<usize>, Vec<Vec<usize>>), TfheError> {
        let number = |at: usize, i: usize| match sources.get(at) {
            Some(&Source::Inputs { first, step }) => match self.bound(first + i * step)? {
                Bound::Exponent(number) => Ok(number),
                Bound::Words(_) | Bound::Key(_) | Bound::Switch => {
                    Err(other("a turn by what is no exponent"))
                }
            },
            Some(Source::Place(_)) | None => Err(other("a turn by what is no exponent")),
        };
        let every = || turn.patterns.iter().flatten();
        let numbers = every().map(|&at| number(at, 0));
        let numbers: Vec<usize> = numbers.collect::<Result<_, _>>()?;
        let first = numbers.iter().copied().min().unwrap_or(0);
        let each = numbers.iter().map(|n| n - first + 1).max().unwrap_or(0);
        for i in 1..count {
            for (&at, &before) in every().zip(&numbers) {
                if number(at, i)? != before + i * each {
                    return Err(other("exponents in another order than its turns"));
                }
            }
        }
        let mut offsets = numbers.iter().map(|n| n - first);
        let patterns = turn.patterns.iter();
        let patterns = patterns.map(|pattern| offsets.by_ref().take(pattern.len()).collect());
        Ok((first..first + each, patterns.collect()))
    }

    /// Returns the number of the first turn's first gadget ciphertext in the bootstrapping key. Checks that the gadget
    /// ciphertexts of all turns follow in the key's order.
    fn keys(&self, turn: &Turn, count: usize, sources: &[Source]) -> Result<usize, TfheError> {
        let (cols, lanes) = (turn.limbs.len(), self.params.ring().lanes());
        let (rows, patterns) = (turn.rows(), turn.patterns.len());
        let mut first_key = None;
        for (k, &param) in turn.keys.iter().enumerate() {
            let Some(&Source::Inputs { first, step }) = sources.get(param) else {
                return Err(other("a turn by a key that it makes"));
            };
            for i in 0..count {
                let Bound::Key(found) = self.bound(first + i * step)? else {
                    return Err(other("a turn by what is no key"));
                };
                let at = match (found, first_key) {
                    (_, Some(at)) | (RotationInput::Key { at, .. }, None) => at,
                    _ => return Err(other("a turn by what is no key")),
                };
                first_key = Some(at);
                let wanted = RotationInput::Key {
                    at: at + i * patterns + k / (rows * cols * lanes),
                    row: k / (cols * lanes) % rows,
                    col: k / lanes % cols,
                    lane: k % lanes,
                };
                if found != wanted {
                    return Err(other("keys in another order than its turns"));
                }
            }
        }
        first_key.ok_or_else(|| other("a turn without a key"))
    }
}
