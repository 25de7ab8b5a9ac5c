// SPDX-License-Identifier: Apache-2.0
//! The typing rules of mid-level instructions, as the definition file names them.
//!
//! The builder and the verifier both call [`check_instr`].
#![deny(clippy::arithmetic_side_effects)]

use ringmill_math::{Modulus, Ring, RingKind, primes};

use super::op::{ImmKind, Op, Rule};
use super::procedure::{Imm, ImmType};
use super::text;
use super::types::{
    Form, LimbType, LweTableType, LweType, ModulusId, TableModulus, ValueId, ValueType,
};
use crate::error::Fault;
use crate::limits;

mod limbs;
mod torus;

/// The most bits that a gadget digit can have.
const MAX_LOG_BASE: u8 = 31;

/// A value of a procedure with its type. `T` is the type of any value, or that of a limb.
#[derive(Clone, Copy)]
pub(crate) struct Typed<T = ValueType> {
    pub value: ValueId,
    pub ty: T,
}

/// A limb of a procedure with its type.
pub(super) type TypedLimb = Typed<LimbType>;

/// What the typing rules must know of a procedure to check one of its instructions.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub log_n: u8,
    pub moduli: &'a [TableModulus],
    /// The number of seed parameters that the procedure has.
    pub seeds: usize,
    /// The types of the procedure's immediate parameters.
    pub immediates: &'a [ImmType],
}

/// Returns a ring in words, such as "full ring of 2^14 coefficients".
pub(crate) fn ring_text(ring: Ring) -> String {
    let kind = match ring.kind {
        RingKind::Full => "full ring".to_owned(),
        RingKind::HalfPlus => "half+ ring".to_owned(),
        RingKind::HalfMinus => "half- ring".to_owned(),
        RingKind::Part(number) => format!("part {number} of a ring"),
    };
    format!("{kind} of 2^{} coefficients", ring.log_n)
}

/// Returns the name of a limb's form: `coefficient` or `evaluation`.
pub(crate) fn form_text(form: Form) -> &'static str {
    match form {
        Form::Coeff => "coefficient",
        Form::Eval => "evaluation",
    }
}

/// Checks the ring degree N = 2^`log_n` and the moduli of a program. N must be from 2^1 to 2^17.
/// There must be 1 to [`MAX_MODULI`](limits::MAX_MODULI) moduli, which are distinct and each in the
/// range that its kind has for this N.
pub(crate) fn check_ring(log_n: u8, moduli: &[TableModulus]) -> Result<(), Fault> {
    if Ring::full(log_n).check().is_err() {
        let expected = format!("log2 of the ring degree from 1 to {}", Ring::MAX_LOG_N);
        return Err(Fault::Illegal {
            what: "ring",
            expected,
            found: log_n.to_string(),
        });
    }
    if moduli.is_empty() || moduli.len() > limits::MAX_MODULI {
        let expected = format!("1 to {} moduli", limits::MAX_MODULI);
        return Err(Fault::Illegal {
            what: "moduli",
            expected,
            found: moduli.len().to_string(),
        });
    }
    // Two moduli of one value are duplicates, even if their kinds differ.
    let mut sorted = moduli.to_vec();
    sorted.sort_unstable_by_key(|q| q.value());
    let twice = |[a, b]: &&[TableModulus; 2]| a.value() == b.value();
    if let Some([_, q]) = sorted.array_windows().find(twice) {
        return Err(Fault::Duplicate {
            what: "modulus",
            item: q.to_string(),
        });
    }
    for (index, &q) in moduli.iter().enumerate() {
        check_modulus(log_n, q).map_err(|expected| Fault::Illegal {
            what: "modulus",
            expected,
            found: format!("q{index} = {q}"),
        })?;
    }
    Ok(())
}

