//! Level and factor management: every value gets a level, a correction factor and a bound on its noise. Divisions by primes
//! (`RESCALE`), dropped primes (`MODSWITCH`) and products that make factors equal (`REFACTOR`) go in where they are needed, so
//! that no mismatch can reach the user.
//!
//! Noise decides. What grows it as much as it is large (products, of ciphertexts or with plaintexts) and what is the dearer the
//! more primes there are (rotations) happens at the lowest level that leaves the result all the room there can be; sums happen
//! where their operands are. A value goes down by divisions while these lower its noise, then by dropping primes, which costs
//! nothing and leaves noise and factor as they are.

mod descend;
mod result;

use std::collections::HashMap;

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue};
use ringmill_limits::Watch;
use ringmill_math::Modulus;
use ringmill_schemes::bgv::{ExactParams, Factor, Noise, NoiseModel, Params};

use super::CompileError;
use crate::error::At as Line;
use crate::rewrite::{Rewriter, is_cipher};
use descend::Derived;

/// A value of the new program: where it is, and how large its phase is at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    value: MacroValue,
    /// Polynomials.
    size: usize,
    pub level: Level,
    factor: Factor,
    pub noise: Noise,
}

/// Values whose messages may be lost.
#[derive(Clone, Debug)]
pub(super) struct Misfit {
    /// The line of the first.
    pub at: Line,
    /// Bits that the worst of them lacks.
    pub bits: f64,
}

/// A program with levels and factors.
pub(super) struct Managed {
    pub program: MacroProgram,
    /// Where each output is; none of one that is written by no instruction.
    pub outputs: Vec<Option<Placed>>,
    pub misfit: Option<Misfit>,
}

/// What a program is managed for.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub params: &'a Params,
    /// The level at which each input is encrypted.
    pub entry: &'a [Level],
    /// The lowest at which outputs are wanted.
    pub output: Level,
    /// Goes on after the first misfit, for the worst of all.
    pub measure: bool,
    pub watch: &'a Watch,
}

struct Manager<'a> {
    out: Rewriter,
    frame: Frame<'a>,
    model: NoiseModel,
    t: Modulus,
    /// Ciphertexts by old value.
    placed: Vec<Option<Placed>>,
    derived: HashMap<(MacroValue, Derived), Placed>,
    /// Plaintexts by old value and place.
    plains: HashMap<(MacroValue, Level, Factor), MacroValue>,
    /// Instruction that makes each old plaintext value.
    plain_source: HashMap<MacroValue, (MacroOp, MacroImm)>,
    outputs: Vec<Option<Placed>>,
    misfit: Option<Misfit>,
}

/// Instructions between two looks at the watch.
const WATCHED: usize = 1024;

/// The bounds on noise in a program.
pub(super) fn model(program: &MacroProgram, params: &Params) -> NoiseModel {
    // A value is encrypted, or its key is switched, and it is divided by its primes.
    let random = params.cipher_count() + 1;
    NoiseModel::of_program(params, program.types.len().saturating_mul(random))
}

/// Manages a program that has its `RELIN`s.
///
/// # Errors
/// What the watch says.
pub(super) fn run(program: &MacroProgram, frame: Frame<'_>) -> Result<Managed, CompileError> {
    let mut manager = Manager {
        model: model(program, frame.params),
        t: frame.params.plain_modulus().reducer(),
        placed: vec![None; program.types.len()],
        derived: HashMap::new(),
        plains: HashMap::new(),
        plain_source: HashMap::new(),
        outputs: vec![None; program.outputs.len()],
        misfit: None,
        out: Rewriter::beside(program),
        frame,
    };
    for (number, instr) in program.instrs.iter().enumerate() {
        if number % WATCHED == 0 {
            frame.watch.check()?;
        }
        manager.instr(program, instr)?;
        if manager.misfit.is_some() && !frame.measure {
            break;
        }
    }
    Ok(Managed {
        program: manager.out.finish(),
        outputs: manager.outputs,
        misfit: manager.misfit,
    })
}

/// That an earlier pass should have refused or replaced the instruction.
fn misshapen(instr: &MacroInstr) -> CompileError {
    CompileError::Misshapen {
        at: Line(instr.loc.clone()),
        op: instr.op.mnemonic(),
    }
}

