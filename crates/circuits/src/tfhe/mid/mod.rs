// SPDX-License-Identifier: Apache-2.0
//! Emits a bootstrap as limb programs, which are its one definition. A machine runs them instruction by instruction.
//! The evaluator compiles them for this computer's kernels (`plan`).
//!
//! Blind rotation repeats a block of one call, a turn. A turn takes the accumulator of the turn before, the exponents
//! of its m secret bits and its gadget ciphertexts, which are inputs. Exponents are public: whoever runs a program
//! computes them from the ciphertext by [`super::steps::modulus_switch`]. If ciphertexts rest under the large key, the
//! key switch must come before the modulus switch, so it is a program of its own.

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
    /// Switches from the large key to the small one. Inputs are an LWE vector and the switching key, the output is a
    /// vector.
    pub switch: Program,
    /// A whole rotation. Inputs are the table, 2N less the body's exponent, the mask's exponents and the keys, in the
    /// order of [`RotationInput`]. The output is the resting ciphertext.
    pub rotate: Program,
    /// The rotation without extraction and key switch. The output is the accumulator, for tables that share a rotation
    /// ([`super::shared`]).
    pub turn: Program,
}

/// The end of a rotation's program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The resting ciphertext of coefficient 0.
    Entry,
    /// The whole accumulator.
    Accumulator,
}

/// An input of the program of a blind rotation. The variants are in the order of the inputs.
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

/// Returns the inputs of a blind rotation's program, in order.
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

/// Returns the primes of the transforms, by lane.
pub fn lanes(params: &Params) -> Vec<Modulus> {
    Shape::new(params).primes
}

impl BootstrapPrograms {
    /// Makes the programs of a parameter set.
    ///
    /// # Errors
    /// [`TfheError::Program`] for sizes beyond the limits of programs.
    pub fn new(params: &Params) -> Result<Self, TfheError> {
        Ok(Self {
            switch: switch(params)?,
            rotate: program::rotate(&Shape::new(params), Ending::Entry)?,
            turn: turn(params)?,
        })
    }
}

/// Makes [`BootstrapPrograms::switch`] alone.
///
/// # Errors
/// Those of [`BootstrapPrograms::new`].
pub fn switch(params: &Params) -> Result<Program, TfheError> {
    Ok(calling(procedures::switch(&Shape::new(params))?))
}

/// Makes [`BootstrapPrograms::turn`] alone.
///
/// # Errors
/// See [`switch`].
pub fn turn(params: &Params) -> Result<Program, TfheError> {
    program::rotate(&Shape::new(params), Ending::Accumulator)
}

/// Makes the program that extracts the ciphertext of coefficient 0 under the large key from an accumulator.
///
/// # Errors
/// See [`switch`].
pub fn extract(params: &Params) -> Result<Program, TfheError> {
    Ok(calling(procedures::extract(&Shape::new(params))?))
}

fn calling(procedure: Procedure) -> Program {
    Program::calling(Arc::new(procedure), Vec::new())
}
