// SPDX-License-Identifier: Apache-2.0
//! Single-line faults; the checks must catch each.

use ringmill_hdl::Hdl;

use crate::common::faulty::Faulty;
use crate::common::setup::{hdl, seed};
use crate::keyswitch::bench::{Failure, shape};
use crate::keyswitch::chacha::{Made, streams};
use crate::keyswitch::refusals::check_refusals;
use crate::keyswitch::switches::small_switches;

type Check = fn(&Hdl, u64) -> Result<(), Failure>;

/// A line of the RTL, changed, and the check that must notice.
struct Fault(&'static str, &'static str, &'static str, Check);

fn whole(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    let made = Made {
        rounds: 20,
        steps: 1,
    };
    streams(hdl, made, seed, 200)
}

fn folded(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    let made = Made {
        rounds: 2,
        steps: 2,
    };
    streams(hdl, made, seed, 200)
}

fn bits(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    small_switches(hdl, shape(2, (1, 10, 2), (1, 15)), seed)
}

/// A model that is built quickly.
fn folds(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    small_switches(hdl, shape(2, (1, 2, 2), (1, 15)), seed)
}

fn digits(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    small_switches(hdl, shape(3, (2, 4, 2), (3, 5)), seed)
}

fn refuses(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    check_refusals(hdl, shape(2, (1, 2, 2), (1, 15)), seed)
}

const STAGE: &str = "rand/rm_chacha_stage.sv";
const CHACHA: &str = "rand/rm_chacha20.sv";
const PKG: &str = "torus/rm_torus_pkg.sv";
const DIGITS: &str = "torus/rm_torus_ks_digits.sv";
const LANE: &str = "torus/rm_torus_ks_lane.sv";
const JOB: &str = "torus/rm_torus_ks_job.sv";
const GIVE: &str = "torus/rm_torus_ks_give.sv";
const HELD: &str = "torus/rm_torus_ks_held.sv";
const TOP: &str = "torus/rm_torus_ks.sv";

const QUICK: [Fault; 2] = [
    // As in the paper, one mask for several rows: here for the digits of a word.
    Fault(TOP, ".stream_i(row)", ".stream_i(RowWidth'(word))", folds),
    // Wrong bodies that are not swallowed.
    Fault(JOB, "long_d = !in_last_i;", "long_d = 1'b0;", refuses),
];

const FAULTS: [Fault; 38] = [
    // The generator.
    Fault(STAGE, "? 8 : 7", "? 8 : 6", whole),
    Fault(STAGE, "(i + 2 * Turn)", "(i + Turn)", whole),
    Fault(
        STAGE,
        "assign x[s+1][A] = sum;",
        "assign x[s+1][A] = x[s][A];",
        whole,
    ),
    Fault(
        CHACHA,
        "assign start = {32'd0, 64'(stream_i)",
        "assign start = {32'd1, 64'(stream_i)",
        whole,
    ),
    Fault(CHACHA, "turn*Ring-1", "turn*Ring-2", folded),
    Fault(CHACHA, ".Depth(Line)", ".Depth(Line - 1)", whole),
    Fault(CHACHA, "valid_i && ready_o", "valid_i", folded),
    Fault(CHACHA, "busy ? x[Ring] : start", "start", folded),
    Fault(CHACHA, "+ origin[i]", "+ origin[i^1]", folded),
    // Digits and lanes.
    Fault(
        PKG,
        "(31 - levels * log_base)",
        "(30 - levels * log_base)",
        bits,
    ),
    Fault(PKG, "(31 - j * log_base)", "(31 - j)", digits),
    Fault(DIGITS, "word_i + Offset", "word_i", bits),
    Fault(DIGITS, "word_q << LogBase", "word_q << 1", digits),
    Fault(LANE, "= !digit_i[c][Top];", "= digit_i[c][Top];", bits),
    Fault(LANE, "<< Top) -", "<< Top) +", digits),
    Fault(LANE, "mask[k] << k", "mask[k]", digits),
    // Rows and passes.
    Fault(JOB, "first_d = 1'b0;", "first_d = first_q;", bits),
    Fault(JOB, "BlockWidth'(Cores)", "1'b1", digits),
    Fault(
        JOB,
        "left_q <= 16'(2 * Lanes)",
        "left_q < 16'(2 * Lanes)",
        digits,
    ),
    Fault(JOB, "!(at_end && owed_q)", "1'b1", bits),
    Fault(JOB, "gap_d = 1'b1;", "gap_d = 1'b0;", bits),
    Fault(
        JOB,
        "(last_word_q ? 16'd1 : ",
        "(last_word_q ? 16'd2 : ",
        bits,
    ),
    Fault(JOB, "in_last_i != at_end", "1'b0", refuses),
    Fault(JOB, "in_last_i ? CutShort : TooLong", "CutShort", refuses),
    Fault(JOB, "!long_q && drain_q == '0", "!long_q", refuses),
    Fault(JOB, "cmd_count_i <= 8'(Batch)", "1'b1", refuses),
    Fault(JOB, "|| !first_q) && !wrong", "|| !first_q)", refuses),
    // What is given.
    Fault(
        GIVE,
        "last_q ? LaneWidth'(left_q) : LaneWidth'(Lanes - 1)",
        "LaneWidth'(Lanes - 1)",
        bits,
    ),
    Fault(HELD, "held_q[(c+1)%Batch]", "held_q[c]", bits),
    Fault(HELD, "<= above_i", "<= held_q[c]", bits),
    Fault(GIVE, "body_q[(c+1)%Batch]", "body_q[c]", bits),
    // Together.
    Fault(
        TOP,
        ".clear_i(load_q || capture_q)",
        ".clear_i(load_q)",
        bits,
    ),
    Fault(TOP, "begins ? n_large : word", "word", bits),
    Fault(TOP, "block + BlockWidth'(g)", "block", digits),
    Fault(TOP, "(k == LogBase - 1) ? 0 : k", "0", digits),
    Fault(TOP, ".Depth(Mask + Product)", ".Depth(Mask)", digits),
    Fault(TOP, "sum_row && sum_body", "sum_row", bits),
    Fault(
        TOP,
        "if (cmd_valid_i && cmd_ready_o) seed_q",
        "if (1'b1) seed_q",
        bits,
    ),
];

fn all_caught(faults: &[Fault]) {
    let seed = seed();
    let missed: Vec<String> = faults
        .iter()
        .filter_map(|Fault(file, from, to, check)| {
            let copy = Faulty::copy(file, from, to);
            let faulty = hdl().with_sources(&[copy.root()]).unwrap();
            match check(&faulty, seed) {
                Err(Failure::Wrong(_)) => None,
                Err(Failure::Tool(error)) => Some(format!("{file}, `{to}`: {error}")),
                Ok(()) => Some(format!("{file}, `{from}` as `{to}` is not caught")),
            }
        })
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn quick_faults_are_caught() {
    all_caught(&QUICK);
}

#[test]
#[ignore = "38 models; `make full` runs it"]
fn every_fault_is_caught() {
    all_caught(&FAULTS);
}
