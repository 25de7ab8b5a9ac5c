// SPDX-License-Identifier: Apache-2.0
//! Lists the modules of a bootstrapping engine to count its FPGA resources. Each module is mapped once and counted
//! for each instance.

use ringmill_machines::torus::{Schedule, Shape, keyswitch};

use super::top;
use crate::Top;
use crate::parts::Part;

/// The modules of `rm_torus`, the whole engine, whose FPGA resources are counted separately.
const APART: [&str; 12] = [
    "rm_torus_bundle",
    "rm_torus_coefs",
    "rm_torus_ctl",
    "rm_torus_gather",
    "rm_torus_key",
    "rm_torus_pairs",
    "rm_torus_product",
    "rm_torus_results",
    "rm_torus_seq",
    "rm_torus_turn",
    "rm_torus_twiddle",
    "rm_torus_unit",
];

/// The number of 32-bit mask words in one block of ChaCha20, the generator of masks.
const BLOCK_WORDS: u64 = 16;

/// Returns the modules of one transform unit: `rm_torus_unit` for one polynomial of one ciphertext,
/// and the twiddle tables of its butterflies.
pub fn unit(log_n: u32, log_lanes: u32) -> Vec<Part> {
    let module = Top::new("rm_torus_unit")
        .int("LogN", log_n.into())
        .int("LogLanes", log_lanes.into())
        .int("Slots", 1)
        .int("Places", 1);
    let module = Part {
        top: module.once("rm_torus_butterfly"),
        count: 1,
    };
    vec![module, twiddles(log_n, log_lanes)]
}

/// Returns the twiddle tables of a transform unit's butterflies, one for each lane. All have one
/// size, so the table of lane 1 is counted for all.
fn twiddles(log_n: u32, log_lanes: u32) -> Part {
    Part {
        top: Top::new("rm_torus_twiddle")
            .int("LogN", log_n.into())
            .int("LogLanes", log_lanes.into())
            .int("Lane", 1),
        count: 1 << log_lanes,
    }
}

/// Returns `rm_torus` without the modules that are counted separately. What remains are registers
/// that delay the schedule, exponents and digits, and multiplexers. These choose among a unit's
/// polynomials, and choose the coefficient to extract.
fn rest(shape: Shape) -> Part {
    let whole = Top {
        once: Vec::new(),
        ..top(shape)
    };
    Part {
        top: APART.into_iter().fold(whole, Top::apart),
        count: 1,
    }
}

/// Returns the modules of a key-switching unit: its generators of masks, its lanes and its registers, each mapped
/// separately, and the rest of `whole`. `whole` is the module that contains the unit.
fn switched(unit: keyswitch::Shape, whole: Top) -> Vec<Part> {
    let (digits, generators) = (unit.digits(), unit.generators());
    let (cores, places) = (generators.cores as u64, unit.batch() as u64);
    let lanes = BLOCK_WORDS * cores;
    let lane = |inits| {
        Top::new("rm_torus_ks_lane")
            .int("Batch", places)
            .int("LogBase", digits.log_base.into())
            .int("Inits", inits)
    };
    // As `rm_torus_ks` derives them.
    let bits = |values: u64| u64::from(values.next_power_of_two().ilog2());
    let streams = bits((unit.max_large() * digits.levels) as u64);
    let blocks = bits(unit.max_small() as u64 / BLOCK_WORDS + 2 * cores + 1);
    let generator = Top::new("rm_chacha20")
        .int("Rounds", generators.rounds.into())
        .int("Steps", generators.steps.into())
        .int("StreamWidth", streams)
        .int("CounterWidth", blocks);
    let rest = ["rm_chacha20", "rm_torus_ks_held", "rm_torus_ks_lane"]
        .into_iter()
        .fold(whole, Top::apart);
    let held = Top::new("rm_torus_ks_held").int("Batch", places);
    [
        (rest, 1),
        (generator, cores),
        (lane(0), lanes),
        (held, lanes),
        // The lane of the bodies.
        (lane(1), 1),
    ]
    .map(|(top, count)| Part { top, count })
    .into()
}

/// Returns the modules of a key-switching unit that is no part of a bootstrapping engine.
pub fn switch(unit: keyswitch::Shape) -> Vec<Part> {
    let whole = Top {
        once: Vec::new(),
        ..super::keyswitch::top(unit)
    };
    switched(unit, whole)
}

/// Returns the modules of `rm_torus_results`, the part of a bootstrapping engine that contains its
/// key-switching unit.
fn results(shape: Shape) -> Vec<Part> {
    let s = shape.sizes();
    let (digits, generators) = (s.switch.digits, s.switch.generators);
    let whole = Top::new("rm_torus_results")
        .int("LogN", s.log_n.into())
        .int("Places", s.places as u64)
        .int("Dim", s.dim as u64)
        .int("SwitchBase", digits.log_base.into())
        .int("SwitchLevels", digits.levels as u64)
        .int("Cores", generators.cores as u64)
        .int("Rounds", generators.rounds.into())
        .int("Steps", generators.steps.into());
    switched(shape.switch(), whole)
}