/// Checks that a modulus is in the range that its kind (prime, plain number or power of two) has
/// for the ring degree 2^`log_n`. The error describes that range.
fn check_modulus(log_n: u8, q: TableModulus) -> Result<(), String> {
    let most = Modulus::MAX_BITS;
    match q {
        TableModulus::Prime(q) => {
            let two_n = two_n(log_n);
            if q < 1 << Modulus::MAX_BITS && q.checked_rem(two_n) == Some(1) && primes::is_prime(q)
            {
                return Ok(());
            }
            Err(format!("a prime below 2^{most} that is 1 mod {two_n}"))
        }
        TableModulus::Plain(2..) if below_61(q) => Ok(()),
        TableModulus::Plain(_) => Err(format!("an integer from 2 to 2^{most} - 1")),
        TableModulus::PowerOfTwo(1..=64) => Ok(()),
        TableModulus::PowerOfTwo(_) => Err("a power of two from 2^1 to 2^64".to_owned()),
    }
}

fn below_61(q: TableModulus) -> bool {
    q.value() < 1 << Modulus::MAX_BITS
}

/// Returns 2N, the order of the roots of unity of the ring of degree N = 2^`log_n`. The ring must be one that
/// [`check_ring`] allows.
fn two_n(log_n: u8) -> u64 {
    2u64.checked_shl(log_n.into()).unwrap_or(u64::MAX)
}

