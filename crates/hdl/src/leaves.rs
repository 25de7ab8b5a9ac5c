// SPDX-License-Identifier: Apache-2.0
//! The list of the RTL's leaf modules with the parameters that machines use, and the latencies that the modules'
//! headers state.
//!
//! The tests and the table of `docs/rtl.md` use this list.

use crate::Top;

/// The numbers that name the kinds of reduction of a modular multiplier, as in `rm_arith_pkg::flavour_t`.
pub mod flavour {
    pub const WORD_MONTGOMERY: u64 = 0;
    pub const MONTGOMERY_FRIENDLY: u64 = 1;
    pub const SPARSE: u64 = 2;
    pub const SOLINAS52: u64 = 3;
    pub const NTT_FRIENDLY: u64 = 4;
}

/// The modulus of the torus machine's transforms, 2^52 - 2^12 + 1.
pub const SOLINAS52_Q: u64 = (1 << 52) - (1 << 12) + 1;

/// A modular multiplier `rm_mod_mul` with the parameters that a machine uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Multiplier {
    pub name: &'static str,
    pub flavour: u64,
    /// The number of bits of one operand of the multiplier.
    pub width: u32,
    /// The modulus if it is fixed when the RTL is elaborated (parameter `Q`); `None` if the modulus
    /// is an input.
    pub q: Option<u64>,
    /// The latency of `rm_mod_mul` in cycles. A butterfly that contains the multiplier takes one
    /// cycle more.
    pub latency: u64,
    /// The number of DSP48E1 blocks of `rm_mod_mul`. A butterfly (`rm_butterfly`) that contains it
    /// has no others.
    pub dsp: u64,
}

/// The modular multipliers in the table of leaf modules of `docs/rtl.md`, at least one for each
/// kind of reduction. Three have their modulus by the parameter `Q`: the 60-bit prime of the Medha
/// paper, a 54-bit prime just below 2^54, and one just above 2^53. The Solinas multiplier has one
/// modulus by design.
pub const MULTIPLIERS: [Multiplier; 7] = [
    Multiplier {
        name: "word-level Montgomery, w = 9 to 17",
        flavour: flavour::WORD_MONTGOMERY,
        width: 32,
        q: None,
        latency: 7,
        dsp: 7,
    },
    Multiplier {
        name: "Montgomery-friendly, q = 1 mod 2^17",
        flavour: flavour::MONTGOMERY_FRIENDLY,
        width: 32,
        q: None,
        latency: 6,
        dsp: 6,
    },
    Multiplier {
        name: "sparse, 2^59 + 2^25 + 2^22 - 2^20 + 1",
        flavour: flavour::SPARSE,
        width: 60,
        q: Some((1 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1),
        latency: 12,
        dsp: 12,
    },
    Multiplier {
        name: "sparse, 2^54 - 2^22 + 2^19 + 2^17 + 1",
        flavour: flavour::SPARSE,
        width: 54,
        q: Some((1 << 54) - (1 << 22) + (1 << 19) + (1 << 17) + 1),
        latency: 12,
        dsp: 6,
    },
    Multiplier {
        name: "sparse, 2^53 + 2^20 - 2^17 + 1",
        flavour: flavour::SPARSE,
        width: 54,
        q: Some((1 << 53) + (1 << 20) - (1 << 17) + 1),
        latency: 12,
        dsp: 6,
    },
    Multiplier {
        name: "Solinas, 2^52 - 2^12 + 1",
        flavour: flavour::SOLINAS52,
        width: 52,
        q: None,
        latency: 9,
        dsp: 6,
    },
    Multiplier {
        name: "NTT-friendly, q = 1 mod 2^9",
        flavour: flavour::NTT_FRIENDLY,
        width: 32,
        q: None,
        latency: 7,
        dsp: 7,
    },
];

impl Multiplier {
    /// Returns `module` (`rm_mod_mul` or `rm_butterfly`) with the parameters of this multiplier.
    pub fn top(&self, module: &str) -> Top {
        let top = Top::new(module)
            .int("Flavour", self.flavour)
            .int("Width", u64::from(self.width));
        match self.q {
            Some(q) => top.int("Q", q),
            None => top,
        }
    }
}

/// The multiplier `rm_wide_mul` for run-time moduli q = 1 mod 2^`low` below 2^`width`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WideMultiplier {
    pub width: u32,
    pub low: u32,
    /// The latency of `rm_wide_mul` in clock cycles.
    pub latency: u64,
    /// The number of DSP48E1 blocks of `rm_wide_mul`.
    pub dsp: u64,
}

