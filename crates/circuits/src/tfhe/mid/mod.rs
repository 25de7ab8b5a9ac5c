// SPDX-License-Identifier: Apache-2.0
//! Emits a bootstrap as mid-level programs, which are its one definition. A machine runs them instruction by instruction. The
//! evaluator runs them as `plan` compiles them.
//!
//! Blind rotation is a block of one call, repeated: a turn takes the accumulator from the one before, the exponents of its m
//! secret bits and its gadget ciphertexts, which are inputs. Exponents are public: whoever runs a program makes them of the
//! ciphertext by [`super::steps::modulus_switch`]. So where ciphertexts rest under the large key, the key switch before the
//! rotation is a program of its own.

mod procedures;
mod program;
mod shape;

use std::sync::Arc;

use ringmill_isa::mid::{Procedure, Program};
use ringmill_math::Modulus;
use shape::Shape;

use super::TfheError;
use super::keys::gadget_ciphertexts;
use super::params::{Order, Params};

/// The programs of one bootstrap.
pub struct BootstrapPrograms {
    /// From the large key to the small one: an LWE vector and the switching key in, a vector out.
    pub switch: Program,
    /// The table, 2N less the body's exponent, the mask's exponents and the keys in; the resting ciphertext out. Inputs are in the
    /// order of [`RotationInput`].
    pub rotate: Program,
    /// The same without the key switch; the accumulator out, for tables that share a rotation ([`super::shared`]).
    pub turn: Program,
}

/// With what a rotation ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The resting ciphertext of coefficient 0.
    Entry,
    /// All of the accumulator.
    Accumulator,
}

/// What an input of the program of a blind rotation is, in the order in which they come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RotationInput {
    /// The table's polynomial.
    Table,
    /// 2N less the exponent of the body, modulo 2N.
    MinusBody,
    /// The exponent of mask coefficient `i`.
    Mask { i: usize },
    /// Polynomial `col` of row `row` of gadget ciphertext `at`, in transform form modulo the prime of lane `lane`.
    Key {
        at: usize,
        row: usize,
        col: usize,
        lane: usize,
    },
    /// The rows of the key-switching key.
    SwitchKey,
}

/// The inputs of a blind rotation's program, in order.
pub fn rotation_inputs(params: &Params, ending: Ending) -> Vec<RotationInput> {
    let (shape, s) = (Shape::new(params), params.sizes());
    let mut inputs = vec![RotationInput::Table, RotationInput::MinusBody];
    inputs.extend((0..s.n.0).map(|i| RotationInput::Mask { i }));
    inputs.extend((0..gadget_ciphertexts(params)).flat_map(|at| shape.places(at)));
    if s.order == Order::BootstrapFirst && ending == Ending::Entry {
        inputs.push(RotationInput::SwitchKey);
    }
    inputs
}

/// The primes of the transforms, by lane.
pub fn lanes(params: &Params) -> Vec<Modulus> {
    Shape::new(params).primes
}

impl BootstrapPrograms {
    /// Of a parameter set.
    ///
    /// # Errors
    /// [`TfheError::Program`] for sizes beyond what programs may have.
    pub fn new(params: &Params) -> Result<Self, TfheError> {
        Ok(Self {
            switch: switch(params)?,
            rotate: program::rotate(&Shape::new(params), Ending::Entry)?,
            turn: turn(params)?,
        })
    }
}

/// [`BootstrapPrograms::switch`] alone.
///
/// # Errors
/// Those of [`BootstrapPrograms::new`].
pub fn switch(params: &Params) -> Result<Program, TfheError> {
    Ok(calling(procedures::switch(&Shape::new(params))?))
}

/// [`BootstrapPrograms::turn`] alone.
///
/// # Errors
/// See [`switch`].
pub fn turn(params: &Params) -> Result<Program, TfheError> {
    program::rotate(&Shape::new(params), Ending::Accumulator)
}

/// From an accumulator to the ciphertext of coefficient 0 under the large key.
///
/// # Errors
/// See [`switch`].
pub fn extract(params: &Params) -> Result<Program, TfheError> {
    Ok(calling(procedures::extract(&Shape::new(params))?))
}

fn calling(procedure: Procedure) -> Program {
    Program::calling(Arc::new(procedure), Vec::new())
}
