// SPDX-License-Identifier: Apache-2.0
//! The base-extension unit as a machine: its refusals, the instructions that it takes and their order, and its needs.

mod machine_unit;
mod model;
mod port;
mod radix;
mod replay;
mod rowers;
mod shape;
mod shared;
mod shared_replay;

use std::sync::Arc;

use ringmill_isa::Poly;
use ringmill_isa::mid::{
    Form, LimbType, ModulusId, Op, ParamRole, ProcBuilder, Procedure, Program, TableModulus,
    ValueId, Verified,
};
use ringmill_machines::basext::{
    Description, Extension, Job, Rate, Shape, Shared, Word, cycles, load_cycles, serves, timeline,
};
use ringmill_machines::coprocessor::{Bases, CardDescription, Resident};
use ringmill_machines::fpga::Resource;
use ringmill_machines::{MachineError, Registry, SimOptions};
use ringmill_math::Ring;
use ringmill_math::primes::ntt_primes;

#[test]
fn descriptions_are_checked() {
    let text = Description::PAPER;
    for (old, new) in [
        ("lanes = 32", "lanes = 31"),
        ("lanes = 32", "lanes = 64"),
        ("word_bits = 64", "word_bits = 48"),
        ("min_log_n = 8", "min_log_n = 7"),
        ("max_log_n = 16", "max_log_n = 40"),
        ("max_l = 32", "max_l = 0"),
        ("max_k = 32", "max_k = 65"),
        ("bits = 2048", "bits = 1024"),
        ("clock_mhz = 225.0", "clock_mhz = 0.0"),
        ("clock_mhz = 200.0", "clock_mhz = nan"),
        ("part = \"U280\"", "part = \"U250\""),
        ("gbit_per_second = 128.0", "gbit_per_second = -1.0"),
    ] {
        let broken = text.replace(old, new);
        assert_ne!(broken, text, "{old}");
        assert!(
            matches!(
                Registry::standard().load(&broken),
                Err(MachineError::Field { .. })
            ),
            "{new}"
        );
    }
    for (old, new, says) in [
        ("batch = 8 ", "# batch = 8 ", "batch"),
        ("batch = 8", "batch = 0", "1 to 32"),
        ("batch = 8", "batch = 33", "1 to 32"),
        ("\"shared\" ", "\"folded\" ", "one target at a time"),
        ("\"shared\" ", "\"pipelined\" ", "unknown variant"),
        ("max_log_n = 14", "max_log_n = 16", "block RAM"),
    ] {
        let broken = Description::SHARED.replace(old, new);
        assert_ne!(broken, Description::SHARED, "{old}");
        let refused = Registry::standard()
            .load(&broken)
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains(says), "{new}: {refused}");
    }
    let large = CardDescription::BASEXT.replace("limbs = 4096", "limbs = 1000000");
    let refused = Registry::standard().load(&large).err().unwrap().to_string();
    assert!(refused.contains("8589934592 bytes at most"), "{refused}");
}

/// Compares the paper's unit with needs computed by hand. A lane has three memories of 2048 x 61 bits, in seven columns
/// of 9 bits each, and three multipliers of 20 blocks.
#[test]
fn needs_of_the_papers_unit() {
    let machine = Registry::standard().open("basext").unwrap();
    let fit = machine.fit();
    let used = |of| fit.totals.iter().find(|t| t.resource == of).unwrap().used;
    assert_eq!((fit.part, fit.units), ("U280", 32));
    assert_eq!(used(Resource::Dsp), 32.0 * 60.0);
    // The constants of pairs are 1024 x 61 bits: three half blocks of 18 bits, and one of 2048 x 9.
    assert_eq!(used(Resource::BlockRam), 32.0 * 3.0 * 3.5 + 2.0);
    assert!(fit.fits && fit.warning().is_none());
    // Yosys finds these in the netlist of four lanes and rings of 2^12 (7 series).
    let part = ringmill_machines::fpga::Part::named("XC7VX690T").unwrap();
    let shape = Shape::new(Word::Bits64, 4, 8..=12, 32, 32).unwrap();
    let fit = shape.needs("it", part).fit().unwrap();
    let used = |of| fit.totals.iter().find(|t| t.resource == of).unwrap().used;
    assert_eq!(
        (used(Resource::BlockRam), used(Resource::Dsp)),
        (26.0, 240.0)
    );
}

