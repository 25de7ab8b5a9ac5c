// SPDX-License-Identifier: Apache-2.0
//! Parses mid-level procedures and programs. Hostile text gives an error, never a panic, and memory stays in
//! proportion to the text's length.

mod types;

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_math::basext::Representative;

use super::print::{INHERITED_MODULI, representative_word};
use crate::lex::{Cursor, ParseError};
use crate::mid::op::{ImmKind, Op};
use crate::mid::procedure::{Imm, ImmType, Instr, Param, ParamRole, Procedure, ResultLimb};
use crate::mid::program::{
    Action, Block, HeadInput, HeadOutput, InputRole, LocalId, Operand, Program, Step,
};
use crate::mid::types::{ModulusId, TableModulus, ValueId, ValueType};
use types::{ring, value_type};

/// Parses one procedure with a ring and moduli of its own. The result is not yet verified.
///
/// # Errors
/// [`ParseError`] with the first place at which the text is no procedure, or exceeds a limit.
pub fn parse_procedure(text: &str) -> Result<Procedure, ParseError> {
    let mut c = Cursor::new(text)?;
    c.skip_lines();
    let procedure = procedure(&mut c, None)?;
    c.text_end()?;
    Ok(procedure)
}

/// Parses a program from its text form. The result is not yet verified.
///
/// # Errors
/// [`ParseError`] with the first place at which the text is no program, or exceeds a limit.
pub fn parse_program(text: &str) -> Result<Program, ParseError> {
    let mut c = Cursor::new(text)?;
    c.skip_lines();
    c.expect_word("program")?;
    let (log_n, moduli) = ring(&mut c)?;
    c.line_end()?;
    let mut parser = ProgramParser {
        program: Program::empty(log_n, moduli),
        procs: HashMap::new(),
        blocks: HashMap::new(),
    };
    parser.run(&mut c)?;
    c.text_end()?;
    Ok(parser.program)
}

type Definitions = crate::lex::Definitions<ValueType>;

/// Parses the word for the range of the integers that a base extension extends: `nonnegative` or
/// `centred`.
fn representative(c: &mut Cursor<'_>) -> Result<Representative, ParseError> {
    let mark = c.mark();
    let all = [Representative::NonNegative, Representative::Centred];
    let word = c.word("`nonnegative` or `centred`")?;
    let known = all.into_iter().find(|&r| representative_word(r) == word);
    known.ok_or_else(|| c.error_at(mark, "`nonnegative` or `centred`"))
}

fn value(c: &mut Cursor<'_>) -> Result<ValueId, ParseError> {
    c.numbered("%", "a value such as %0").map(ValueId)
}

/// Parses a procedure from `proc NAME [ring ...]` to `end`. A procedure without a ring of its own
/// takes the ring and moduli of `program`.
fn procedure(
    c: &mut Cursor<'_>,
    program: Option<(u8, &[TableModulus])>,
) -> Result<Procedure, ParseError> {
    c.expect_word("proc")?;
    let name = c.word("a procedure name")?.to_owned();
    let mark = c.mark();
    let (log_n, moduli) = match program {
        Some((log_n, moduli)) if c.at_line_end() => {
            if moduli.len() > INHERITED_MODULI {
                let expected = format!(
                    "the ring written out (the program has over {INHERITED_MODULI} moduli)"
                );
                return Err(c.error_at(mark, expected));
            }
            (log_n, moduli.to_vec())
        }
        _ => ring(c)?,
    };
    c.line_end()?;
    let mut p = Procedure {
        name,
        log_n,
        moduli,
        params: Vec::new(),
        seeds: Vec::new(),
        immediates: Vec::new(),
        instrs: Vec::new(),
        results: Vec::new(),
        types: Vec::new(),
    };
    let mut definitions = Definitions::default();
    loop {
        c.skip_lines();
        let mark = c.mark();
        let in_order = |done: bool, c: &Cursor<'_>| {
            if done {
                Ok(())
            } else {
                let order = "`in`, then `seed`, then `imm`, then instructions, then `out`";
                Err(c.error_at(mark, order))
            }
        };
        let code = p.instrs.is_empty() && p.results.is_empty();
        match c.peek_word() {
            "end" => {
                c.expect_word("end")?;
                c.line_end()?;
                p.types = definitions.types(c, "%")?;
                return Ok(p);
            }
            "in" => {
                in_order(p.seeds.is_empty() && p.immediates.is_empty() && code, c)?;
                param(c, &mut p, &mut definitions)?;
            }
            "seed" => {
                in_order(p.immediates.is_empty() && code, c)?;
                let seed = seed(c, p.seeds.len())?;
                p.seeds.push(seed);
            }
            "imm" => {
                in_order(code, c)?;
                let ty = immediate(c, p.immediates.len())?;
                p.immediates.push(ty);
            }
            "out" => result(c, &mut p)?,
            _ => {
                in_order(p.results.is_empty(), c)?;
                instr(c, &mut p, &mut definitions)?;
            }
        }
        c.line_end()?;
    }
}

