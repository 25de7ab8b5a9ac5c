// SPDX-License-Identifier: Apache-2.0
//! Level and factor management: every value gets a level, a correction factor and a bound on its noise. Divisions by primes
//! (`RESCALE`), dropped primes (`MODSWITCH`) and products that make factors equal (`REFACTOR`) go in where they are needed, so
//! that no mismatch can reach the user.
//!
//! Noise decides. What grows it as much as it is large (products, of ciphertexts or with plaintexts) and what is the dearer the
//! more primes there are (rotations) happens at the lowest level that leaves the result all the room there can be; sums happen
//! where their operands are. A value goes down by divisions while these lower its noise, then by dropping primes, which costs
//! nothing and leaves noise and factor as they are.

mod descend;
mod refresh;
mod result;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use ringmill_isa::Level;
use ringmill_isa::macros::{
    Constant, MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue, Visitor,
};
use ringmill_limits::Watch;
use ringmill_math::Modulus;
use ringmill_schemes::bgv::{ExactParams, Factor, Noise, NoiseModel, Params};
use ringmill_schemes::rlwe::RlweError;

use super::CompileError;
use crate::error::At as Line;
use crate::refresh::{self as refreshing, Placement};
use crate::rewrite::{Rewriter, is_cipher};
use descend::Derived;
pub use refresh::{Callee, Convention, Deep};

/// A value of the new program: where it is, and how large its phase is at most.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
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
pub struct Misfit {
    /// The line of the first.
    pub at: Line,
    /// The instruction that makes the first, by its place in the program that is managed.
    pub number: usize,
    /// Bits that the worst of them lacks.
    pub bits: f64,
}

/// A program with levels and factors.
pub struct Managed {
    pub program: MacroProgram,
    /// Where each output is; none of one that is written by no instruction.
    pub outputs: Vec<Option<Placed>>,
    pub misfit: Option<Misfit>,
    /// [`Manager::cost`].
    pub cost: f64,
}

/// What a program is managed for.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
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
pub struct Manager<'a> {
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
    /// Where values are refreshed, if `frame` says how.
    placement: Rc<Placement>,
    frame: Frame<'a>,
    model: NoiseModel,
    t: Modulus,
    /// By which a division by each ciphertext prime multiplies the factor.
    divisions: Rc<[Factor]>,
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
    run_with(program, frame, &Rc::default())
}

