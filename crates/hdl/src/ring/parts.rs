// SPDX-License-Identifier: Apache-2.0
//! Lists the modules of a ring machine to count its FPGA resources. Each module is mapped once and counted for each
//! instance.
//!
//! The machine is elaborated for given primes. A module that is equal for all primes is mapped for one of them.

use ringmill_machines::ring::Description;

use super::machine::{shapes, top};
use super::{RpauError, Shape};
use crate::Top;
use crate::parts::Part;

/// The modules of `rm_ring_rpau`, one RPAU, whose FPGA resources are counted separately.
const OF_RPAU: [&str; 9] = [
    "rm_ring_dyadic",
    "rm_ring_generator",
    "rm_ring_group",
    "rm_ring_keys",
    "rm_ring_main",
    "rm_ring_narrow",
    "rm_ring_node",
    "rm_ring_send",
    "rm_ring_twiddles",
];
/// The modules of `rm_ring_main` whose FPGA resources are counted separately. `rm_ring_main` has
/// the main cores of an RPAU, which compute transforms.
const OF_MAIN: [&str; 7] = [
    "rm_ring_affine",
    "rm_ring_agen",
    "rm_ring_core",
    "rm_ring_feed",
    "rm_ring_network",
    "rm_ring_seq",
    "rm_ring_turn",
];
/// The modules of `rm_ring`, the whole machine, whose FPGA resources are counted separately.
const OF_RING: [&str; 4] = [
    "rm_ring_board",
    "rm_ring_fetch",
    "rm_ring_link",
    "rm_ring_rpau",
];

/// The purpose of an RTL module in one RPAU of the ring machine, or in the machine as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Does {
    /// The memory of an RPAU for limbs (polynomial memory) with its ports, and the memory for key
    /// limbs.
    Memory,
    /// The generators that expand a key's masks (uniform limbs) from the key's seed.
    Generator,
    Dyadic,
    /// The main cores of an RPAU, their permutation networks and twiddle tables.
    Main,
    /// An RPAU's interface to the ring network that joins all RPAUs. It sends rows of a memory slot, passes rows on
    /// to the next RPAU, and reduces the residues that come from other RPAUs.
    Node,
    /// The memories of an RPAU for constants, generator streams and Galois elements, and the logic
    /// that joins its modules.
    Tables,
    /// The part that the machine has once: instruction streams, scoreboard, dispatch, host link, and the pipeline
    /// stages between RPAUs on the ring network.
    Control,
}

impl Does {
    /// The purposes that modules of an RPAU have.
    pub const UNITS: [Self; 6] = [
        Self::Memory,
        Self::Generator,
        Self::Dyadic,
        Self::Main,
        Self::Node,
        Self::Tables,
    ];
}

/// A list of RTL modules of the ring machine, each with its purpose.
pub type Parts = Vec<(Does, Part)>;

/// The RTL modules of a ring machine whose FPGA resources are counted: a list for each RPAU, and the modules outside
/// the RPAUs.
pub struct Machine {
    pub rpaus: Vec<(Shape, Parts)>,
    pub shared: Parts,
}

fn apart<const N: usize>(top: Top, modules: [&str; N]) -> Top {
    modules.into_iter().fold(top, Top::apart)
}

