// SPDX-License-Identifier: Apache-2.0
//! A procedure of a homomorphic operation under construction, with the parameters for which it is made.

use ringmill_isa::mid::{
    Form, ImmType, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, ValueId,
};
use ringmill_isa::{Level, Poly};
use ringmill_math::Modulus;

use crate::rlwe::error::RlweError;
use crate::rlwe::params::{Params, RingParams};

/// A limb of a procedure, with the index of its modulus.
#[derive(Clone, Copy)]
pub(crate) struct Limb {
    pub value: ValueId,
    pub modulus: usize,
}

/// Emits the procedure of one operation. `P` is the type of the scheme's own parameters.
pub(crate) struct Emit<'p, P> {
    pub own: &'p P,
    pub params: &'p Params,
    pub level: Level,
    /// The index of the plaintext modulus in the parameters' list of plaintext moduli, for schemes whose messages
    /// are in the low bits (BGV).
    pub plain: u8,
    builder: ProcBuilder,
}

/// A key-switching key that is an operand of a procedure.
#[derive(Clone, Copy)]
pub(crate) struct KeyOperand {
    pub arg: u16,
    /// The index of the procedure's seed parameter from which the key's uniform limbs (part 1) are expanded. It is
    /// `None` if these limbs are parameters of the procedure.
    pub seed: Option<u16>,
}

impl<'p, P: RingParams> Emit<'p, P> {
    pub fn new(own: &'p P, name: String, level: Level) -> Result<Self, RlweError> {
        let params = own.ring_params();
        Ok(Self {
            own,
            params,
            level,
            plain: 0,
            builder: ProcBuilder::new(name, params.log_n(), params.table())?,
        })
    }
}