/// Returns the modules of a bootstrapping engine that are counted separately, and the rest of
/// `rm_torus` around them.
pub fn parts(shape: Shape) -> Vec<Part> {
    let s = shape.sizes();
    let rows = shape.rows() as u64;
    let pairs = shape.schedule() == Schedule::Pairs;
    let bundles = pairs && s.unroll > 1;
    let (steps, places) = (shape.steps() as u64, s.places as u64);
    let of = |module: &str| Top::new(module).int("LogN", s.log_n.into());
    let once = |top| Part { top, count: 1 };
    let key = |depth: u64, total: u64| {
        once(
            Top::new("rm_torus_key")
                .int("BeatWidth", shape.beat_bits())
                .int("Depth", depth)
                .int("Total", total),
        )
    };
    let coefficients = shape.schedule() == Schedule::Coefficients;
    let bundled = bundles || coefficients;
    let scheduled = if bundled { 1 } else { s.unroll };
    let mut found = vec![
        rest(shape),
        once(
            of("rm_torus_ctl")
                .int("Places", places)
                .int("Dim", s.dim as u64)
                .int("Unroll", s.unroll as u64),
        ),
        once(
            of("rm_torus_seq")
                .int("LogLanes", s.log_lanes.into())
                .int("Slots", shape.slots())
                .int("Rows", rows)
                .int("Places", places)
                .int("Group", s.group as u64)
                .int("LogPos", s.log_pos.into())
                .int("Unroll", scheduled as u64)
                .int("Dim", if bundled { steps } else { s.dim as u64 })
                .int("Pairs", pairs.into())
                .int("Coefficients", coefficients.into()),
        ),
        Part {
            top: of("rm_torus_turn")
                .int("LogLanes", s.log_lanes.into())
                .int("Places", places)
                .int("Levels", s.levels as u64)
                .int("LogBase", s.log_base.into())
                .int("Turns", u64::from(s.unroll == 1)),
            count: 2,
        },
        twiddles(s.log_n, s.log_lanes),
    ];
    found.extend(results(shape));
    if pairs {
        found.push(once(
            of("rm_torus_pairs")
                .int("LogLanes", s.log_lanes.into())
                .int("LogPos", s.log_pos.into())
                .int("Levels", s.levels as u64)
                .once("rm_torus_unit")
                .once("rm_torus_times"),
        ));
        if bundles {
            found.push(once(
                of("rm_torus_bundle")
                    .int("LogPos", s.log_pos.into())
                    .int("Rows", rows)
                    .int("Unroll", s.unroll as u64)
                    .int("Steps", steps)
                    .int("LastBits", shape.bits(shape.steps() - 1) as u64)
                    .int("Depth", s.key_beats as u64)
                    .once("rm_torus_times"),
            ));
            found.push(key(16, shape.key_total()));
            found.push(key(s.key_beats as u64, shape.groups() as u64 * steps));
        } else {
            found.push(key(s.key_beats as u64, shape.key_total()));
        }
        return found;
    }
    let with_sums = s.units.min(2) as u64;
    for (has_sums, count) in [(1, with_sums), (0, s.units as u64 - with_sums)] {
        let top = of("rm_torus_unit")
            .int("LogLanes", s.log_lanes.into())
            .int("Slots", shape.slots())
            .int("Places", places)
            .int("Group", s.group as u64)
            .int("LogPos", s.log_pos.into())
            .int("HasSums", has_sums)
            .int("Coefficients", coefficients.into())
            .once("rm_torus_butterfly");
        found.extend((count > 0).then_some(Part { top, count }));
    }
    found.push(once(
        of("rm_torus_product")
            .int("LogPos", s.log_pos.into())
            .int("Rows", rows)
            .int("Unroll", scheduled as u64)
            .once("rm_torus_times"),
    ));
    if !coefficients {
        found.push(key(s.key_beats as u64, shape.key_total()));
        return found;
    }
    let beat = u64::from(s.log_pos + 1);
    found.push(key(16, shape.key_total()));
    found.push(once(
        of("rm_torus_gather")
            .int("LogPos", beat)
            .int("Rows", rows)
            .int("Unroll", s.unroll as u64)
            .int("Steps", steps)
            .int("LastBits", shape.bits(shape.steps() - 1) as u64)
            .int("Places", places)
            .once("rm_torus_gather_turn"),
    ));
    found.push(Part {
        top: of("rm_torus_coefs")
            .int("LogLanes", s.log_lanes.into())
            .int("Slots", shape.slots())
            .int("Places", places)
            .int("LogPos", beat),
        count: s.units as u64,
    });
    found
}
