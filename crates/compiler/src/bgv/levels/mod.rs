//! Level and factor management: every value gets a level, a correction factor and a bound on its noise. Divisions by primes
//! (`RESCALE`), dropped primes (`MODSWITCH`) and products that make factors equal (`REFACTOR`) go in where they are needed, so
//! that no mismatch can reach the user.
//!
//! Noise decides. What grows it as much as it is large (products, of ciphertexts or with plaintexts) and what is the dearer the
//! more primes there are (rotations) happens at the lowest level that leaves the result all the room there can be; sums happen
//! where their operands are. A value goes down by divisions while these lower its noise, then by dropping primes, which costs
//! nothing and leaves noise and factor as they are.

mod descend;
mod place;
mod refresh;
mod result;

use std::collections::{BTreeMap, HashMap};

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue};
use ringmill_limits::Watch;
use ringmill_math::Modulus;
use ringmill_schemes::bgv::{ExactParams, Factor, Noise, NoiseModel, Params};

use super::CompileError;
use crate::error::At as Line;
use crate::rewrite::{Rewriter, is_cipher};
use descend::Derived;
pub(super) use place::{Placement, best};
pub(super) use refresh::{Callee, Convention, Deep};

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

/// A value of the old program: where it is, and the instruction at which it was made or last refreshed.
#[derive(Clone, Copy, Debug)]
struct Known {
    placed: Placed,
    since: usize,
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
    /// [`Manager::cost`].
    pub cost: f64,
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
    /// How values are refreshed, in programs of any depth.
    pub deep: Option<Deep<'a>>,
    pub watch: &'a Watch,
}

#[derive(Clone)]
struct Manager<'a> {
    /// None of a trial, whose instructions nobody wants.
    out: Option<Rewriter>,
    /// Values so far.
    made: u32,
    /// What the instructions so far cost, in transforms of a limb, where that is asked for.
    cost: f64,
    /// The instruction that is managed.
    at: usize,
    /// Old values that were refreshed, and the cut that wanted it.
    refreshed: Vec<(MacroValue, usize)>,
    frame: Frame<'a>,
    model: NoiseModel,
    t: Modulus,
    /// Ciphertexts by old value.
    known: HashMap<MacroValue, Known>,
    derived: BTreeMap<(MacroValue, Derived), Placed>,
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
    let mut manager = Manager::new(program, frame);
    manager.out = Some(Rewriter::beside(program));
    for number in 0..program.instrs.len() {
        manager.next(program, number)?;
        if manager.misfit.is_some() && !frame.measure {
            break;
        }
    }
    Ok(Managed {
        program: manager
            .out
            .map(Rewriter::finish)
            .unwrap_or_else(|| program.clone()),
        outputs: manager.outputs,
        misfit: manager.misfit,
        cost: manager.cost,
    })
}

/// That an earlier pass should have refused or replaced the instruction.
fn misshapen(instr: &MacroInstr) -> CompileError {
    CompileError::Misshapen {
        at: Line(instr.loc.clone()),
        op: instr.op.mnemonic(),
    }
}

impl<'a> Manager<'a> {
    /// One that makes no instructions.
    fn new(program: &MacroProgram, frame: Frame<'a>) -> Self {
        Self {
            model: model(program, frame.params),
            t: frame.params.plain_modulus().reducer(),
            known: HashMap::new(),
            derived: BTreeMap::new(),
            plains: HashMap::new(),
            plain_source: HashMap::new(),
            outputs: vec![None; program.outputs.len()],
            misfit: None,
            out: None,
            made: 0,
            cost: 0.0,
            at: 0,
            refreshed: Vec::new(),
            frame,
        }
    }

    /// Manages an instruction of the program, by its number.
    fn next(&mut self, program: &MacroProgram, number: usize) -> Result<(), CompileError> {
        if number.is_multiple_of(WATCHED) {
            self.frame.watch.check()?;
        }
        self.at = number;
        match program.instrs.get(number) {
            Some(instr) => self.instr(program, instr),
            None => Ok(()),
        }
    }

