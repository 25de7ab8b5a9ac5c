// SPDX-License-Identifier: Apache-2.0
//! The cycle model of the polynomial multiplier. The cycles depend only on shape, degree and command. They equal
//! those of the RTL if the streams do not stall.

use super::isa::Opcode;
use super::{Degree, Shape};

/// The latency of a butterfly in cycles: `ButterflyLatency` of `rm_polymul_pkg`. [`DEP_LATENCY`], [`TURN_GAP`] and
/// [`OVERHEAD`] follow from it; a test compares the model with the RTL cycle by cycle.
pub const BUTTERFLY_LATENCY: u64 = 8;
/// The least cycles between two read addresses of the multiplier if the second read depends on the
/// result of the first. They are the latency of the butterfly, and one cycle each for the memory,
/// the operand register, the register behind the network and the write.
pub const DEP_LATENCY: u64 = BUTTERFLY_LATENCY + 4;
/// The idle cycles between the last coefficient-wise product and the first inverse butterfly. In this time the
/// butterflies turn from adding behind the multiplier to adding before it, and the products reach memory.
pub const TURN_GAP: u64 = DEP_LATENCY - 2;
/// The cycles from a command to its first read address. They are one each for the command register,
/// the decision, the sequencer or stream unit, and the address register.
pub const COMMAND_LATENCY: u64 = 4;
/// The cycles of a command to the multiplier's butterflies (array command) beyond its operations and waits. The
/// done bit comes [`COMMAND_LATENCY`] cycles before the last word may be read, since no later command can read
/// sooner.
pub const OVERHEAD: u64 = DEP_LATENCY - 1;

/// An operation of the multiplier's array of butterflies on one or two limbs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrayOp {
    /// The operation is the forward transform (NTT) of a limb.
    Ntt,
    /// The operation is the inverse transform (INTT) of a limb.
    Intt,
    /// The operation is the coefficient-wise product of two limbs.
    Mul,
    /// The half product: transforms one limb, multiplies it by a limb in evaluation form, and transforms back.
    Hpm,
    /// The full product: transforms both limbs, multiplies them, and transforms back.
    Fpm,
    /// The operation is the coefficient-wise sum of two limbs, both in the same form.
    Add,
    /// The operation is the coefficient-wise difference of two limbs, both in the same form.
    Sub,
}

/// For each operand and the result of an operation of the multiplier's butterflies, whether it is in evaluation
/// form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Forms {
    pub a: bool,
    /// The form of the second operand: true for evaluation form, `None` if there is no second operand.
    pub b: Option<bool>,
    pub out: bool,
}

impl ArrayOp {
    pub const ALL: [Self; 7] = [
        Self::Ntt,
        Self::Intt,
        Self::Mul,
        Self::Hpm,
        Self::Fpm,
        Self::Add,
        Self::Sub,
    ];

    /// Returns the operation of the command that runs it.
    pub fn opcode(self) -> Opcode {
        match self {
            Self::Ntt => Opcode::Ntt,
            Self::Intt => Opcode::Intt,
            Self::Mul => Opcode::Mul,
            Self::Hpm => Opcode::Hpm,
            Self::Fpm => Opcode::Fpm,
            Self::Add => Opcode::Add,
            Self::Sub => Opcode::Sub,
        }
    }

    /// Returns the operation's name in reports and commands.
    pub fn name(self) -> &'static str {
        self.opcode().text()
    }

    /// Returns the forms of the operation's operands and result. A sum or difference takes operands in either form;
    /// [`Forms`] then says coefficient form.
    pub fn forms(self) -> Forms {
        let (a, b, out) = match self {
            Self::Ntt => (false, None, true),
            Self::Intt => (true, None, false),
            Self::Mul => (true, Some(true), true),
            Self::Hpm => (false, Some(true), false),
            Self::Fpm | Self::Add | Self::Sub => (false, Some(false), false),
        };
        Forms { a, b, out }
    }
}

/// The computation of one pass of the multiplier's butterflies over the rows of a polynomial. A row is 2P
/// coefficients, for P butterflies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pass {
    /// The pass multiplies residues by the Montgomery factor R, so that the later Montgomery product has no factor
    /// left. Before a transform it takes only the residues that no twiddle of the first stage multiplies.
    Scale,
    /// The pass is one Cooley-Tukey stage of a forward transform, on one polynomial.
    Forward,
    /// The pass is the coefficient-wise product of two polynomials.
    Product,
    /// The pass is one Gentleman-Sande stage of an inverse transform.
    Inverse,
    /// The pass is the coefficient-wise sum or difference of two polynomials.
    Sum,
}

/// One pass over the rows of a polynomial, each of 2P coefficients for P butterflies. It has its operations, one in
/// each cycle, then the idle cycles before the next pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    pub pass: Pass,
    pub operations: u64,
    pub wait: u64,
}

