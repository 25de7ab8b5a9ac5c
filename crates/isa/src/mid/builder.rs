// SPDX-License-Identifier: Apache-2.0
//! Builds a mid-level procedure instruction by instruction, and checks each by its typing rule before it is added.

use ringmill_math::Ring;
use ringmill_math::basext::Representative;

use super::op::Op;
use super::procedure::{Imm, ImmType, Instr, Param, ParamRole, Procedure, ResultLimb};
use super::rules::{self, Scope, Typed};
use super::text;
use super::types::{
    Form, LimbType, LweDimension, LweType, ModulusId, TableModulus, ValueId, ValueType,
};
use super::verify;
use crate::error::{Fault, InstrPlace, Place, VerifyError};
use crate::numbers::{Galois, Poly};

/// A mid-level procedure under construction. Every method that adds an instruction refuses it with a [`VerifyError`] if
/// its operands do not fit its typing rule. A refused instruction leaves the builder as it was.
#[derive(Clone, Debug)]
pub struct ProcBuilder {
    procedure: Procedure,
}

impl ProcBuilder {
    /// Starts a procedure over the ring of degree 2^`log_n`, with the program's whole table of
    /// moduli. A number in the table counts as a prime.
    ///
    /// # Errors
    /// Fails for a name, a ring degree or a table of moduli that no procedure may have.
    pub fn new<M: Copy + Into<TableModulus>>(
        name: impl Into<String>,
        log_n: u8,
        moduli: &[M],
    ) -> Result<Self, VerifyError> {
        let procedure = Procedure {
            name: name.into(),
            log_n,
            moduli: moduli.iter().map(|&m| m.into()).collect(),
            params: Vec::new(),
            seeds: Vec::new(),
            immediates: Vec::new(),
            instrs: Vec::new(),
            results: Vec::new(),
            types: Vec::new(),
        };
        let builder = Self { procedure };
        verify::check_name("procedure name", &builder.procedure.name)
            .map_err(|f| builder.error(f))?;
        let checked = rules::check_ring(log_n, &builder.procedure.moduli);
        checked.map_err(|f| builder.error(f))?;
        Ok(builder)
    }

    /// Adds a parameter to the procedure and returns its value.
    ///
    /// # Errors
    /// Fails for a type that no value of this procedure may have.
    pub fn param(
        &mut self,
        name: impl Into<String>,
        ty: impl Into<ValueType>,
        role: ParamRole,
    ) -> Result<ValueId, VerifyError> {
        let (value, ty) = (self.fresh(0), ty.into());
        self.scope()
            .check_value(|| format!("%{}", value.0), ty)
            .map_err(|f| self.error(f))?;
        self.procedure.types.push(ty);
        self.procedure.params.push(Param {
            value,
            name: name.into(),
            role,
        });
        Ok(value)
    }

    /// Adds a parameter for the 32-byte seed of the key that is operand number `arg`. Returns the
    /// parameter's number, for [`ProcBuilder::prng`].
    ///
    /// # Errors
    /// [`Fault::Duplicate`] if the key has a seed parameter already; [`Fault::TooMany`] for too many
    /// seeds.
    pub fn seed(&mut self, arg: u16) -> Result<u16, VerifyError> {
        if self.procedure.seeds.contains(&arg) {
            return Err(self.error(Fault::Duplicate {
                what: "seed of key operand",
                item: arg.to_string(),
            }));
        }
        let number = u16::try_from(self.procedure.seeds.len()).map_err(|_| {
            let (limit, found) = (usize::from(u16::MAX), self.procedure.seeds.len());
            self.error(Fault::TooMany {
                what: "seeds",
                limit,
                found,
            })
        })?;
        self.procedure.seeds.push(arg);
        Ok(number)
    }

    /// Adds an immediate parameter, whose value each call sets. Returns the parameter's number, for
    /// methods such as [`ProcBuilder::muli_of`].
    ///
    /// # Errors
    /// [`Fault::Range`] for a modulus that is not in the table; [`Fault::TooMany`] for too many
    /// immediate parameters.
    pub fn immediate(&mut self, ty: ImmType) -> Result<u16, VerifyError> {
        if let ImmType::Scalar(id) = ty {
            self.scope().check_modulus(id).map_err(|f| self.error(f))?;
        }
        let found = self.procedure.immediates.len();
        let number = u16::try_from(found).map_err(|_| {
            let (what, limit) = ("immediates", usize::from(u16::MAX));
            self.error(Fault::TooMany { what, limit, found })
        })?;
        self.procedure.immediates.push(ty);
        Ok(number)
    }

