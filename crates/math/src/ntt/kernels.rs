// SPDX-License-Identifier: Apache-2.0
//! Lists the NTT kernels for 64-bit words with the moduli that each serves, and keeps the choices among them.
//!
//! Of the arithmetics of one instruction set, only the narrowest that serves a modulus takes it. The wider ones need
//! the same instructions and more, and cannot be faster. Kernels called `spread` have fewer instructions on the units
//! that multiply, and more in all. Moduli of 52 to 54 bits have both `ifma 54` and `ifma 60`, because these multiply in
//! different ways. `in step` says that several chunks run together ([`crate::simd::Chunks`]).

use super::{NttPlan, scalar};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512, doubles, in_52_bits};
use crate::Backend;
#[cfg(target_arch = "x86_64")]
use crate::Modulus;
use crate::modmul::Solinas52;
use crate::plans::{Arithmetic, Cell, Cells, Planned, Shape, Task};

/// The classes of moduli for which kernels differ, each by the most bits of its moduli. 52 stands
/// for the one prime of [`Solinas52`].
const CLASSES: [u32; 8] = [34, 46, 50, 51, 52, 54, 60, 61];

static CELLS: Cells<{ CLASSES.len() }> = Cells::new();

/// Makes a row of the table of kernels: its name, its instruction set, the moduli that it serves, its shortest limb,
/// [`Arithmetic::ordered`], and the module of its loops.
macro_rules! row {
    ($name:literal, $level:ident, $takes:expr, $min_len:expr, $ordered:expr, $($module:ident)::+) => {
        Arithmetic {
            name: $name,
            level: Backend::$level,
            takes: |plan: &NttPlan| {
                let takes: fn(&NttPlan) -> bool = $takes;
                plan.ring.len() >= $min_len && takes(plan)
            },
            ordered: $ordered,
            run: [$($module)::+::forward, $($module)::+::inverse],
        }
    };
}

/// The bytes of a word in the loops of [`avx512`].
#[cfg(target_arch = "x86_64")]
const WORD: Option<usize> = Some(size_of::<u64>());

static TABLE: &[Arithmetic<NttPlan>] = &[
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma 34",
        Avx512Ifma,
        |plan| plan.q.bits() <= 34,
        avx512::MIN_LEN,
        WORD,
        avx512::ifma_34
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma 34 spread",
        Avx512Ifma,
        |plan| plan.q.bits() <= 34,
        avx512::MIN_LEN,
        WORD,
        avx512::ifma_34_spread
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma 46",
        Avx512Ifma,
        |plan| (35..=46).contains(&plan.q.bits()),
        avx512::MIN_LEN,
        WORD,
        avx512::ifma_46
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma 50",
        Avx512Ifma,
        |plan| (47..=50).contains(&plan.q.bits()),
        avx512::MIN_LEN,
        WORD,
        avx512::ifma_50
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma 50 spread",
        Avx512Ifma,
        |plan| (47..=50).contains(&plan.q.bits()),
        avx512::MIN_LEN,
        WORD,
        avx512::ifma_50_spread
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma 51",
        Avx512Ifma,
        |plan| plan.q.bits() == 51,
        avx512::MIN_LEN,
        WORD,
        avx512::ifma_51
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma solinas",
        Avx512Ifma,
        |plan| plan.q.value() == Solinas52::P,
        avx512::MIN_LEN,
        WORD,
        avx512::solinas
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma 54",
        Avx512Ifma,
        |plan| long(plan.q) && plan.q.bits() <= 54,
        avx512::MIN_LEN,
        WORD,
        avx512::ifma_54
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma 54 in step",
        Avx512Ifma,
        |plan| long(plan.q) && plan.q.bits() <= 54,
        avx512::MIN_LEN,
        WORD,
        avx512::ifma_54_in_step
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma 60",
        Avx512Ifma,
        |plan| long(plan.q) && plan.q.bits() <= 60,
        avx512::MIN_LEN,
        WORD,
        avx512::ifma_60
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "ifma 61",
        Avx512Ifma,
        |plan| plan.q.bits() > 60,
        avx512::MIN_LEN,
        WORD,
        avx512::ifma_61
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "avx512 60",
        Avx512,
        |plan| plan.q.bits() <= 60,
        avx512::MIN_LEN,
        WORD,
        avx512::products_60
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "avx512 61",
        Avx512,
        |plan| plan.q.bits() > 60,
        avx512::MIN_LEN,
        WORD,
        avx512::products_61
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "fma 50",
        Avx2,
        |plan| plan.q.bits() <= 50,
        doubles::MIN_LEN,
        None,
        doubles::below_50_bits
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "fma 52",
        Avx2,
        |plan| in_52_bits(plan.q) && plan.q.bits() > 50,
        doubles::MIN_LEN,
        None,
        doubles::below_52_bits
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "avx2 60",
        Avx2,
        |plan| !in_52_bits(plan.q) && plan.q.bits() <= 60,
        avx2::MIN_LEN,
        None,
        avx2::below_60_bits
    ),
    #[cfg(target_arch = "x86_64")]
    row!(
        "avx2 61",
        Avx2,
        |plan| plan.q.bits() > 60,
        avx2::MIN_LEN,
        None,
        avx2::any
    ),
    row!("scalar", Scalar, |_| true, 1, None, scalar),
];

/// Returns whether q has more than 51 bits and is not the prime 2^52 - 2^12 + 1, which has an
/// arithmetic of its own.
#[cfg(target_arch = "x86_64")]
fn long(q: Modulus) -> bool {
    q.bits() > 51 && q.value() != Solinas52::P
}

impl Planned for NttPlan {
    type Word = u64;

    fn arithmetics() -> &'static [Arithmetic<Self>] {
        TABLE
    }

    fn shape(&self, task: Task) -> (Shape, Cell) {
        let bits = match self.q.value() {
            Solinas52::P => 52,
            _ if self.q.bits() == 52 => 54,
            _ => self.q.bits(),
        };
        let class = CLASSES
            .iter()
            .position(|&most| bits <= most)
            .unwrap_or(CLASSES.len() - 1);
        let shape = Shape {
            task,
            word_bits: 64,
            bits: CLASSES[class],
            log_n: self.ring.log_n,
        };
        (shape, CELLS.at(task, class, self.ring.log_n))
    }
}
