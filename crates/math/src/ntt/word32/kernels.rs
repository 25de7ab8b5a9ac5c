// SPDX-License-Identifier: Apache-2.0
//! Lists the NTT kernels for 32-bit words with the moduli that each serves, and keeps the choices among them.

use super::{Ntt32, scalar};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512, ifma};
use crate::Backend;
use crate::plans::{Arithmetic, Cell, Cells, Planned, Shape, Task};

/// The classes of moduli for which kernels differ, each by the most bits of its moduli.
const CLASSES: [u32; 3] = [30, 31, 32];

static CELLS: Cells<{ CLASSES.len() }> = Cells::new();

/// Makes a row of the table of kernels: its name, its instruction set, the bits of the moduli that it serves, the type
/// of a word in its loops, and the module of the loops. The type is `()` if [`Arithmetic::ordered`] is `None`.
#[cfg(target_arch = "x86_64")]
macro_rules! row {
    ($name:literal, $level:ident, $bits:expr, $word:ty, $first:ident::$module:ident) => {
        Arithmetic {
            name: $name,
            level: Backend::$level,
            takes: |plan: &Ntt32| {
                plan.ring().len() >= $first::MIN_LEN && $bits.contains(&plan.q.bits())
            },
            ordered: match size_of::<$word>() {
                0 => None,
                bytes => Some(bytes),
            },
            run: [$first::$module::forward, $first::$module::inverse],
        }
    };
}

static TABLE: &[Arithmetic<Ntt32>] = &[
    #[cfg(target_arch = "x86_64")]
    row!("ifma 30", Avx512Ifma, (..=30), u64, ifma::up_to_30),
    #[cfg(target_arch = "x86_64")]
    row!("ifma 31", Avx512Ifma, (31..=31), u64, ifma::up_to_31),
    #[cfg(target_arch = "x86_64")]
    row!("ifma 32", Avx512Ifma, (32..), u64, ifma::up_to_32),
    #[cfg(target_arch = "x86_64")]
    row!("avx512 30", Avx512, (..=30), u32, avx512::lazy),
    #[cfg(target_arch = "x86_64")]
    row!("avx512 32", Avx512, (31..), u32, avx512::strict),
    #[cfg(target_arch = "x86_64")]
    row!("avx2 30", Avx2, (..=30), (), avx2::lazy),
    #[cfg(target_arch = "x86_64")]
    row!("avx2 32", Avx2, (31..), (), avx2::strict),
    Arithmetic {
        name: "scalar",
        level: Backend::Scalar,
        takes: |_| true,
        ordered: None,
        run: [scalar::forward, scalar::inverse],
    },
];

impl Planned for Ntt32 {
    type Word = u32;

    fn arithmetics() -> &'static [Arithmetic<Self>] {
        TABLE
    }

    fn shape(&self, task: Task) -> (Shape, Cell) {
        let class = CLASSES.iter().position(|&most| self.q.bits() <= most);
        let class = class.unwrap_or(CLASSES.len() - 1);
        let log_n = self.ring().log_n;
        let shape = Shape {
            task,
            word_bits: 32,
            bits: CLASSES[class],
            log_n,
        };
        (shape, CELLS.at(task, class, log_n))
    }
}
