//! The typing rules of the macro level: one function a rule of the definition file.

use super::op::{MacroOp, MacroRule};
use super::program::{
    LevelScale, MacroImm, MacroInstr, MacroProgram, MacroType, MacroValue, Visibility,
};
use super::verify::Stage;
use crate::error::Fault;
use crate::limits;

/// Relative difference up to which two scales count as equal: far above the rounding of a few operations on doubles
/// (2^-52 each), far below any precision CKKS reaches, so what it lets through cannot be seen in a result.
pub const SCALE_TOLERANCE: f64 = 1.0 / (1u64 << 40) as f64;

/// A value with its type.
#[derive(Clone, Copy)]
pub(super) struct Typed {
    pub value: MacroValue,
    pub ty: MacroType,
}

impl Typed {
    pub(super) fn item(self) -> String {
        format!("%{}", self.value.0)
    }
}

/// Level and scale of a type.
pub(super) fn at(ty: MacroType) -> Option<LevelScale> {
    match ty {
        MacroType::Cipher { at, .. } | MacroType::Plain { at } => at,
    }
}

/// Operand and result counts by the definition.
pub(super) fn check_counts(op: MacroOp, src: usize, dst: usize) -> Result<(), Fault> {
    let info = op.info();
    for (what, expected, found) in [
        ("operands", info.operands, src),
        ("results", info.results, dst),
    ] {
        if !expected.allows(found) {
            return Err(Fault::Count {
                what,
                expected,
                found,
            });
        }
        if found > limits::MAX_OPERANDS {
            return Err(Fault::TooMany {
                what,
                limit: limits::MAX_OPERANDS,
                found,
            });
        }
    }
    Ok(())
}

/// What instructions are checked against.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub program: &'a MacroProgram,
    /// Ciphertext primes q0..qL, where known.
    pub primes: Option<&'a [u64]>,
    pub stage: Stage,
}

impl Scope<'_> {
    /// Checks an instruction whose counts, immediate kind and value types are already in order.
    pub(super) fn check(
        self,
        instr: &MacroInstr,
        src: &[Typed],
        dst: &[Typed],
    ) -> Result<(), Fault> {
        match (instr.op.info().rule, src, dst) {
            (MacroRule::Input, [], [d]) => {
                let input = match instr.imm {
                    MacroImm::Input(n) => self.program.inputs.get(n as usize),
                    _ => None,
                };
                match input.map(|input| input.visibility) {
                    Some(Visibility::Encrypted) => {
                        cipher(*d).and_then(|size| expect_size(*d, 2, size))
                    }
                    _ => plain(*d),
                }
            }
            (MacroRule::Plain, [], [d]) => plain(*d),
            (MacroRule::Sum, [a, b], [d]) => {
                let size = match b.ty {
                    MacroType::Cipher { size, .. } => cipher(*a)?.max(size),
                    MacroType::Plain { .. } => cipher(*a)?,
                };
                expect_at(*b, at(a.ty))?;
                expect_cipher(*d, size, at(a.ty))
            }
            (MacroRule::Same, [a], [d]) => {
                if let MacroImm::Constant {
                    scale: Some(scale), ..
                } = instr.imm
                {
                    return no_scale(scale);
                }
                expect_cipher(*d, cipher(*a)?, at(a.ty))
            }
            (MacroRule::ScalarProduct, [a], [d]) => {
                let scale = match instr.imm {
                    MacroImm::Constant { scale, .. } => scale,
                    _ => None,
                };
                let expected = match (at(a.ty), scale) {
                    (Some(at), Some(scale)) => Some(LevelScale {
                        scale: at.scale * scale,
                        ..at
                    }),
                    (None, None) => None,
                    (None, Some(scale)) => return no_scale(scale),
                    (Some(_), None) => {
                        let expected = "a constant with a scale".to_owned();
                        return Err(Fault::Immediate {
                            expected,
                            found: "no scale".to_owned(),
                        });
                    }
                };
                expect_cipher(*d, cipher(*a)?, expected)
            }
            (MacroRule::Product, [a], [d]) => self.product(*a, *a, *d),
            (MacroRule::Product, [a, b], [d]) => self.product(*a, *b, *d),
            (MacroRule::Relinearise, [a], [d]) => {
                expect_size(*a, 3, cipher(*a)?)?;
                expect_cipher(*d, 2, at(a.ty))
            }
            (MacroRule::Rescale, [a], [d]) => self.rescale(*a, *d),
            (MacroRule::ModSwitch, [a], [d]) => {
                let to = match instr.imm {
                    MacroImm::Level(to) => to,
                    _ => u32::MAX,
                };
                let from = self.managed(*a)?;
                if to > from.level {
                    let expected = format!("a level up to {}", from.level);
                    return Err(Fault::Immediate {
                        expected,
                        found: format!("level {to}"),
                    });
                }
                expect_cipher(*d, cipher(*a)?, Some(LevelScale { level: to, ..from }))
            }
            (MacroRule::Rotate, [a], results) => {
                expect_size(*a, 2, cipher(*a)?)?;
                results
                    .iter()
                    .try_for_each(|d| expect_cipher(*d, 2, at(a.ty)))
            }
            (MacroRule::Output, [a], []) => cipher(*a).map(drop),
            // The definition file gives a rule to an arity that the rule has no meaning for.
            (rule, ..) => Err(Fault::Illegal {
                what: "instruction",
                expected: format!("operands and results of rule {}", rule.word()),
                found: format!("{} and {}", src.len(), dst.len()),
            }),
        }
    }

    /// Ciphertext by ciphertext: two polynomials each, three in the product (not counted while traced); ciphertext by
    /// plaintext: the ciphertext's size.
    fn product(self, a: Typed, b: Typed, d: Typed) -> Result<(), Fault> {
        let size = match b.ty {
            MacroType::Cipher { size, .. } => {
                expect_size(a, 2, cipher(a)?)?;
                expect_size(b, 2, size)?;
                if self.stage == Stage::Traced { 2 } else { 3 }
            }
            MacroType::Plain { .. } => cipher(a)?,
        };
        let expected = match (at(a.ty), at(b.ty)) {
            (Some(a_at), Some(b_at)) => {
                expect_level(b, a_at.level, b_at.level)?;
                Some(LevelScale {
                    scale: a_at.scale * b_at.scale,
                    ..a_at
                })
            }
            (expected, _) => expected,
        };
        expect_cipher(d, size, expected)
    }

    fn rescale(self, a: Typed, d: Typed) -> Result<(), Fault> {
        let from = self.managed(a)?;
        let Some(level) = from.level.checked_sub(1) else {
            return Err(Fault::Level {
                item: a.item(),
                expected: "at least 1".to_owned(),
                found: "0".to_owned(),
            });
        };
        // Without the primes, whatever scale the result declares.
        let declared = at(d.ty).map_or(from.scale, |at| at.scale);
        let prime = self
            .primes
            .and_then(|primes| primes.get(from.level as usize));
        let scale = prime.map_or(declared, |&q| from.scale / q as f64);
        expect_cipher(d, cipher(a)?, Some(LevelScale { level, scale }))
    }

    fn managed(self, v: Typed) -> Result<LevelScale, Fault> {
        let missing = || Fault::Level {
            item: v.item(),
            expected: "of a managed program".to_owned(),
            found: "none".to_owned(),
        };
        at(v.ty).ok_or_else(missing)
    }
}

