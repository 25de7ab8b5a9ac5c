// SPDX-License-Identifier: Apache-2.0
//! The verifier of macro programs, for programs in each stage of the compiler. It panics for no input.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashSet;

use ringmill_math::Ring;

use super::linked::Elements;
use super::op::{MacroImmKind, MacroOp};
use super::program::{
    LevelNote, MacroImm, MacroInstr, MacroProc, MacroProgram, MacroType, MacroValue, Visibility,
};
use super::rules::{self, Typed};
use super::text;
use crate::error::{Fault, InstrPlace, Place, VerifyError};
use crate::limits;
use crate::mid::verify::{at_most, check_label};
use crate::numbers::Galois;
use crate::source::SourceLoc;

/// The stage of the compiler in which a macro program is. The types of the program's values and its
/// instructions tell the stage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// A program as the front end records it from Python: its values have no levels, notes or
    /// sizes. Every ciphertext counts as two polynomials, also a product. `RELIN`, `RESCALE` and
    /// `MODSWITCH` do not occur.
    Traced,
    /// A program in which relinearisations are placed and ciphertexts have sizes, but no levels and
    /// notes. `RESCALE` and `MODSWITCH` do not occur.
    Relinearised,
    /// A program whose values all have a level and a note (scale, correction factor or nothing).
    /// Only this stage has `LOAD`, `MORPH` (an automorphism without a key switch) and `KSW` (a key
    /// switch).
    Managed,
}

/// Returns the stage of a program with its procedures. It is managed if any value has a level.
/// Otherwise it is relinearised if any ciphertext has a size other than two or any instruction
/// relinearises. Otherwise it is traced.
pub fn stage(program: &MacroProgram) -> Stage {
    let types = || {
        let procs = program.procs.iter().flat_map(|p| &p.types);
        program.types.iter().chain(procs)
    };
    if types().any(|ty| ty.at().is_some()) {
        return Stage::Managed;
    }
    let sized = |ty: &MacroType| matches!(ty, MacroType::Cipher { size, .. } if *size != 2);
    let procs = program.procs.iter().flat_map(|p| &p.instrs);
    let mut instrs = program.instrs.iter().chain(procs);
    if types().any(sized) || instrs.any(|i| i.op == MacroOp::Relin) {
        Stage::Relinearised
    } else {
        Stage::Traced
    }
}

/// Checks a program of any stage:
///
/// - The sizes of its tables are within limits, and the names of inputs and of outputs are unique.
/// - Constant vectors have as many values as the program has slots, all finite.
/// - Every value is defined once, before its use.
/// - Every instruction has an arity, an immediate and types that fit its rule.
/// - Every encrypted input is read at most once, and every output is written exactly once.
/// - Procedures obey the same rules, call only procedures before them, read no inputs and write no outputs.
/// - Steps of bootstrapping stand only in procedures.
///
/// Scales must agree within [`SCALE_TOLERANCE`](super::SCALE_TOLERANCE). The scale after a division by primes is not
/// compared with the primes: [`verify_with_primes`] does that.
///
/// # Errors
/// [`VerifyError`] with the place and the kind of the first fault.
pub fn verify(program: &MacroProgram) -> Result<(), VerifyError> {
    run(program, None, stage(program))
}

/// Checks a program as [`verify`] does, with the ciphertext primes q_0 to q_L in `primes`. Every
/// value must have a level from 0 to L, and each division by primes must divide the scale by them.
/// A sum of integer multiples may have any scale after its division, since the integers bring it
/// about.
///
/// # Errors
/// [`VerifyError`] with the place and the kind of the first fault.
pub fn verify_with_primes(program: &MacroProgram, primes: &[u64]) -> Result<(), VerifyError> {
    run(program, Some(primes), Stage::Managed)
}

