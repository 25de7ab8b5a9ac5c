// SPDX-License-Identifier: Apache-2.0
//! Binds operands to the inputs of a procedure, and calls the procedure on any device.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::Poly;
use ringmill_isa::mid::{ModulusId, ParamRole, Procedure, ResultLimb};
use ringmill_limits::Halt;
use ringmill_math::{MathError, Residues};
use thiserror::Error;

use crate::interpret::{self, InterpretError};
use crate::{Limbed, ResidueVec};

/// The source of a limb that is a procedure's parameter: an operand of the call, and a polynomial of this operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The index of the operand in the call. Ciphertexts come first, then plaintexts, then keys.
    pub arg: u16,
    /// The index of the polynomial in the operand. A plaintext has polynomial 0. A key of a ring scheme has two for
    /// each digit: number 2 * digit for part 0, and 2 * digit + 1 for part 1.
    pub poly: Poly,
    pub modulus: ModulusId,
}

impl Place {
    /// Returns the place of a parameter with this role, whose limb is modulo `modulus`. The result is `None` for an
    /// exponent.
    pub fn of(role: ParamRole, modulus: ModulusId) -> Option<Self> {
        let (arg, poly) = match role {
            ParamRole::Cipher { arg, poly } => (arg, poly),
            ParamRole::Plain { arg } => (arg, Poly::FIRST),
            ParamRole::Key { arg, digit, part } => (arg, key_poly(digit, part)),
            ParamRole::Exponent { .. } => return None,
        };
        Some(Self { arg, poly, modulus })
    }
}

/// Returns the index of a polynomial of a ring scheme's key, 2 * `digit` + `part` ([`Place::poly`]), at most the
/// largest [`Poly`]. `part` is 0 for the body and 1 for the mask.
pub fn key_poly(digit: u16, part: u16) -> Poly {
    Poly(digit.saturating_mul(2).saturating_add(part))
}

/// Returns the digit and the part of a key's polynomial from its index: the inverse of [`key_poly`].
pub fn key_digit(poly: Poly) -> (u16, u16) {
    (poly.0 / 2, poly.0 % 2)
}

/// The inputs of a procedure: one limb for each parameter and one seed for each seed parameter, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound<L, S> {
    pub limbs: Vec<L>,
    pub seeds: Vec<S>,
}

/// The reason for which a call of a procedure failed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CallError {
    #[error("no operand has limb {name}; pass operands of the operation's level, size and keys")]
    Missing { name: String },
    #[error("the key was passed with stored halves, expected seeded")]
    NotSeeded,
    #[error(transparent)]
    Math(#[from] MathError),
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error("procedure: {0}")]
    Malformed(String),
}

/// Collects the inputs of a procedure from a call's operands. The function `limb` returns the limb of `operands` at a
/// [`Place`], in any representation. The function `seed` returns the seed of the key operand with a given number.
///
/// # Errors
/// [`CallError::Missing`] if `limb` returns `None`, or for a parameter that is not a limb; [`CallError::NotSeeded`] if
/// `seed` returns `None`.
pub fn bind<O: ?Sized, L, S>(
    procedure: &Procedure,
    operands: &mut O,
    mut limb: impl FnMut(&mut O, Place) -> Option<L>,
    mut seed: impl FnMut(&mut O, u16) -> Option<S>,
) -> Result<Bound<L, S>, CallError> {
    let mut limbs = Vec::with_capacity(procedure.params.len());
    for p in &procedure.params {
        let missing = || CallError::Missing {
            name: p.name.clone(),
        };
        let ty = procedure.limb(p.value).ok_or_else(missing)?;
        let place = Place::of(p.role, ty.modulus).ok_or_else(missing)?;
        limbs.push(limb(operands, place).ok_or_else(missing)?);
    }
    let seeds = procedure.seeds.iter().map(|&arg| seed(operands, arg));
    let seeds: Option<Vec<S>> = seeds.collect();
    Ok(Bound {
        limbs,
        seeds: seeds.ok_or(CallError::NotSeeded)?,
    })
}

/// The polynomials of one result of a call. Each polynomial has its limbs one after the other, one
/// for each modulus of the result's level.
pub type Polys = Vec<ResidueVec>;

