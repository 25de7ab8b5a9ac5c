// SPDX-License-Identifier: Apache-2.0
//! The cycle model of the polynomial multiplier: a pure function of shape, degree and command, equal to the RTL cycle
//! for cycle.

use super::{Degree, Shape};

/// The cycles of a butterfly: `ButterflyLatency` of `rm_polymul_pkg`. Every other latency here follows from it;
/// lockstep with the RTL checks it.
pub const BUTTERFLY_LATENCY: u64 = 8;
/// The cycles from a read address to the address of the first read that may see the result: memory 1, operand register
/// 1, butterfly, register behind the network 1, write 1.
pub const DEP_LATENCY: u64 = BUTTERFLY_LATENCY + 4;
/// The idle cycles between the last product and the first inverse butterfly. By then the adders have changed sides, and
/// the least number of rows, two, has its products.
pub const TURN_GAP: u64 = DEP_LATENCY - 2;
/// The cycles from a command to its first read: command register, decision, sequencer or stream unit, address register.
pub const COMMAND_LATENCY: u64 = 4;
/// The cycles of a command without its operations and waits. The done bit comes [`COMMAND_LATENCY`] cycles before the
/// last word may be read: no later command reads sooner.
pub const OVERHEAD: u64 = DEP_LATENCY - 1;

/// An operation of the array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrayOp {
    /// Forward transform.
    Ntt,
    /// Inverse transform.
    Intt,
    /// Coefficient-wise product.
    Mul,
    /// Transform, product, inverse transform.
    Hpm,
    /// Two transforms, product, inverse transform.
    Fpm,
    /// Coefficient-wise sum, in either form.
    Add,
    /// Coefficient-wise difference, in either form.
    Sub,
}

/// Which limbs of a command are in evaluation form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Forms {
    pub a: bool,
    /// `None` if there is no second operand.
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

    /// Returns the name for reports and commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ntt => "NTT",
            Self::Intt => "INTT",
            Self::Mul => "MUL",
            Self::Hpm => "HPM",
            Self::Fpm => "FPM",
            Self::Add => "ADD",
            Self::Sub => "SUB",
        }
    }

    /// Returns the forms of its operands and its result. Sums take both forms, and have one of them here.
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

/// The computation of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pass {
    /// Residues times R^2, so that the product has no Montgomery factor.
    Scale,
    /// A Cooley-Tukey stage on one polynomial.
    Forward,
    /// Coefficient-wise product.
    Product,
    /// A Gentleman-Sande stage.
    Inverse,
    /// Coefficient-wise sum or difference.
    Sum,
}

/// One sweep over a polynomial: an operation a cycle, then a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    pub pass: Pass,
    pub operations: u64,
    pub wait: u64,
}

/// Returns the passes of a command in order, each with the wait after it (the last has none).
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

/// Returns half the pair distance within a unit, rounded down, in forward stage `stage`. An operation of the next stage
/// reads the result of an operation that comes at most so many operations later than its own number.
fn reach(rows: u64, stage: u64) -> u64 {
    (rows >> stage.min(63)) / 2
}

/// Returns the cycles of an array command, from the cycle in which it is accepted to the one in which its done bit is
/// up.
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

/// Returns for each cycle of an array command, from its acceptance on, whether an operation's addresses leave.
pub fn issues(shape: Shape, degree: Degree, op: ArrayOp) -> Vec<bool> {
    let mut issues = vec![false; COMMAND_LATENCY as usize];
    for slot in schedule(shape, degree, op) {
        issues.extend((0..slot.operations).map(|_| true));
        issues.extend((0..slot.wait).map(|_| false));
    }
    issues.resize(cycles(shape, degree, op) as usize + 1, false);
    issues
}

/// Returns the cycles of a load whose stream never stalls.
pub fn load_cycles(shape: Shape, degree: Degree) -> u64 {
    degree.n() as u64 / shape.beat() as u64 + 5
}

/// Returns the cycles of an unload whose stream never stalls.
pub fn unload_cycles(shape: Shape, degree: Degree) -> u64 {
    degree.n() as u64 / shape.beat() as u64 + 7
}

/// Returns the cycles of loading the tables of one modulus: two beats, then one word a cycle.
pub fn table_cycles(degree: Degree) -> u64 {
    degree.n() as u64 + 7
}

/// Returns the least cycles that P butterflies and multipliers could need: n log2(n) / 2P for a transform, n / P for a
/// product or sum.
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