fn run(program: &MacroProgram, primes: Option<&[u64]>, stage: Stage) -> Result<(), VerifyError> {
    tables(program).map_err(|fault| outside(&program.name, None, fault))?;
    let body = |procedure, types, instrs| Verifier {
        program,
        primes,
        stage,
        procedure,
        types,
        instrs,
        defined: vec![false; types.len()],
    };
    for (number, proc) in program.procs.iter().enumerate() {
        let mut verifier = body(Some(number), &proc.types, &proc.instrs);
        let at_head = |fault| outside(&proc.name, proc.loc.as_ref(), fault);
        verifier.parameters(proc).map_err(at_head)?;
        verifier.instrs(&proc.name)?;
        verifier.results(proc).map_err(at_head)?;
    }
    let mut verifier = body(None, &program.types, &program.instrs);
    verifier.instrs(&program.name)?;
    verifier
        .all_defined()
        .map_err(|fault| outside(&program.name, None, fault))
}

/// Returns the error of a fault in a procedure or in the program that belongs to no single
/// instruction.
fn outside(procedure: &str, loc: Option<&SourceLoc>, fault: Fault) -> VerifyError {
    let place = Place {
        loc: loc.cloned(),
        procedure: text::shorten(procedure.to_owned()),
        instruction: None,
    };
    VerifyError::new(place, fault)
}

/// The verifier of the instructions of a program, or of one of its procedures.
struct Verifier<'a> {
    program: &'a MacroProgram,
    primes: Option<&'a [u64]>,
    stage: Stage,
    /// The number of the procedure, or `None` for the program's own instructions.
    procedure: Option<usize>,
    types: &'a [MacroType],
    instrs: &'a [MacroInstr],
    defined: Vec<bool>,
}

