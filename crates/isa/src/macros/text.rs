// SPDX-License-Identifier: Apache-2.0
//! Prints and parses macro programs as text.
//!
//! `;` starts a comment. The text of a program that verifies parses to an equal value, except that source files lose
//! their folders ([`SourceLoc::file_name`]).
//!
//! A double is written with the fewest digits that read back to the same bits. A constant vector that repeats with a
//! period is written as `repeat` and one period. The vectors that are written so have at most [`MAX_REPEATED`] slots
//! together, so that a short text cannot ask for much memory. Further vectors are written in full.
//!
//! ```
//! use ringmill_isa::macros::{text, verify};
//! let program = text::parse(
//!     r#"macro "decay" scheme ckks slots 8
//!          input 0 = encrypted "x"
//!          output 0 = "y"
//!          proc 0 = "step"
//!            in %0 : cipher 2
//!            %1 = MULC %0 by 0.9 : cipher 2
//!            %2 = ADDC %1 by 0.1 : cipher 2
//!            out %2
//!          end
//!          %0 = INPUT input 0 : cipher 2
//!          %1 = REPEAT %0 proc 0 times 12 : cipher 2
//!          OUTPUT %1 output 0
//!        end"#,
//! )?;
//! verify(&program)?;
//! assert_eq!(text::parse(&text::print(&program))?, program);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(clippy::arithmetic_side_effects)]

mod immediate;

use std::fmt::{self, Write};

use super::op::MacroOp;
use super::program::{
    LevelNote, MacroInput, MacroInstr, MacroProc, MacroProgram, MacroType, MacroValue, Note,
    SchemeName, Visibility,
};
use crate::lex::{Cursor, ParseError, quote};
use crate::limits;
pub(super) use crate::mid::text::shorten;
use crate::numbers::Galois;
use crate::source::SourceLoc;

/// The most slots of constant vectors that the text of one program may write out by the word `repeat`.
pub const MAX_REPEATED: usize = 1 << 22;

/// Returns the text form of a macro program.
pub fn print(program: &MacroProgram) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = program_to(&mut out, program);
    out
}

/// Returns the text of one instruction for error messages, cut if it is very long.
pub(super) fn instr_text(instr: &MacroInstr, types: &[MacroType]) -> String {
    let mut out = String::new();
    let _ = instr_to(&mut out, instr, types);
    shorten(out)
}

fn program_to(out: &mut impl Write, p: &MacroProgram) -> fmt::Result {
    let (name, scheme, slots) = (quote(&p.name), &p.scheme, p.slots);
    writeln!(out, "macro {name} scheme {scheme} slots {slots}")?;
    for (n, input) in p.inputs.iter().enumerate() {
        let visibility = match input.visibility {
            Visibility::Encrypted => "encrypted",
            Visibility::Plain => "plain",
        };
        writeln!(out, "  input {n} = {visibility} {}", quote(&input.name))?;
    }
    for (n, name) in p.outputs.iter().enumerate() {
        writeln!(out, "  output {n} = {}", quote(name))?;
    }
    let mut repeated = 0usize;
    for (n, vector) in p.data.iter().enumerate() {
        write!(out, "  data {n} =")?;
        let period = period(vector);
        let repeats = period < vector.len()
            && vector.len() <= limits::MAX_VECTOR_SLOTS as usize
            && repeated.saturating_add(vector.len()) <= MAX_REPEATED;
        let written = if repeats {
            repeated = repeated.saturating_add(vector.len());
            write!(out, " {} repeat", vector.len())?;
            period
        } else {
            write!(out, " {} values", vector.len())?;
            vector.len()
        };
        for &(re, im) in vector.iter().take(written) {
            match im.to_bits() {
                0 => write!(out, " {re:?}")?,
                _ => write!(out, " ({re:?}, {im:?})")?,
            }
        }
        writeln!(out)?;
    }
    for (n, proc) in p.procs.iter().enumerate() {
        write!(out, "  proc {n} = {}", quote(&proc.name))?;
        line_end(out, &proc.loc)?;
        for v in &proc.params {
            write!(out, "    in %{} : ", v.0)?;
            type_to(out, proc.types.get(v.0 as usize))?;
            writeln!(out)?;
        }
        instrs_to(out, "    ", &proc.instrs, &proc.types)?;
        for v in &proc.results {
            writeln!(out, "    out %{}", v.0)?;
        }
        writeln!(out, "  end")?;
    }
    instrs_to(out, "  ", &p.instrs, &p.types)?;
    writeln!(out, "end")
}

fn instrs_to(
    out: &mut impl Write,
    indent: &str,
    instrs: &[MacroInstr],
    types: &[MacroType],
) -> fmt::Result {
    for instr in instrs {
        out.write_str(indent)?;
        instr_to(out, instr, types)?;
        line_end(out, &instr.loc)?;
    }
    Ok(())
}