impl Scope<'_> {
    fn immediate(self, number: u16) -> Result<ImmType, Fault> {
        let known = self.immediates.get(usize::from(number)).copied();
        known.ok_or(Fault::Range {
            what: "immediate parameter",
            limit: self.immediates.len() as u64,
            found: u64::from(number),
        })
    }

    /// Returns the name and value of a modulus of the program's table, such as `q0 = 97`, for error
    /// messages.
    pub(crate) fn modulus_text(self, id: ModulusId) -> String {
        match self.moduli.get(usize::from(id.0)) {
            Some(q) => format!("q{} = {q}", id.0),
            None => format!("q{} (not in the table)", id.0),
        }
    }

    /// Checks that a limb of this procedure may have the type `ty`. Its ring must be the scheme's
    /// or a half of it, and its modulus in the program's table. For evaluation form, and for a half
    /// ring, the modulus must be an NTT-friendly prime.
    pub(crate) fn check_type(self, item: impl Fn() -> String, ty: LimbType) -> Result<(), Fault> {
        let full = Ring::full(self.log_n);
        let (plus, minus) = full.halves();
        if ![full, plus, minus].contains(&ty.ring) {
            let expected = format!("the {} or a half of it", ring_text(full));
            return Err(Fault::Ring {
                item: item(),
                expected,
                found: ring_text(ty.ring),
            });
        }
        let modulus = self.check_modulus(ty.modulus)?;
        let needs = match (ty.form, ty.ring.kind) {
            (Form::Eval, _) => "evaluation form",
            (Form::Coeff, RingKind::HalfPlus | RingKind::HalfMinus | RingKind::Part(_)) => {
                "a half ring"
            }
            (Form::Coeff, RingKind::Full) => return Ok(()),
        };
        match modulus {
            TableModulus::Prime(_) => Ok(()),
            TableModulus::Plain(_) | TableModulus::PowerOfTwo(_) => Err(Fault::NotPrime {
                item: item(),
                needs,
                found: self.modulus_text(ty.modulus),
            }),
        }
    }

    /// Checks that a value of any kind of this procedure may have the type `ty`.
    pub(crate) fn check_value(self, item: impl Fn() -> String, ty: ValueType) -> Result<(), Fault> {
        let LweType { dimension, modulus } = match ty {
            ValueType::Limb(ty) => return self.check_type(item, ty),
            ValueType::Lwe(ty) => ty,
            ValueType::LweTable(LweTableType { row, rows }) => {
                if !(1..=limits::MAX_LWE_ROWS).contains(&rows) {
                    return Err(Fault::Illegal {
                        what: "rows of a table of LWE vectors",
                        expected: format!("1 to {}", limits::MAX_LWE_ROWS),
                        found: format!("{rows} of {}", item()),
                    });
                }
                row
            }
            ValueType::Exponent => return Ok(()),
        };
        self.check_modulus(modulus)?;
        if (1..=limits::MAX_LWE_DIMENSION).contains(&dimension.0) {
            return Ok(());
        }
        Err(Fault::Illegal {
            what: "dimension of an LWE vector",
            expected: format!("1 to {}", limits::MAX_LWE_DIMENSION),
            found: format!("{dimension} of {}", item()),
        })
    }

    /// Returns the modulus with this index in the program's table, or an error if there is none.
    pub(crate) fn check_modulus(self, id: ModulusId) -> Result<TableModulus, Fault> {
        let known = self.moduli.get(usize::from(id.0)).copied();
        known.ok_or(Fault::Range {
            what: "modulus number",
            limit: self.moduli.len() as u64,
            found: u64::from(id.0),
        })
    }

    pub(crate) fn expect_ring(
        self,
        item: impl Fn() -> String,
        expected: Ring,
        found: Ring,
    ) -> Result<(), Fault> {
        if expected == found {
            return Ok(());
        }
        Err(Fault::Ring {
            item: item(),
            expected: ring_text(expected),
            found: ring_text(found),
        })
    }

    /// Checks that the types of two limbs are equal: ring first, then modulus, then form.
    pub(crate) fn expect_type(
        self,
        item: impl Fn() -> String,
        expected: LimbType,
        found: LimbType,
    ) -> Result<(), Fault> {
        self.expect_ring(&item, expected.ring, found.ring)?;
        if expected.modulus != found.modulus {
            return Err(Fault::Modulus {
                item: item(),
                expected: self.modulus_text(expected.modulus),
                found: self.modulus_text(found.modulus),
            });
        }
        expect_form(item, expected.form, found.form)
    }

    /// Checks that the type `found` is equal to the type `expected`, which includes the kind of
    /// value.
    pub(crate) fn expect_value(
        self,
        item: impl Fn() -> String,
        expected: ValueType,
        found: ValueType,
    ) -> Result<(), Fault> {
        match (expected, found) {
            (ValueType::Limb(expected), ValueType::Limb(found)) => {
                self.expect_type(item, expected, found)
            }
            (ValueType::Lwe(expected), ValueType::Lwe(found)) => {
                self.expect_vector(item, expected, found)
            }
            (ValueType::LweTable(expected), ValueType::LweTable(found)) => {
                self.expect_vector(&item, expected.row, found.row)?;
                if expected.rows == found.rows {
                    return Ok(());
                }
                Err(Fault::Illegal {
                    what: "rows of a table of LWE vectors",
                    expected: expected.rows.to_string(),
                    found: format!("{} of {}", found.rows, item()),
                })
            }
            (ValueType::Exponent, ValueType::Exponent) => Ok(()),
            (
                ValueType::Limb(_)
                | ValueType::Lwe(_)
                | ValueType::LweTable(_)
                | ValueType::Exponent,
                _,
            ) => Err(Fault::Kind {
                item: item(),
                expected: expected.kind(),
                found: found.kind(),
            }),
        }
    }

    pub(super) fn expect_vector(
        self,
        item: impl Fn() -> String,
        expected: LweType,
        found: LweType,
    ) -> Result<(), Fault> {
        if expected.modulus != found.modulus {
            return Err(Fault::Modulus {
                item: item(),
                expected: self.modulus_text(expected.modulus),
                found: self.modulus_text(found.modulus),
            });
        }
        if expected.dimension != found.dimension {
            return Err(Fault::Dimension {
                item: item(),
                expected: expected.dimension,
                found: found.dimension,
            });
        }
        Ok(())
    }

    pub(super) fn expect(self, v: TypedLimb, expected: LimbType) -> Result<(), Fault> {
        self.expect_type(|| item(v), expected, v.ty)
    }

    fn expect_all(self, values: &[TypedLimb], expected: LimbType) -> Result<(), Fault> {
        values.iter().try_for_each(|&v| self.expect(v, expected))
    }
}

pub(super) fn item<T>(v: Typed<T>) -> String {
    format!("%{}", v.value.0)
}

