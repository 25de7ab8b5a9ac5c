//! Single-line faults in the multiplier; the checks of the other files must catch each.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use ringmill_hdl::Optimise;
use ringmill_machines::polymul::Shape;

use crate::bench::{Bench, Rng, hdl};
use crate::lockstep::{every_operation, load_tables};

/// A line of the RTL, changed, and what must notice.
struct Fault {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    check: fn(&mut Bench),
}

const fn fault(
    file: &'static str,
    from: &'static str,
    to: &'static str,
    check: fn(&mut Bench),
) -> Fault {
    Fault {
        file,
        from,
        to,
        check,
    }
}

/// Both polynomials, every operation, waits between stages (8 rows).
fn operations(bench: &mut Bench) {
    let mut rng = Rng::new(0x3a);
    let tables = load_tables(bench, 256, 18);
    every_operation(bench, &mut rng, &tables);
}

/// Caught in every run of the tests.
const QUICK: [Fault; 2] = [
    fault(
        "rm_polymul_seq.sv",
        "bank ? {addr0, addr1} : {addr1, addr0}",
        "bank ? {addr1, addr0} : {addr0, addr1}",
        operations,
    ),
    fault(
        "rm_polymul_seq.sv",
        "tw_d = tw_start_q;",
        "tw_d = tw_start_q + 1'b1;",
        operations,
    ),
];

const MORE: [Fault; 12] = [
    // A missing pipeline stage.
    fault(
        "rm_polymul_pkg.sv",
        "WriteLatency = 2 + ButterflyLatency",
        "WriteLatency = 1 + ButterflyLatency",
        operations,
    ),
    // A wait that forgets the distance of the pairs.
    fault(
        "rm_polymul_seq.sv",
        "wait_for(Dep + WaitWidth'(hot_q >> 1), pair",
        "wait_for(Dep, pair",
        operations,
    ),
    // The adders change sides while products are in flight.
    fault(
        "rm_polymul_pkg.sv",
        "TurnGap = ButterflyLatency + 1",
        "TurnGap = 2",
        operations,
    ),
    // The scaled half meets a twiddle without its factor.
    fault(
        "rm_polymul_seq.sv",
        "stage_q == '0) ? '0 : tw_q",
        "stage_q == '0) ? tw_q : tw_q",
        operations,
    ),
    fault(
        "rm_polymul_net.sv",
        "(l * 2) % Lanes + (l * 2) / Lanes",
        "(l * 2) % Lanes",
        operations,
    ),
    fault(
        "rm_polymul_pu.sv",
        "WMirror: w_d = tw_mirror_i",
        "WMirror: w_d = tw_o",
        operations,
    ),
    fault(
        "rm_polymul_load.sv",
        "UnitBits'({mask_q, 1'b1})",
        "mask_q",
        operations,
    ),
    fault(
        "rm_polymul_unload.sv",
        "parity: (^row) ^ buf_q",
        "parity: (^row)",
        operations,
    ),
    fault(
        "rm_polymul_cmd.sv",
        "conflict = array_busy_i || load_uses || unload_uses",
        "conflict = array_busy_i || unload_uses",
        crate::refusals,
    ),
    fault(
        "rm_polymul_cmd.sv",
        "else if (!tables_valid_i) code_o",
        "else if (1'b0) code_o",
        crate::refusals,
    ),
    fault(
        "rm_polymul_load.sv",
        "if (beat && state_q == Drop) finish = in_last_i;",
        "if (state_q == Drop) finish = 1'b1;",
        crate::bad_streams,
    ),
    fault(
        "rm_polymul_load.sv",
        "if (5'(i) < word)",
        "if (5'(i) + 1'b1 < word)",
        crate::bad_streams,
    ),
];

/// A copy of the RTL with one line changed, removed when dropped.
struct Copy(PathBuf);

impl Copy {
    fn with(fault: &Fault) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
        let name = format!("ringmill-polymul-{}-{number}", std::process::id());
        let copy = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&copy.0).unwrap();
        let mut changed = 0;
        for room in ["lib", "arith", "ntt", "polymul"] {
            for entry in std::fs::read_dir(from.join(room)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap();
                let mut text = std::fs::read_to_string(&path).unwrap();
                if name == fault.file {
                    changed += text.matches(fault.from).count();
                    text = text.replace(fault.from, fault.to);
                }
                std::fs::write(copy.0.join(name), text).unwrap();
            }
        }
        assert_eq!(changed, 1, "{} has `{}` once", fault.file, fault.from);
        copy
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // Left-overs in the temporary directory harm nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn all_caught(faults: &[Fault]) {
    let shape = Shape::new(16, 9, 4).unwrap();
    let mut missed = Vec::new();
    for fault in faults {
        let copy = Copy::with(fault);
        let hdl = hdl().with_sources(&[&copy.0]).unwrap();
        let mut bench = Bench::of(&hdl, shape, Optimise::Build);
        let caught = catch_unwind(AssertUnwindSafe(|| (fault.check)(&mut bench))).is_err();
        println!("{}: {} -> {}: {caught}", fault.file, fault.from, fault.to);
        if !caught {
            missed.push(format!("{}: {}", fault.file, fault.to));
        }
    }
    assert!(missed.is_empty(), "not caught: {missed:#?}");
}

/// The checks pass on what they are to find faults in.
#[test]
fn the_checks_pass_without_a_fault() {
    let shape = Shape::new(16, 9, 4).unwrap();
    for check in [operations, crate::refusals, crate::bad_streams] {
        check(&mut Bench::of(&hdl(), shape, Optimise::Build));
    }
}

#[test]
fn swapped_addresses_and_late_twiddles_are_caught() {
    all_caught(&QUICK);
}

/// A model for each: minutes.
#[test]
#[ignore = "a model of sixteen units for each fault, minutes; `make full` runs it"]
fn every_fault_is_caught() {
    all_caught(&MORE);
}
