// SPDX-License-Identifier: Apache-2.0
//! A mid-level procedure: one homomorphic operation at one level, straight-line and in SSA form.

use ringmill_math::basext::Representative;
use ringmill_math::torus::{Coefficients, Gadget};

use super::op::Op;
use super::types::{LimbType, ModulusId, TableModulus, ValueId, ValueType};
use crate::numbers::{Galois, Poly};

/// The immediate of an instruction, in addition to its operands; the opcode's definition fixes the variant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Imm {
    None,
    /// A residue, below the modulus of the operand.
    Scalar(u64),
    /// An odd Galois element below 2N.
    Galois(Galois),
    /// The scalar of this immediate parameter of the procedure, which each call gives.
    ScalarOf(u16),
    /// The Galois element of this immediate parameter of the procedure, which each call gives.
    GaloisOf(u16),
    /// `seed` indexes the procedure's seed parameters; `stream` is the generator's stream number.
    Stream {
        seed: u16,
        stream: u64,
    },
    /// A slot of outside memory.
    Slot(u32),
    /// The representative of a coefficient: the range of its integer.
    Representative(Representative),
    /// log2 of the base of digits.
    Base(u8),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instr {
    pub op: Op,
    pub dst: Vec<ValueId>,
    pub src: Vec<ValueId>,
    pub imm: Imm,
}

/// An immediate parameter: a value that each call gives in addition to its operands. So procedures that differ in a
/// constant are one procedure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImmType {
    /// A residue below this modulus.
    Scalar(ModulusId),
    /// An odd Galois element below 2N.
    Galois,
}

/// The part of a macro operand that a parameter is; a limb's prime is in its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamRole {
    /// Polynomial `poly` of ciphertext operand `arg`.
    Cipher { arg: u16, poly: Poly },
    /// Plaintext operand `arg`.
    Plain { arg: u16 },
    /// A part of digit `digit` of the key operand `arg`: part 0 (b) or 1 (a), or the masks 1 to k of a GLWE key. Or a
    /// table that is a key.
    Key { arg: u16, digit: u16, part: u16 },
    /// Public exponent number `index` of operand `arg`.
    Exponent { arg: u16, index: u16 },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    pub value: ValueId,
    pub name: String,
    pub role: ParamRole,
}

/// A result limb: polynomial `poly` of the `index`-th result ciphertext.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResultLimb {
    pub value: ValueId,
    pub name: String,
    pub index: u16,
    pub poly: Poly,
}

/// One homomorphic operation as limb instructions. Values are defined once, before use; `types[v]` is value v's type.
/// `PRNG` makes the part-1 limbs of key operand `arg` if `seeds` has an entry for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Procedure {
    /// Unique within a program: operation, parameters that change the code, level. Letters, digits, `.`, `_`, `-`.
    pub name: String,
    /// log2 of the scheme's ring degree.
    pub log_n: u8,
    /// All moduli of the program (ciphertext primes in order, then special primes, then others); types index this table.
    pub moduli: Vec<TableModulus>,
    pub params: Vec<Param>,
    /// For each 32-byte seed parameter, the key operand to which it belongs.
    pub seeds: Vec<u16>,
    /// The immediate parameters, whose values each call gives.
    pub immediates: Vec<ImmType>,
    pub instrs: Vec<Instr>,
    pub results: Vec<ResultLimb>,
    pub types: Vec<ValueType>,
}

impl Procedure {
    /// Returns the type of a value, if it is a limb of this procedure.
    pub fn limb(&self, value: ValueId) -> Option<LimbType> {
        self.types.get(value.0 as usize)?.limb()
    }

    /// Returns the gadget of `levels` digits for the residues of a value of this procedure, if its modulus has that
    /// many.
    pub fn gadget(&self, value: ValueId, log_base: u8, levels: usize) -> Option<Gadget> {
        let id = self.types.get(value.0 as usize)?.modulus()?;
        let q = self.moduli.get(usize::from(id.0)).copied()?;
        Gadget::new(Coefficients::try_from(q).ok()?, log_base.into(), levels).ok()
    }

    /// Returns the level of the procedure's ciphertexts: that of the highest ciphertext prime among the ciphertext
    /// parameters. It is `None` without ciphertexts of limbs.
    pub fn level(&self) -> Option<u32> {
        let ciphers = self.params.iter().filter(|param| match param.role {
            ParamRole::Cipher { .. } => true,
            ParamRole::Plain { .. } | ParamRole::Key { .. } | ParamRole::Exponent { .. } => false,
        });
        let moduli = ciphers.filter_map(|param| Some(self.limb(param.value)?.modulus.0.into()));
        moduli.max()
    }

    /// Returns the types of the parameters of a verified procedure, in order.
    pub fn param_types(&self) -> impl Iterator<Item = ValueType> {
        let types = self
            .params
            .iter()
            .map(|param| self.types.get(param.value.0 as usize));
        types.flatten().copied()
    }

    /// Returns the types of the results of a verified procedure, in order.
    pub fn result_types(&self) -> impl Iterator<Item = ValueType> {
        let types = self
            .results
            .iter()
            .map(|result| self.types.get(result.value.0 as usize));
        types.flatten().copied()
    }
}
