//! Parsing. Hostile text gives an error, never a panic, and memory stays in proportion to the text's length.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_math::{Ring, RingKind};

use super::print::INHERITED_MODULI;
use crate::lex::{Cursor, ParseError};
use crate::limits;
use crate::mid::op::{ImmKind, Op};
use crate::mid::procedure::{Imm, Instr, Param, ParamRole, Procedure, ResultLimb};
use crate::mid::program::{Call, Input, InputRole, LimbId, Output, Program};
use crate::mid::types::{Form, LimbType, ModulusId, ValueId};

/// Parses one procedure, written whole. The result is well-formed text, not yet verified.
pub fn parse_procedure(text: &str) -> Result<Procedure, ParseError> {
    let mut c = Cursor::new(text)?;
    c.skip_lines();
    let procedure = procedure(&mut c, None)?;
    c.text_end()?;
    Ok(procedure)
}

/// Parses a program. The result is well-formed text, not yet verified.
pub fn parse_program(text: &str) -> Result<Program, ParseError> {
    let mut c = Cursor::new(text)?;
    c.skip_lines();
    c.expect_word("program")?;
    let (log_n, moduli) = ring(&mut c)?;
    c.line_end()?;
    let mut parser = ProgramParser {
        program: Program {
            log_n,
            moduli,
            procs: Vec::new(),
            limbs: Vec::new(),
            inputs: Vec::new(),
            seeds: Vec::new(),
            calls: Vec::new(),
            outputs: Vec::new(),
        },
        names: HashMap::new(),
        limbs: Definitions::default(),
    };
    parser.run(&mut c)?;
    c.text_end()?;
    Ok(parser.program)
}

type Definitions = crate::lex::Definitions<LimbType>;

/// `ring 2^14 moduli q0=... q1=...`
fn ring(c: &mut Cursor<'_>) -> Result<(u8, Vec<u64>), ParseError> {
    c.expect_word("ring")?;
    let mark = c.mark();
    c.expect_word("2")?;
    c.expect("^")?;
    let log_n: u8 = c.parsed("log2 of the ring degree")?;
    if log_n > Ring::MAX_LOG_N {
        return Err(c.error_at(
            mark,
            format!("a ring degree of at most 2^{}", Ring::MAX_LOG_N),
        ));
    }
    c.expect_word("moduli")?;
    let mut moduli = Vec::new();
    while !c.at_line_end() {
        let mark = c.mark();
        let number: usize = c.numbered("q", "a modulus `qI=VALUE`")?;
        if number != moduli.len() || number >= limits::MAX_MODULI {
            return Err(c.error_at(
                mark,
                format!(
                    "q{}, of at most {} moduli",
                    moduli.len(),
                    limits::MAX_MODULI
                ),
            ));
        }
        c.expect("=")?;
        moduli.push(c.parsed("the value of the modulus")?);
    }
    Ok((log_n, moduli))
}

/// `q3 half+ coeff`
fn limb_type(c: &mut Cursor<'_>, log_n: u8) -> Result<LimbType, ParseError> {
    let modulus = ModulusId(c.numbered("q", "a modulus such as q0")?);
    let full = Ring::full(log_n);
    let ring = match c.peek_word() {
        "half+" => full.halves().0,
        "half-" => full.halves().1,
        _ => full,
    };
    if ring.kind != RingKind::Full {
        c.word("a ring")?;
    }
    let mark = c.mark();
    let form = match c.word("`coeff` or `eval`")? {
        "coeff" => Form::Coeff,
        "eval" => Form::Eval,
        _ => return Err(c.error_at(mark, "`coeff` or `eval`")),
    };
    Ok(LimbType {
        ring,
        modulus,
        form,
    })
}

fn value(c: &mut Cursor<'_>) -> Result<ValueId, ParseError> {
    c.numbered("%", "a value such as %0").map(ValueId)
}

fn limb(c: &mut Cursor<'_>) -> Result<LimbId, ParseError> {
    c.numbered("@", "a limb such as @0").map(LimbId)
}

/// `proc NAME [ring ...]` to `end`; without a ring it takes the program's.
fn procedure(c: &mut Cursor<'_>, program: Option<(u8, &[u64])>) -> Result<Procedure, ParseError> {
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
                Err(c.error_at(mark, "`in`, then `seed`, then instructions, then `out`"))
            }
        };
        match c.peek_word() {
            "end" => {
                c.expect_word("end")?;
                c.line_end()?;
                p.types = definitions.types(c, "%")?;
                return Ok(p);
            }
            "in" => {
                in_order(
                    p.seeds.is_empty() && p.instrs.is_empty() && p.results.is_empty(),
                    c,
                )?;
                param(c, &mut p, &mut definitions)?;
            }
            "seed" => {
                in_order(p.instrs.is_empty() && p.results.is_empty(), c)?;
                let seed = seed(c, p.seeds.len())?;
                p.seeds.push(seed);
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

fn param(
    c: &mut Cursor<'_>,
    p: &mut Procedure,
    definitions: &mut Definitions,
) -> Result<(), ParseError> {
    c.expect_word("in")?;
    let mark = c.mark();
    let v = value(c)?;
    c.expect(":")?;
    definitions.push(v.0, limb_type(c, p.log_n)?, mark);
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
        _ => return Err(c.error_at(mark, "`cipher`, `plain` or `key`")),
    };
    p.params.push(Param {
        value: v,
        name: c.name()?,
        role,
    });
    Ok(())
}

/// `seed 0 = key 2`, numbered in order.
fn seed<T: std::str::FromStr>(c: &mut Cursor<'_>, expected: usize) -> Result<T, ParseError> {
    c.field_is("seed", expected)?;
    c.field("key")
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
        ImmKind::Scalar => Imm::Scalar(c.parsed("a residue")?),
        ImmKind::Galois => Imm::Galois(c.field("galois")?),
        ImmKind::Stream => Imm::Stream {
            seed: c.field("seed")?,
            stream: c.field("stream")?,
        },
        ImmKind::Slot => Imm::Slot(c.field("slot")?),
    };
    for (n, (v, mark)) in dst.iter().zip(marks).enumerate() {
        c.expect(if n == 0 { ":" } else { "," })?;
        definitions.push(v.0, limb_type(c, p.log_n)?, mark);
    }
    p.instrs.push(Instr { op, dst, src, imm });
    Ok(())
}

