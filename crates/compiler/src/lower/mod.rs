// SPDX-License-Identifier: Apache-2.0
//! Lowers a macro program with levels to the mid level. Each macro instruction that computes becomes one call of a
//! cached procedure, which the scheme names ([`Compiles::code`]). Procedures become blocks, and calls and repeats run
//! them. `MUL`, `SQUARE` and `MORPH` whose only use is their `RELIN` or `KSW` become one call with it.

mod blocks;
mod call;
mod outside;

use std::collections::HashMap;

use ringmill_isa::macros::{
    MacroImm, MacroInstr, MacroOp, MacroProc, MacroProgram, MacroType, MacroValue,
};
use ringmill_isa::mid::pack::{Loose, pack};
use ringmill_isa::mid::walk::Held;
use ringmill_isa::mid::{Form, HeadOutput, InputRole, ModulusId, Operand, Program, Step, Verified};
use ringmill_isa::{Level, Poly};
use ringmill_limits::Watch;
use ringmill_math::Ring;
use ringmill_schemes::{At, ParameterSet, ProcCache};

use outside::Outside;

use crate::error::{At as Line, CompileError};
use crate::rewrite::{is_cipher, use_counts};
use crate::scheme::options::Options;
use crate::scheme::{Code, Compiles, ErrorOf, Lowerable, place};

/// The source of a plaintext that is encoded before the program runs, or when it is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PlainSource {
    /// A constant vector of the program with levels, by its index in that program's `data`.
    /// Simplification adds vectors to those of the traced program.
    Data(u32),
    /// A plain input of the program with levels, by its index in that program's list `inputs`.
    Input(u32),
    /// A constant polynomial of the bootstrap's procedure, by its number there. Its integer
    /// coefficients are reduced modulo each prime of its level.
    Lifted(u32),
}

/// An encoded plaintext that the program takes as input: its source, its level and its annotation (scale or correction
/// factor).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlainRequest<S: Compiles> {
    pub from: PlainSource,
    pub at: At<S::Annotation>,
}

/// A mid-level program, and the sources of the plaintexts that it takes.
#[derive(Debug)]
pub struct Lowered<S: Compiles> {
    pub program: Verified,
    pub plaintexts: Vec<PlainRequest<S>>,
    /// For each of the program's procedures, the macro instructions that it computes.
    pub stands_for: Vec<&'static [MacroOp]>,
}

/// The limbs of a macro value, polynomial by polynomial.
type Limbs = Vec<Vec<Held>>;

/// The state of lowering one body of instructions, the program's own or a block's.
struct Scope<'a> {
    types: &'a [MacroType],
    steps: Vec<Loose>,
    /// The number of limbs that the body has so far.
    made: u32,
    limbs: Vec<Limbs>,
    /// For each product or `MORPH` that is lowered together with its key switch, the instruction with its operands.
    fused: HashMap<MacroValue, MacroInstr>,
    /// The keys and constants whose limbs come into the program at their first use.
    outside: HashMap<MacroValue, Outside>,
}

impl<'a> Scope<'a> {
    fn new(types: &'a [MacroType]) -> Self {
        Self {
            types,
            steps: Vec::new(),
            made: 0,
            limbs: vec![Vec::new(); types.len()],
            fused: HashMap::new(),
            outside: HashMap::new(),
        }
    }
}

struct Lowering<'a, S: Compiles> {
    source: &'a MacroProgram,
    procs: &'a ProcCache<S>,
    ring: Ring,
    seeded: bool,
    watch: &'a Watch,
    /// The procedure that a `BOOTSTRAP` calls, if the program bootstraps.
    linked: Option<&'a MacroProc>,
    /// The block of the bootstrap's procedure, once it is made.
    bootstrap: Option<u32>,
    /// For each procedure that was lowered, the number of its block.
    block_of_proc: Vec<u32>,
    /// The mid-level program without its steps.
    program: Program,
    scope: Scope<'a>,
    /// The limb of each of the program's outputs.
    outputs: Vec<Held>,
    /// The index in `program.procs` of each operation's procedure.
    proc_of: HashMap<S::Operation, u32>,
    plaintexts: Vec<PlainRequest<S>>,
    key_numbers: HashMap<S::KeyName, u32>,
    key_limbs: HashMap<(u32, Poly, ModulusId), Held>,
    constant_limbs: HashMap<(u32, ModulusId), Held>,
    seed_of_key: HashMap<u32, u32>,
    stands_for: Vec<&'static [MacroOp]>,
}