    fn instr(&mut self, program: &MacroProgram, instr: &MacroInstr) -> Result<(), CompileError> {
        if let (MacroOp::Input | MacroOp::Encode, &[v]) = (instr.op, &*instr.dst) {
            if is_cipher(&program.types, v) {
                self.input(instr, v);
            } else if self.out.is_some() {
                let source = (instr.op, instr.imm.clone());
                self.plain_source.insert(v, source);
            }
            return Ok(());
        }
        if matches!(instr.op, MacroOp::Call | MacroOp::Repeat) {
            return self.call(instr);
        }
        let a = self.operand(instr, 0)?;
        let a = a.ok_or_else(|| misshapen(instr))?;
        let (b, plain) = (self.operand(instr, 1)?, instr.src.get(1).copied());
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
            (MacroOp::Quotient, None, None) => self.quotient(instr, a)?,
            // What was refreshed is relinearised.
            (MacroOp::Relin, None, None) if a.size == 2 => self.known_as(instr, &[a.value], a),
            (MacroOp::Relin, None, None) => {
                let noise = self.model.switch_key(a.noise, a.level);
                self.same(instr, Placed { size: 2, ..a }, noise);
            }
            (MacroOp::Rotate | MacroOp::Hrotate, None, None) => self.rotation(instr, a)?,
            (MacroOp::Output, None, None) => self.output(instr, a)?,
            // The macro verifier has refused other shapes, calls, repeats and tests are written out before, levels and factors
            // are placed here, and what moves is said by the last pass.
            (
                MacroOp::Input
                | MacroOp::Encode
                | MacroOp::Load
                | MacroOp::Morph
                | MacroOp::Ksw
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
                | MacroOp::Quotient
                | MacroOp::Bootstrap
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
        let given = self.frame.deep.and_then(|deep| deep.convention);
        let fresh = given.map_or(fresh, |convention| convention.given(v));
        self.result(instr, vec![], instr.imm.clone(), fresh);
    }

    /// Emits an instruction whose results are like `like`, and places them.
    fn result(&mut self, instr: &MacroInstr, src: Vec<MacroValue>, imm: MacroImm, like: Placed) {
        let plain = src.len() == 2 && !instr.src.iter().all(|&v| self.is_placed(v));
        self.charge(instr.op, like, instr.dst.len(), plain);
        let types = vec![like.ty(); instr.dst.len()];
        let made = self.emit(instr.op, src, imm, &types, instr);
        self.known_as(instr, &made, like);
        self.check(like, instr);
    }

    /// Notes that the results of an instruction are these values, like `like`.
    fn known_as(&mut self, instr: &MacroInstr, made: &[MacroValue], like: Placed) {
        for (&old, &value) in instr.dst.iter().zip(made) {
            let placed = Placed { value, ..like };
            self.know(old, placed);
        }
    }

    /// Notes where a value of the old program is from now on.
    fn know(&mut self, old: MacroValue, placed: Placed) {
        let since = self.at;
        self.known.insert(old, Known { placed, since });
    }

    /// Makes an instruction; of a trial, numbers alone.
    fn emit(
        &mut self,
        op: MacroOp,
        src: Vec<MacroValue>,
        imm: MacroImm,
        types: &[MacroType],
        instr: &MacroInstr,
    ) -> Vec<MacroValue> {
        let first = self.made;
        self.made += types.len() as u32;
        match &mut self.out {
            Some(out) => out.push_many(op, src, imm, types, &instr.loc),
            None => (first..self.made).map(MacroValue).collect(),
        }
    }

    fn is_placed(&self, old: MacroValue) -> bool {
        self.known.contains_key(&old)
    }

    /// Adds the cost of an instruction whose results are so many like `like`.
    fn charge(&mut self, op: MacroOp, like: Placed, results: usize, plain: bool) {
        if let Some(deep) = self.frame.deep {
            self.cost += deep.costs.of(op, like.level, like.size, results, plain);
        }
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
        if self.out.is_none() {
            return old;
        }
        if let Some(&known) = self.plains.get(&(old, level, factor)) {
            return known;
        }
        let source = self.plain_source.get(&old).cloned();
        let (op, imm) = source.unwrap_or((MacroOp::Encode, MacroImm::None));
        let at = Some(descend::note(level, factor));
        let ty = MacroType::Plain { at };
        let new = self.emit(op, Vec::new(), imm, &[ty], instr);
        let new = new.first().copied().unwrap_or(old);
        self.plains.insert((old, level, factor), new);
        new
    }
}
