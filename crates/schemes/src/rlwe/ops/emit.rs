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
    /// The number of the plaintext modulus among those of the parameters, for schemes whose messages are in the low
    /// bits (BGV).
    pub plain: u8,
    builder: ProcBuilder,
}

/// A key-switching key that is an operand of a procedure.
#[derive(Clone, Copy)]
pub(crate) struct KeyOperand {
    pub arg: u16,
    /// The number of the procedure's seed parameter from which the key's uniform limbs (part 1) are expanded. It is
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

    /// Returns the modulus with this index in the parameters' table of moduli.
    pub fn reducer(&self, index: usize) -> Result<Modulus, RlweError> {
        self.params.any_reducer(index)
    }

    /// Returns the plaintext modulus with its index in the table, or `None` for schemes whose messages are not in the
    /// low bits (all but BGV).
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

    /// Returns the indices of the ciphertext primes at this level.
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

    /// Returns the limbs of polynomial `poly` of ciphertext operand `arg`, modulo the moduli with indices `moduli`.
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

    pub fn plain(&mut self, arg: u16) -> Result<Vec<Limb>, RlweError> {
        self.level_moduli()
            .map(|i| self.param("m".into(), i, Form::Eval, ParamRole::Plain { arg }))
            .collect()
    }

    /// Returns the one limb of plaintext operand `arg`. It is modulo the plaintext modulus with index `modulus` in
    /// the table, in coefficient form.
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

    /// Adds immediate parameters for an integer constant that each call sets: its residue modulo each prime of the
    /// level.
    pub fn residues(&mut self) -> Result<Vec<u16>, RlweError> {
        self.level_moduli().map(|i| self.residue(i)).collect()
    }

    /// Adds an immediate parameter for a residue that each call sets, modulo the modulus with index `modulus` in the
    /// table.
    pub fn residue(&mut self, modulus: usize) -> Result<u16, RlweError> {
        let ty = ImmType::Scalar(ModulusId(modulus as u16));
        Ok(self.builder.immediate(ty)?)
    }

    /// Adds an immediate parameter for a Galois element that each call sets.
    pub fn galois(&mut self) -> Result<u16, RlweError> {
        Ok(self.builder.immediate(ImmType::Galois)?)
    }

    /// Returns one limb of a key operand: a parameter, or one that is expanded from the seed.
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

    /// Declares that `limbs` are polynomial `poly` of result ciphertext number `index`.
    pub fn result(&mut self, index: usize, poly: Poly, limbs: &[Limb]) -> Result<(), RlweError> {
        for l in limbs {
            let name = format!("r{index}.c{poly}.q{}", l.modulus);
            self.builder.result(l.value, name, index as u16, poly)?;
        }
        Ok(())
    }

    /// Emits one instruction for each limb of `a`, by the function `f`.
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

    /// Emits one instruction for each pair of limbs of `a` and `b`, by the function `f`.
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

    /// Emits a b + c d, limb by limb.
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