fn line_end(out: &mut impl Write, loc: &Option<SourceLoc>) -> fmt::Result {
    if let Some(loc) = loc {
        write!(out, " at {}:{}", quote(loc.file_name()), loc.line)?;
    }
    writeln!(out)
}

/// Returns the shortest period of a constant vector that divides the vector's length, by the prefix
/// function of Knuth, Morris and Pratt. Values count as equal if all their bits are.
fn period(vector: &[(f64, f64)]) -> usize {
    let bits: Vec<_> = vector
        .iter()
        .map(|(re, im)| (re.to_bits(), im.to_bits()))
        .collect();
    let mut border = vec![0usize; bits.len()];
    for i in 1..bits.len() {
        let mut k = border[i.saturating_sub(1)];
        while k > 0 && bits[i] != bits[k] {
            k = border[k.saturating_sub(1)];
        }
        border[i] = k.saturating_add(usize::from(bits[i] == bits[k]));
    }
    let longest = border.last().copied().unwrap_or(0);
    let period = bits.len().saturating_sub(longest);
    if period > 0 && bits.len().is_multiple_of(period) {
        period
    } else {
        bits.len()
    }
}

fn instr_to(out: &mut impl Write, instr: &MacroInstr, types: &[MacroType]) -> fmt::Result {
    let values = |out: &mut dyn Write, values: &[MacroValue]| {
        values
            .iter()
            .enumerate()
            .try_for_each(|(n, v)| write!(out, "{}%{}", if n == 0 { "" } else { ", " }, v.0))
    };
    if !instr.dst.is_empty() {
        values(out, &instr.dst)?;
        out.write_str(" = ")?;
    }
    out.write_str(instr.op.mnemonic())?;
    if !instr.src.is_empty() {
        out.write_char(' ')?;
        values(out, &instr.src)?;
    }
    immediate::print(out, &instr.imm)?;
    for (n, v) in instr.dst.iter().enumerate() {
        out.write_str(if n == 0 { " : " } else { ", " })?;
        type_to(out, types.get(v.0 as usize))?;
    }
    Ok(())
}

fn type_to(out: &mut impl Write, ty: Option<&MacroType>) -> fmt::Result {
    let at = match ty {
        Some(MacroType::Cipher { size, at }) => {
            write!(out, "cipher {size}")?;
            at
        }
        Some(MacroType::Plain { at }) => {
            out.write_str("plain")?;
            at
        }
        Some(MacroType::Morphed { by, at }) => {
            write!(out, "cipher 2 under galois {by}")?;
            at
        }
        Some(MacroType::Distant { of, at }) => {
            out.write_str(match of {
                Visibility::Encrypted => "distant cipher 2",
                Visibility::Plain => "distant plain",
            })?;
            at
        }
        Some(MacroType::Key { at }) => {
            out.write_str("key")?;
            at
        }
        Some(MacroType::Lifted { special, at }) => {
            out.write_str(match special {
                true => "lifted special",
                false => "lifted",
            })?;
            at
        }
        None => return out.write_char('?'),
    };
    match at {
        Some(LevelNote { level, note }) => {
            write!(out, " level {level}")?;
            note_to(out, *note)
        }
        None => Ok(()),
    }
}

fn note_to(out: &mut impl Write, note: Note) -> fmt::Result {
    match note {
        Note::Bare => Ok(()),
        Note::Scale(scale) => write!(out, " scale {scale:?}"),
        Note::Factor(factor) => write!(out, " factor {factor}"),
    }
}

/// Returns the text of a note, which is a scale or a correction factor, for error messages.
pub(super) fn note_text(note: Note) -> String {
    let mut out = String::new();
    let _ = note_to(&mut out, note);
    match out.trim_start() {
        "" => "neither scale nor factor".to_owned(),
        text => text.to_owned(),
    }
}

/// Returns the text of a type for error messages.
pub(super) fn type_text(ty: Option<&MacroType>) -> String {
    let mut out = String::new();
    let _ = type_to(&mut out, ty);
    out
}

/// Returns an estimate, in bytes, of the memory that a program with this text takes in the parser
/// and the compiler. It counts 64 for each byte of the text, and for each word `repeat` a vector of
/// the largest length, up to [`MAX_REPEATED`] slots together.
pub fn memory_for(text: &str) -> u64 {
    const A_BYTE: u64 = 64;
    const A_SLOT: usize = size_of::<(f64, f64)>();
    let repeats = text.matches(" repeat").count();
    let slots = repeats.saturating_mul(limits::MAX_VECTOR_SLOTS as usize);
    let written_out = slots.min(MAX_REPEATED).saturating_mul(A_SLOT);
    A_BYTE
        .saturating_mul(text.len() as u64)
        .saturating_add(written_out as u64)
}

