//! Cycle counts: the formulas of docs/machines/ring.md by hand, and the figures of the ring paper's Table 2.

mod common;

use std::sync::Arc;

use ringmill_isa::mid::{Procedure, Program, Verified};
use ringmill_machines::ring::micro::{OpWord, Opcode, Operand, Unit};
use ringmill_machines::ring::{Description, timing};
use ringmill_machines::{MachineReport, SimOptions};
use ringmill_math::RingKind;
use ringmill_schemes::ckks::params::Params;
use ringmill_schemes::ckks::{Level, OpKey, ProcCache};

fn word(op: Opcode, unit: Unit) -> OpWord {
    OpWord {
        op,
        controller: 0,
        unit,
        mask: 1,
        ring: RingKind::Full,
        layer: 0,
        dst: 9,
        a: 8,
        b: Operand::None,
        c: 0,
        imm: 0,
    }
}

fn cycles(text: &str, w: OpWord) -> u64 {
    let d = Description::parse(text).unwrap();
    timing::duration(&d, &d.slot_groups(), 14, &w).total
}

/// Medha at N = 2^14: issue 1, read 2, multiplier 20, adder 2, write 1; rows of 32 coefficients.
#[test]
fn every_word_takes_the_cycles_of_its_formula() {
    let medha = |w| cycles(Description::MEDHA, w);
    let main = |op| word(op, Unit::Main);
    let dyadic = |op| word(op, Unit::Dyadic);
    // 14 stages of 512 steps, no wait between stages (the pipeline of 25 is below 512 / 2).
    assert_eq!(medha(main(Opcode::Ntt)), 1 + 14 * 512 + 25);
    assert_eq!(medha(main(Opcode::Intt)), 7194);
    assert_eq!(medha(main(Opcode::Split)), 1 + 1024 + 25);
    assert_eq!(medha(main(Opcode::Join)), 1050);
    assert_eq!(medha(main(Opcode::Auto)), 1 + 512 + 3);
    assert_eq!(medha(main(Opcode::Autoh)), 1 + 1024 + 3);
    assert_eq!(medha(main(Opcode::Copy)), 1 + 512 + 3);
    assert_eq!(medha(main(Opcode::Add)), 1 + 512 + 3 + 2);
    assert_eq!(medha(main(Opcode::Addi)), 518);
    assert_eq!(medha(main(Opcode::Muli)), 1 + 512 + 3 + 20);
    assert_eq!(medha(main(Opcode::Red)), 536);
    // 125 us at 200 MHz, into a slot or out of one.
    assert_eq!(medha(main(Opcode::Load)), 1 + 25_000 + 1);
    assert_eq!(medha(main(Opcode::Store)), 1 + 25_000 + 2);
    assert_eq!(
        medha(OpWord {
            imm: 1,
            ..main(Opcode::Red)
        }),
        538
    );
    assert_eq!(medha(dyadic(Opcode::Mul)), 1 + 4096 + 3 + 20);
    assert_eq!(medha(dyadic(Opcode::Mac)), 1 + 4096 + 3 + 22);
    assert_eq!(medha(dyadic(Opcode::Add)), 4102);
    let generated = OpWord {
        b: Operand::Generator,
        ..dyadic(Opcode::Mac)
    };
    assert_eq!(medha(generated), 1 + 4096 + 3 + 22 + 84);
    assert_eq!(medha(word(Opcode::Prng, Unit::Dyadic)), 1 + 84 + 4096 + 1);
    // Two operands in slots of one port take two reads a row; one operand twice takes one.
    let shared = OpWord {
        a: 0,
        b: Operand::Slot(1),
        ..main(Opcode::Mul)
    };
    assert_eq!(medha(shared), 1 + 1024 + 23);
    assert_eq!(
        medha(OpWord {
            b: Operand::Slot(0),
            ..shared
        }),
        536
    );
    assert_eq!(
        medha(OpWord {
            b: Operand::Slot(8),
            ..shared
        }),
        536
    );
    // From RPAU 3 to 3, 4 and 2: the last is nine hops on.
    let send = |mask| {
        medha(OpWord {
            mask,
            c: 3,
            ..main(Opcode::Bcast)
        })
    };
    assert_eq!(send(1 << 3), 1 + 512 + 3);
    assert_eq!(send(1 << 4), 518);
    assert_eq!(send(1 << 4 | 1 << 2), 1 + 512 + 3 + 18);
    // Ours: rows of 64.
    let stored = |w| cycles(Description::STORED, w);
    assert_eq!(stored(main(Opcode::Ntt)), 1 + 14 * 256 + 25);
    assert_eq!(stored(main(Opcode::Split)), 1 + 512 + 25);
    assert_eq!(stored(main(Opcode::Mac)), 1 + 512 + 3 + 22);
    assert_eq!(
        stored(OpWord {
            a: 0,
            b: Operand::Slot(1),
            ..main(Opcode::Mul)
        }),
        536
    );
}