impl Manager<'_> {
    fn instr(&mut self, program: &MacroProgram, instr: &MacroInstr) -> Result<(), CompileError> {
        if let (MacroOp::Input | MacroOp::Encode, &[v]) = (instr.op, &*instr.dst) {
            if is_cipher(&program.types, v) {
                self.input(instr, v);
            } else {
                let source = (instr.op, instr.imm.clone());
                self.plain_source.insert(v, source);
            }
            return Ok(());
        }
        let operand = |number: usize| instr.src.get(number).copied();
        let placed = |number: usize| self.placed.get(operand(number)?.0 as usize).copied()?;
        let a = placed(0).ok_or_else(|| misshapen(instr))?;
        let (b, plain) = (placed(1), operand(1));
        match (instr.op, b, plain) {
            (MacroOp::Add | MacroOp::Sub, Some(b), _) => self.sum(instr, a, b)?,
            (MacroOp::Add | MacroOp::Sub, None, Some(plain)) => self.plain_sum(instr, a, plain),
            (MacroOp::Mul, Some(b), _) => self.product(instr, a, b)?,
            (MacroOp::Mul, None, Some(plain)) => self.plain_product(instr, a, plain)?,
            (MacroOp::Square, None, None) => self.square(instr, a)?,
            (MacroOp::Neg | MacroOp::Conj, None, None) => self.same(instr, a, a.noise),
            (MacroOp::Addc, None, None) => {
                let noise = self.model.add_plain(a.noise);
                self.same(instr, a, noise);
            }
            (MacroOp::Mulc, None, None) => self.constant_product(instr, a)?,
            (MacroOp::Relin, None, None) => {
                let noise = self.model.switch_key(a.noise, a.level);
                self.same(instr, Placed { size: 2, ..a }, noise);
            }
            (MacroOp::Rotate | MacroOp::Hrotate, None, None) => self.rotation(instr, a)?,
            (MacroOp::Output, None, None) => self.output(instr, a)?,
            // The macro verifier has refused other shapes, calls, repeats and tests are written out before, and levels and factors
            // are placed here.
            (
                MacroOp::Input
                | MacroOp::Encode
                | MacroOp::Add
                | MacroOp::Sub
                | MacroOp::Mul
                | MacroOp::Square
                | MacroOp::Neg
                | MacroOp::Conj
                | MacroOp::Addc
                | MacroOp::Mulc
                | MacroOp::Relin
                | MacroOp::Rescale
                | MacroOp::Modswitch
                | MacroOp::Refactor
                | MacroOp::Rotate
                | MacroOp::Hrotate
                | MacroOp::Iszero
                | MacroOp::Output
                | MacroOp::Call
                | MacroOp::Repeat,
                ..,
            ) => return Err(misshapen(instr)),
        }
        Ok(())
    }

    /// An encrypted input, fresh at its level.
    fn input(&mut self, instr: &MacroInstr, v: MacroValue) {
        let level = match instr.imm {
            MacroImm::Input(input) => self.frame.entry.get(input as usize).copied(),
            _ => None,
        };
        let fresh = Placed {
            value: v,
            size: 2,
            level: level.unwrap_or(self.frame.params.max_level()),
            factor: Factor::ONE,
            noise: self.model.fresh(),
        };
        self.result(instr, vec![], instr.imm.clone(), fresh);
    }

    /// Emits an instruction whose results are like `like`, and places them.
    fn result(&mut self, instr: &MacroInstr, src: Vec<MacroValue>, imm: MacroImm, like: Placed) {
        let types = vec![like.ty(); instr.dst.len()];
        let made = self.out.push_many(instr.op, src, imm, &types, &instr.loc);
        for (old, value) in instr.dst.iter().zip(made) {
            if let Some(slot) = self.placed.get_mut(old.0 as usize) {
                *slot = Some(Placed { value, ..like });
            }
        }
        self.check(like, instr);
    }

    /// Notes that the message of a value may be lost.
    fn check(&mut self, placed: Placed, instr: &MacroInstr) {
        let lacking = -self.model.room(placed.noise, placed.level);
        if lacking > 0.0 {
            self.lacks(lacking, instr);
        }
    }

    fn lacks(&mut self, bits: f64, instr: &MacroInstr) {
        let first = || Misfit {
            at: Line(instr.loc.clone()),
            bits,
        };
        let misfit = self.misfit.get_or_insert_with(first);
        misfit.bits = misfit.bits.max(bits);
    }

    /// A plaintext of the old program, beside a ciphertext at this place.
    fn plain(
        &mut self,
        old: MacroValue,
        level: Level,
        factor: Factor,
        instr: &MacroInstr,
    ) -> MacroValue {
        if let Some(&known) = self.plains.get(&(old, level, factor)) {
            return known;
        }
        let source = self.plain_source.get(&old).cloned();
        let (op, imm) = source.unwrap_or((MacroOp::Encode, MacroImm::None));
        let at = Some(descend::note(level, factor));
        let ty = MacroType::Plain { at };
        let new = self.out.push(op, Vec::new(), imm, ty, &instr.loc);
        self.plains.insert((old, level, factor), new);
        new
    }
}