impl Verifier<'_> {
    fn instrs(&mut self, name: &str) -> Result<(), VerifyError> {
        let mut inputs = HashSet::new();
        let mut outputs = HashSet::new();
        for (number, instr) in self.instrs.iter().enumerate() {
            let checked = self.instr(instr).and_then(|()| match instr.imm {
                MacroImm::Input(input) if self.visibility(input) == Some(Visibility::Encrypted) => {
                    once(&mut inputs, "encrypted input", input)
                }
                MacroImm::Output(output) => once(&mut outputs, "output", output),
                _ => Ok(()),
            });
            checked.map_err(|fault| {
                let text = text::instr_text(instr, self.types);
                let procedure = text::shorten(name.to_owned());
                let instruction = Some(InstrPlace { number, text });
                VerifyError::new(
                    Place {
                        loc: instr.loc.clone(),
                        procedure,
                        instruction,
                    },
                    fault,
                )
            })?;
        }
        if self.procedure.is_some() {
            return Ok(());
        }
        let unwritten = (0..)
            .zip(&self.program.outputs)
            .find_map(|(n, name)| (!outputs.contains(&n)).then_some(name));
        match unwritten {
            Some(output) => {
                let item = format!("output {:?}", text::shorten(output.clone()));
                Err(outside(name, None, Fault::NeverDefined { item }))
            }
            None => Ok(()),
        }
    }

    fn parameters(&mut self, proc: &MacroProc) -> Result<(), Fault> {
        check_label("procedure name", &proc.name)?;
        at_most("instructions", limits::MAX_MACRO_VALUES, proc.instrs.len())?;
        at_most("values", limits::MAX_MACRO_VALUES, proc.types.len())?;
        at_most("parameters", limits::MAX_OPERANDS, proc.params.len())?;
        at_most("results", limits::MAX_OPERANDS, proc.results.len())?;
        proc.params
            .iter()
            .try_for_each(|&v| self.define(v).map(drop))
    }

    fn results(&self, proc: &MacroProc) -> Result<(), Fault> {
        proc.results
            .iter()
            .try_for_each(|&v| self.use_of(v).map(drop))?;
        self.all_defined()
    }

    fn all_defined(&self) -> Result<(), Fault> {
        match self.defined.iter().position(|defined| !defined) {
            Some(index) => Err(Fault::NeverDefined {
                item: format!("%{index}"),
            }),
            None => Ok(()),
        }
    }

    fn visibility(&self, input: u32) -> Option<Visibility> {
        self.program
            .inputs
            .get(input as usize)
            .map(|input| input.visibility)
    }

    fn instr(&mut self, instr: &MacroInstr) -> Result<(), Fault> {
        (instr.op.info()).check_counts(instr.src.len(), instr.dst.len())?;
        let src = instr
            .src
            .iter()
            .map(|&v| self.use_of(v))
            .collect::<Result<Vec<_>, _>>()?;
        let dst = instr
            .dst
            .iter()
            .map(|&v| self.define(v))
            .collect::<Result<Vec<_>, _>>()?;
        self.immediate(instr)?;
        let scope = rules::Scope {
            program: self.program,
            primes: self.primes,
            stage: self.stage,
        };
        scope.check(instr, &src, &dst)
    }

    fn use_of(&self, value: MacroValue) -> Result<Typed, Fault> {
        let index = value.0 as usize;
        match (self.types.get(index), self.defined.get(index)) {
            (Some(&ty), Some(true)) => Ok(Typed { value, ty }),
            _ => Err(Fault::Undefined {
                item: format!("%{}", value.0),
            }),
        }
    }

    fn define(&mut self, value: MacroValue) -> Result<Typed, Fault> {
        let index = value.0 as usize;
        let (Some(&ty), Some(defined)) = (self.types.get(index), self.defined.get_mut(index))
        else {
            let limit = self.types.len() as u64;
            return Err(Fault::Range {
                what: "value number",
                limit,
                found: u64::from(value.0),
            });
        };
        if *defined {
            return Err(Fault::Redefined {
                item: format!("%{}", value.0),
            });
        }
        *defined = true;
        let v = Typed { value, ty };
        self.check_type(v)?;
        Ok(v)
    }

    /// Checks the type of a value by itself: its size, its Galois element, and the level and note
    /// that a program of this compiler stage must or must not have.
    fn check_type(&self, v: Typed) -> Result<(), Fault> {
        if let MacroType::Cipher { size, .. } = v.ty
            && !(2..=3).contains(&size)
        {
            let expected = if size < 2 { 2 } else { 3 };
            return Err(Fault::Size {
                item: v.item(),
                expected,
                found: size,
            });
        }
        let level_error = |expected: String, found: String| {
            Err(Fault::Level {
                item: v.item(),
                expected,
                found,
            })
        };
        if let MacroType::Morphed { by, .. } = v.ty {
            galois(by)?;
        }
        match (self.stage, v.ty.at()) {
            (Stage::Managed, None) => {
                level_error("of a managed program".to_owned(), "none".to_owned())
            }
            (Stage::Managed, Some(LevelNote { level, note })) => {
                let top = self.primes.map_or(limits::MAX_LEVEL as usize, |primes| {
                    primes.len().saturating_sub(1)
                });
                if level.index() > top {
                    return level_error(format!("at most {top}"), level.to_string());
                }
                rules::check_note(v, note)
            }
            (_, Some(at)) => level_error("none before management".to_owned(), at.level.to_string()),
            (_, None) => Ok(()),
        }
    }

    /// Checks that the procedure number `callee` exists and stands before the procedure that is
    /// being verified.
    fn callable(&self, callee: u32) -> Result<(), Fault> {
        let procs = self.program.procs.len();
        match self.procedure {
            _ if callee as usize >= procs => Err(Fault::Range {
                what: "procedure number",
                limit: procs as u64,
                found: u64::from(callee),
            }),
            Some(caller) if callee as usize >= caller => Err(Fault::Recursion {
                what: "procedure",
                caller,
                callee,
            }),
            Some(_) | None => Ok(()),
        }
    }

    fn immediate(&self, instr: &MacroInstr) -> Result<(), Fault> {
        let kind = instr.op.info().immediate;
        let p = self.program;
        if self.procedure.is_none() && instr.op.is_linked() {
            return Err(Fault::Illegal {
                what: "instruction",
                expected: "no step of bootstrapping outside of procedures".to_owned(),
                found: instr.op.mnemonic().to_owned(),
            });
        }
        if self.procedure.is_some() && matches!(kind, MacroImmKind::Input | MacroImmKind::Output) {
            let item = instr.op.mnemonic();
            return Err(Fault::Outside { item });
        }
        let index = |what, limit: usize, found: u32| {
            let limit = limit as u64;
            if u64::from(found) < limit {
                Ok(())
            } else {
                Err(Fault::Range {
                    what,
                    limit,
                    found: u64::from(found),
                })
            }
        };
        let illegal = |expected: &str, found: String| {
            Err(Fault::Immediate {
                expected: expected.to_owned(),
                found,
            })
        };
        match (kind, &instr.imm) {
            (MacroImmKind::None, MacroImm::None) => Ok(()),
            (MacroImmKind::Input, &MacroImm::Input(n)) => index("input number", p.inputs.len(), n),
            (MacroImmKind::Output, &MacroImm::Output(n)) => {
                index("output number", p.outputs.len(), n)
            }
            (MacroImmKind::Data, &MacroImm::Data(n)) => {
                index("constant vector number", p.data.len(), n)
            }
            // The typing rule compares the level with the operand's.
            (MacroImmKind::Level, &MacroImm::Level(_)) => Ok(()),
            (MacroImmKind::Constant, &MacroImm::Integer(_)) => Ok(()),
            (MacroImmKind::Constant, &MacroImm::Constant { value, scale }) => {
                if !value.is_finite() {
                    return illegal("a finite constant", value.to_string());
                }
                match scale {
                    Some(scale) if !(scale.is_finite() && scale > 0.0) => {
                        illegal("a finite scale above 0", scale.to_string())
                    }
                    _ => Ok(()),
                }
            }
            (MacroImmKind::Galois, &MacroImm::Galois(by)) => galois(by),
            (MacroImmKind::Interval, MacroImm::Interval(interval)) => match interval.is_valid() {
                true => Ok(()),
                false => illegal("two finite ends, the lowest first", interval.to_string()),
            },
            (MacroImmKind::Steps, MacroImm::Steps(steps)) => {
                if steps.len() != instr.dst.len() {
                    return illegal("one step a result", format!("{} steps", steps.len()));
                }
                let legal = |step: &i32| *step != 0 && step.unsigned_abs() < p.slots;
                match steps.iter().find(|step| !legal(step)) {
                    Some(step) => illegal(
                        &format!("a step in (-{0}, {0}), not 0", p.slots),
                        step.to_string(),
                    ),
                    None => Ok(()),
                }
            }
            // The program does not hold lifted constants.
            (MacroImmKind::Lifted, &MacroImm::Lifted(_)) => Ok(()),
            (MacroImmKind::Elements, MacroImm::Elements(Elements { of, .. })) => {
                if of.len() != instr.dst.len() {
                    return illegal("one Galois element a result", format!("{}", of.len()));
                }
                of.iter().try_for_each(|&by| galois(by))
            }
            (MacroImmKind::Turns, MacroImm::Turns(turns)) => {
                let elements = &turns.elements.of;
                if !(1..=limits::MAX_OPERANDS).contains(&elements.len()) {
                    let expected = format!("from 1 to {} elements", limits::MAX_OPERANDS);
                    return illegal(&expected, format!("{}", elements.len()));
                }
                elements.iter().try_for_each(|&by| galois(by))
            }
            (MacroImmKind::Matrix, MacroImm::Matrix(matrix)) => {
                // The typing rule counts the constants, which are operands, so the steps are as few.
                let mut steps = matrix.babies.iter().chain(&matrix.giants);
                steps.try_for_each(|&by| galois(by))
            }
            // The typing rule checks the combination against the operands.
            (MacroImmKind::Combination, MacroImm::Combination(_)) => Ok(()),
            (MacroImmKind::Products, MacroImm::Products(_)) => Ok(()),
            (MacroImmKind::Procedure, &MacroImm::Proc(n)) => self.callable(n),
            (MacroImmKind::Repeat, &MacroImm::Repeat { proc, count }) => {
                if !(1..=limits::MAX_REPEATS).contains(&count) {
                    let expected = format!("a count from 1 to {}", limits::MAX_REPEATS);
                    return illegal(&expected, count.to_string());
                }
                self.callable(proc)
            }
            (kind, imm) => illegal(kind.word(), text::shorten(format!("{imm:?}"))),
        }
    }
}