    /// Adds an instruction that computes the sum a + b of two limbs or LWE vectors.
    pub fn add(&mut self, a: ValueId, b: ValueId) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Add, &[a, b], Imm::None)
    }

    /// Adds an instruction that computes the difference a - b of two limbs or LWE vectors.
    pub fn sub(&mut self, a: ValueId, b: ValueId) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Sub, &[a, b], Imm::None)
    }

    /// Adds an instruction that computes -a for a limb or an LWE vector.
    pub fn neg(&mut self, a: ValueId) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Neg, &[a], Imm::None)
    }

    /// Adds an instruction that computes a * b, in evaluation form.
    pub fn mul(&mut self, a: ValueId, b: ValueId) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Mul, &[a, b], Imm::None)
    }

    /// Adds an instruction that computes c + a * b, in evaluation form.
    pub fn mac(&mut self, c: ValueId, a: ValueId, b: ValueId) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Mac, &[c, a, b], Imm::None)
    }

    /// Adds an instruction that computes a * w for a residue w below a's modulus.
    pub fn muli(&mut self, a: ValueId, w: u64) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Muli, &[a], Imm::Scalar(w))
    }

    /// Adds an instruction that computes a + w at every position of the limb a, for a residue w
    /// below a's modulus.
    pub fn addi(&mut self, a: ValueId, w: u64) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Addi, &[a], Imm::Scalar(w))
    }

    /// Adds an instruction that computes a * w. Each call sets the scalar w as the value of
    /// immediate parameter `number`.
    pub fn muli_of(&mut self, a: ValueId, number: u16) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Muli, &[a], Imm::ScalarOf(number))
    }

    /// Adds an instruction that computes a + w at every position of the limb a. Each call sets the
    /// scalar w as the value of immediate parameter `number`.
    pub fn addi_of(&mut self, a: ValueId, number: u16) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Addi, &[a], Imm::ScalarOf(number))
    }

    /// Adds an instruction that computes the automorphism a(x^g) on the full ring. Each call sets
    /// the Galois element g as the value of immediate parameter `number`.
    pub fn auto_of(&mut self, a: ValueId, number: u16) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Auto, &[a], Imm::GaloisOf(number))
    }

    /// Adds an instruction that transforms a from coefficient to evaluation form.
    pub fn ntt(&mut self, a: ValueId) -> Result<ValueId, VerifyError> {
        let ty = self.ty(a)?;
        self.one(
            Op::Ntt,
            &[a],
            Imm::None,
            LimbType {
                form: Form::Eval,
                ..ty
            },
        )
    }

    /// Adds an instruction that transforms a from evaluation to coefficient form.
    pub fn intt(&mut self, a: ValueId) -> Result<ValueId, VerifyError> {
        let ty = self.ty(a)?;
        self.one(
            Op::Intt,
            &[a],
            Imm::None,
            LimbType {
                form: Form::Coeff,
                ..ty
            },
        )
    }

    /// Adds an instruction that computes the automorphism a(x^g) of a limb a on the full ring, in
    /// either form.
    pub fn auto(&mut self, a: ValueId, g: Galois) -> Result<ValueId, VerifyError> {
        self.like_first(Op::Auto, &[a], Imm::Galois(g))
    }

    /// Adds an instruction that computes the automorphism of the full ring with Galois element g on
    /// a limb in evaluation form. The limb is given as two limbs of N/2 words: p modulo x^(N/2) -
    /// zeta (ring `half+`) and m modulo x^(N/2) + zeta (ring `half-`), with zeta^2 = -1.
    pub fn autoh(
        &mut self,
        p: ValueId,
        m: ValueId,
        g: Galois,
    ) -> Result<(ValueId, ValueId), VerifyError> {
        let types = [self.value_type(p)?, self.value_type(m)?];
        self.push(Op::Autoh, &[p, m], Imm::Galois(g), &types)?;
        self.last_pair()
    }

    /// Adds an instruction that takes the residues of a, as integers in [0, q), modulo the modulus
    /// `to`, where q is the modulus of a. Operand and result are in coefficient form.
    pub fn conv(&mut self, a: ValueId, to: ModulusId) -> Result<ValueId, VerifyError> {
        let ty = self.ty(a)?;
        self.one(Op::Conv, &[a], Imm::None, LimbType { modulus: to, ..ty })
    }

    /// Adds a fast base extension of the limbs `x`, one for each source modulus, to the moduli
    /// `to`. Operands and results are in coefficient form.
    pub fn bext(&mut self, x: &[ValueId], to: &[ModulusId]) -> Result<Vec<ValueId>, VerifyError> {
        self.extension(Op::Bext, x, Imm::None, to)
    }

    /// Adds an exact base extension of the limbs `x` to the moduli `to`, in coefficient form. Q is
    /// the product of the moduli of `x`. Each coefficient is an integer in \[0, Q) or in (-Q/2,
    /// Q/2\], as `which` says.
    pub fn bextx(
        &mut self,
        x: &[ValueId],
        to: &[ModulusId],
        which: Representative,
    ) -> Result<Vec<ValueId>, VerifyError> {
        self.extension(Op::Bextx, x, Imm::Representative(which), to)
    }

    /// Adds an exact base extension of the limbs `x` to the moduli `to`, in coefficient form. The
    /// limb `r`, which has the same integers modulo a redundant modulus, makes it exact.
    pub fn bextr(
        &mut self,
        x: &[ValueId],
        r: ValueId,
        to: &[ModulusId],
    ) -> Result<Vec<ValueId>, VerifyError> {
        let operands: Vec<_> = x.iter().copied().chain([r]).collect();
        self.extension(Op::Bextr, &operands, Imm::None, to)
    }

    /// Adds an instruction with one result for each of the moduli `to`. Each result has the ring
    /// and the form of the first operand.
    fn extension(
        &mut self,
        op: Op,
        src: &[ValueId],
        imm: Imm,
        to: &[ModulusId],
    ) -> Result<Vec<ValueId>, VerifyError> {
        let types: Vec<_> = match src.first() {
            Some(&first) => {
                let ty = self.ty(first)?;
                to.iter()
                    .map(|&modulus| LimbType { modulus, ..ty }.into())
                    .collect()
            }
            None => Vec::new(),
        };
        self.push(op, src, imm, &types)
    }

    /// Adds an instruction that computes the sum of the products a * b of all pairs (a, b), in
    /// evaluation form.
    pub fn dot(&mut self, pairs: &[(ValueId, ValueId)]) -> Result<ValueId, VerifyError> {
        let src: Vec<_> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        self.like_first(Op::Dot, &src, Imm::None)
    }

    /// Adds an instruction that splits the limb a of the full ring x^N + 1, in coefficient form.
    /// The results are a modulo x^(N/2) - zeta (ring `half+`) and a modulo x^(N/2) + zeta (ring
    /// `half-`), with zeta^2 = -1.
    pub fn split(&mut self, a: ValueId) -> Result<(ValueId, ValueId), VerifyError> {
        let ty = self.ty(a)?;
        let (plus, minus) = ty.ring.halves();
        let types = [
            LimbType { ring: plus, ..ty }.into(),
            LimbType { ring: minus, ..ty }.into(),
        ];
        self.push(Op::Split, &[a], Imm::None, &types)?;
        self.last_pair()
    }

    /// Adds an instruction that computes the limb of the full ring x^N + 1 from its residues p
    /// modulo x^(N/2) - zeta (ring `half+`) and m modulo x^(N/2) + zeta (ring `half-`), with zeta^2
    /// = -1. All are in coefficient form.
    pub fn join(&mut self, p: ValueId, m: ValueId) -> Result<ValueId, VerifyError> {
        let ty = self.ty(p)?;
        self.one(
            Op::Join,
            &[p, m],
            Imm::None,
            LimbType {
                ring: Ring::full(self.procedure.log_n),
                ..ty
            },
        )
    }

    /// Adds an instruction that expands a uniform limb in evaluation form from a seed. `seed` is
    /// the number of the seed parameter, and `stream` that of one of the seed's keystreams, whose
    /// words become the limb.
    pub fn prng(&mut self, ty: LimbType, seed: u16, stream: u64) -> Result<ValueId, VerifyError> {
        self.one(Op::Prng, &[], Imm::Stream { seed, stream }, ty)
    }

    /// Adds an instruction that computes (x^e - 1) a for the limb a, in either form, where e is the
    /// sum of the values `exponents`.
    pub fn rotdiff(&mut self, exponents: &[ValueId], a: ValueId) -> Result<ValueId, VerifyError> {
        let ty = self.value_type(a)?;
        let src: Vec<_> = exponents.iter().copied().chain([a]).collect();
        self.one(Op::Rotdiff, &src, Imm::None, ty)
    }

    /// Adds an instruction that cuts the coefficients of a into `levels` signed digits in base
    /// 2^`log_base`. Each result is one digit of all coefficients, modulo `to` and in coefficient
    /// form, the most significant digit first.
    pub fn decomp(
        &mut self,
        a: ValueId,
        log_base: u8,
        levels: usize,
        to: ModulusId,
    ) -> Result<Vec<ValueId>, VerifyError> {
        let ty = LimbType {
            modulus: to,
            ..self.ty(a)?
        };
        self.push(
            Op::Decomp,
            &[a],
            Imm::Base(log_base),
            &vec![ty.into(); levels],
        )
    }

    /// Adds an instruction that extracts an LWE vector from a GLWE ciphertext with these masks and
    /// this body, in coefficient form. The vector encrypts coefficient 0 of the ciphertext's
    /// message.
    pub fn extract(&mut self, masks: &[ValueId], body: ValueId) -> Result<ValueId, VerifyError> {
        let ty = self.ty(body)?;
        let dimension = ty.ring.len().saturating_mul(masks.len());
        let src: Vec<_> = masks.iter().copied().chain([body]).collect();
        let extracted = LweType {
            dimension: LweDimension(u32::try_from(dimension).unwrap_or(u32::MAX)),
            modulus: ty.modulus,
        };
        self.one(Op::Extract, &src, Imm::None, extracted)
    }

    /// Adds an instruction that switches the LWE vector x to another key. The switching key is the
    /// table `key`, made for digits in base 2^`log_base`.
    pub fn lweks(
        &mut self,
        x: ValueId,
        key: ValueId,
        log_base: u8,
    ) -> Result<ValueId, VerifyError> {
        // The rule refuses a value that is no table.
        let switched = match self.value_type(key)? {
            ValueType::LweTable(table) => ValueType::Lwe(table.row),
            other => other,
        };
        self.one(Op::Lweks, &[x, key], Imm::Base(log_base), switched)
    }

    /// Adds an instruction that loads a value of type `ty` from a slot of the memory outside the
    /// machine.
    pub fn load(&mut self, ty: impl Into<ValueType>, slot: u32) -> Result<ValueId, VerifyError> {
        self.one(Op::Load, &[], Imm::Slot(slot), ty)
    }

    /// Adds an instruction that stores a limb or an LWE vector in a slot of the memory outside the
    /// machine.
    pub fn store(&mut self, a: ValueId, slot: u32) -> Result<(), VerifyError> {
        self.push(Op::Store, &[a], Imm::Slot(slot), &[]).map(drop)
    }

    /// Declares that the value `v` is a result of the procedure: polynomial `poly` of result ciphertext number `index`.
    ///
    /// # Errors
    /// [`Fault::Undefined`] for a value that the builder has not defined.
    pub fn result(
        &mut self,
        v: ValueId,
        name: impl Into<String>,
        index: u16,
        poly: Poly,
    ) -> Result<(), VerifyError> {
        self.value_type(v)?;
        self.procedure.results.push(ResultLimb {
            value: v,
            name: name.into(),
            index,
            poly,
        });
        Ok(())
    }

    /// Returns the type of the limb `v`, which the builder has defined.
    ///
    /// # Errors
    /// Fails if the value does not exist, or is no limb ([`Fault::Kind`]).
    pub fn ty(&self, v: ValueId) -> Result<LimbType, VerifyError> {
        let ty = self.value_type(v)?;
        ty.limb().ok_or_else(|| {
            self.error(Fault::Kind {
                item: format!("%{}", v.0),
                expected: "a limb",
                found: ty.kind(),
            })
        })
    }

    /// Returns the type of the value `v`.
    ///
    /// # Errors
    /// [`Fault::Undefined`] for a value that the builder has not defined.
    pub fn value_type(&self, v: ValueId) -> Result<ValueType, VerifyError> {
        let ty = self.procedure.types.get(v.0 as usize).copied();
        ty.ok_or_else(|| {
            self.error(Fault::Undefined {
                item: format!("%{}", v.0),
            })
        })
    }

    /// Returns the finished procedure, verified as a whole.
    ///
    /// # Errors
    /// The errors of [`verify::verify_procedure`].
    pub fn finish(self) -> Result<Procedure, VerifyError> {
        verify::verify_procedure(&self.procedure)?;
        Ok(self.procedure)
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            log_n: self.procedure.log_n,
            moduli: &self.procedure.moduli,
            seeds: self.procedure.seeds.len(),
            immediates: &self.procedure.immediates,
        }
    }

    fn fresh(&self, offset: usize) -> ValueId {
        ValueId(u32::try_from(self.procedure.types.len() + offset).unwrap_or(u32::MAX))
    }

    fn error(&self, fault: Fault) -> VerifyError {
        VerifyError::new(
            Place {
                procedure: self.procedure.name.clone(),
                ..Place::default()
            },
            fault,
        )
    }

    /// Adds an instruction with one result, which has the type of its first operand.
    fn like_first(&mut self, op: Op, src: &[ValueId], imm: Imm) -> Result<ValueId, VerifyError> {
        match src.first() {
            Some(&first) => {
                let ty = self.value_type(first)?;
                self.one(op, src, imm, ty)
            }
            None => Err(self.error(Fault::Count {
                what: "operands",
                expected: op.info().operands,
                found: 0,
            })),
        }
    }

    fn one(
        &mut self,
        op: Op,
        src: &[ValueId],
        imm: Imm,
        ty: impl Into<ValueType>,
    ) -> Result<ValueId, VerifyError> {
        let value = self.fresh(0);
        self.push(op, src, imm, &[ty.into()])?;
        Ok(value)
    }

    fn last_pair(&self) -> Result<(ValueId, ValueId), VerifyError> {
        match self.procedure.instrs.last().map(|i| i.dst.as_slice()) {
            Some(&[first, second]) => Ok((first, second)),
            _ => Err(self.error(Fault::Undefined {
                item: "the pair of results".to_owned(),
            })),
        }
    }

    fn push(
        &mut self,
        op: Op,
        src: &[ValueId],
        imm: Imm,
        types: &[ValueType],
    ) -> Result<Vec<ValueId>, VerifyError> {
        let operands = src
            .iter()
            .map(|&value| self.value_type(value).map(|ty| Typed { value, ty }));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let results: Vec<_> = types
            .iter()
            .enumerate()
            .map(|(n, &ty)| Typed {
                value: self.fresh(n),
                ty,
            })
            .collect();
        let dst: Vec<_> = results.iter().map(|v| v.value).collect();
        let scope = self.scope();
        let checked = results
            .iter()
            .try_for_each(|v| scope.check_value(|| format!("%{}", v.value.0), v.ty))
            .and_then(|()| rules::check_instr(scope, op, &operands, imm, &results));
        let instr = Instr {
            op,
            dst: dst.clone(),
            src: src.to_vec(),
            imm,
        };
        if let Err(fault) = checked {
            let mut all = self.procedure.types.clone();
            all.extend_from_slice(types);
            let place = Place {
                instruction: Some(InstrPlace {
                    number: self.procedure.instrs.len(),
                    text: text::instr_text(&instr, &all),
                }),
                procedure: self.procedure.name.clone(),
                loc: None,
            };
            return Err(VerifyError::new(place, fault));
        }
        self.procedure.types.extend_from_slice(types);
        self.procedure.instrs.push(instr);
        Ok(dst)
    }
}
