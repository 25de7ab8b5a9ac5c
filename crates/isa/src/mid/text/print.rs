// SPDX-License-Identifier: Apache-2.0
//! Prints mid-level procedures and programs, and single instructions for error messages.

use std::fmt::{self, Write};

use ringmill_math::RingKind;
use ringmill_math::basext::Representative;

use crate::lex::quote;
use crate::mid::op::Op;
use crate::mid::procedure::{Imm, ImmType, Instr, ParamRole, Procedure};
use crate::mid::program::{Action, Block, InputRole, LocalId, Operand, Program, Step};
use crate::mid::types::{Form, LimbType, LweType, TableModulus, ValueId, ValueType};

/// A procedure's text leaves out the program's table of moduli if it has at most this many moduli.
/// A larger table is printed in each procedure, so that the size of a text bounds the size of its
/// program.
pub(super) const INHERITED_MODULI: usize = 64;

/// The longest text of an instruction in an error message, in bytes.
const MESSAGE_TEXT: usize = 400;

/// Returns the text form of a mid-level procedure.
pub fn print_procedure(procedure: &Procedure) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = procedure_to(&mut out, procedure, None);
    out
}

/// Returns the text form of a mid-level program.
pub fn print_program(program: &Program) -> String {
    let mut out = String::new();
    let _ = program_to(&mut out, program);
    out
}

/// Returns the text of one instruction for error messages, cut if it is very long.
pub(crate) fn instr_text(instr: &Instr, types: &[ValueType]) -> String {
    let mut out = String::new();
    let _ = instr_to(&mut out, instr, types);
    shorten(out)
}

/// Returns the text of one step of a program for error messages, cut if it is very long.
pub(crate) fn step_text(step: &Step, program: &Program) -> String {
    let mut out = String::new();
    let _ = step_to(&mut out, step, program);
    shorten(out)
}

/// Cuts a text for an error message at a character boundary, if it is too long.
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

fn ring_to(out: &mut impl Write, log_n: u8, moduli: &[TableModulus]) -> fmt::Result {
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
            ParamRole::Exponent { arg, index } => write!(out, " = exponent {arg} index {index}")?,
        }
        writeln!(out, " {}", quote(&param.name))?;
    }
    for (number, arg) in p.seeds.iter().enumerate() {
        writeln!(out, "  seed {number} = key {arg}")?;
    }
    for (number, ty) in p.immediates.iter().enumerate() {
        match ty {
            ImmType::Scalar(id) => writeln!(out, "  imm {number} = scalar q{}", id.0)?,
            ImmType::Galois => writeln!(out, "  imm {number} = galois")?,
        }
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

fn instr_to(out: &mut impl Write, instr: &Instr, types: &[ValueType]) -> fmt::Result {
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
        Imm::ScalarOf(n) => write!(out, "{comma} imm {n}")?,
        Imm::GaloisOf(n) => write!(out, "{comma} galois imm {n}")?,
        Imm::Stream { seed, stream } => write!(out, "{comma} seed {seed} stream {stream}")?,
        Imm::Slot(slot) => write!(out, "{comma} slot {slot}")?,
        Imm::Representative(which) => write!(out, "{comma} {}", representative_word(which))?,
        Imm::Base(log) => write!(out, "{comma} base 2^{log}")?,
    }
    for (n, v) in instr.dst.iter().enumerate() {
        out.write_str(if n == 0 { " : " } else { ", " })?;
        type_to(out, types.get(v.0 as usize))?;
    }
    Ok(())
}

/// Returns the text form's word for the range of the integers that a base extension extends:
/// `nonnegative` or `centred`.
pub(crate) fn representative_word(which: Representative) -> &'static str {
    match which {
        Representative::NonNegative => "nonnegative",
        Representative::Centred => "centred",
    }
}

fn type_to(out: &mut impl Write, ty: Option<&ValueType>) -> fmt::Result {
    match ty {
        Some(ty) => value_type_to(out, ty),
        None => out.write_char('?'),
    }
}

fn limb_type_to(out: &mut impl Write, ty: &LimbType) -> fmt::Result {
    let ring = match ty.ring.kind {
        RingKind::Full => "",
        RingKind::HalfPlus => " half+",
        RingKind::HalfMinus => " half-",
        // No procedure has such a ring: only machines split further.
        RingKind::Part(_) => " part",
    };
    let form = match ty.form {
        Form::Coeff => "coeff",
        Form::Eval => "eval",
    };
    write!(out, "q{}{ring} {form}", ty.modulus.0)
}

fn value_type_to(out: &mut impl Write, ty: &ValueType) -> fmt::Result {
    match ty {
        ValueType::Limb(ty) => limb_type_to(out, ty),
        ValueType::Lwe(ty) => lwe_type_to(out, ty),
        ValueType::LweTable(ty) => {
            write!(out, "rows {} ", ty.rows)?;
            lwe_type_to(out, &ty.row)
        }
        ValueType::Exponent => out.write_str("exponent"),
    }
}

