// SPDX-License-Identifier: Apache-2.0
//! Loops of independent vector instructions. They show the processor's best rate of each kind of instruction, by itself
//! and among additions.

#![allow(unsafe_code)] // instructions that are timed by name

use std::arch::asm;
use std::arch::x86_64::*;
use std::hint::black_box;

/// The turns of a loop of one kind of instruction alone. A loop among additions has half as many. A loop takes a
/// fraction of a millisecond, much less than a time slice, so the best round was not interrupted.
const STEPS: u64 = 20_000;
/// The number of instructions of a kind in one call of [`Kind::alone`].
pub const ALONE: u64 = 12 * STEPS;
/// The number of instructions of a kind in one call of [`Kind::among_additions`]. `ADDITIONS` is the number of
/// additions beside each of them.
pub const MIXED: u64 = 2 * STEPS;
pub const ADDITIONS: u64 = 6;

/// A kind of instruction and its loops.
///
/// # Safety
/// The loops may be called only on a processor that has the instruction, and AVX-512 F for 512-bit registers or AVX2
/// for 256-bit ones.
pub struct Kind {
    pub name: &'static str,
    pub alone: unsafe fn(),
    pub among_additions: unsafe fn(),
}

/// Makes the kind of an instruction on 512-bit registers. `$rest` is the text behind its register operands, such as an
/// immediate operand, or empty.
macro_rules! wide {
    ($op:literal, $rest:literal) => {{
            #[target_feature(enable = "avx512f")]
            unsafe fn alone() {
                let x = black_box(_mm512_set1_epi64(5));
                for _ in 0..STEPS {
                    // SAFETY: the processor has the instruction (`available` has seen to that); registers alone are
                    // written, and all of them stand below.
                    unsafe {
                        asm!(
                        concat!($op, " zmm0, zmm14, zmm15", $rest),
                        concat!($op, " zmm1, zmm14, zmm15", $rest),
                        concat!($op, " zmm2, zmm14, zmm15", $rest),
                        concat!($op, " zmm3, zmm14, zmm15", $rest),
                        concat!($op, " zmm4, zmm14, zmm15", $rest),
                        concat!($op, " zmm5, zmm14, zmm15", $rest),
                        concat!($op, " zmm6, zmm14, zmm15", $rest),
                        concat!($op, " zmm7, zmm14, zmm15", $rest),
                        concat!($op, " zmm8, zmm14, zmm15", $rest),
                        concat!($op, " zmm9, zmm14, zmm15", $rest),
                        concat!($op, " zmm10, zmm14, zmm15", $rest),
                        concat!($op, " zmm11, zmm14, zmm15", $rest),
                        in("zmm14") x, in("zmm15") x,
                        out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
                        out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
                        out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
                        options(nomem, nostack, preserves_flags)
                        )
                    }
                }
            }

            #[target_feature(enable = "avx512f")]
            unsafe fn among_additions() {
                let x = black_box(_mm512_set1_epi64(5));
                for _ in 0..STEPS / 2 {
                    // SAFETY: the processor has the instruction (`available` has seen to that); registers alone are
                    // written, and all of them stand below. An instruction that also reads its destination (vpermt2q,
                    // vpmadd52luq) reads a register that was written 28 instructions before. On a processor with four
                    // additions a cycle (Zen 5) that result is there in time.
                    unsafe {
                        asm!(
                        concat!($op, " zmm0, zmm30, zmm31", $rest),
                        "vpaddq zmm1, zmm30, zmm31",
                        "vpaddq zmm2, zmm30, zmm31",
                        "vpaddq zmm3, zmm30, zmm31",
                        "vpaddq zmm4, zmm30, zmm31",
                        "vpaddq zmm5, zmm30, zmm31",
                        "vpaddq zmm6, zmm30, zmm31",
                        concat!($op, " zmm7, zmm30, zmm31", $rest),
                        "vpaddq zmm8, zmm30, zmm31",
                        "vpaddq zmm9, zmm30, zmm31",
                        "vpaddq zmm10, zmm30, zmm31",
                        "vpaddq zmm11, zmm30, zmm31",
                        "vpaddq zmm12, zmm30, zmm31",
                        "vpaddq zmm13, zmm30, zmm31",
                        concat!($op, " zmm14, zmm30, zmm31", $rest),
                        "vpaddq zmm15, zmm30, zmm31",
                        "vpaddq zmm16, zmm30, zmm31",
                        "vpaddq zmm17, zmm30, zmm31",
                        "vpaddq zmm18, zmm30, zmm31",
                        "vpaddq zmm19, zmm30, zmm31",
                        "vpaddq zmm20, zmm30, zmm31",
                        concat!($op, " zmm21, zmm30, zmm31", $rest),
                        "vpaddq zmm22, zmm30, zmm31",
                        "vpaddq zmm23, zmm30, zmm31",
                        "vpaddq zmm24, zmm30, zmm31",
                        "vpaddq zmm25, zmm30, zmm31",
                        "vpaddq zmm26, zmm30, zmm31",
                        "vpaddq zmm27, zmm30, zmm31",
                        in("zmm30") x, in("zmm31") x,
                        out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
                        out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
                        out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
                        out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _,
                        out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
                        out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
                        out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _,
                        options(nomem, nostack, preserves_flags)
                        )
                    }
                }
            }

            Kind { name: $op, alone, among_additions }
    }};
}