/// Parses a macro program from its text form, without verifying it.
///
/// # Errors
/// [`ParseError`] with the first place at which the text is no macro program, or exceeds a limit.
pub fn parse(text: &str) -> Result<MacroProgram, ParseError> {
    let mut c = Cursor::new(text)?;
    c.skip_lines();
    c.expect_word("macro")?;
    let name = c.name()?;
    let mark = c.mark();
    let scheme = if c.accept_word("scheme") {
        let name = c.word("the name of a scheme")?;
        SchemeName::new(name).ok_or_else(|| {
            let most = limits::MAX_SCHEME;
            let expected =
                format!("`scheme` and small letters, digits and hyphens, at most {most} in all");
            c.error_found(mark, expected, format!("`{}`", shorten(name.to_owned())))
        })?
    } else {
        SchemeName::default()
    };
    let slots = c.field("slots")?;
    c.line_end()?;
    let mut p = MacroProgram::new(name, scheme, slots);
    let mut definitions = Definitions::default();
    let mut repeated = 0;
    loop {
        c.skip_lines();
        let mark = c.mark();
        let head = c.peek_word();
        let table = matches!(head, "input" | "output" | "data" | "proc");
        if table && !p.instrs.is_empty() {
            return Err(c.error_at(
                mark,
                "an instruction or `end` (inputs, outputs, data and procedures come first)",
            ));
        }
        match head {
            "input" => {
                c.field_is("input", p.inputs.len())?;
                let visibility = match c.peek_word() {
                    "encrypted" => Visibility::Encrypted,
                    "plain" => Visibility::Plain,
                    _ => return Err(c.error("`encrypted` or `plain`")),
                };
                c.word("a visibility")?;
                p.inputs.push(MacroInput {
                    name: c.name()?,
                    visibility,
                });
            }
            "output" => {
                c.field_is("output", p.outputs.len())?;
                p.outputs.push(c.name()?);
            }
            "data" => {
                c.field_is("data", p.data.len())?;
                p.data.push(vector(&mut c, &mut repeated)?);
            }
            "proc" => {
                c.field_is("proc", p.procs.len())?;
                p.procs.push(procedure(&mut c)?);
            }
            "end" => {
                c.expect_word("end")?;
                c.line_end()?;
                c.text_end()?;
                p.types = definitions.types(&c, "%")?;
                return Ok(p);
            }
            _ => {
                let instr = instr(&mut c, &mut definitions)?;
                p.instrs.push(instr);
            }
        }
        c.line_end()?;
    }
}

/// Parses a procedure: the rest of its first line, such as `proc 0 = "step" at "f.py":3`, and its lines up to `end`.
fn procedure(c: &mut Cursor<'_>) -> Result<MacroProc, ParseError> {
    let mut proc = MacroProc {
        name: c.name()?,
        params: Vec::new(),
        instrs: Vec::new(),
        types: Vec::new(),
        results: Vec::new(),
        loc: c.source_loc()?,
    };
    c.line_end()?;
    let mut definitions = Definitions::default();
    loop {
        c.skip_lines();
        let mark = c.mark();
        match c.peek_word() {
            "in" => {
                if !proc.instrs.is_empty() || !proc.results.is_empty() {
                    let expected = "an instruction, `out` or `end` (parameters come first)";
                    return Err(c.error_at(mark, expected));
                }
                c.expect_word("in")?;
                let mark = c.mark();
                let v = value(c)?;
                c.expect(":")?;
                definitions.push(v.0, macro_type(c)?, mark);
                proc.params.push(v);
            }
            "out" => {
                c.expect_word("out")?;
                proc.results.push(value(c)?);
            }
            "end" => {
                c.expect_word("end")?;
                proc.types = definitions.types(c, "%")?;
                return Ok(proc);
            }
            _ => {
                if !proc.results.is_empty() {
                    return Err(c.error_at(mark, "`out` or `end` (results come last)"));
                }
                proc.instrs.push(instr(c, &mut definitions)?);
            }
        }
        c.line_end()?;
    }
}

type Definitions = crate::lex::Definitions<MacroType>;