/// Compares the shared unit with needs computed by hand. A lane has 512 words of a row, so a block holds 72 bits of
/// each. The redundant sums take one block, eight sums seven, and 33 kept rows one each. Ten multipliers take 20
/// blocks each.
#[test]
fn needs_of_our_unit() {
    let fit = Registry::standard().open("basext-shared").unwrap();
    let fit = fit.fit();
    let used = |of| fit.totals.iter().find(|t| t.resource == of).unwrap().used;
    assert_eq!((fit.part, fit.units), ("U280", 32));
    assert_eq!(used(Resource::Dsp), 32.0 * 200.0);
    assert_eq!(used(Resource::BlockRam), 32.0 * (1.0 + 7.0 + 33.0));
    assert!(fit.fits && fit.warning().is_none());
    // Yosys finds as many DSP blocks in its netlists (7 series). Its block RAMs differ by up to a fifteenth, as it
    // places kept rows otherwise.
    let part = ringmill_machines::fpga::Part::named("XC7VX690T").unwrap();
    for (lanes, log_n, most, batch, blocks, dsp) in [
        (1, 12, 7, 7, 97.0, 180.0),
        (4, 12, 7, 7, 98.0, 720.0),
        (1, 9, 32, 2, 37.0, 80.0),
    ] {
        let shape = Shape::new(Word::Bits64, lanes, 8..=log_n, most, most).unwrap();
        let unit = Shared::new(shape, batch).unwrap();
        let fit = unit.needs("it", part).fit().unwrap();
        let used = |of| fit.totals.iter().find(|t| t.resource == of).unwrap().used;
        assert_eq!(used(Resource::Dsp), dsp);
        let found = used(Resource::BlockRam);
        assert!(
            (found / blocks - 1.0).abs() < 1.0 / 15.0,
            "{found} of {blocks}"
        );
    }
}

/// Returns a procedure that extends x modulo q_0, q_1 and q_2 to p_0 and p_1 in four ways. They are fast, exact with a
/// redundant prime, exact with a redundant power of two, and exact without a redundant modulus.
fn extensions(log_n: u8) -> Procedure {
    let primes = ntt_primes(40, u32::from(log_n), 6).unwrap();
    let mut table = TableModulus::primes(&primes);
    table.push(TableModulus::PowerOfTwo(32));
    let mut p = ProcBuilder::new("extensions", log_n, &table).unwrap();
    let limb = |modulus| LimbType {
        ring: Ring::full(log_n),
        modulus: ModulusId(modulus),
        form: Form::Coeff,
    };
    let mut param = |modulus: u16| {
        let role = ParamRole::Cipher {
            arg: 0,
            poly: Poly(modulus),
        };
        p.param(format!("x{modulus}"), limb(modulus), role).unwrap()
    };
    let x: Vec<ValueId> = (0..3).map(&mut param).collect();
    let (m, two) = (param(3), param(6));
    let to = [ModulusId(4), ModulusId(5)];
    let mut results = p.bext(&x, &to).unwrap();
    results.extend(p.bextr(&x, m, &to).unwrap());
    results.extend(p.bextr(&x, two, &to).unwrap());
    let which = ringmill_isa::mid::Representative::NonNegative;
    results.extend(p.bextx(&x, &to, which).unwrap());
    for (at, value) in results.into_iter().enumerate() {
        p.result(value, "y", at as u16, Poly(0)).unwrap();
    }
    p.finish().unwrap()
}

