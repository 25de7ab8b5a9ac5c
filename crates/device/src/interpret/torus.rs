// SPDX-License-Identifier: Apache-2.0
//! Interprets the torus extension of the mid level: instructions on exponents, digits and LWE vectors.

use ringmill_isa::mid::{Form, Imm, Instr, Op};
use ringmill_math::NttPlan;
use ringmill_math::torus::{Monomials, extract_mask, rotate_sub, switch_words};

use super::{MISFIT, Machine, Stop};

impl Machine<'_> {
    /// Runs an instruction of the torus extension that has one result.
    pub(super) fn torus(&self, instr: &Instr, src: &[&[u64]], d: &mut [u64]) -> Result<(), Stop> {
        match (instr.op, instr.src.as_slice(), src, instr.imm) {
            (Op::Rotdiff, [.., v], [exponents @ .., a], Imm::None) => {
                let exponents = exponents.iter().filter_map(|e| e.first());
                let e = exponents.fold(0usize, |sum, &e| sum.wrapping_add(e as usize));
                let q = self.modulus(*v)?;
                match (self.ty(*v)?.form, q) {
                    (Form::Coeff, q) => rotate_sub(q.into(), d, a, e)?,
                    (Form::Eval, q) => {
                        let plan = NttPlan::shared(q.below_61()?, self.ty(*v)?.ring)?;
                        Monomials::new(&plan).times_difference(e, d, a)?;
                    }
                }
            }
            (Op::Extract, [.., v], [masks @ .., b], Imm::None) => {
                let (q, n) = (self.modulus(*v)?, b.len());
                let (mask, body) = d.split_at_mut(masks.len() * n);
                for (out, p) in mask.chunks_mut(n).zip(masks) {
                    extract_mask(q.into(), out, p)?;
                }
                body.copy_from_slice(b.get(..1).ok_or(MISFIT)?);
            }
            (Op::Lweks, &[v, _], &[x, rows], Imm::Base(log_base)) => {
                let (&body, mask) = x.split_last().ok_or(MISFIT)?;
                let levels = (rows.len() / d.len().max(1)) / mask.len().max(1);
                let gadget = self.procedure.gadget(v, log_base, levels).ok_or(MISFIT)?;
                switch_words(rows, &gadget, mask, body, d)?;
            }
            _ => return Err(MISFIT),
        }
        Ok(())
    }

    /// Decomposes a limb into gadget digits one by one, literally as the instruction `DECOMP` defines
    /// them.
    pub(super) fn decompose(
        &self,
        instr: &Instr,
        src: &[&[u64]],
        out: &mut [Vec<u64>],
    ) -> Result<(), Stop> {
        let (&[v], &[a], Imm::Base(log_base), Some(&first)) =
            (&instr.src[..], src, instr.imm, instr.dst.first())
        else {
            return Err(MISFIT);
        };
        let gadget = self
            .procedure
            .gadget(v, log_base, out.len())
            .ok_or(MISFIT)?;
        let p = self.modulus(first)?.below_61()?;
        for (i, &x) in a.iter().enumerate() {
            for (digits, digit) in out.iter_mut().zip(gadget.digits(x)) {
                *digits.get_mut(i).ok_or(MISFIT)? = p.from_i64(digit);
            }
        }
        Ok(())
    }
}