/// Parses a constant vector, such as `8192 repeat 1.0 (0.0, -1.0)` or `4 values 1.0 2.0 3.0 4.0`.
/// `repeated` counts the slots that the word `repeat` has written out so far.
fn vector(c: &mut Cursor<'_>, repeated: &mut usize) -> Result<Vec<(f64, f64)>, ParseError> {
    let mark = c.mark();
    let len: usize = c.parsed("a vector length")?;
    let repeats = c.accept_word("repeat");
    if !repeats {
        c.expect_word("values")?;
    }
    let mut values = Vec::new();
    while !c.at_line_end() {
        if c.accept("(") {
            let re = c.parsed("a number")?;
            c.expect(",")?;
            let im = c.parsed("a number")?;
            c.expect(")")?;
            values.push((re, im));
        } else {
            values.push((c.parsed("a number")?, 0.0));
        }
    }
    if !repeats {
        if values.len() != len {
            return Err(c.error_found(
                mark,
                format!("{} values as the line has", values.len()),
                len.to_string(),
            ));
        }
        return Ok(values);
    }
    let times = len.checked_div(values.len());
    let times = times.filter(|_| len.is_multiple_of(values.len()));
    let times = times.filter(|_| len <= limits::MAX_VECTOR_SLOTS as usize);
    let Some(times) = times else {
        let expected = format!(
            "a length up to {} that is a multiple of the {} values of the period",
            limits::MAX_VECTOR_SLOTS,
            values.len()
        );
        return Err(c.error_at(mark, expected));
    };
    *repeated = repeated.saturating_add(len);
    if *repeated > MAX_REPEATED {
        let expected = format!("`values` (`repeat` has already written {MAX_REPEATED} slots)");
        return Err(c.error_at(mark, expected));
    }
    Ok(values.repeat(times))
}

fn value(c: &mut Cursor<'_>) -> Result<MacroValue, ParseError> {
    c.numbered("%", "a value such as %0").map(MacroValue)
}

fn instr(c: &mut Cursor<'_>, definitions: &mut Definitions) -> Result<MacroInstr, ParseError> {
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
    let word = c.word("an instruction, `end`, or an entry of a table")?;
    let op = MacroOp::from_mnemonic(word)
        .ok_or_else(|| c.error_at(mark, "an instruction of the macro level"))?;
    let mut src = Vec::new();
    while c.peek("%") {
        src.push(value(c)?);
        if !c.accept(",") {
            break;
        }
    }
    let imm = immediate::parse(c, op.info().immediate)?;
    for (n, (v, mark)) in dst.iter().zip(marks).enumerate() {
        c.expect(if n == 0 { ":" } else { "," })?;
        definitions.push(v.0, macro_type(c)?, mark);
    }
    let loc = c.source_loc()?;
    Ok(MacroInstr {
        op,
        dst,
        src,
        imm,
        loc,
    })
}

/// Parses a type: `cipher 2 level 5 scale 1.8e16`, `cipher 2 level 3 factor 7`, `plain`, `cipher 2 under galois 9 level
/// 3` or `distant plain level 3`.
fn macro_type(c: &mut Cursor<'_>) -> Result<MacroType, ParseError> {
    if c.accept_word("key") {
        let at = level_note(c)?;
        return Ok(MacroType::Key { at });
    }
    if c.accept_word("lifted") {
        let special = c.accept_word("special");
        let at = level_note(c)?;
        return Ok(MacroType::Lifted { special, at });
    }
    let distant = c.accept_word("distant");
    let mark = c.mark();
    let word = c.word("`cipher`, `plain` or `distant`")?;
    let (size, mark) = match word {
        "cipher" => {
            let mark = c.mark();
            (Some(c.parsed("a number of polynomials")?), mark)
        }
        "plain" => (None, mark),
        _ => return Err(c.error_at(mark, "`cipher`, `plain` or `distant`")),
    };
    let under = match size {
        Some(_) if !distant && c.accept_word("under") => Some(Galois(c.field("galois")?)),
        Some(_) | None => None,
    };
    if size.is_some_and(|size| size != 2) && (distant || under.is_some()) {
        let expected = "2 polynomials (in distant memory, and under another secret)";
        return Err(c.error_at(mark, expected));
    }
    let at = level_note(c)?;
    let of = match size {
        Some(_) => Visibility::Encrypted,
        None => Visibility::Plain,
    };
    Ok(match (size, under) {
        _ if distant => MacroType::Distant { of, at },
        (_, Some(by)) => MacroType::Morphed { by, at },
        (Some(size), None) => MacroType::Cipher { size, at },
        (None, None) => MacroType::Plain { at },
    })
}

/// Parses a level and a note, such as `level 5 scale 1.8e16`. Without the word `level` it returns `None`.
fn level_note(c: &mut Cursor<'_>) -> Result<Option<LevelNote>, ParseError> {
    if c.peek_word() != "level" {
        return Ok(None);
    }
    let level = c.field("level")?;
    let note = match c.peek_word() {
        "scale" => Note::Scale(c.field("scale")?),
        "factor" => Note::Factor(c.field("factor")?),
        _ => Note::Bare,
    };
    Ok(Some(LevelNote { level, note }))
}