/// The words with which the role of a parameter or an input begins in the text form, for error
/// messages.
const ROLES: &str = "`cipher`, `plain`, `key` or `exponent`";

fn param(
    c: &mut Cursor<'_>,
    p: &mut Procedure,
    definitions: &mut Definitions,
) -> Result<(), ParseError> {
    c.expect_word("in")?;
    let mark = c.mark();
    let v = value(c)?;
    c.expect(":")?;
    definitions.push(v.0, value_type(c, p.log_n)?, mark);
    c.expect("=")?;
    let mark = c.mark();
    let role = match c.peek_word() {
        "cipher" => ParamRole::Cipher {
            arg: c.field("cipher")?,
            poly: c.field("poly")?,
        },
        "plain" => ParamRole::Plain {
            arg: c.field("plain")?,
        },
        "key" => ParamRole::Key {
            arg: c.field("key")?,
            digit: c.field("digit")?,
            part: c.field("part")?,
        },
        "exponent" => ParamRole::Exponent {
            arg: c.field("exponent")?,
            index: c.field("index")?,
        },
        _ => return Err(c.error_at(mark, ROLES)),
    };
    p.params.push(Param {
        value: v,
        name: c.name()?,
        role,
    });
    Ok(())
}

/// Parses the seed of a key, such as `seed 0 = key 2`. Seeds are numbered in order, and `expected`
/// is the next number.
fn seed<T: std::str::FromStr>(c: &mut Cursor<'_>, expected: usize) -> Result<T, ParseError> {
    c.field_is("seed", expected)?;
    c.field("key")
}

/// Parses an immediate parameter, such as `imm 0 = scalar q1` or `imm 0 = galois`. Immediate
/// parameters are numbered in order, and `expected` is the next number.
fn immediate(c: &mut Cursor<'_>, expected: usize) -> Result<ImmType, ParseError> {
    c.field_is("imm", expected)?;
    let mark = c.mark();
    match c.word("`scalar` or `galois`")? {
        "scalar" => Ok(ImmType::Scalar(ModulusId(
            c.numbered("q", "a modulus such as q0")?,
        ))),
        "galois" => Ok(ImmType::Galois),
        _ => Err(c.error_at(mark, "`scalar` or `galois`")),
    }
}

fn result(c: &mut Cursor<'_>, p: &mut Procedure) -> Result<(), ParseError> {
    c.expect_word("out")?;
    let v = value(c)?;
    c.expect("=")?;
    let (index, poly) = (c.field("cipher")?, c.field("poly")?);
    p.results.push(ResultLimb {
        value: v,
        name: c.name()?,
        index,
        poly,
    });
    Ok(())
}

fn instr(
    c: &mut Cursor<'_>,
    p: &mut Procedure,
    definitions: &mut Definitions,
) -> Result<(), ParseError> {
    let mut dst = Vec::new();
    let mut marks = Vec::new();
    if c.peek("%") {
        loop {
            marks.push(c.mark());
            dst.push(value(c)?);
            if !c.accept(",") {
                break;
            }
        }
        c.expect("=")?;
    }
    let mark = c.mark();
    let word = c.word("an instruction, `in`, `seed`, `out` or `end`")?;
    let op = Op::from_mnemonic(word)
        .ok_or_else(|| c.error_at(mark, "an instruction of the mid level"))?;
    let mut src = Vec::new();
    let mut more = c.peek("%");
    while more {
        src.push(value(c)?);
        more = c.accept(",") && c.peek("%");
    }
    let imm = match op.info().immediate {
        ImmKind::None => Imm::None,
        ImmKind::Scalar if c.peek_word() == "imm" => Imm::ScalarOf(c.field("imm")?),
        ImmKind::Scalar => Imm::Scalar(c.parsed("a residue or `imm I`")?),
        ImmKind::Galois => {
            c.expect_word("galois")?;
            if c.peek_word() == "imm" {
                Imm::GaloisOf(c.field("imm")?)
            } else {
                Imm::Galois(c.parsed("a Galois element or `imm I`")?)
            }
        }
        ImmKind::Stream => Imm::Stream {
            seed: c.field("seed")?,
            stream: c.field("stream")?,
        },
        ImmKind::Slot => Imm::Slot(c.field("slot")?),
        ImmKind::Representative => Imm::Representative(representative(c)?),
        ImmKind::Base => {
            c.expect_word("base")?;
            c.expect_word("2")?;
            c.expect("^")?;
            Imm::Base(c.parsed("log2 of the base")?)
        }
    };
    for (n, (v, mark)) in dst.iter().zip(marks).enumerate() {
        c.expect(if n == 0 { ":" } else { "," })?;
        definitions.push(v.0, value_type(c, p.log_n)?, mark);
    }
    p.instrs.push(Instr { op, dst, src, imm });
    Ok(())
}