struct ProgramParser {
    program: Program,
    names: HashMap<String, u32>,
    limbs: Definitions,
}

impl ProgramParser {
    fn run(&mut self, c: &mut Cursor<'_>) -> Result<(), ParseError> {
        let order = ["proc", "input", "seed", "call", "output", "end"];
        let mut reached = 0;
        loop {
            c.skip_lines();
            let word = c.peek_word();
            let Some(at) = order
                .iter()
                .position(|&w| w == word)
                .filter(|&at| at >= reached)
            else {
                let allowed: Vec<_> = order
                    .iter()
                    .skip(reached)
                    .map(|w| format!("`{w}`"))
                    .collect();
                return Err(c.error(allowed.join(" or ")));
            };
            reached = at;
            match word {
                "proc" => self.proc(c)?,
                "input" => self.input(c)?,
                "seed" => {
                    let seed = seed(c, self.program.seeds.len())?;
                    self.program.seeds.push(seed);
                }
                "call" => self.call(c)?,
                "output" => self.output(c)?,
                _ => {
                    c.expect_word("end")?;
                    c.line_end()?;
                    self.program.limbs = std::mem::take(&mut self.limbs).types(c, "@")?;
                    return Ok(());
                }
            }
            c.line_end()?;
        }
    }

    fn proc(&mut self, c: &mut Cursor<'_>) -> Result<(), ParseError> {
        let mark = c.mark();
        let procedure = procedure(c, Some((self.program.log_n, &self.program.moduli)))?;
        let number = self.program.procs.len() as u32; // each takes several bytes of a text below 2^32
        if self.names.insert(procedure.name.clone(), number).is_some() {
            let found = format!("a second procedure {}", procedure.name);
            return Err(c.error_found(mark, "each procedure name once", found));
        }
        self.program.procs.push(Arc::new(procedure));
        Ok(())
    }

    fn input(&mut self, c: &mut Cursor<'_>) -> Result<(), ParseError> {
        c.expect_word("input")?;
        let mark = c.mark();
        let id = limb(c)?;
        c.expect(":")?;
        self.limbs
            .push(id.0, limb_type(c, self.program.log_n)?, mark);
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
            _ => return Err(c.error_at(mark, "`cipher`, `plain` or `key`")),
        };
        self.program.inputs.push(Input {
            limb: id,
            name: c.name()?,
            role,
        });
        Ok(())
    }

    /// `call NAME (@..) seeds (..) -> (@..) at "FILE":LINE`; the results' types are the procedure's.
    fn call(&mut self, c: &mut Cursor<'_>) -> Result<(), ParseError> {
        c.expect_word("call")?;
        let mark = c.mark();
        let name = c.word("a procedure name")?;
        let proc = *self
            .names
            .get(name)
            .ok_or_else(|| c.error_at(mark, "a procedure defined above"))?;
        let args = list(c, limb)?;
        let seeds = if c.accept_word("seeds") {
            list(c, |c| c.parsed("a seed number"))?
        } else {
            Vec::new()
        };
        // `->` would read as part of a word, so the dash is taken by itself.
        c.expect("->")?;
        let mark = c.mark();
        let results = list(c, |c| Ok((c.mark(), limb(c)?)))?;
        let callee = self.program.procs.get(proc as usize);
        let types = callee
            .iter()
            .flat_map(|p| p.results.iter().map(|r| p.types.get(r.value.0 as usize)));
        let types: Option<Vec<_>> = types.map(|ty| ty.copied()).collect();
        let types = match types {
            Some(types) if types.len() == results.len() => types,
            Some(types) => {
                let expected = format!("{} results of {name}", types.len());
                return Err(c.error_found(mark, expected, results.len().to_string()));
            }
            None => {
                return Err(c.error_found(
                    mark,
                    format!("defined results of {name}"),
                    "an undefined one",
                ));
            }
        };
        for (&(mark, id), ty) in results.iter().zip(types) {
            self.limbs.push(id.0, ty, mark);
        }
        let loc = c.source_loc()?;
        let results = results.into_iter().map(|(_, id)| id).collect();
        self.program.calls.push(Call {
            proc,
            args,
            seeds,
            results,
            loc,
        });
        Ok(())
    }

    fn output(&mut self, c: &mut Cursor<'_>) -> Result<(), ParseError> {
        c.expect_word("output")?;
        let id = limb(c)?;
        c.expect("=")?;
        let (output, poly) = (c.field("cipher")?, c.field("poly")?);
        self.program.outputs.push(Output {
            limb: id,
            name: c.name()?,
            output,
            poly,
        });
        Ok(())
    }
}

/// `(a, b, c)`
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
