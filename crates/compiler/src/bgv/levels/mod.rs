// SPDX-License-Identifier: Apache-2.0
//! Manages levels and factors of BGV programs. Every value gets a level, a correction factor and a bound on its noise.
//! This module inserts divisions by primes (`RESCALE`), dropped primes (`MODSWITCH`) and products with an integer that
//! change factors (`REFACTOR`), so that no mismatch can reach the user.
//!
//! Noise decides the level. Products, of ciphertexts or with plaintexts, multiply noise, and rotations cost more with
//! more primes. So such a product happens at the lowest level that leaves the result as much room for noise as any
//! level does, up to an eighth of a bit. A rotation may give up two bits. A sum happens at the lower of its operands'
//! levels. Negations, relinearisations and operations with a constant happen at their operand's level. For a product, a
//! rotation or an output, a value goes down by divisions while each of them lowers its noise by a bit or more. For a
//! sum it goes down by the fewest divisions that leave the sum about the least noise. The rest of the way it drops
//! primes, which costs nothing and leaves noise and factor as they are.

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

/// A ciphertext of a program with levels: its value, its level, its correction factor, and the
/// bound on its phase.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    value: MacroValue,
    /// The number of polynomials of the ciphertext: 2, or 3 after a product.
    size: usize,
    pub level: Level,
    factor: Factor,
    pub noise: Noise,
}

/// For a value of the source program, its ciphertext in the program with levels. `since` is the
/// number of the instruction at which the value was made or last bootstrapped.
#[derive(Clone, Copy, Debug)]
struct Known {
    placed: Placed,
    since: usize,
}

/// The values of a program whose messages may be lost. Their noise exceeds the bound of their level or of a bootstrap
/// or call that reads them, or they lack levels.
#[derive(Clone, Debug)]
pub struct Misfit {
    /// The line of the user's program at which the first value is lost: that of the instruction that makes it, or that
    /// reads it at another level or bootstraps it.
    pub at: Line,
    /// The number, in the source program, of the instruction with this line.
    pub number: usize,
    /// The bits that the worst lost value lacks: those by which its noise exceeds the bound. A value that lacks levels
    /// before a bootstrap or a call lacks one bit more than levels, and an output the bits of the primes of its missing
    /// levels.
    pub bits: f64,
}

/// A managed program, which has levels and correction factors. With a misfit it may end at the instruction at which the
/// first value is lost.
pub struct Managed {
    pub program: MacroProgram,
    /// The ciphertext of each output, or `None` for an output that no instruction writes.
    pub outputs: Vec<Option<Placed>>,
    pub misfit: Option<Misfit>,
    /// The program's cost in transforms of a limb, as [`Manager::cost`] counts it.
    pub cost: f64,
}

/// The conditions under which the values of a program get their levels: parameters, levels of
/// inputs and outputs, and bootstrapping.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    pub params: &'a Params,
    /// The level at which each input is encrypted.
    pub entry: &'a [Level],
    /// The lowest level at which outputs may end.
    pub output: Level,
    /// Whether level management continues after the first value whose message may be lost, to find
    /// the value that lacks most bits.
    pub measure: bool,
    /// The way in which values are bootstrapped, for programs of any depth. `None` for levelled programs, which do not
    /// bootstrap.
    pub deep: Option<Deep<'a>>,
    pub watch: &'a Watch,
}

/// The state of level management before one instruction of a BGV program: the levels, correction factors and noise of
/// its values so far, and the program with levels that is being written.
#[derive(Clone)]
pub struct Manager<'a> {
    /// The writer of the program with levels, or `None` in a trial, whose instructions nobody
    /// needs.
    out: Option<Rewriter>,
    /// The number of values that the program with levels has so far.
    made: u32,
    /// The cost of the instructions so far, in transforms of a limb. It stays 0 for a program
    /// without bootstraps.
    cost: f64,
    /// The number, in the source program, of the instruction whose results get their levels now.
    at: usize,
    /// The source values that were bootstrapped, each with the cut that demanded it. A cut is the number of the
    /// instruction before which live values are bootstrapped.
    refreshed: Vec<(MacroValue, usize)>,
    /// The cuts (places in the program) at which live values are bootstrapped, if `frame` allows bootstraps.
    placement: Rc<Placement>,
    frame: Frame<'a>,
    model: NoiseModel,
    t: Modulus,
    /// For each ciphertext prime, the number modulo t by which a division by the prime multiplies the correction
    /// factor.
    divisions: Rc<[Factor]>,
    /// For each value of the source program, its ciphertext in the program with levels.
    known: HashMap<MacroValue, Known>,
    derived: BTreeMap<(MacroValue, Derived), Placed>,
    /// For each plaintext of the source program, its value in the program with levels, by the level
    /// and the correction factor for which it is encoded.
    plains: HashMap<(MacroValue, Level, Factor), MacroValue>,
    /// The instruction that makes each plaintext value of the source program.
    plain_source: HashMap<MacroValue, (MacroOp, MacroImm)>,
    outputs: Vec<Option<Placed>>,
    misfit: Option<Misfit>,
}