/// Lowers a program with levels, `source`, which needs the evaluation keys `keys`. A
/// `BOOTSTRAP` calls the last procedure of the program `linked`.
///
/// # Errors
/// Fails for constants that cannot be encoded, with errors of the scheme layer and of the verifier, or if the work is
/// stopped.
pub fn run<S: Compiles>(
    source: &MacroProgram,
    keys: &[S::KeyName],
    procs: &ProcCache<S>,
    (linked, options): (Option<&MacroProgram>, &Options<S>),
) -> Result<Lowered<S>, ErrorOf<S>> {
    let params = procs.params();
    let mut lowering = Lowering {
        source,
        procs,
        ring: Ring::full(params.log_n()),
        seeded: options.seeded(),
        watch: &options.watch,
        linked: linked.and_then(|program| program.procs.last()),
        bootstrap: None,
        block_of_proc: Vec::new(),
        program: Program::empty(params.log_n(), params.table()),
        scope: Scope::new(&source.types),
        outputs: Vec::new(),
        proc_of: HashMap::new(),
        plaintexts: Vec::new(),
        key_numbers: keys.iter().cloned().zip(0..).collect(),
        key_limbs: HashMap::new(),
        constant_limbs: HashMap::new(),
        seed_of_key: HashMap::new(),
        stands_for: Vec::new(),
    };
    for proc in &source.procs {
        let block = lowering.procedure(proc)?;
        lowering.block_of_proc.push(block);
    }
    lowering.body(&source.instrs)?;
    let Lowering {
        mut program,
        scope: Scope { steps, made, .. },
        outputs,
        plaintexts,
        stands_for,
        ..
    } = lowering;
    let (steps, outputs) = pack(0, made as usize, steps, &outputs);
    program.steps = steps;
    if options.explicit() {
        program.steps.push(Step::halt());
    }
    for (output, from) in program.outputs.iter_mut().zip(outputs) {
        output.from = from;
    }
    Ok(Lowered {
        program: Verified::new(program)?,
        plaintexts,
        stands_for,
    })
}

impl<'a, S: Compiles> Lowering<'a, S> {
    /// Lowers the instructions of a body, the program's or a procedure's, to steps of the current
    /// scope.
    fn body(&mut self, instrs: &[MacroInstr]) -> Result<(), ErrorOf<S>> {
        let types = self.scope.types;
        let uses = use_counts(instrs, types.len());
        let mut switched = vec![false; types.len()];
        let switches = |i: &&MacroInstr| matches!(i.op, MacroOp::Relin | MacroOp::Ksw);
        for instr in instrs.iter().filter(switches) {
            let operands = instr.src.iter();
            operands.for_each(|v| switched[v.0 as usize] = true);
        }
        for instr in instrs {
            self.watch.check()?;
            let fuses = |v: &MacroValue| switched[v.0 as usize] && uses[v.0 as usize] == 1;
            match (instr.op, instr.dst.as_slice()) {
                (MacroOp::Square | MacroOp::Morph, [v]) if fuses(v) => {
                    self.scope.fused.insert(*v, instr.clone());
                }
                (MacroOp::Mul, [v])
                    if fuses(v) && instr.src.iter().all(|&s| is_cipher(types, s)) =>
                {
                    self.scope.fused.insert(*v, instr.clone());
                }
                _ => self.instr(instr)?,
            }
        }
        Ok(())
    }

    /// Returns the level of a value, or the lowest level for a value without one.
    fn level(&self, value: MacroValue) -> Level {
        let at = self.scope.types[value.0 as usize].at();
        at.map_or(Level::LOWEST, |at| at.level)
    }

    fn instr(&mut self, instr: &MacroInstr) -> Result<(), ErrorOf<S>> {
        match (instr.op, instr.src.as_slice(), &instr.imm) {
            (MacroOp::Input, [], &MacroImm::Input(i)) => self.program_input(instr, i)?,
            (MacroOp::Encode, [], &MacroImm::Data(d)) => {
                self.plaintext(instr, PlainSource::Data(d))?
            }
            (MacroOp::Output, &[a], &MacroImm::Output(o)) => self.output(a, o),
            (MacroOp::Bootstrap, ..) => self.bootstrap(instr)?,
            (MacroOp::Call, _, &MacroImm::Proc(proc)) => self.enter(proc, None, instr)?,
            (MacroOp::Repeat, _, &MacroImm::Repeat { proc, count }) => {
                self.enter(proc, Some(count), instr)?
            }
            (MacroOp::Lift, [], &MacroImm::Lifted(number)) => self.lift(instr, number)?,
            // The mid level does not say in which memory a limb lies, so a `LOAD` computes nothing.
            (MacroOp::Load, &[a], _) => {
                let limbs = self.scope.limbs[a.0 as usize].clone();
                self.define(instr, limbs);
            }
            (MacroOp::Relin | MacroOp::Ksw, [a], _) => match self.scope.fused.remove(a) {
                Some(product) => self.computed(&product, instr, true)?,
                None => self.computed(instr, instr, false)?,
            },
            _ => self.computed(instr, instr, false)?,
        }
        Ok(())
    }