/// Makes the kind of an instruction on 256-bit registers. `$rest` is the text behind its register operands, such as an
/// immediate operand, or empty.
macro_rules! narrow {
    ($op:literal, $rest:literal) => {{
            #[target_feature(enable = "avx2")]
            unsafe fn alone() {
                let x = black_box(_mm256_set1_epi64x(5));
                for _ in 0..STEPS {
                    // SAFETY: the processor has the instruction (`available` has seen to that); registers alone are
                    // written, and all of them stand below.
                    unsafe {
                        asm!(
                        concat!($op, " ymm0, ymm14, ymm15", $rest),
                        concat!($op, " ymm1, ymm14, ymm15", $rest),
                        concat!($op, " ymm2, ymm14, ymm15", $rest),
                        concat!($op, " ymm3, ymm14, ymm15", $rest),
                        concat!($op, " ymm4, ymm14, ymm15", $rest),
                        concat!($op, " ymm5, ymm14, ymm15", $rest),
                        concat!($op, " ymm6, ymm14, ymm15", $rest),
                        concat!($op, " ymm7, ymm14, ymm15", $rest),
                        concat!($op, " ymm8, ymm14, ymm15", $rest),
                        concat!($op, " ymm9, ymm14, ymm15", $rest),
                        concat!($op, " ymm10, ymm14, ymm15", $rest),
                        concat!($op, " ymm11, ymm14, ymm15", $rest),
                        in("ymm14") x, in("ymm15") x,
                        out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
                        out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
                        out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
                        options(nomem, nostack, preserves_flags)
                        )
                    }
                }
            }

            #[target_feature(enable = "avx2")]
            unsafe fn among_additions() {
                let x = black_box(_mm256_set1_epi64x(5));
                for _ in 0..STEPS / 2 {
                    // SAFETY: the processor has the instruction (`available` has seen to that); registers alone are
                    // written, and all of them stand below. The sequence stands twice, since half of it is no whole
                    // number of cycles on a processor with four additions a cycle.
                    unsafe {
                        asm!(
                        concat!($op, " ymm0, ymm14, ymm15", $rest),
                        "vpaddq ymm1, ymm14, ymm15",
                        "vpaddq ymm2, ymm14, ymm15",
                        "vpaddq ymm3, ymm14, ymm15",
                        "vpaddq ymm4, ymm14, ymm15",
                        "vpaddq ymm5, ymm14, ymm15",
                        "vpaddq ymm6, ymm14, ymm15",
                        concat!($op, " ymm7, ymm14, ymm15", $rest),
                        "vpaddq ymm8, ymm14, ymm15",
                        "vpaddq ymm9, ymm14, ymm15",
                        "vpaddq ymm10, ymm14, ymm15",
                        "vpaddq ymm11, ymm14, ymm15",
                        "vpaddq ymm12, ymm14, ymm15",
                        "vpaddq ymm13, ymm14, ymm15",
                        concat!($op, " ymm0, ymm14, ymm15", $rest),
                        "vpaddq ymm1, ymm14, ymm15",
                        "vpaddq ymm2, ymm14, ymm15",
                        "vpaddq ymm3, ymm14, ymm15",
                        "vpaddq ymm4, ymm14, ymm15",
                        "vpaddq ymm5, ymm14, ymm15",
                        "vpaddq ymm6, ymm14, ymm15",
                        concat!($op, " ymm7, ymm14, ymm15", $rest),
                        "vpaddq ymm8, ymm14, ymm15",
                        "vpaddq ymm9, ymm14, ymm15",
                        "vpaddq ymm10, ymm14, ymm15",
                        "vpaddq ymm11, ymm14, ymm15",
                        "vpaddq ymm12, ymm14, ymm15",
                        "vpaddq ymm13, ymm14, ymm15",
                        in("ymm14") x, in("ymm15") x,
                        out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
                        out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
                        out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
                        out("ymm12") _, out("ymm13") _,
                        options(nomem, nostack, preserves_flags)
                        )
                    }
                }
            }

            Kind { name: $op, alone, among_additions }
    }};
}

/// Returns the kinds of instructions that floors count and this processor has, by width of vectors in bits. The
/// addition is the first of each width. Width 512 needs AVX-512 F and DQ, and width 256 needs AVX2.
pub fn available() -> Vec<(u32, Vec<Kind>)> {
    let mut widths = Vec::new();
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
        let mut kinds = vec![
            wide!("vpaddq", ""),
            wide!("vpmuludq", ""),
            wide!("vpmulld", ""),
            wide!("vpmullq", ""),
            wide!("vpermt2q", ""),
        ];
        if is_x86_feature_detected!("avx512ifma") {
            kinds.push(wide!("vpmadd52luq", ""));
        }
        widths.push((512, kinds));
    }
    if is_x86_feature_detected!("avx2") {
        let kinds = vec![
            narrow!("vpaddq", ""),
            narrow!("vpmuludq", ""),
            narrow!("vpmulld", ""),
            narrow!("vperm2i128", ", 32"),
        ];
        widths.push((256, kinds));
    }
    widths
}