/// Returns the modules of `rm_ring` for a description and a program's primes, with the parameters of [`top`].
///
/// # Errors
/// The errors of [`top`].
pub fn machine(d: &Description, primes: &[u64]) -> Result<Machine, RpauError> {
    let (_, shapes) = shapes(d, primes)?;
    let shapes: Vec<Shape> = shapes.into_iter().map(Shape::own).collect();
    let like = |shape: &Shape| {
        let mut all = shapes.iter();
        all.find(|s| s.bits() == shape.bits()).copied()
    };
    let rpaus = shapes.iter().map(|shape| {
        let like = like(shape).unwrap_or(*shape);
        (*shape, rpau(shape, &like))
    });
    let rpaus = rpaus.collect();
    let (shape, _) = self::shapes(d, primes)?;
    let tables = |top: Top| {
        top.int("Controllers", d.controllers as u64)
            .int("Constants", d.tables.constants as u64)
            .int("StreamRows", d.tables.streams as u64)
            .int("GaloisRows", d.tables.galois as u64)
            .int("Words", d.tables.words as u64)
    };
    let fetch = shape.memory(Top::new("rm_ring_fetch").int("Rpaus", d.rpaus as u64));
    let board = Top::new("rm_ring_board")
        .int("Rpaus", d.rpaus as u64)
        .int("LogN", shape.log_n.into())
        .int("LogRow", shape.log_row.into())
        .int("LogLanes", shape.log_lanes.into())
        .int("Stages", shape.stages.into())
        .int("MulLatency", shape.multiplier)
        .int("GenLatency", shape.generator)
        .int("Reduces", shape.reduces.into())
        .int("Reducer", shape.reducer)
        .int("Hop", d.ring.hop)
        .int("Crossing", d.ring.crossing)
        .int("Dies", d.ring.dies as u64)
        .int("Dispatch", d.pipeline.dispatch);
    let shared = [
        (apart(top(d, primes)?, OF_RING), 1),
        (shape.memory(board), 1),
        (
            tables(fetch).int("Layers", shape.primes().len() as u64),
            STREAMS,
        ),
        (
            shape
                .sized(Top::new("rm_ring_link"))
                .int("Width", shape.word_bits.into()),
            1,
        ),
    ];
    let shared = shared.map(|(top, count)| (Does::Control, Part { top, count }));
    Ok(Machine {
        rpaus,
        shared: shared.into(),
    })
}

const STREAMS: u64 = ringmill_machines::ring::micro::STREAMS as u64;