struct ProgramParser {
    program: Program,
    procs: HashMap<String, u32>,
    blocks: HashMap<String, u32>,
}

impl ProgramParser {
    fn run(&mut self, c: &mut Cursor<'_>) -> Result<(), ParseError> {
        let order = ["proc", "block", "input", "seed", "step", "output", "end"];
        let mut reached = 0;
        loop {
            c.skip_lines();
            let word = match c.peek_word() {
                word if STEPS.contains(&word) => "step",
                "step" => "",
                word => word,
            };
            let at = order.iter().position(|&w| w == word);
            let Some(at) = at.filter(|&at| at >= reached) else {
                let spelled = |&w: &&str| match w {
                    "step" => "`call`, `run`, `repeat`, `HCF`".to_owned(),
                    w => format!("`{w}`"),
                };
                let allowed: Vec<_> = order.iter().skip(reached).map(spelled).collect();
                return Err(c.error(allowed.join(" or ")));
            };
            reached = at;
            match word {
                "proc" => self.proc(c)?,
                "block" => self.block(c)?,
                "input" => self.input(c)?,
                "seed" => {
                    let seed = seed(c, self.program.seeds.len())?;
                    self.program.seeds.push(seed);
                }
                "step" => {
                    let step = self.step(c)?;
                    self.program.steps.push(step);
                }
                "output" => self.output(c)?,
                _ => {
                    c.expect_word("end")?;
                    return c.line_end();
                }
            }
            c.line_end()?;
        }
    }

    fn proc(&mut self, c: &mut Cursor<'_>) -> Result<(), ParseError> {
        let mark = c.mark();
        let procedure = procedure(c, Some((self.program.log_n, &self.program.moduli)))?;
        let number = self.program.procs.len() as u32; // each takes several bytes of a text below 2^32
        if self.procs.insert(procedure.name.clone(), number).is_some() {
            let found = format!("a second procedure {}", procedure.name);
            return Err(c.error_found(mark, "each procedure name once", found));
        }
        self.program.procs.push(Arc::new(procedure));
        Ok(())
    }

    /// Parses a block: `block NAME (TYPE, ..)`, then steps, `give (@..)` and `end`.
    fn block(&mut self, c: &mut Cursor<'_>) -> Result<(), ParseError> {
        c.expect_word("block")?;
        let mark = c.mark();
        let name = c.word("a block name")?.to_owned();
        let log_n = self.program.log_n;
        let params = list(c, |c| value_type(c, log_n))?;
        c.line_end()?;
        let mut steps = Vec::new();
        let results = loop {
            c.skip_lines();
            if c.accept_word("give") {
                break list(c, operand)?;
            }
            if !STEPS.contains(&c.peek_word()) {
                return Err(c.error("`call`, `run`, `repeat` or `give`"));
            }
            steps.push(self.step(c)?);
            c.line_end()?;
        };
        c.line_end()?;
        c.skip_lines();
        c.expect_word("end")?;
        let number = self.program.blocks.len() as u32; // as for procedures
        if self.blocks.insert(name.clone(), number).is_some() {
            let found = format!("a second block {name}");
            return Err(c.error_found(mark, "each block name once", found));
        }
        self.program.blocks.push(Block {
            name,
            params,
            steps,
            results,
        });
        Ok(())
    }