    /// Lowers the instruction `instr`. Its code defines the limbs of the results of
    /// `to`, which is `instr` itself or the key switch that is fused with it.
    fn computed(
        &mut self,
        instr: &MacroInstr,
        to: &MacroInstr,
        switched: bool,
    ) -> Result<(), ErrorOf<S>> {
        let lowerable = Lowerable {
            types: self.scope.types,
            instr,
            switched,
            seeded: self.seeded,
        };
        match (S::code(self.procs.params(), &lowerable)?, &*instr.src) {
            (
                Code::Call {
                    operation,
                    keys,
                    immediates,
                },
                _,
            ) => self.call(operation, immediates, &keys, instr, to),
            (Code::Kept, &[a]) => {
                let primes = to.dst.first().map_or(0, |&d| self.level(d).primes());
                let limbs = self.scope.limbs[a.0 as usize].iter();
                let kept = limbs.map(|p| p.iter().take(primes).copied().collect());
                let kept = kept.collect();
                self.define(to, kept);
                Ok(())
            }
            (Code::Kept, _) => Err(lowerable.misshapen()),
            (Code::Key(name), _) => self.key(&name, to),
        }
    }

    fn define(&mut self, instr: &MacroInstr, limbs: Limbs) {
        if let Some(v) = instr.dst.first() {
            self.scope.limbs[v.0 as usize] = limbs;
        }
    }

    fn program_input(&mut self, instr: &MacroInstr, input: u32) -> Result<(), ErrorOf<S>> {
        let Some(&v) = instr.dst.first() else {
            return Ok(());
        };
        if self.scope.types[v.0 as usize].polys().is_none() {
            return self.plaintext(instr, PlainSource::Input(input));
        }
        let name = self
            .source
            .inputs
            .get(input as usize)
            .map_or("", |i| i.name.as_str())
            .to_owned();
        let limbs = Poly::of(S::FRESH_POLYS as u32)
            .map(|poly| {
                Self::moduli_at(self.level(v))
                    .map(|q| {
                        self.input(
                            format!("{name}.c{poly}.q{}", q.0),
                            (q, Form::Eval),
                            InputRole::Cipher { input, poly },
                        )
                    })
                    .collect()
            })
            .collect();
        self.define(instr, limbs);
        Ok(())
    }

    fn plaintext(&mut self, instr: &MacroInstr, from: PlainSource) -> Result<(), ErrorOf<S>> {
        let Some(&v) = instr.dst.first() else {
            return Ok(());
        };
        let Some(at) = place::<S>(self.scope.types, v) else {
            return Err(CompileError::Misshapen {
                at: Line(instr.loc.clone()),
                op: instr.op.mnemonic(),
            });
        };
        let input = self.plaintexts.len() as u32;
        self.plaintexts.push(PlainRequest { from, at });
        let limbs = S::plaintext(self.procs.params(), &at).into_iter();
        let limbs = limbs.map(|limb| {
            let name = format!("p{input}.q{}", limb.0.0);
            self.input(name, limb, InputRole::Plain { input })
        });
        let limbs = limbs.collect();
        self.define(instr, vec![limbs]);
        Ok(())
    }

    fn output(&mut self, a: MacroValue, output: u32) {
        let name = self
            .source
            .outputs
            .get(output as usize)
            .cloned()
            .unwrap_or_default();
        let limbs = self.scope.limbs[a.0 as usize].clone();
        for (poly, limbs) in Poly::of(limbs.len() as u32).zip(limbs) {
            for (q, limb) in limbs.into_iter().enumerate() {
                let name = format!("{name}.c{poly}.q{q}");
                self.outputs.push(limb);
                self.program.outputs.push(HeadOutput {
                    from: Operand::Input(u32::MAX), // until the limbs are packed
                    name,
                    output,
                    poly,
                });
            }
        }
    }
}
