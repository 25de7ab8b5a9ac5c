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

/// The limb programs of one TFHE bootstrap.
pub struct BootstrapPrograms {
    /// The program that switches from the large key to the small one. Inputs are an LWE vector and the switching key,
    /// the output is a vector.
    pub switch: Program,
    /// The program of a blind rotation and an extraction. A key switch follows if ciphertexts rest under the small key;
    /// otherwise `switch` runs before. Inputs are the table, 2N less the body's exponent, the mask's exponents and the
    /// keys, in the order of [`RotationInput`]. The output is the ciphertext of the result.
    pub rotate: Program,
    /// The program of the blind rotation without extraction and key switch. The output is the accumulator, for tables
    /// that share a rotation ([`super::shared`]).
    pub turn: Program,
}

/// The last part of a blind rotation's program, which fixes its output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The program returns the LWE ciphertext of the accumulator's coefficient 0, which holds the table's entry, under
    /// the key of inputs and outputs.
    Entry,
    /// The program returns the whole accumulator, a GLWE ciphertext.
    Accumulator,
}

/// An input of the program of a blind rotation. The variants are in the order of the inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RotationInput {
    /// The input is the polynomial of the lookup table.
    Table,
    /// The input is 2N less the exponent of the ciphertext's body, modulo 2N.
    MinusBody,
    /// The input is the exponent of the ciphertext's mask coefficient `i`.
    Mask { i: usize },
    /// The input is a polynomial of the bootstrapping key: row `row` and column `col` of gadget ciphertext `at`. It is
    /// in transform form modulo the prime of lane `lane`.
    Key {
        at: usize,
        row: usize,
        col: usize,
        lane: usize,
    },
    /// The input is the rows of the key-switching key, for a program that ends with a key switch.
    SwitchKey,
}

/// Returns the inputs of the program of a blind rotation with this ending, in order.
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

/// Returns the primes modulo which a bootstrap's products are transformed. A program calls each a lane.
pub fn lanes(params: &Params) -> Vec<Modulus> {
    Shape::new(params).primes
}

impl BootstrapPrograms {
    /// Makes all bootstrap programs of a parameter set.
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

/// Makes the program [`BootstrapPrograms::switch`], a key switch, by itself.
///
/// # Errors
/// [`TfheError::Program`] for sizes beyond the limits of programs.
pub fn switch(params: &Params) -> Result<Program, TfheError> {
    Ok(calling(procedures::switch(&Shape::new(params))?))
}

/// Makes the program [`BootstrapPrograms::turn`], a blind rotation without extraction and key switch, by itself.
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