    fn input(&mut self, c: &mut Cursor<'_>) -> Result<(), ParseError> {
        c.expect_word("input")?;
        let (mark, expected) = (c.mark(), self.program.inputs.len());
        let number: usize = c.numbered("$", "an input such as $0")?;
        if number != expected {
            return Err(c.error_at(mark, format!("${expected} (inputs are numbered in order)")));
        }
        c.expect(":")?;
        let ty = value_type(c, self.program.log_n)?;
        c.expect("=")?;
        let mark = c.mark();
        let role = match c.peek_word() {
            "cipher" => InputRole::Cipher {
                input: c.field("cipher")?,
                poly: c.field("poly")?,
            },
            "plain" => InputRole::Plain {
                input: c.field("plain")?,
            },
            "key" => InputRole::Key {
                key: c.field("key")?,
                digit: c.field("digit")?,
                part: c.field("part")?,
            },
            "exponent" => InputRole::Exponent {
                input: c.field("exponent")?,
                index: c.field("index")?,
            },
            _ => return Err(c.error_at(mark, ROLES)),
        };
        let name = c.name()?;
        self.program.inputs.push(HeadInput { ty, name, role });
        Ok(())
    }

    /// Parses a step of a program. A step that calls a procedure is
    /// `call NAME (..) seeds (..) imm (..) dies (@..) -> (@..) at "FILE":LINE`. A step that runs a block once has
    /// `run NAME` in place of `call NAME`, and a step that repeats a block has `repeat N NAME`. The halt step is `HCF`.
    fn step(&mut self, c: &mut Cursor<'_>) -> Result<Step, ParseError> {
        if c.accept_word(Op::Hcf.mnemonic()) {
            let loc = c.source_loc()?;
            return Ok(Step {
                loc,
                ..Step::halt()
            });
        }
        let verb = c.word("`call`, `run` or `repeat`")?;
        let count = match verb {
            "repeat" => Some(c.parsed("how many times")?),
            _ => None,
        };
        let mark = c.mark();
        let (names, what) = match verb {
            "call" => (&self.procs, "a procedure defined above"),
            _ => (&self.blocks, "a block defined above"),
        };
        let name = c.word(what)?;
        let known = names.get(name).copied();
        let number = known.ok_or_else(|| c.error_at(mark, what))?;
        let action = match (verb, count) {
            ("call", _) => Action::Call { proc: number },
            (_, None) => Action::Run { block: number },
            (_, Some(count)) => Action::Repeat {
                block: number,
                count,
            },
        };
        let args = list(c, operand)?;
        let seeds = optional(c, "seeds", |c| c.parsed("a seed number"))?;
        let immediates = optional(c, "imm", |c| c.parsed("an immediate"))?;
        let dies = optional(c, "dies", local)?;
        // `->` would read as part of a word, so the dash is taken by itself.
        c.expect("->")?;
        let results = list(c, local)?;
        let loc = c.source_loc()?;
        Ok(Step {
            action,
            args,
            seeds,
            immediates,
            dies,
            results,
            loc,
        })
    }

    fn output(&mut self, c: &mut Cursor<'_>) -> Result<(), ParseError> {
        c.expect_word("output")?;
        let from = operand(c)?;
        c.expect("=")?;
        let (output, poly) = (c.field("cipher")?, c.field("poly")?);
        self.program.outputs.push(HeadOutput {
            from,
            name: c.name()?,
            output,
            poly,
        });
        Ok(())
    }
}

/// The words with which a step of a program begins in the text form.
const STEPS: [&str; 4] = ["call", "run", "repeat", Op::Hcf.mnemonic()];

fn local(c: &mut Cursor<'_>) -> Result<LocalId, ParseError> {
    c.numbered("@", "a limb such as @0").map(LocalId)
}

/// Parses an operand of a step: `$0`, `$0 step 3` or `@0`.
fn operand(c: &mut Cursor<'_>) -> Result<Operand, ParseError> {
    if c.peek("$") {
        let first = c.numbered("$", "an input such as $0")?;
        if c.accept_word("step") {
            let step = c.parsed("how many inputs further each turn")?;
            return Ok(Operand::InTurn { first, step });
        }
        return Ok(Operand::Input(first));
    }
    let local = c.numbered("@", "an input such as $0 or a limb such as @0")?;
    Ok(Operand::Local(LocalId(local)))
}

/// Parses a list after the word `word`. Without this word the list is empty.
fn optional<'a, T>(
    c: &mut Cursor<'a>,
    word: &str,
    item: impl FnMut(&mut Cursor<'a>) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    if c.accept_word(word) {
        list(c, item)
    } else {
        Ok(Vec::new())
    }
}

/// Parses a list in brackets with commas, such as `(a, b, c)`.
fn list<'a, T>(
    c: &mut Cursor<'a>,
    mut item: impl FnMut(&mut Cursor<'a>) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    c.expect("(")?;
    let mut items = Vec::new();
    if c.accept(")") {
        return Ok(items);
    }
    loop {
        items.push(item(c)?);
        if !c.accept(",") {
            c.expect(")")?;
            return Ok(items);
        }
    }
}