/// Short transforms wait for their own pipeline: 2^6 coefficients on 16 butterflies are two rows a stage.
#[test]
fn short_transforms_count_the_wait_between_stages() {
    let d = Description::parse(Description::MEDHA).unwrap();
    assert_eq!(timing::transform(&d, 6), 1 + 6 * 2 + 5 * (25 - 1) + 25);
    assert_eq!(timing::transform(&d, 10), 1 + 10 * 32 + 9 * (25 - 16) + 25);
    assert_eq!(timing::transform(&d, 11), 1 + 11 * 64 + 25);
}

/// The claim on which `AUTO` takes one pass: the operands of a result row lie in different memory columns, in
/// evaluation form for rows of neighbours, in coefficient form for rows that stride over the limb.
#[test]
fn automorphisms_have_no_bank_conflicts() {
    let (n, b) = (10u32, 4u32);
    let (degree, row) = (1usize << n, 1usize << b);
    let reverse = |x: usize| x.reverse_bits() >> (usize::BITS - n);
    let column = |x: usize| (0..n.div_ceil(b)).fold(0, |c, i| c ^ x >> (i * b)) & (row - 1);
    for g in (1..2 * degree).step_by(2) {
        let eval = |i: usize| reverse((((2 * reverse(i) + 1) * g) % (2 * degree)) >> 1);
        let coeff = |i: usize| i * g % degree;
        for r in 0..degree / row {
            let mut columns = [0u64; 2];
            for k in 0..row {
                columns[0] |= 1 << column(eval(r * row + k));
                columns[1] |= 1 << column(coeff(k * (degree / row) + r));
            }
            assert_eq!(columns, [(1 << row) - 1; 2], "g = {g}, row {r}");
        }
    }
}

/// The claim on which a transform's steps take one cycle each: a row of any window has one coefficient a column, and
/// what a step reads was written at least half a stage before.
#[test]
fn transform_windows_have_no_bank_conflicts_and_no_late_reads() {
    let (n, b) = (10u32, 4u32);
    let (rows, row) = (1usize << (n - b), 1usize << b);
    let column = |x: usize| (0..n.div_ceil(b)).fold(0, |c, i| c ^ x >> (i * b)) & (row - 1);
    // Step of each coefficient: the step counter's index bits, most significant first.
    let step = |bits: &[u32], x: usize| bits.iter().fold(0, |s, &bit| s << 1 | (x >> bit & 1));
    let mut order: Vec<u32> = (b..n).rev().collect();
    for window in 0..=n - b {
        let mut seen = vec![0u64; rows];
        (0..1usize << n).for_each(|x| seen[step(&order, x)] |= 1 << column(x));
        assert!(seen.iter().all(|&c| c == (1 << row) - 1), "window {window}");
        if window == n - b {
            break;
        }
        // The bit that enters was the counter's lowest; the one that leaves becomes its highest.
        let mut next = order.clone();
        assert_eq!(next.pop(), Some(window + b));
        next.insert(0, window);
        for x in 0..1usize << n {
            // A step reads its whole row: both values of the bit that entered.
            let written = step(&order, x);
            let read = rows + step(&next, x);
            assert!(
                read - written >= rows / 2,
                "window {window}: written {written}, read {read}"
            );
        }
        order = next;
    }
}

#[test]
fn both_machines_have_36_multipliers_per_rpau() {
    for text in [Description::MEDHA, Description::STORED] {
        assert_eq!(Description::parse(text).unwrap().multipliers_per_rpau(), 36);
    }
}

/// A program of one call.
fn program(procedure: Arc<Procedure>) -> Verified {
    Verified::new(Program::calling(procedure, Vec::new())).unwrap()
}