/// A limb that the caller of a procedure passes as an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given<'a> {
    Limb(Residues<'a>),
    /// A limb that consists of blocks of equal residues, as one value for each block ([`Limbed::spread`]).
    Spread(&'a [u64]),
}

/// Returns the `len` residues of a limb that consists of equally long blocks of equal residues, from one value for each
/// block.
pub fn written_out(values: &[u64], len: usize) -> Vec<u64> {
    let run = len / values.len().max(1);
    let runs = values.iter();
    runs.flat_map(|&value| std::iter::repeat_n(value, run))
        .collect()
}

/// A callback that takes a result of a procedure: its number among the results, and its residues.
pub type Take<'a> = &'a mut (dyn FnMut(usize, Residues<'_>) + Send);

/// The interface of anything that runs single procedures: the reference interpreter, or a device.
pub trait Runs: Send + Sync {
    /// Runs a verified procedure on one limb for each parameter and one seed for each seed parameter, in order. `take`
    /// receives each result once, with its number, in an order that the implementation chooses. The caller ensures that
    /// residues of the arguments are below their moduli.
    ///
    /// # Errors
    /// [`CallError`] if the arguments do not fit the procedure, memory is missing, or the run is stopped.
    fn run(
        &self,
        procedure: &Arc<Procedure>,
        limbs: &[Given<'_>],
        seeds: &[[u8; 32]],
        take: Take<'_>,
    ) -> Result<(), CallError>;
}

/// The reference interpreter as an implementation of [`Runs`].
#[derive(Clone, Copy, Default, Debug)]
pub struct Interpreted;

impl Runs for Interpreted {
    fn run(
        &self,
        procedure: &Arc<Procedure>,
        limbs: &[Given<'_>],
        seeds: &[[u8; 32]],
        take: Take<'_>,
    ) -> Result<(), CallError> {
        let spread = procedure.params.iter().zip(limbs).map(|(param, limb)| {
            let len = procedure.limb(param.value).map_or(0, |ty| ty.ring.len());
            match *limb {
                Given::Limb(limb) => limb.wide(),
                Given::Spread(values) => Cow::Owned(written_out(values, len)),
            }
        });
        let spread: Vec<Cow<'_, [u64]>> = spread.collect();
        let limbs: Vec<&[u64]> = spread.iter().map(|limb| &**limb).collect();
        let results = interpret::run(procedure, &limbs, seeds).map_err(|e| match e {
            InterpretError::Math(e) => CallError::Math(e),
            InterpretError::Halt(halt) => CallError::Halt(halt),
            other => CallError::Malformed(other.to_string()),
        })?;
        let results = results.iter().enumerate();
        results.for_each(|(number, limb)| take(number, limb.into()));
        Ok(())
    }
}

/// Returns for each result limb of a procedure, in order, its index among the limbs of its
/// polynomial and the number of these limbs.
fn places(results: &[ResultLimb]) -> Vec<(usize, usize)> {
    let mut counts: HashMap<(u16, Poly), usize> = HashMap::new();
    let mut place = |r: &ResultLimb| {
        let count = counts.entry((r.index, r.poly)).or_default();
        *count += 1;
        *count - 1
    };
    let places: Vec<usize> = results.iter().map(&mut place).collect();
    let limbs = |r: &ResultLimb| counts.get(&(r.index, r.poly)).copied().unwrap_or(0);
    let limbs: Vec<usize> = results.iter().map(limbs).collect();
    places.into_iter().zip(limbs).collect()
}

/// The form of the results that a call of a procedure returns.
pub struct Results<'a> {
    /// The number of polynomials of each result of the call.
    pub size: u32,
    /// A function that returns the number of the operand of which a polynomial of the result is a copy. It returns
    /// `None` if the procedure computes the polynomial.
    pub passes_through: &'a dyn Fn(Poly) -> Option<u16>,
    /// Whether the words of the results have 32 bits.
    pub short: bool,
}

/// Runs a procedure on operands in the order of [`Place::arg`], and returns the polynomials of each result. A
/// polynomial that passes through unchanged is copied from its operand. The caller ensures that residues of the
/// operands are below their moduli.
///
/// # Errors
/// [`CallError`] for an operand that lacks a limb or a seed, and for an error of the device.
pub fn call(
    runs: &dyn Runs,
    procedure: &Arc<Procedure>,
    operands: &[&dyn Limbed],
    results: &Results<'_>,
) -> Result<Vec<Polys>, CallError> {
    let at = |arg: u16| operands.get(usize::from(arg)).copied();
    let bound = bind(
        procedure,
        &mut (),
        |(), place| {
            let (operand, modulus) = (at(place.arg)?, usize::from(place.modulus.0));
            match operand.spread(place.poly, modulus) {
                Some(values) => Some(Given::Spread(values)),
                None => operand.limb(place.poly, modulus).map(Given::Limb),
            }
        },
        |(), arg| at(arg)?.seed().copied(),
    )?;
    let (size, short) = (results.size as usize, results.short);
    let count = procedure.results.iter().map(|r| usize::from(r.index) + 1);
    let none = ResidueVec::zeros(short, 0);
    let mut made: Vec<Polys> = vec![vec![none; size]; count.max().unwrap_or(0)];
    let places = places(&procedure.results);
    let mut put = Ok(());
    runs.run(
        procedure,
        &bound.limbs,
        &bound.seeds,
        &mut |number, limb| {
            let Some((r, &(place, limbs))) = procedure.results.get(number).zip(places.get(number))
            else {
                return;
            };
            let polys = made.get_mut(usize::from(r.index));
            let Some(data) = polys.and_then(|polys| polys.get_mut(r.poly.index())) else {
                return;
            };
            if data.is_empty() {
                *data = ResidueVec::zeros(short, limbs * limb.len());
            }
            if let Err(fault) = data.put(place * limb.len(), limb) {
                put = Err(fault);
            }
        },
    )?;
    put?;
    for polys in &mut made {
        for (poly, data) in Poly::of(results.size).zip(polys) {
            let Some(source) = (results.passes_through)(poly).and_then(at) else {
                continue;
            };
            let limbs = (0..procedure.moduli.len()).map_while(|q| source.limb(poly, q));
            let limbs: Vec<Residues<'_>> = limbs.collect();
            *data = ResidueVec::zeros(short, limbs.iter().map(Residues::len).sum());
            let mut at = 0;
            for limb in limbs {
                data.put(at, limb)?;
                at += limb.len();
            }
        }
    }
    Ok(made)
}
