//! Printing.

use std::fmt::{self, Write};

use ringmill_math::RingKind;

use crate::lex::quote;
use crate::mid::procedure::{Imm, Instr, ParamRole, Procedure};
use crate::mid::program::{Call, InputRole, LimbId, Program};
use crate::mid::types::{Form, LimbType, ValueId};

/// Up to this many moduli, a procedure inside a program leaves the program's table out (a larger table is written
/// again, so that a text's size bounds what it parses to).
pub(super) const INHERITED_MODULI: usize = 64;

/// Longest instruction text in an error message.
const MESSAGE_TEXT: usize = 400;

/// The text of a procedure.
pub fn print_procedure(procedure: &Procedure) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = procedure_to(&mut out, procedure, None);
    out
}

/// The text of a program.
pub fn print_program(program: &Program) -> String {
    let mut out = String::new();
    let _ = program_to(&mut out, program);
    out
}

/// One instruction's text for messages, shortened if very long.
pub(crate) fn instr_text(instr: &Instr, types: &[LimbType]) -> String {
    let mut out = String::new();
    let _ = instr_to(&mut out, instr, types);
    shorten(out)
}

/// One call's text for messages, shortened if very long.
pub(crate) fn call_text(call: &Call, program: &Program) -> String {
    let mut out = String::new();
    let _ = call_to(&mut out, call, program);
    shorten(out)
}

/// Cuts a message text at a character boundary.
pub(crate) fn shorten(mut text: String) -> String {
    if text.len() > MESSAGE_TEXT {
        let cut = (0..=MESSAGE_TEXT)
            .rev()
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or(0);
        text.truncate(cut);
        text.push_str("...");
    }
    text
}

fn ring_to(out: &mut impl Write, log_n: u8, moduli: &[u64]) -> fmt::Result {
    write!(out, " ring 2^{log_n} moduli")?;
    moduli
        .iter()
        .enumerate()
        .try_for_each(|(i, q)| write!(out, " q{i}={q}"))
}

fn procedure_to(out: &mut impl Write, p: &Procedure, within: Option<&Program>) -> fmt::Result {
    write!(out, "proc {}", p.name)?;
    let inherits = within.is_some_and(|program| {
        p.moduli.len() <= INHERITED_MODULI
            && (p.log_n, &p.moduli) == (program.log_n, &program.moduli)
    });
    if !inherits {
        ring_to(out, p.log_n, &p.moduli)?;
    }
    writeln!(out)?;
    for param in &p.params {
        write!(out, "  in %{} : ", param.value.0)?;
        type_to(out, p.types.get(param.value.0 as usize))?;
        match param.role {
            ParamRole::Cipher { arg, poly } => write!(out, " = cipher {arg} poly {poly}")?,
            ParamRole::Plain { arg } => write!(out, " = plain {arg}")?,
            ParamRole::Key { arg, digit, part } => {
                write!(out, " = key {arg} digit {digit} part {part}")?
            }
        }
        writeln!(out, " {}", quote(&param.name))?;
    }
    for (number, arg) in p.seeds.iter().enumerate() {
        writeln!(out, "  seed {number} = key {arg}")?;
    }
    for instr in &p.instrs {
        out.write_str("  ")?;
        instr_to(out, instr, &p.types)?;
        writeln!(out)?;
    }
    for r in &p.results {
        writeln!(
            out,
            "  out %{} = cipher {} poly {} {}",
            r.value.0,
            r.index,
            r.poly,
            quote(&r.name)
        )?;
    }
    writeln!(out, "end")
}

fn values_to(out: &mut impl Write, values: &[ValueId]) -> fmt::Result {
    for (n, v) in values.iter().enumerate() {
        write!(out, "{}%{}", if n == 0 { "" } else { ", " }, v.0)?;
    }
    Ok(())
}

