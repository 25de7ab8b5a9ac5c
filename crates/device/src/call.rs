// SPDX-License-Identifier: Apache-2.0
//! The binding of operands to a procedure's inputs, and a call of it by whatever runs procedures.

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

/// Where a procedure takes a limb from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The operand: ciphertexts come first, then plaintexts, then keys.
    pub arg: u16,
    /// Its polynomial: of a plaintext 0, of a key twice the digit, one more for part 1.
    pub poly: Poly,
    pub modulus: ModulusId,
}

impl Place {
    /// Of a limb in this role; an exponent has none.
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

/// The number of a key's polynomial: [`Place::poly`]. Beyond any digit that a key has, the last there is.
pub fn key_poly(digit: u16, part: u16) -> Poly {
    Poly(digit.saturating_mul(2).saturating_add(part))
}

/// The digit and part of a key's polynomial: the inverse of [`key_poly`].
pub fn key_digit(poly: Poly) -> (u16, u16) {
    (poly.0 / 2, poly.0 % 2)
}

/// What a procedure runs on: one limb a parameter and one seed a seed parameter, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound<L, S> {
    pub limbs: Vec<L>,
    pub seeds: Vec<S>,
}

/// Why a call did not come about.
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

/// Binds a procedure's inputs: `limb` finds the limb of a place among `operands`, whatever stands for a limb where it is
/// called, and `seed` the seed of a key operand.
///
/// # Errors
/// [`CallError::Missing`] and [`CallError::NotSeeded`] for what is not found.
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

/// Polynomials of one result, each limb-major over the moduli of the result's level.
pub type Polys = Vec<ResidueVec>;

/// A limb that a procedure is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given<'a> {
    Limb(Residues<'a>),
    /// By its values, each for a run of equal ones ([`Limbed::spread`]).
    Spread(&'a [u64]),
}

/// A limb of `len` residues by its values, each written as often as it stands there.
pub fn written_out(values: &[u64], len: usize) -> Vec<u64> {
    let run = len / values.len().max(1);
    let runs = values.iter();
    runs.flat_map(|&value| std::iter::repeat_n(value, run))
        .collect()
}

/// Takes the result of this number of a procedure.
pub type Take<'a> = &'a mut (dyn FnMut(usize, Residues<'_>) + Send);

/// Runs procedures: the reference interpreter, or a device.
pub trait Runs: Send + Sync {
    /// Runs a verified procedure on one limb a parameter and one seed a seed parameter, in order, and hands over its results, each
    /// once and by its number, in the order in which they are made. Residues of the arguments are below their moduli.
    ///
    /// # Errors
    /// What does not fit the procedure, no memory, or a stop.
    fn run(
        &self,
        procedure: &Arc<Procedure>,
        limbs: &[Given<'_>],
        seeds: &[[u8; 32]],
        take: Take<'_>,
    ) -> Result<(), CallError>;
}

/// The reference interpreter.
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

/// Of each result, in order: which limb of its polynomial it is, and how many limbs that has.
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

/// What the results of a call are made of.
pub struct Results<'a> {
    /// Polynomials of each.
    pub size: u32,
    /// The operand whose polynomial of that number is, unchanged, the result's; `None` for what the procedure computes.
    pub passes_through: &'a dyn Fn(Poly) -> Option<u16>,
    /// Whether they are in words of 32 bits.
    pub short: bool,
}

/// Has a procedure run on operands in the order of [`Place::arg`], and puts the polynomials that pass through in their
/// places.
///
/// # Errors
/// [`CallError`]: operands that lack a limb, or what is refused where it runs.
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