impl<P> Emit<'_, P> {
    pub fn finish(self) -> Result<Procedure, RlweError> {
        Ok(self.builder.finish()?)
    }

    pub fn ops(&mut self) -> &mut ProcBuilder {
        &mut self.builder
    }

    /// Returns the modulus of this index in the parameters' table of moduli.
    pub fn reducer(&self, index: usize) -> Result<Modulus, RlweError> {
        self.params.any_reducer(index)
    }

    /// Returns the plaintext modulus for which the procedure is made, with its index in the table of moduli.
    /// Returns `None` for schemes whose messages are not in the low bits (all but BGV).
    ///
    /// # Errors
    /// Fails for a plaintext modulus that the parameters do not have.
    pub fn low(&self) -> Result<Option<(usize, Modulus)>, RlweError> {
        let (all, plain) = (self.params.low_moduli(), usize::from(self.plain));
        match all.get(plain) {
            Some(&t) => Ok(Some((self.params.moduli().len() + plain, t))),
            None if all.is_empty() && plain == 0 => Ok(None),
            None => Err(RlweError::Length {
                what: "list of plaintext moduli",
                expected: plain + 1,
                got: all.len(),
            }),
        }
    }

    /// Returns the indices, in the table of moduli, of the ciphertext primes at the procedure's level.
    pub fn level_moduli(&self) -> std::ops::Range<usize> {
        0..self.level.primes()
    }

    fn ty(&self, modulus: usize, form: Form) -> LimbType {
        LimbType {
            ring: self.params.ring(),
            modulus: ModulusId(modulus as u16),
            form,
        }
    }

    fn param(
        &mut self,
        name: String,
        modulus: usize,
        form: Form,
        role: ParamRole,
    ) -> Result<Limb, RlweError> {
        let ty = self.ty(modulus, form);
        let value = self.builder.param(format!("{name}.q{modulus}"), ty, role)?;
        Ok(Limb { value, modulus })
    }

    /// Adds to the procedure a parameter for each limb of polynomial `poly` of ciphertext operand `arg`, modulo the
    /// moduli of indices `moduli`, and returns them.
    pub fn cipher_over(
        &mut self,
        arg: u16,
        poly: Poly,
        moduli: impl IntoIterator<Item = usize>,
    ) -> Result<Vec<Limb>, RlweError> {
        let letter = if arg == 0 { 'a' } else { 'b' };
        let role = ParamRole::Cipher { arg, poly };
        moduli
            .into_iter()
            .map(|i| self.param(format!("{letter}{poly}"), i, Form::Eval, role))
            .collect()
    }

    pub fn cipher(&mut self, arg: u16, poly: Poly) -> Result<Vec<Limb>, RlweError> {
        let moduli = self.level_moduli();
        self.cipher_over(arg, poly, moduli)
    }

    /// Adds to the procedure a parameter for each limb of plaintext operand `arg`, modulo the moduli of indices
    /// `moduli`, and returns them. They are in evaluation form.
    pub fn plain_over(
        &mut self,
        arg: u16,
        moduli: impl IntoIterator<Item = usize>,
    ) -> Result<Vec<Limb>, RlweError> {
        let role = ParamRole::Plain { arg };
        let moduli = moduli.into_iter();
        moduli
            .map(|i| self.param("m".into(), i, Form::Eval, role))
            .collect()
    }

    pub fn plain(&mut self, arg: u16) -> Result<Vec<Limb>, RlweError> {
        let moduli = self.level_moduli();
        self.plain_over(arg, moduli)
    }

    /// Adds to the procedure a parameter for the only limb of plaintext operand `arg`, and returns it. It is in
    /// coefficient form, modulo the plaintext modulus of index `modulus` in the table of moduli.
    pub fn plain_residues(&mut self, arg: u16, modulus: usize) -> Result<Limb, RlweError> {
        self.param("m".into(), modulus, Form::Coeff, ParamRole::Plain { arg })
    }

    pub fn key(&mut self, arg: u16, seeded: bool) -> Result<KeyOperand, RlweError> {
        let seed = if seeded {
            Some(self.builder.seed(arg)?)
        } else {
            None
        };
        Ok(KeyOperand { arg, seed })
    }

    /// Adds immediate parameters to the procedure for an integer constant that each call sets. They are the
    /// constant's residues modulo each prime of the level. Returns the parameters' indices.
    pub fn residues(&mut self) -> Result<Vec<u16>, RlweError> {
        self.level_moduli().map(|i| self.residue(i)).collect()
    }

    /// Adds an immediate parameter to the procedure for a residue that each call sets, modulo the modulus of index
    /// `modulus` in the table of moduli. Returns the parameter's index.
    pub fn residue(&mut self, modulus: usize) -> Result<u16, RlweError> {
        let ty = ImmType::Scalar(ModulusId(modulus as u16));
        Ok(self.builder.immediate(ty)?)
    }

    /// Adds an immediate parameter to the procedure for a Galois element that each call sets. Returns the
    /// parameter's index.
    pub fn galois(&mut self) -> Result<u16, RlweError> {
        Ok(self.builder.immediate(ImmType::Galois)?)
    }

    /// Returns the limb of a key operand for one digit, one part (0 for the body b, 1 for the uniform half a) and one
    /// modulus. Each call adds a parameter for the limb to the procedure, or an instruction that expands it from the
    /// key's seed.
    pub fn key_limb(
        &mut self,
        key: KeyOperand,
        digit: usize,
        part: u16,
        modulus: usize,
    ) -> Result<ValueId, RlweError> {
        if let (1, Some(seed)) = (part, key.seed) {
            let stream = (digit * self.params.moduli().len() + modulus) as u64;
            return Ok(self
                .builder
                .prng(self.ty(modulus, Form::Eval), seed, stream)?);
        }
        let role = ParamRole::Key {
            arg: key.arg,
            digit: digit as u16,
            part,
        };
        let letter = if part == 0 { 'b' } else { 'a' };
        let name = format!("k{}.{letter}{digit}", key.arg);
        Ok(self.param(name, modulus, Form::Eval, role)?.value)
    }

    /// Declares that `limbs` are polynomial `poly` of the procedure's result ciphertext of index `index`.
    pub fn result(&mut self, index: usize, poly: Poly, limbs: &[Limb]) -> Result<(), RlweError> {
        for l in limbs {
            let name = format!("r{index}.c{poly}.q{}", l.modulus);
            self.builder.result(l.value, name, index as u16, poly)?;
        }
        Ok(())
    }

    /// Emits one instruction for each limb of `a`, by the function `f`, and returns the resulting limbs.
    pub fn map(
        &mut self,
        a: &[Limb],
        f: impl Fn(&mut ProcBuilder, ValueId) -> Result<ValueId, ringmill_isa::VerifyError>,
    ) -> Result<Vec<Limb>, RlweError> {
        a.iter()
            .map(|l| {
                Ok(Limb {
                    value: f(&mut self.builder, l.value)?,
                    modulus: l.modulus,
                })
            })
            .collect()
    }

    /// Emits one instruction for each pair of limbs of `a` and `b` of one modulus, by the function `f`, and returns
    /// the resulting limbs.
    pub fn zip(
        &mut self,
        a: &[Limb],
        b: &[Limb],
        f: impl Fn(&mut ProcBuilder, ValueId, ValueId) -> Result<ValueId, ringmill_isa::VerifyError>,
    ) -> Result<Vec<Limb>, RlweError> {
        let one = |(a, b): (&Limb, &Limb)| {
            Ok(Limb {
                value: f(&mut self.builder, a.value, b.value)?,
                modulus: a.modulus,
            })
        };
        a.iter().zip(b).map(one).collect()
    }

    /// Emits a sum of products of pairs of limbs. There must be at least one pair.
    pub fn products(&mut self, pairs: &[(ValueId, ValueId)]) -> Result<ValueId, RlweError> {
        Ok(match pairs {
            [(a, b)] => self.ops().mul(*a, *b)?,
            many => self.ops().dot(many)?,
        })
    }

    /// Emits the sum of products a b + c d for each modulus of the polynomials a, b, c and d.
    pub fn dot2(
        &mut self,
        a: &[Limb],
        b: &[Limb],
        c: &[Limb],
        d: &[Limb],
    ) -> Result<Vec<Limb>, RlweError> {
        let one = |((a, b), (c, d)): ((&Limb, &Limb), (&Limb, &Limb))| {
            let value = self
                .builder
                .dot(&[(a.value, b.value), (c.value, d.value)])?;
            Ok(Limb {
                value,
                modulus: a.modulus,
            })
        };
        a.iter().zip(b).zip(c.iter().zip(d)).map(one).collect()
    }
}