/// Returns the modules of one RPAU. `like` is an RPAU with primes of the same widths. A module that
/// depends on its primes only by their widths gets the primes of `like`, so synthesis maps it once
/// for both RPAUs.
fn rpau(shape: &Shape, like: &Shape) -> Parts {
    let s = shape;
    let period = u64::from(s.log_row - s.log_lanes);
    let (row, lanes) = (s.row() as u64, 1u64 << s.log_lanes);
    let of = |module: &str| Top::new(module);
    let wide = |top: Top| top.int("Width", s.width().into());
    let (sized, memory) = (|top| s.sized(top), |top| s.memory(top));
    let group = |slots: usize, style| {
        wide(sized(of("rm_ring_group")))
            .int("Slots", slots as u64)
            .text("Style", style)
    };
    let staged = |top: Top| top.int("Stages", s.stages.into());
    let twiddles = |module: &str| wide(sized(of(module))).int("Rings", 3 * s.layers() as u64);
    let tables = |tables: u64| staged(twiddles("rm_ring_twiddle")).int("Tables", tables);
    let powers = twiddles("rm_ring_powers")
        .int("Tables", row / 2)
        .int("MulLatency", s.multiplier);
    let (stored, generated) = (u64::from(s.stages == 2), u64::from(s.stages == 1));
    let all_twiddles = staged(twiddles("rm_ring_twiddles"))
        .int("MulLatency", s.multiplier)
        .apart("rm_ring_twiddle")
        .apart("rm_ring_powers");
    let node = like_primes(wide(sized_rows(of("rm_ring_node"), s)), s)
        .int("RingWidth", s.word_bits.into())
        .int("Rpaus", s.rpaus as u64)
        .int("Reduces", s.reduces.into())
        .int("Reducer", s.reducer)
        .apart("rm_ring_reduce");
    let feed = wide(sized(staged(of("rm_ring_feed"))))
        .int("LogPeriod", period)
        .int("Latency", s.generator);
    // The cores in these two modules are left out of their count, but synthesis elaborates them.
    let main = like_primes(memory(wide(sized(staged(of("rm_ring_main"))))), like)
        .int("LogPeriod", period)
        .int("GenLatency", s.generator)
        .int("MulLatency", s.multiplier);
    let dyadic = like_primes(memory(wide(sized(of("rm_ring_dyadic")))), like)
        .int("LogLanes", s.log_lanes.into())
        .int("MulLatency", s.multiplier)
        .int("GenLatency", s.generator)
        .apart("rm_ring_core")
        .apart("rm_ring_mode");
    let core = like_primes(wide(of("rm_ring_core")), s).int("MulLatency", s.multiplier);
    let mode = of("rm_ring_mode");
    let network = |write| {
        wide(of("rm_ring_network"))
            .int("LogRow", s.log_row.into())
            .int("Write", write)
    };
    let generator = like_primes(of("rm_ring_generator"), like)
        .int("LogRow", s.log_row.into())
        .int("LogLanes", s.log_lanes.into())
        .int("LogSteps", (s.log_n - s.log_row).into())
        .int("Latency", s.generator)
        .int("Fold", s.fold)
        .int("PeriodWidth", period + 2)
        .apart("rm_chacha20")
        .apart("rm_ring_fold");
    let seq = sized(staged(of("rm_ring_seq")))
        .int("LogPeriod", period)
        .int("MulLatency", s.multiplier);
    let send = memory(wide(sized(staged(of("rm_ring_send"))))).int("LogPeriod", period);
    let affine = of("rm_ring_affine").int("LogRow", s.log_row.into());
    let own = |top: Top| top.int("Width", s.q_width().into());
    let keys = own(sized(of("rm_ring_keys")))
        .int("Slots", s.key_slots as u64)
        .int("LogGroup", s.key_group.ilog2().into())
        .int("Stripes", s.key_stripes as u64);
    let narrow = own(sized(of("rm_ring_narrow")))
        .int("LogParts", s.log_parts.into())
        .int("Slots", s.narrow as u64);
    let mut found = vec![
        (Does::Tables, apart(like.in_ring(), OF_RPAU), 1),
        (Does::Memory, group(s.shared, "ultra"), 1),
        (Does::Memory, group(1, "block"), s.singles as u64),
        (Does::Memory, narrow, u64::from(s.narrow > 0)),
        (Does::Memory, keys, 1),
        (Does::Main, all_twiddles, 1),
        (Does::Main, tables(row / 2), stored),
        (Does::Main, tables(row / 4), stored),
        (Does::Main, powers, generated),
        (Does::Main, apart(main, OF_MAIN), 1),
        (Does::Main, seq, 1),
        (Does::Main, feed, 1),
        (Does::Main, sized(of("rm_ring_turn")), 1),
        (Does::Main, sized(staged(of("rm_ring_agen"))), 2),
        (Does::Main, network(0), 1),
        (Does::Main, network(1), 1),
        (Does::Main, affine, 1),
        (Does::Main, core.clone(), row),
        (Does::Dyadic, dyadic, 1),
        (Does::Dyadic, mode, 1),
        (Does::Dyadic, core, lanes),
        (Does::Generator, generator, 1),
        (Does::Generator, of("rm_chacha20"), 1),
        (Does::Node, send, 1),
        (Does::Node, node, 1),
    ];
    for (&prime, bits) in s.primes().iter().zip(s.bits()) {
        let fold = of("rm_ring_fold")
            .int("QWidth", bits.into())
            .int("Q", prime)
            .int("Latency", s.fold);
        let reduce = of("rm_ring_reduce")
            .int("Width", s.word_bits.into())
            .int("QWidth", bits.into())
            .int("Q", prime)
            .int("Latency", s.reducer);
        found.push((Does::Generator, fold, lanes));
        found.push((Does::Node, reduce, if s.reduces { row } else { 0 }));
    }
    let parts = found.into_iter().filter(|(_, _, count)| *count > 0);
    let parts = parts.map(|(does, top, count)| (does, Part { top, count }));
    parts.collect()
}

/// Sets the parameters of a module that depends on the size of a memory row and on the number of rows of a limb, but
/// not on the ring degree by itself.
fn sized_rows(top: Top, shape: &Shape) -> Top {
    top.int("LogRow", shape.log_row.into())
        .int("LogSteps", (shape.log_n - shape.log_row).into())
}

/// Sets the primes of a shape as parameters of a module, with the width of the widest of them.
fn like_primes(top: Top, shape: &Shape) -> Top {
    top.int("QWidth", shape.q_width().into())
        .int("Moduli", shape.primes().len() as u64)
        .ints("Q", shape.primes())
}

/// Returns the modules in the list `parts` that serve one purpose, or all modules if `does` is
/// `None`.
pub fn those(parts: &Parts, does: Option<Does>) -> Vec<Part> {
    let parts = parts
        .iter()
        .filter(|(d, _)| does.is_none_or(|one| one == *d));
    parts.map(|(_, part)| part.clone()).collect()
}
