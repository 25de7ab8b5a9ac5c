// SPDX-License-Identifier: Apache-2.0
//! A mid-level procedure: one homomorphic operation at one level, straight-line and in SSA form.

use ringmill_math::basext::Representative;
use ringmill_math::torus::{Coefficients, Gadget};

use super::op::Op;
use super::types::{LimbType, ModulusId, TableModulus, ValueId, ValueType};
use crate::numbers::{Galois, Poly};

/// What an instruction carries beside its operands; which variant is allowed is fixed by the opcode's definition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Imm {
    None,
    /// A residue, below the modulus of the operand.
    Scalar(u64),
    /// An odd Galois element below 2N.
    Galois(Galois),
    /// The scalar that the call gives for this immediate parameter of the procedure.
    ScalarOf(u16),
    /// The Galois element that the call gives for this immediate parameter of the procedure.
    GaloisOf(u16),
    /// `seed` indexes the procedure's seed parameters; `stream` is the generator's stream number.
    Stream {
        seed: u16,
        stream: u64,
    },
    /// A slot of outside memory.
    Slot(u32),
    /// The integer that a coefficient stands for.
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

/// An immediate parameter: what a call says beside its operands, so that a constant does not make a procedure of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImmType {
    /// A residue below this modulus.
    Scalar(ModulusId),
    /// An odd Galois element below 2N.
    Galois,
}

/// Which part of which macro operand a parameter is; a limb's prime is in its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamRole {
    /// Polynomial `poly` of ciphertext operand `arg`.
    Cipher { arg: u16, poly: Poly },
    /// Plaintext operand `arg`.
    Plain { arg: u16 },
    /// Part 0 (b) or 1 (a), or of a GLWE key 1 to k (its masks), of digit `digit` of the key operand `arg`; or a table that is a
    /// key.
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
/// Key operands `arg` with a seed have their part-1 limbs made by `PRNG` from seed parameter `arg`'s entry in `seeds`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Procedure {
    /// Unique within a program: operation, parameters that change the code, level. Letters, digits, `.`, `_`, `-`.
    pub name: String,
    /// log2 of the scheme's ring degree.
    pub log_n: u8,
    /// All moduli of the program (ciphertext primes in order, then special primes, then others); types index this table.
    pub moduli: Vec<TableModulus>,
    pub params: Vec<Param>,
    /// For each 32-byte seed parameter, the key operand it belongs to.
    pub seeds: Vec<u16>,
    /// What each call gives beside limbs and seeds.
    pub immediates: Vec<ImmType>,
    pub instrs: Vec<Instr>,
    pub results: Vec<ResultLimb>,
    pub types: Vec<ValueType>,
}

impl Procedure {
    /// The type of a value, if it is a limb of this procedure.
    pub fn limb(&self, value: ValueId) -> Option<LimbType> {
        self.types.get(value.0 as usize)?.limb()
    }

    /// So many digits of the residues of a value of this procedure, if its modulus has them.
    pub fn gadget(&self, value: ValueId, log_base: u8, levels: usize) -> Option<Gadget> {
        let id = self.types.get(value.0 as usize)?.modulus()?;
        let q = self.moduli.get(usize::from(id.0)).copied()?;
        Gadget::new(Coefficients::try_from(q).ok()?, log_base.into(), levels).ok()
    }

    /// The level of its ciphertexts: that of the highest ciphertext prime that a ciphertext parameter has; `None` where it has
    /// no ciphertext of limbs.
    pub fn level(&self) -> Option<u32> {
        let ciphers = self.params.iter().filter(|param| match param.role {
            ParamRole::Cipher { .. } => true,
            ParamRole::Plain { .. } | ParamRole::Key { .. } | ParamRole::Exponent { .. } => false,
        });
        let moduli = ciphers.filter_map(|param| Some(self.limb(param.value)?.modulus.0.into()));
        moduli.max()
    }

    /// Types of the parameters, in order, of a verified procedure.
    pub fn param_types(&self) -> impl Iterator<Item = ValueType> {
        let types = self
            .params
            .iter()
            .map(|param| self.types.get(param.value.0 as usize));
        types.flatten().copied()
    }

    /// Types of the results, in order, of a verified procedure.
    pub fn result_types(&self) -> impl Iterator<Item = ValueType> {
        let types = self
            .results
            .iter()
            .map(|result| self.types.get(result.value.0 as usize));
        types.flatten().copied()
    }
}