/// Checks that the Galois element of an automorphism is odd, above 1, and below 2N for the largest
/// ring degree N. Only code that knows the program's own N can check it against that.
fn galois(element: Galois) -> Result<(), Fault> {
    const BELOW: u32 = 2 << Ring::MAX_LOG_N;
    if element.0 % 2 == 1 && element.0 > 1 && element.0 < BELOW {
        return Ok(());
    }
    Err(Fault::Immediate {
        expected: format!("an odd Galois element above 1 and below 2N, at most {BELOW}"),
        found: element.to_string(),
    })
}

fn once(seen: &mut HashSet<u32>, what: &'static str, number: u32) -> Result<(), Fault> {
    if seen.insert(number) {
        Ok(())
    } else {
        Err(Fault::Duplicate {
            what,
            item: number.to_string(),
        })
    }
}

fn tables(p: &MacroProgram) -> Result<(), Fault> {
    check_label("program name", &p.name)?;
    at_most("inputs", limits::MAX_VECTORS, p.inputs.len())?;
    at_most("outputs", limits::MAX_VECTORS, p.outputs.len())?;
    at_most("constant vectors", limits::MAX_VECTORS, p.data.len())?;
    at_most("procedures", limits::MAX_PROCS, p.procs.len())?;
    at_most("instructions", limits::MAX_MACRO_VALUES, p.instrs.len())?;
    at_most("values", limits::MAX_MACRO_VALUES, p.types.len())?;
    if !p.slots.is_power_of_two() || p.slots > limits::MAX_VECTOR_SLOTS {
        let expected = format!("a power of two up to {}", limits::MAX_VECTOR_SLOTS);
        return Err(Fault::Illegal {
            what: "slots",
            expected,
            found: p.slots.to_string(),
        });
    }
    let mut names = HashSet::new();
    for input in &p.inputs {
        check_label("input name", &input.name)?;
        if !names.insert(input.name.as_str()) {
            return Err(Fault::Duplicate {
                what: "input name",
                item: format!("{:?}", input.name),
            });
        }
    }
    names.clear();
    for name in &p.outputs {
        check_label("output name", name)?;
        if !names.insert(name.as_str()) {
            return Err(Fault::Duplicate {
                what: "output name",
                item: format!("{name:?}"),
            });
        }
    }
    for (number, vector) in p.data.iter().enumerate() {
        if vector.len() != p.slots as usize {
            let (expected, found) = (format!("{} values", p.slots), format!("{}", vector.len()));
            return Err(Fault::Illegal {
                what: "constant vector",
                expected,
                found: format!("{found} in {number}"),
            });
        }
        let infinite = |&(re, im): &(f64, f64)| !re.is_finite() || !im.is_finite();
        if let Some(slot) = vector.iter().position(infinite) {
            let found = format!("another in slot {slot} of vector {number}");
            return Err(Fault::Illegal {
                what: "constant vector",
                expected: "finite values".to_owned(),
                found,
            });
        }
    }
    Ok(())
}