fn lwe_type_to(out: &mut impl Write, ty: &LweType) -> fmt::Result {
    write!(out, "lwe {} q{}", ty.dimension, ty.modulus.0)
}

fn program_to(out: &mut impl Write, program: &Program) -> fmt::Result {
    out.write_str("program")?;
    ring_to(out, program.log_n, &program.moduli)?;
    writeln!(out)?;
    for p in &program.procs {
        writeln!(out)?;
        procedure_to(out, p, Some(program))?;
    }
    for block in &program.blocks {
        writeln!(out)?;
        block_to(out, block, program)?;
    }
    writeln!(out)?;
    for (number, input) in program.inputs.iter().enumerate() {
        write!(out, "input ${number} : ")?;
        value_type_to(out, &input.ty)?;
        match input.role {
            InputRole::Cipher { input, poly } => write!(out, " = cipher {input} poly {poly}")?,
            InputRole::Plain { input } => write!(out, " = plain {input}")?,
            InputRole::Key { key, digit, part } => {
                write!(out, " = key {key} digit {digit} part {part}")?
            }
            InputRole::Exponent { input, index } => {
                write!(out, " = exponent {input} index {index}")?
            }
        }
        writeln!(out, " {}", quote(&input.name))?;
    }
    for (number, key) in program.seeds.iter().enumerate() {
        writeln!(out, "seed {number} = key {key}")?;
    }
    for step in &program.steps {
        step_to(out, step, program)?;
        writeln!(out)?;
    }
    for o in &program.outputs {
        out.write_str("output ")?;
        operand_to(out, &o.from)?;
        let name = quote(&o.name);
        writeln!(out, " = cipher {} poly {} {name}", o.output, o.poly)?;
    }
    writeln!(out, "end")
}

fn block_to(out: &mut impl Write, block: &Block, program: &Program) -> fmt::Result {
    write!(out, "block {} ", block.name)?;
    list_to(out, &block.params, value_type_to)?;
    writeln!(out)?;
    for step in &block.steps {
        out.write_str("  ")?;
        step_to(out, step, program)?;
        writeln!(out)?;
    }
    out.write_str("  give ")?;
    list_to(out, &block.results, operand_to)?;
    writeln!(out, "\nend")
}

fn operand_to<W: Write>(out: &mut W, operand: &Operand) -> fmt::Result {
    match operand {
        Operand::Input(n) => write!(out, "${n}"),
        Operand::Local(l) => local_to(out, l),
        Operand::InTurn { first, step } => write!(out, "${first} step {step}"),
    }
}

fn local_to<W: Write>(out: &mut W, local: &LocalId) -> fmt::Result {
    write!(out, "@{}", local.0)
}

/// Prints a list in brackets with commas, such as `(a, b, c)`.
fn list_to<W: Write, T>(
    out: &mut W,
    items: &[T],
    item: impl Fn(&mut W, &T) -> fmt::Result,
) -> fmt::Result {
    out.write_char('(')?;
    for (n, one) in items.iter().enumerate() {
        out.write_str(if n == 0 { "" } else { ", " })?;
        item(out, one)?;
    }
    out.write_char(')')
}

fn step_to(out: &mut impl Write, step: &Step, program: &Program) -> fmt::Result {
    let block = |block: u32| program.blocks.get(block as usize).map(|b| b.name.as_str());
    let (verb, name) = match step.action {
        Action::Call { proc } => {
            let name = program.procs.get(proc as usize).map(|p| p.name.as_str());
            ("call".to_owned(), name)
        }
        Action::Run { block: b } => ("run".to_owned(), block(b)),
        Action::Repeat { block: b, count } => (format!("repeat {count}"), block(b)),
        Action::Halt => return halt_to(out, step),
    };
    write!(out, "{verb} {} ", name.unwrap_or("?"))?;
    list_to(out, &step.args, operand_to)?;
    if !step.seeds.is_empty() {
        out.write_str(" seeds ")?;
        list_to(out, &step.seeds, |out, n| write!(out, "{n}"))?;
    }
    if !step.immediates.is_empty() {
        out.write_str(" imm ")?;
        list_to(out, &step.immediates, |out, n| write!(out, "{n}"))?;
    }
    if !step.dies.is_empty() {
        out.write_str(" dies ")?;
        list_to(out, &step.dies, local_to)?;
    }
    out.write_str(" -> ")?;
    list_to(out, &step.results, local_to)?;
    loc_to(out, step)
}

/// Prints the halt step of a program, such as `HCF at "FILE":LINE`.
fn halt_to(out: &mut impl Write, step: &Step) -> fmt::Result {
    out.write_str(Op::Hcf.mnemonic())?;
    loc_to(out, step)
}

fn loc_to(out: &mut impl Write, step: &Step) -> fmt::Result {
    match &step.loc {
        Some(loc) => write!(out, " at {}:{}", quote(loc.file_name()), loc.line),
        None => Ok(()),
    }
}