fn simulate(machine: &str, set: &str, key: impl Fn(Level) -> OpKey) -> MachineReport {
    let params = Params::named(set).unwrap();
    let key = key(params.max_level());
    let procedure = ProcCache::new(params).get(&key).unwrap();
    let machine = ringmill_machines::open(machine).unwrap();
    machine
        .simulate(&program(procedure), SimOptions::default())
        .unwrap()
}

fn add(level: Level) -> OpKey {
    OpKey::add(level, 2, 2)
}

fn mul_relin(level: Level) -> OpKey {
    OpKey::mul_relin(level, true)
}

fn rescale(level: Level) -> OpKey {
    OpKey::rescale(level, 2)
}

/// Ring paper, Table 2.
#[test]
fn medha_reaches_table_2() {
    for (set, key, paper) in [
        ("set1", add as fn(Level) -> OpKey, 1_152),
        ("set1", mul_relin, 99_448),
        ("set1", rescale, 34_430),
        ("set2", add, 2_865),
        ("set2", mul_relin, 274_885),
        ("set2", rescale, 75_464),
    ] {
        let report = simulate("ring", set, key);
        println!(
            "ring {set} {:?}: {} of {paper}",
            report.procedures.keys().next(),
            report.cycles
        );
        assert!(
            report.cycles <= paper,
            "{set}: {} cycles, the paper has {paper}",
            report.cycles
        );
        assert_eq!(report.ring().unwrap().multipliers_per_rpau, 36);
        assert_eq!(report.ring().unwrap().spills.bytes, 0);
    }
}

/// The last sums parted for the main cores; without that it is 98,414.
#[test]
fn parted_sums_take_work_off_medhas_dyadic_cores() {
    let cycles = simulate("ring", "set1", mul_relin).cycles;
    assert!(cycles <= 95_000, "{cycles} cycles");
}

#[test]
fn stored_twiddles_bring_multiplication_below_60000() {
    for (set, key, most) in [
        ("set1", add as fn(Level) -> OpKey, 1_152),
        ("set1", mul_relin, 60_000),
        ("set1", rescale, 18_000),
        ("set2", add, 2_865),
        ("set2", mul_relin, 170_000),
        ("set2", rescale, 40_000),
    ] {
        let report = simulate("ring-stored", set, key);
        println!(
            "ring-stored {set} {:?}: {}",
            report.procedures.keys().next(),
            report.cycles
        );
        assert!(report.cycles <= most, "{set}: {} cycles", report.cycles);
        assert_eq!(report.ring().unwrap().multipliers_per_rpau, 36);
    }
}

/// No schedule can beat the transforms of the special prime's RPAU with what must come before and after them.
#[test]
fn no_schedule_is_below_the_floor() {
    for (name, text) in [
        ("ring", Description::MEDHA),
        ("ring-stored", Description::STORED),
    ] {
        let d = Description::parse(text).unwrap();
        let report = simulate(name, "set1", mul_relin);
        assert!(
            report.cycles > 11 * timing::transform(&d, 14),
            "{}",
            report.cycles
        );
    }
}

#[test]
fn reports_account_for_link_memory_and_units() {
    let report = simulate("ring", "set1", mul_relin);
    let limb = 8u64 << 14;
    assert_eq!(report.link.bytes_in, 4 * 7 * limb);
    assert_eq!(report.link.bytes_out, 2 * 7 * limb);
    assert!((report.link.seconds_in - 28.0 * 125e-6).abs() < 1e-12);
    assert_eq!(report.link.key_bytes, 0);
    let memory = &report.ring().unwrap().memory;
    assert_eq!(memory.key_limbs, 7);
    assert_eq!(memory.peak_slots.len(), 10);
    let fit = |p: &u8| usize::from(*p) <= memory.slots;
    assert!(memory.peak_slots.iter().all(fit));
    let named: Vec<_> = report.memories.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(named, ["polynomial memory", "key memory"]);
    for memory in &report.memories {
        assert_eq!(memory.count, 10);
        assert!((1..=memory.available_bytes).contains(&memory.used_bytes));
    }
    assert!(
        report
            .utilisation
            .iter()
            .all(|u| (0.0..=1.0).contains(&u.utilisation))
    );
    assert_eq!(
        report.instructions_by_kind.values().sum::<u64>(),
        report.instructions
    );
    assert_eq!(
        report.procedures.values().map(|p| p.cycles).sum::<u64>(),
        report.cycles
    );
}