/// Returns the passes of a command to the multiplier's butterflies, in order, each with the idle cycles after it.
/// The last pass has none.
pub fn schedule(shape: Shape, degree: Degree, op: ArrayOp) -> Vec<Slot> {
    let rows = shape.rows(degree);
    let mut slots = Vec::new();
    let mut push = |pass, operations, wait| {
        slots.push(Slot {
            pass,
            operations,
            wait,
        });
    };
    match op {
        ArrayOp::Ntt | ArrayOp::Intt => {}
        ArrayOp::Add | ArrayOp::Sub => push(Pass::Sum, 2 * rows, 0),
        ArrayOp::Mul => push(Pass::Scale, 2 * rows, DEP_LATENCY.saturating_sub(2 * rows)),
        ArrayOp::Hpm | ArrayOp::Fpm => push(Pass::Scale, rows, DEP_LATENCY.saturating_sub(rows)),
    }
    let stages = u64::from(degree.log_n());
    let log_rows = u64::from(rows.ilog2());
    if matches!(op, ArrayOp::Ntt | ArrayOp::Hpm | ArrayOp::Fpm) {
        let polynomials = if op == ArrayOp::Fpm { 2 } else { 1 };
        for stage in 0..stages {
            for polynomial in 1..=polynomials {
                let wait = match () {
                    () if polynomial < polynomials => 0,
                    // The next pass needs the last polynomial's last stage.
                    () if stage + 1 == stages => DEP_LATENCY.saturating_sub(rows),
                    () => (DEP_LATENCY + reach(rows, stage)).saturating_sub(polynomials * rows),
                };
                push(Pass::Forward, rows, wait);
            }
        }
    }
    if matches!(op, ArrayOp::Mul | ArrayOp::Hpm | ArrayOp::Fpm) {
        push(Pass::Product, 2 * rows, TURN_GAP);
    }
    if matches!(op, ArrayOp::Intt | ArrayOp::Hpm | ArrayOp::Fpm) {
        for stage in (0..stages).rev() {
            // The inverse mirrors the forward transform; after each stage up to log2(rows) comes one on a higher bit.
            let reach = match stage {
                0 => 0,
                s if s <= log_rows => reach(rows, s - 1),
                _ => 0,
            };
            push(
                Pass::Inverse,
                rows,
                (DEP_LATENCY + reach).saturating_sub(rows),
            );
        }
    }
    if let Some(last) = slots.last_mut() {
        last.wait = 0;
    }
    slots
}

/// Returns by how many operations, one a cycle, the reads of the next forward stage run ahead of
/// the writes of stage `stage`. The next stage waits that much longer. A limb has `rows` rows of 2P
/// coefficients, for P processing units. The number is half the distance between a butterfly's two
/// words in one unit's memory.
fn reach(rows: u64, stage: u64) -> u64 {
    (rows >> stage.min(63)) / 2
}

/// Returns the cycles of a command to the multiplier's butterflies, from its acceptance to its done bit.
///
/// ```
/// use ringmill_machines::polymul::{ArrayOp, Shape, cycles};
///
/// let paper = Shape::new(32, 12, 4).unwrap();
/// let ntt = cycles(paper, paper.degree(4096).unwrap(), ArrayOp::Ntt);
/// assert_eq!(ntt, 12 * 4096 / 64 + 11); // no waits between stages; the paper needs 876
/// ```
pub fn cycles(shape: Shape, degree: Degree, op: ArrayOp) -> u64 {
    let slots = schedule(shape, degree, op);
    slots.iter().map(|s| s.operations + s.wait).sum::<u64>() + OVERHEAD
}

/// Returns for each cycle of a command to the multiplier's butterflies, from its acceptance on, whether they begin
/// an operation, by issuing its read addresses.
pub fn issues(shape: Shape, degree: Degree, op: ArrayOp) -> Vec<bool> {
    let mut issues = vec![false; COMMAND_LATENCY as usize];
    for slot in schedule(shape, degree, op) {
        issues.extend((0..slot.operations).map(|_| true));
        issues.extend((0..slot.wait).map(|_| false));
    }
    issues.resize(cycles(shape, degree, op) as usize + 1, false);
    issues
}

/// Returns the cycles in which the multiplier loads a limb, if the stream never stalls.
pub fn load_cycles(shape: Shape, degree: Degree) -> u64 {
    degree.n() as u64 / shape.beat() as u64 + 5
}

/// Returns the cycles in which the multiplier unloads a limb, if the stream never stalls.
pub fn unload_cycles(shape: Shape, degree: Degree) -> u64 {
    degree.n() as u64 / shape.beat() as u64 + 7
}

/// Returns the cycles in which the tables of one modulus are loaded: two beats, then one word in each cycle.
pub fn table_cycles(degree: Degree) -> u64 {
    degree.n() as u64 + 7
}

/// Returns the least cycles in which P butterflies and multipliers could do an operation at ring degree n: n
/// log2(n) / 2P for each transform, n / P for each product or sum.
pub fn floor(shape: Shape, degree: Degree, op: ArrayOp) -> u64 {
    let transform = shape.rows(degree) * u64::from(degree.log_n());
    let product = 2 * shape.rows(degree);
    match op {
        ArrayOp::Ntt | ArrayOp::Intt => transform,
        ArrayOp::Mul | ArrayOp::Add | ArrayOp::Sub => product,
        ArrayOp::Hpm => 2 * transform + product,
        ArrayOp::Fpm => 3 * transform + product,
    }
}