fn instr_to(out: &mut impl Write, instr: &Instr, types: &[LimbType]) -> fmt::Result {
    if !instr.dst.is_empty() {
        values_to(out, &instr.dst)?;
        out.write_str(" = ")?;
    }
    out.write_str(instr.op.mnemonic())?;
    if !instr.src.is_empty() {
        out.write_char(' ')?;
        values_to(out, &instr.src)?;
    }
    let comma = if instr.src.is_empty() { "" } else { "," };
    match instr.imm {
        Imm::None => {}
        Imm::Scalar(w) => write!(out, "{comma} {w}")?,
        Imm::Galois(g) => write!(out, "{comma} galois {g}")?,
        Imm::Stream { seed, stream } => write!(out, "{comma} seed {seed} stream {stream}")?,
        Imm::Slot(slot) => write!(out, "{comma} slot {slot}")?,
    }
    for (n, v) in instr.dst.iter().enumerate() {
        out.write_str(if n == 0 { " : " } else { ", " })?;
        type_to(out, types.get(v.0 as usize))?;
    }
    Ok(())
}

fn type_to(out: &mut impl Write, ty: Option<&LimbType>) -> fmt::Result {
    let Some(ty) = ty else {
        return out.write_char('?');
    };
    let ring = match ty.ring.kind {
        RingKind::Full => "",
        RingKind::HalfPlus => " half+",
        RingKind::HalfMinus => " half-",
    };
    let form = match ty.form {
        Form::Coeff => "coeff",
        Form::Eval => "eval",
    };
    write!(out, "q{}{ring} {form}", ty.modulus.0)
}

fn program_to(out: &mut impl Write, program: &Program) -> fmt::Result {
    out.write_str("program")?;
    ring_to(out, program.log_n, &program.moduli)?;
    writeln!(out)?;
    for p in &program.procs {
        writeln!(out)?;
        procedure_to(out, p, Some(program))?;
    }
    writeln!(out)?;
    for input in &program.inputs {
        write!(out, "input @{} : ", input.limb.0)?;
        type_to(out, program.limbs.get(input.limb.0 as usize))?;
        match input.role {
            InputRole::Cipher { input, poly } => write!(out, " = cipher {input} poly {poly}")?,
            InputRole::Plain { input } => write!(out, " = plain {input}")?,
            InputRole::Key { key, digit, part } => {
                write!(out, " = key {key} digit {digit} part {part}")?
            }
        }
        writeln!(out, " {}", quote(&input.name))?;
    }
    for (number, key) in program.seeds.iter().enumerate() {
        writeln!(out, "seed {number} = key {key}")?;
    }
    for call in &program.calls {
        call_to(out, call, program)?;
        writeln!(out)?;
    }
    for o in &program.outputs {
        writeln!(
            out,
            "output @{} = cipher {} poly {} {}",
            o.limb.0,
            o.output,
            o.poly,
            quote(&o.name)
        )?;
    }
    writeln!(out, "end")
}

fn limbs_to(out: &mut impl Write, limbs: &[LimbId]) -> fmt::Result {
    out.write_char('(')?;
    for (n, limb) in limbs.iter().enumerate() {
        write!(out, "{}@{}", if n == 0 { "" } else { ", " }, limb.0)?;
    }
    out.write_char(')')
}

fn call_to(out: &mut impl Write, call: &Call, program: &Program) -> fmt::Result {
    match program.procs.get(call.proc as usize) {
        Some(p) => write!(out, "call {} ", p.name)?,
        None => write!(out, "call ?{} ", call.proc)?,
    }
    limbs_to(out, &call.args)?;
    if !call.seeds.is_empty() {
        out.write_str(" seeds (")?;
        for (n, seed) in call.seeds.iter().enumerate() {
            write!(out, "{}{seed}", if n == 0 { "" } else { ", " })?;
        }
        out.write_char(')')?;
    }
    out.write_str(" -> ")?;
    limbs_to(out, &call.results)?;
    if let Some(loc) = &call.loc {
        write!(out, " at {}:{}", quote(&loc.file), loc.line)?;
    }
    Ok(())
}
