// SPDX-License-Identifier: Apache-2.0
//! The operations of the scheme: sums and products, entry by entry.

use ringmill_isa::Poly;
use ringmill_isa::macros::MacroOp;
use ringmill_isa::mid::{Form, ImmType, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure};
use ringmill_schemes::{ParameterSet, scheme};

use super::{ClearError, Params};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    Add,
    Mul,
    Square,
    /// The sum of a vector and an integer, which each call gives by its residues.
    AddConstant,
}

impl scheme::Operation for Operation {
    type Params = Params;
    type Error = ClearError;

    fn name(&self) -> String {
        let name = match self {
            Self::Add => "clear.add",
            Self::Mul => "clear.mul",
            Self::Square => "clear.square",
            Self::AddConstant => "clear.add_constant",
        };
        name.to_owned()
    }

    fn emit(&self, params: &Params) -> Result<Procedure, ClearError> {
        let mut b = ProcBuilder::new(self.name(), params.log_n(), params.moduli())?;
        for q in 0..params.moduli().len() {
            let modulus = ModulusId(q as u16);
            let ty = LimbType {
                ring: params.ring(),
                modulus,
                form: Form::Eval,
            };
            let operand = |b: &mut ProcBuilder, arg, cipher| {
                let role = match cipher {
                    true => ParamRole::Cipher {
                        arg,
                        poly: Poly::FIRST,
                    },
                    false => ParamRole::Plain { arg },
                };
                b.param(format!("{arg}.q{q}"), ty, role)
            };
            let x = operand(&mut b, 0, true)?;
            let z = match self {
                Self::Add => {
                    let y = operand(&mut b, 1, true)?;
                    b.add(x, y)?
                }
                Self::Mul => {
                    let y = operand(&mut b, 1, true)?;
                    b.mul(x, y)?
                }
                Self::Square => b.mul(x, x)?,
                Self::AddConstant => {
                    let c = b.immediate(ImmType::Scalar(modulus))?;
                    b.addi_of(x, c)?
                }
            };
            b.result(z, format!("r.q{q}"), 0, Poly::FIRST)?;
        }
        Ok(b.finish()?)
    }

    fn stands_for(&self) -> &'static [MacroOp] {
        match self {
            Self::Add => &[MacroOp::Add],
            Self::Mul => &[MacroOp::Mul],
            Self::Square => &[MacroOp::Square],
            Self::AddConstant => &[MacroOp::Addc],
        }
    }

    fn result_size(&self) -> u32 {
        1
    }

    fn passes_through(&self, _: Poly) -> Option<u16> {
        None
    }
}
