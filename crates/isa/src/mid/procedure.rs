// SPDX-License-Identifier: Apache-2.0
//! A mid-level procedure: one homomorphic operation at one level, as a straight line of instructions on limbs in SSA
//! form.

use ringmill_math::basext::Representative;
use ringmill_math::torus::{Coefficients, Gadget};

use super::op::Op;
use super::types::{LimbType, ModulusId, TableModulus, ValueId, ValueType};
use crate::numbers::{Galois, Poly};

/// The immediate of an instruction: the number, or other datum, that it has besides its operands.
/// Its opcode fixes the kind. A residue is [`Imm::Scalar`], or [`Imm::ScalarOf`] if each call gives it. A Galois element
/// is likewise [`Imm::Galois`] or [`Imm::GaloisOf`]. Every other kind has one variant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Imm {
    None,
    /// The immediate is a residue below the operand's modulus. The instruction adds it to the
    /// operand or multiplies the operand by it.
    Scalar(u64),
    /// The immediate is the Galois element g of an automorphism x -> x^g: an odd number below 2N.
    Galois(Galois),
    /// The immediate is the number of an immediate parameter of the procedure. Each call sets that
    /// parameter to a residue, which the instruction adds or by which it multiplies.
    ScalarOf(u16),
    /// The immediate is the number of an immediate parameter of the procedure. Each call sets that
    /// parameter to the Galois element of the instruction's automorphism.
    GaloisOf(u16),
    /// The immediate says from what a uniform limb is expanded. `seed` is the number of a seed
    /// parameter of the procedure, and `stream` that of one of the seed's keystreams. The words of
    /// this keystream become the limb.
    Stream {
        seed: u16,
        stream: u64,
    },
    /// The immediate is the number of a slot of the memory outside the machine, from which the
    /// instruction loads or in which it stores.
    Slot(u32),
    /// The immediate is the range of the integers that a base extension extends: [0, Q) or centred
    /// about 0, where Q is the product of the source moduli.
    Representative(Representative),
    /// The immediate is the base-2 logarithm of the base in which a gadget decomposition has its
    /// digits.
    Base(u8),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instr {
    pub op: Op,
    pub dst: Vec<ValueId>,
    pub src: Vec<ValueId>,
    pub imm: Imm,
}

/// The type of an immediate parameter of a procedure: a constant that each call sets in addition to
/// its operands. So one procedure serves operations that differ only in a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImmType {
    /// The parameter is a residue below the modulus that has this index in the program's table.
    Scalar(ModulusId),
    /// The parameter is a Galois element: an odd number below 2N.
    Galois,
}

/// The role of a parameter of a procedure: which part of which operand of the homomorphic operation
/// it is. A limb's prime is in the parameter's type, and not in its role.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamRole {
    /// The parameter is polynomial `poly`, or a limb of it, of the ciphertext that is operand number `arg`.
    Cipher { arg: u16, poly: Poly },
    /// The parameter is the plaintext that is operand number `arg` of the operation.
    Plain { arg: u16 },
    /// The parameter is a part of digit `digit` of the key that is operand number `arg`. Part 0 is
    /// the body b, and part 1 the mask a; a GLWE key has the masks 1 to k. A table that is a whole
    /// key also has this role.
    Key { arg: u16, digit: u16, part: u16 },
    /// The parameter is a public exponent e of x^e: number `index` of those in operand number
    /// `arg`.
    Exponent { arg: u16, index: u16 },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    pub value: ValueId,
    pub name: String,
    pub role: ParamRole,
}

/// A result of a procedure: polynomial `poly` of result ciphertext number `index`, a limb of it, or an LWE vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResultLimb {
    pub value: ValueId,
    pub name: String,
    pub index: u16,
    pub poly: Poly,
}

/// A homomorphic operation as instructions on limbs. Each value is defined once, before its use;
/// `types[v]` is the type of value v. `seeds` lists keys, by their numbers as operands: the
/// instruction `PRNG` expands the masks of such a key from its seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Procedure {
    /// The name of the procedure, unique in a program. It is made of the operation, the parameters that change the
    /// instructions, and the level. It has letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// The base-2 logarithm of N, the degree of the scheme's full ring.
    pub log_n: u8,
    /// All moduli of the program: ciphertext primes in order, then special primes, then others. Types have indices into
    /// this table.
    pub moduli: Vec<TableModulus>,
    pub params: Vec<Param>,
    /// For each seed parameter, the number of the key operand whose 32-byte seed it is.
    pub seeds: Vec<u16>,
    /// The types of the immediate parameters, whose values each call sets.
    pub immediates: Vec<ImmType>,
    pub instrs: Vec<Instr>,
    pub results: Vec<ResultLimb>,
    pub types: Vec<ValueType>,
}

impl Procedure {
    /// Returns the type of the value `value` of this procedure if the value is a limb, and `None`
    /// otherwise.
    pub fn limb(&self, value: ValueId) -> Option<LimbType> {
        self.types.get(value.0 as usize)?.limb()
    }

    /// Returns the gadget that cuts the residues of a value of this procedure into `levels` digits of `log_base` bits.
    /// It is `None` if the value's modulus is neither an NTT-friendly prime nor 2^32 nor 2^64, or has too few bits. It
    /// is also `None` for no digits, for digits of 0 or more than 31 bits, and for an exponent, which has no modulus.
    pub fn gadget(&self, value: ValueId, log_base: u8, levels: usize) -> Option<Gadget> {
        let id = self.types.get(value.0 as usize)?.modulus()?;
        let q = self.moduli.get(usize::from(id.0)).copied()?;
        Gadget::new(Coefficients::try_from(q).ok()?, log_base.into(), levels).ok()
    }

    /// Returns the level of the procedure's ciphertexts: the index of the highest ciphertext prime among the limbs of
    /// its ciphertext parameters. It is `None` if no parameter is a limb of a ciphertext.
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