/// Returns a value as a limb with its type, or an error if the value is no limb.
pub(super) fn limb(v: Typed) -> Result<TypedLimb, Fault> {
    let ty = v.ty.limb().ok_or_else(|| Fault::Kind {
        item: item(v),
        expected: "a limb",
        found: v.ty.kind(),
    })?;
    Ok(Typed { value: v.value, ty })
}

fn all_limbs(values: &[Typed]) -> Result<Vec<TypedLimb>, Fault> {
    values.iter().map(|&v| limb(v)).collect()
}

pub(super) fn expect_form(
    item: impl Fn() -> String,
    expected: Form,
    found: Form,
) -> Result<(), Fault> {
    if expected == found {
        return Ok(());
    }
    Err(Fault::Form {
        item: item(),
        expected: form_text(expected),
        found: form_text(found),
    })
}

/// Checks one instruction by its definition: its numbers of operands and results, its immediate and
/// its typing rule. The caller has checked the type of each value by [`Scope::check_value`]. The
/// caller also checks that a slot of outside memory is stored before it is loaded.
pub(crate) fn check_instr(
    scope: Scope<'_>,
    op: Op,
    src: &[Typed],
    imm: Imm,
    dst: &[Typed],
) -> Result<(), Fault> {
    let info = op.info();
    info.check_counts(src.len(), dst.len())?;
    match info.rule {
        Rule::Same => same(scope, src, dst)?,
        Rule::RotateDifference => torus::rotate_difference(scope, src, dst)?,
        Rule::Decompose => torus::decompose(scope, src, imm, dst)?,
        Rule::Extract => torus::extract(scope, src, dst)?,
        Rule::KeySwitch => torus::key_switch(scope, src, imm, dst)?,
        Rule::Halt => {
            return Err(Fault::Illegal {
                what: "HCF",
                expected: "the last step of a program".to_owned(),
                found: "an instruction of a procedure".to_owned(),
            });
        }
        Rule::Any => src.iter().chain(dst).try_for_each(|&v| stored(v))?,
        Rule::SameLimb
        | Rule::SameEval
        | Rule::PairsEval
        | Rule::SameFull
        | Rule::CoeffToEval
        | Rule::EvalToCoeff
        | Rule::HalvesEval
        | Rule::ChangeModulus
        | Rule::BaseExtension
        | Rule::ExactExtension
        | Rule::RedundantExtension
        | Rule::Split
        | Rule::Join
        | Rule::AnyEval => limbs::check(scope, info.rule, &all_limbs(src)?, &all_limbs(dst)?)?,
    }
    check_immediate(scope, info.immediate, imm, src)
}

/// Checks that a slot of the memory outside the machine may hold the value: the value is a limb or
/// an LWE vector.
fn stored(v: Typed) -> Result<(), Fault> {
    match v.ty {
        ValueType::Limb(_) | ValueType::Lwe(_) => Ok(()),
        ValueType::LweTable(_) | ValueType::Exponent => Err(neither(v)),
    }
}

fn neither(v: Typed) -> Fault {
    Fault::Kind {
        item: item(v),
        expected: "a limb or an LWE vector",
        found: v.ty.kind(),
    }
}

/// Checks that all operands and results of an instruction have one type, which is that of a limb or
/// of an LWE vector.
fn same(scope: Scope<'_>, src: &[Typed], dst: &[Typed]) -> Result<(), Fault> {
    let Some(&first) = src.first() else {
        return Ok(());
    };
    stored(first)?;
    let mut all = src.iter().chain(dst);
    all.try_for_each(|&v| scope.expect_value(|| item(v), first.ty, v.ty))
}

/// Checks that `g` is a Galois element of the ring of degree 2^`log_n`: odd, and below twice the
/// degree.
fn check_galois(log_n: u8, g: u64) -> Result<(), Fault> {
    let two_n = two_n(log_n);
    if g % 2 == 1 && g < two_n {
        return Ok(());
    }
    Err(Fault::Immediate {
        expected: format!("an odd Galois element below {two_n}"),
        found: format!("galois {g}"),
    })
}