#[test]
fn the_unit_takes_fast_extensions_and_exact_ones_with_a_residue_that_it_can_work_with() {
    let procedure = Arc::new(extensions(12));
    let program = Verified::new(Program::calling(Arc::clone(&procedure), Vec::new())).unwrap();
    let machine = Registry::standard().open("basext").unwrap();
    let taken = machine.takes(&program.head(), &procedure).unwrap();
    assert_eq!(taken, [true, true, false, false]);
    let report = machine.simulate(&program, SimOptions::default()).unwrap();
    let kinds = &report.instructions_by_kind;
    let count = |name| kinds.get(name).copied().unwrap_or(0);
    // The exact extension goes first, as its constants also serve the fast one.
    let counts = ["CONSTANTS", "BEXT", "BEXTR", "host BEXTR", "host BEXTX"].map(count);
    assert_eq!(counts, [1, 1, 1, 1, 1]);
    let shape = Shape::new(Word::Bits64, 32, 8..=16, 32, 32).unwrap();
    assert_eq!(
        report.cycles_by_kind["BEXTR"],
        cycles(shape, Extension::Exact, 3, 2, 12)
    );
    // Results are written while the last source is read, so both share the port.
    let alone = cycles(shape, Extension::Fast, 3, 2, 12);
    assert!(report.cycles_by_kind["BEXT"] > alone);
    // The link brings seven limbs and 2 + 3 l + k (2 + l) constants, and takes four limbs back.
    let limb = 8 << 12;
    assert_eq!(report.link.bytes_in, 7 * limb + 8 * (2 + 9 + 2 * 5));
    assert_eq!(report.link.bytes_out, 4 * limb);
    let mut text = Vec::new();
    machine
        .micro_text(&program, SimOptions::default(), &mut text)
        .unwrap();
    let text = String::from_utf8(text).unwrap();
    for said in ["CONSTANTS q0 q1 q2 / q3 -> q4 q5", "BEXTR ", "host BEXTX"] {
        assert!(text.contains(said), "{said} in\n{text}");
    }

    let small = Description::PAPER.replace("max_l = 32", "max_l = 2");
    let taken = Registry::standard()
        .load(&small)
        .unwrap()
        .takes(&program.head(), &procedure);
    assert_eq!(taken.unwrap(), [false; 4]);
    let larger = Description::PAPER.replace("min_log_n = 8", "min_log_n = 13");
    let refused = Registry::standard()
        .load(&larger)
        .unwrap()
        .takes(&program.head(), &procedure);
    assert!(refused.unwrap_err().to_string().contains("13 to 16"));
    // The moduli have 40 bits, too many for words of 32.
    let narrow = Description::PAPER.replace("word_bits = 64", "word_bits = 32");
    let refused = Registry::standard()
        .load(&narrow)
        .unwrap()
        .takes(&program.head(), &procedure);
    assert!(refused.unwrap_err().to_string().contains("below 2^32"));
    assert!(procedure.instrs.iter().any(|instr| instr.op == Op::Bextx));
}

/// Checks that constants are loaded only when the bases change, and that jobs of constants present at the start go
/// first.
#[test]
fn constants_are_loaded_once_for_a_pair_of_bases() {
    let shape = Shape::new(Word::Bits64, 4, 8..=10, 8, 8).unwrap();
    let rate = Rate::unbounded();
    let bases = |first: u16, redundant: Option<u16>| {
        Arc::new(Bases {
            sources: vec![ModulusId(first), ModulusId(first + 1)],
            redundant: redundant.map(ModulusId),
            targets: vec![ModulusId(20)],
        })
    };
    let job = |first, redundant: Option<u16>| Job {
        extension: redundant.map_or(Extension::Fast, |_| Extension::Exact),
        bases: bases(first, redundant),
        sources: vec![ValueId(0), ValueId(1)],
        redundant: redundant.map(|_| ValueId(2)),
        targets: vec![ValueId(3)],
    };
    let jobs = vec![
        job(0, None),
        job(4, Some(9)),
        job(0, Some(9)),
        job(4, None),
        job(0, Some(9)),
    ];
    let names = |resident: &Resident| -> Vec<(&str, u64)> {
        let timed = timeline(shape.into(), rate, 10, jobs.clone(), resident);
        let each = timed.iter().map(|t| (t.command.name(), t.end - t.begin));
        assert!(timed.windows(2).all(|pair| pair[0].end == pair[1].begin));
        each.collect()
    };
    let constants = ("CONSTANTS", load_cycles(2 + 6 + 4));
    let exact = ("BEXTR", cycles(shape, Extension::Exact, 2, 1, 10));
    let fast = ("BEXT", cycles(shape, Extension::Fast, 2, 1, 10));
    assert_eq!(
        names(&Resident::default()),
        [constants, exact, exact, fast, constants, exact, fast]
    );
    let with = timeline(
        shape.into(),
        rate,
        10,
        vec![job(4, Some(9))],
        &Resident::default(),
    );
    let after =
        ringmill_machines::basext::as_schedule(shape.into(), &with, &Resident::default(), 10);
    assert_eq!(
        names(&after.after),
        [exact, fast, constants, exact, exact, fast]
    );
    assert!(serves(&bases(0, Some(9)), &bases(0, None)));
    assert!(!serves(&bases(0, None), &bases(0, Some(9))));
    assert!(!serves(&bases(0, Some(9)), &bases(0, Some(8))));
}