/// The number of instructions between two checks whether the work was stopped.
const WATCHED: usize = 1024;

/// Returns the noise model for a program with these parameters.
pub(super) fn model(program: &MacroProgram, params: &Params) -> NoiseModel {
    // Each value takes at most one encryption or key switch, and one division by each prime.
    let random = params.cipher_count() + 1;
    NoiseModel::of_program(params, program.types.len().saturating_mul(random))
}

/// Gives each value of a program a level and a correction factor. Relinearisations (`RELIN`) are
/// placed already.
///
/// # Errors
/// Fails if the work is stopped, or for an instruction that BGV's level management does not take. Fails for a
/// ciphertext prime that has a common factor with the plaintext modulus.
pub(super) fn run(program: &MacroProgram, frame: Frame<'_>) -> Result<Managed, CompileError> {
    run_with(program, frame, &Rc::default())
}

/// Gives each value of a program a level and a correction factor as [`run`] does, with live values
/// bootstrapped at the cuts of a placement, which are places in the program.
///
/// # Errors
/// Fails like [`run`].
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

/// Returns the cheapest placement of bootstraps that the search finds under the conditions of `frame`, and its cost. If
/// the search finds no placement that saves every value, it returns the first lost value on the way that reaches
/// farthest, with the bits that it lacks.
///
/// # Errors
/// Fails like [`run`].
pub(super) fn best(
    program: &MacroProgram,
    frame: Frame<'_>,
) -> Result<Result<(Placement, f64), Misfit>, CompileError> {
    let measure = false;
    let start = Manager::new(program, Frame { measure, ..frame })?;
    refreshing::best(program, &start)
}

/// Returns the error for an instruction that an earlier pass should have refused or replaced.
fn misshapen(instr: &MacroInstr) -> CompileError {
    CompileError::Misshapen {
        at: Line(instr.loc.clone()),
        op: instr.op.mnemonic(),
    }
}

impl<'a> Manager<'a> {
    /// Makes the level manager of a program for trials. It follows levels, noise and costs, but
    /// writes no instructions.
    ///
    /// # Errors
    /// Fails for a ciphertext prime that has a common factor with the plaintext modulus t.
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

    /// Returns the correction factor that a ciphertext at `level` has after a division by its last prime.
    fn divided_factor(&self, factor: Factor, level: Level) -> Factor {
        match self.divisions.get(level.index()) {
            Some(&by) => factor.times(by, self.t),
            None => factor,
        }
    }

    /// Processes one instruction of the source program, given by its number: gives its results
    /// levels, and writes the instruction into the program with levels.
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

    /// Writes an input, encrypted afresh at the level that `frame` names. A procedure's parameter
    /// gets the level and noise that the procedure's convention names for arguments.
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

    /// Writes an instruction whose results have the level, correction factor and noise of `like`, and records them.
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

    /// Records the values `made` as the results of a source instruction, with the level, correction factor and noise of
    /// `like`.
    fn known_as(&mut self, instr: &MacroInstr, made: &[MacroValue], like: Placed) {
        for (&old, &value) in instr.dst.iter().zip(made) {
            let placed = Placed { value, ..like };
            self.know(old, placed);
        }
    }

    /// Records the ciphertext of the program with levels that stands for a value of the source
    /// program from now on.
    fn know(&mut self, old: MacroValue, placed: Placed) {
        let since = self.at;
        self.known.insert(old, Known { placed, since });
    }

    /// Writes an instruction into the program with levels. In a trial it only gives the results
    /// numbers.
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

    /// Adds to the program's cost that of an instruction with `results` results, each at the level and of the size of
    /// `like`. `plain` says whether an operand is a plaintext. Only programs that bootstrap count costs.
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

    /// Records a misfit (lost value) if the noise of a value exceeds the bound of its level.
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

    /// Returns the plaintext that stands for a plaintext `old` of the source program, encoded for a
    /// ciphertext of this level and correction factor.
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

/// The visitor that gives each kind of instruction its level, correction factor and noise.
struct Managing<'m, 'a> {
    manager: &'m mut Manager<'a>,
    program: &'m MacroProgram,
}

type Done = Result<(), CompileError>;

impl Managing<'_, '_> {
    /// Returns the operand of an instruction that has one operand.
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

    /// Returns the second operand of an instruction: a ciphertext, or else the source value of a plaintext.
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

    /// Writes a `CONJ`. Its result has the level, factor and noise of its operand, since whole
    /// numbers are their own conjugates.
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
            // A bootstrapped value is relinearised already.
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
