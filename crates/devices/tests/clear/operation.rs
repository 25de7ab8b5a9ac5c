//! Sum and product, position by position.

use ringmill_isa::mid::{Form, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure};
use ringmill_schemes::{ParameterSet, scheme};

use super::{ClearError, Params};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    Add,
    Mul,
}

impl scheme::Operation for Operation {
    type Params = Params;
    type Error = ClearError;

    fn name(&self) -> String {
        match self {
            Self::Add => "clear.add".into(),
            Self::Mul => "clear.mul".into(),
        }
    }

    fn emit(&self, params: &Params) -> Result<Procedure, ClearError> {
        let mut b = ProcBuilder::new(self.name(), params.log_n(), params.moduli())?;
        for q in 0..params.moduli().len() {
            let ty = LimbType {
                ring: params.ring(),
                modulus: ModulusId(q as u16),
                form: Form::Eval,
            };
            let role = |arg| ParamRole::Cipher { arg, poly: 0 };
            let x = b.param(format!("a.q{q}"), ty, role(0))?;
            let y = b.param(format!("b.q{q}"), ty, role(1))?;
            let z = match self {
                Self::Add => b.add(x, y)?,
                Self::Mul => b.mul(x, y)?,
            };
            b.result(z, format!("r.q{q}"), 0, 0)?;
        }
        Ok(b.finish()?)
    }

    fn result_size(&self) -> u32 {
        1
    }

    fn passes_through(&self, _: u32) -> Option<u16> {
        None
    }
}