/// The multipliers of the base-extension units, for moduli of 32 and of 61 bits. Each of these widths has
/// three multipliers, whose moduli serve rings of up to 2^8, 2^12 and 2^16 coefficients.
pub const WIDE_MULTIPLIERS: [WideMultiplier; 6] = {
    const fn of(width: u32, low: u32, latency: u64, dsp: u64) -> WideMultiplier {
        WideMultiplier {
            width,
            low,
            latency,
            dsp,
        }
    }
    [
        of(32, 9, 7, 5),
        of(32, 13, 7, 5),
        of(32, 17, 7, 5),
        of(61, 9, 13, 20),
        of(61, 13, 13, 20),
        of(61, 17, 12, 20),
    ]
};

impl WideMultiplier {
    /// Returns `module` (`rm_wide_mul` or a module that contains it) with the parameters of this multiplier.
    pub fn top(&self, module: &str) -> Top {
        Top::new(module)
            .int("Width", u64::from(self.width))
            .int("Low", u64::from(self.low))
    }
}

/// A row of the table of leaf modules in `docs/rtl.md`: a description, the module, and its latency in cycles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leaf {
    pub what: String,
    pub top: Top,
    pub latency: u64,
}

/// Returns the leaf modules that have rows in the table of `docs/rtl.md`. Memories, queues and
/// delay lines come before arithmetic.
pub fn leaves() -> Vec<Leaf> {
    let mut rows = Vec::new();
    let mut row = |what: &str, top: Top, latency| {
        rows.push(Leaf {
            what: what.to_owned(),
            top,
            latency,
        });
    };
    let ram = |name: &str| Top::new(name).int("Width", 36).int("Depth", 1024);
    row(
        "delay line, 32 bits, 8 deep",
        Top::new("rm_delay").int("Depth", 8),
        8,
    );
    row("one write, one read, 1024 x 36", ram("rm_ram_1r1w"), 1);
    row("true dual port, 1024 x 36", ram("rm_ram_2rw"), 1);
    row("queue, 32 bits, 16 deep", Top::new("rm_fifo"), 1);
    row("skid buffer, 32 bits", Top::new("rm_skid"), 1);
    row("modular adder, 32 bits", Top::new("rm_mod_add"), 0);
    row("modular subtractor, 32 bits", Top::new("rm_mod_sub"), 0);
    row("modular halver, 32 bits", Top::new("rm_mod_half"), 0);
    row("integer multiplier, 32 x 32", Top::new("rm_mul_tiled"), 2);
    for (width, q, text) in [
        (
            60,
            MULTIPLIERS[2].q,
            "60 bits, 2^59 + 2^25 + 2^22 - 2^20 + 1",
        ),
        (
            54,
            MULTIPLIERS[3].q,
            "54 bits, 2^54 - 2^22 + 2^19 + 2^17 + 1",
        ),
    ] {
        let of = |module: &str| Top::new(module).int("Width", width);
        row(
            &format!("columns, {width} x {width}"),
            of("rm_mul_cascade"),
            7,
        );
        let reducer = of("rm_red_lazy").int("Q", q.unwrap_or_default());
        row(&format!("without its correction, {text}"), reducer, 4);
    }
    let paper_words = |module: &str| Top::new(module).int("WordMin", 9).int("WordMax", 13);
    let paper = "word-level Montgomery, w = 9 to 13";
    row(paper, paper_words("rm_mod_mul"), 7);
    for multiplier in MULTIPLIERS {
        row(
            multiplier.name,
            multiplier.top("rm_mod_mul"),
            multiplier.latency,
        );
    }
    row(paper, paper_words("rm_butterfly"), 8);
    for multiplier in MULTIPLIERS {
        row(
            multiplier.name,
            multiplier.top("rm_butterfly"),
            multiplier.latency + 1,
        );
    }
    for multiplier in WIDE_MULTIPLIERS {
        let (width, low) = (multiplier.width, multiplier.low);
        row(
            &format!("run-time q = 1 mod 2^{low} of {width} bits"),
            multiplier.top("rm_wide_mul"),
            multiplier.latency,
        );
    }
    rows
}