/// The same with values refreshed where the placement says.
///
/// # Errors
/// As [`run`].
pub(super) fn run_with(
    program: &MacroProgram,
    frame: Frame<'_>,
    placement: &Rc<Placement>,
) -> Result<Managed, CompileError> {
    let mut manager = Manager::new(program, frame)?;
    manager.placement = Rc::clone(placement);
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

/// Where values are best refreshed in the frame, and what that costs; what is lacking at the first value that no placement saves.
///
/// # Errors
/// As [`run`].
pub(super) fn best(
    program: &MacroProgram,
    frame: Frame<'_>,
) -> Result<Result<(Placement, f64), Misfit>, CompileError> {
    let measure = false;
    let start = Manager::new(program, Frame { measure, ..frame })?;
    refreshing::best(program, &start)
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
    ///
    /// # Errors
    /// A prime that t has a factor in common with.
    pub fn new(program: &MacroProgram, frame: Frame<'a>) -> Result<Self, CompileError> {
        let t = frame.params.plain_modulus().reducer();
        let primes = frame
            .params
            .moduli()
            .iter()
            .take(frame.params.cipher_count());
        let divisions: Result<Rc<[Factor]>, RlweError> =
            primes.map(|&prime| Factor::ONE.over(prime, t)).collect();
        Ok(Self {
            model: model(program, frame.params),
            t,
            divisions: divisions?,
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
            placement: Rc::default(),
            frame,
        })
    }

    /// The factor of a ciphertext at `level` after a division by its last prime.
    fn divided_factor(&self, factor: Factor, level: Level) -> Factor {
        match self.divisions.get(level.index()) {
            Some(&by) => factor.times(by, self.t),
            None => factor,
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
        let manager = self;
        Managing { manager, program }.visit(instr)
    }

    /// An encrypted input, fresh at its level.
    fn input(&mut self, instr: &MacroInstr, v: MacroValue) -> Result<(), CompileError> {
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
        self.result(instr, vec![], instr.imm.clone(), fresh)
    }

    /// Emits an instruction whose results are like `like`, and places them.
    fn result(
        &mut self,
        instr: &MacroInstr,
        src: Vec<MacroValue>,
        imm: MacroImm,
        like: Placed,
    ) -> Result<(), CompileError> {
        let plain = src.len() == 2 && !instr.src.iter().all(|&v| self.is_placed(v));
        self.charge(instr.op, like, instr.dst.len(), plain)?;
        let types = vec![like.ty(); instr.dst.len()];
        let made = self.emit(instr.op, src, imm, &types, instr);
        self.known_as(instr, &made, like);
        self.check(like, instr);
        Ok(())
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
    fn charge(
        &mut self,
        op: MacroOp,
        like: Placed,
        results: usize,
        plain: bool,
    ) -> Result<(), CompileError> {
        if let Some(deep) = self.frame.deep {
            self.cost += deep.costs.of(op, like.level, like.size, results, plain)?;
        }
        Ok(())
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
            number: self.at,
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

/// What is done for each instruction of a program.
struct Managing<'m, 'a> {
    manager: &'m mut Manager<'a>,
    program: &'m MacroProgram,
}

type Done = Result<(), CompileError>;

impl Managing<'_, '_> {
    /// The operand of an instruction that has one.
    fn one(&mut self, instr: &MacroInstr) -> Result<Placed, CompileError> {
        match *instr.src {
            [_] => self.first(instr),
            _ => Err(misshapen(instr)),
        }
    }

    fn first(&mut self, instr: &MacroInstr) -> Result<Placed, CompileError> {
        let a = self.manager.operand(instr, 0)?;
        a.ok_or_else(|| misshapen(instr))
    }

    /// The second operand: a ciphertext, or else a plaintext.
    fn second(&mut self, instr: &MacroInstr) -> Result<Result<Placed, MacroValue>, CompileError> {
        let b = self.manager.operand(instr, 1)?;
        match (b, instr.src.get(1)) {
            (Some(b), _) => Ok(Ok(b)),
            (None, Some(&plain)) => Ok(Err(plain)),
            (None, None) => Err(misshapen(instr)),
        }
    }

    fn source(&mut self, instr: &MacroInstr) -> Done {
        let &[v] = &*instr.dst else {
            return Err(misshapen(instr));
        };
        if is_cipher(&self.program.types, v) {
            return self.manager.input(instr, v);
        }
        if self.manager.out.is_some() {
            let source = (instr.op, instr.imm.clone());
            self.manager.plain_source.insert(v, source);
        }
        Ok(())
    }
}

impl Visitor for Managing<'_, '_> {
    const PASS: &'static str = "BGV's choice of levels";
    type Out = ();
    type Error = CompileError;

    fn input(&mut self, instr: &MacroInstr, _: u32) -> Done {
        self.source(instr)
    }

    fn encode(&mut self, instr: &MacroInstr, _: u32) -> Done {
        self.source(instr)
    }

    fn call(&mut self, instr: &MacroInstr, _: u32) -> Done {
        self.manager.call(instr)
    }

    fn repeat(&mut self, instr: &MacroInstr, _: u32, _: u64) -> Done {
        self.manager.call(instr)
    }

    fn add(&mut self, instr: &MacroInstr) -> Done {
        let a = self.first(instr)?;
        match self.second(instr)? {
            Ok(b) => self.manager.sum(instr, a, b),
            Err(plain) => self.manager.plain_sum(instr, a, plain),
        }
    }

    fn sub(&mut self, instr: &MacroInstr) -> Done {
        self.add(instr)
    }

    fn mul(&mut self, instr: &MacroInstr) -> Done {
        let a = self.first(instr)?;
        match self.second(instr)? {
            Ok(b) => self.manager.product(instr, a, b),
            Err(plain) => self.manager.plain_product(instr, a, plain),
        }
    }

    fn square(&mut self, instr: &MacroInstr) -> Done {
        let a = self.one(instr)?;
        self.manager.square(instr, a)
    }

    fn neg(&mut self, instr: &MacroInstr) -> Done {
        let a = self.one(instr)?;
        self.manager.same(instr, a, a.noise)
    }

    /// A conjugate of whole numbers is what it is of.
    fn conj(&mut self, instr: &MacroInstr) -> Done {
        self.neg(instr)
    }

    fn addc(&mut self, instr: &MacroInstr, _: Constant) -> Done {
        let a = self.one(instr)?;
        let noise = self.manager.model.add_plain(a.noise);
        self.manager.same(instr, a, noise)
    }

    fn mulc(&mut self, instr: &MacroInstr, _: Constant) -> Done {
        let a = self.one(instr)?;
        self.manager.constant_product(instr, a)
    }

    fn quotient(&mut self, instr: &MacroInstr, _: Constant) -> Done {
        let a = self.one(instr)?;
        self.manager.quotient(instr, a)
    }

    fn relin(&mut self, instr: &MacroInstr) -> Done {
        let a = self.one(instr)?;
        if a.size == 2 {
            // What was refreshed is relinearised.
            self.manager.known_as(instr, &[a.value], a);
            return Ok(());
        }
        let noise = self.manager.model.switch_key(a.noise, a.level);
        self.manager.same(instr, Placed { size: 2, ..a }, noise)
    }

    fn rotate(&mut self, instr: &MacroInstr, _: &[i32]) -> Done {
        let a = self.one(instr)?;
        self.manager.rotation(instr, a)
    }

    fn hrotate(&mut self, instr: &MacroInstr, steps: &[i32]) -> Done {
        self.rotate(instr, steps)
    }

    fn output(&mut self, instr: &MacroInstr, _: u32) -> Done {
        let a = self.one(instr)?;
        self.manager.output(instr, a)
    }
}