/// Checks the value that a call sets for an immediate parameter of type `ty`: a Galois element, or
/// a residue below its modulus.
pub(crate) fn check_given(scope: Scope<'_>, ty: ImmType, value: u64) -> Result<(), Fault> {
    match ty {
        ImmType::Galois => check_galois(scope.log_n, value),
        ImmType::Scalar(id) => match scope.moduli.get(usize::from(id.0)) {
            Some(q) if u128::from(value) < q.value() => Ok(()),
            _ => Err(Fault::Immediate {
                expected: format!("a residue below {}", scope.modulus_text(id)),
                found: format!("scalar {value}"),
            }),
        },
    }
}

fn check_immediate(scope: Scope<'_>, kind: ImmKind, imm: Imm, src: &[Typed]) -> Result<(), Fault> {
    let wrong = |expected: String| {
        Err(Fault::Immediate {
            expected,
            found: imm_text(imm),
        })
    };
    match (kind, imm) {
        (ImmKind::None, Imm::None) => Ok(()),
        (ImmKind::Scalar, Imm::Scalar(w)) => {
            let modulus = src.first().and_then(|v| v.ty.modulus());
            match modulus.and_then(|id| scope.moduli.get(usize::from(id.0)).map(|&q| (id, q))) {
                Some((_, q)) if w <= q.top() => Ok(()),
                Some((id, _)) => wrong(format!("a residue below {}", scope.modulus_text(id))),
                None => wrong("a residue of an operand".to_owned()),
            }
        }
        (ImmKind::Galois, Imm::Galois(g)) => check_galois(scope.log_n, g.into()),
        (ImmKind::Scalar, Imm::ScalarOf(n)) => match (
            scope.immediate(n)?,
            src.first().and_then(|v| v.ty.modulus()),
        ) {
            (ImmType::Scalar(id), Some(modulus)) if id == modulus => Ok(()),
            (_, Some(modulus)) => wrong(format!(
                "an immediate parameter below {}",
                scope.modulus_text(modulus)
            )),
            (_, None) => wrong("a residue of an operand".to_owned()),
        },
        (ImmKind::Galois, Imm::GaloisOf(n)) => match scope.immediate(n)? {
            ImmType::Galois => Ok(()),
            ImmType::Scalar(_) => wrong("an immediate parameter that is a Galois element".into()),
        },
        (ImmKind::Stream, Imm::Stream { seed, .. }) => {
            if usize::from(seed) < scope.seeds {
                return Ok(());
            }
            wrong(format!("a seed number below {}", scope.seeds))
        }
        (ImmKind::Slot, Imm::Slot(slot)) => {
            if slot < limits::MAX_SLOTS {
                return Ok(());
            }
            wrong(format!("a slot number below {}", limits::MAX_SLOTS))
        }
        (ImmKind::Representative, Imm::Representative(_)) => Ok(()),
        (ImmKind::Base, Imm::Base(1..=MAX_LOG_BASE)) => Ok(()),
        (ImmKind::Base, _) => wrong(format!("a base from 2^1 to 2^{MAX_LOG_BASE}")),
        (kind, _) => wrong(kind.word().to_owned()),
    }
}

/// Returns an immediate in words, for error messages.
fn imm_text(imm: Imm) -> String {
    match imm {
        Imm::None => "none".to_owned(),
        Imm::Scalar(w) => format!("scalar {w}"),
        Imm::Galois(g) => format!("galois {g}"),
        Imm::ScalarOf(n) => format!("scalar imm {n}"),
        Imm::GaloisOf(n) => format!("galois imm {n}"),
        Imm::Stream { seed, stream } => format!("stream seed {seed} stream {stream}"),
        Imm::Slot(slot) => format!("slot {slot}"),
        Imm::Representative(which) => text::representative_word(which).to_owned(),
        Imm::Base(log) => format!("base 2^{log}"),
    }
}