fn no_scale(scale: f64) -> Result<(), Fault> {
    Err(Fault::Immediate {
        expected: "a constant without a scale".to_owned(),
        found: format!("scale {scale}"),
    })
}

/// A ciphertext's size.
fn cipher(v: Typed) -> Result<u32, Fault> {
    match v.ty {
        MacroType::Cipher { size, .. } => Ok(size),
        MacroType::Plain { .. } => Err(Fault::Kind {
            item: v.item(),
            expected: "a ciphertext",
            found: "a plaintext",
        }),
    }
}

fn plain(v: Typed) -> Result<(), Fault> {
    match v.ty {
        MacroType::Plain { .. } => Ok(()),
        MacroType::Cipher { .. } => Err(Fault::Kind {
            item: v.item(),
            expected: "a plaintext",
            found: "a ciphertext",
        }),
    }
}

fn expect_size(v: Typed, expected: u32, found: u32) -> Result<(), Fault> {
    if expected == found {
        Ok(())
    } else {
        Err(Fault::Size {
            item: v.item(),
            expected,
            found,
        })
    }
}

fn expect_level(v: Typed, expected: u32, found: u32) -> Result<(), Fault> {
    if expected == found {
        return Ok(());
    }
    Err(Fault::Level {
        item: v.item(),
        expected: expected.to_string(),
        found: found.to_string(),
    })
}

fn expect_at(v: Typed, expected: Option<LevelScale>) -> Result<(), Fault> {
    match (expected, at(v.ty)) {
        (None, None) => Ok(()),
        (Some(expected), Some(found)) => {
            expect_level(v, expected.level, found.level)?;
            let close =
                (expected.scale - found.scale).abs() <= SCALE_TOLERANCE * expected.scale.abs();
            if close {
                return Ok(());
            }
            let (expected, found) = (expected.scale.to_string(), found.scale.to_string());
            Err(Fault::Scale {
                item: v.item(),
                expected,
                found,
            })
        }
        (expected, found) => {
            let text =
                |at: Option<LevelScale>| at.map_or("none".to_owned(), |at| at.level.to_string());
            Err(Fault::Level {
                item: v.item(),
                expected: text(expected),
                found: text(found),
            })
        }
    }
}

fn expect_cipher(v: Typed, size: u32, expected: Option<LevelScale>) -> Result<(), Fault> {
    expect_size(v, size, cipher(v)?)?;
    expect_at(v, expected)
}
