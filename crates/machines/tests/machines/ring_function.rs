// SPDX-License-Identifier: Apache-2.0
//! Executes the ring machine's instruction words on residues, and compares each bit of the results with the mid-level
//! procedure's.

use crate::common::{dense, description, execute_alone, execute_both, execute_procedure, params};
use ringmill_isa::Poly;
use ringmill_isa::mid::{
    Form, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, Representative, TableModulus,
};
use ringmill_machines::MachineError;
use ringmill_machines::ring::description::StandIn;
use ringmill_machines::ring::legalise::{Rewrites, Unfuse};
use ringmill_machines::ring::micro::Opcode;
use ringmill_machines::ring::policy::{Policy, seeds};
use ringmill_machines::ring::search::Prepared;
use ringmill_math::{Ring, primes};
use ringmill_schemes::ckks::{Galois, Level, Op, OpKey, ProcCache};

fn operations(level: Level, log_n: u8) -> Vec<OpKey> {
    let conjugate = (2u32 << log_n) - 1;
    let mut list = vec![
        OpKey::add(level, 2, 2),
        OpKey::sub(level, 3, 2),
        OpKey::sub(level, 2, 3),
        OpKey::neg(level, 2),
        OpKey::add_plain(level, 2),
        OpKey::mul_plain(level, 3),
        OpKey::mul_scalar(
            level,
            2,
            (0..level.primes() as u64).map(|i| 12345 + i).collect(),
        ),
        OpKey::add_scalar(
            level,
            2,
            (0..level.primes() as u64).map(|i| 77 + i).collect(),
        ),
        OpKey::mul(level),
        OpKey::square(level),
    ];
    for seeded in [false, true] {
        list.push(OpKey::relin(level, seeded));
        list.push(OpKey::mul_relin(level, seeded));
        list.push(OpKey::square_relin(level, seeded));
        list.push(OpKey::rotate(level, Galois(3), seeded));
        list.push(OpKey::rotate(level, Galois(conjugate), seeded));
        list.push(OpKey::hoisted_rotate(level, [3, 9].map(Galois), seeded));
    }
    if level > Level(0) {
        list.push(OpKey::rescale(level, 2));
        list.push(OpKey::rescale(level, 3));
    }
    list
}

/// A policy that a part with keys found has rewrites that a part without keys has no form for.
#[test]
fn a_policy_without_a_form_changes_nothing() {
    let (d, params) = (description(7, 4, 4, false), params(7, 2, 1));
    let cache = ProcCache::new(params);
    let mut prepared = Prepared::new(&d, &cache.get(&OpKey::add(Level(1), 2, 2)).unwrap()).unwrap();
    let policy = *seeds(prepared.graph()).first().unwrap();
    let unfuse = Unfuse::OneIn(2);
    let rewrites = Rewrites {
        unfuse,
        ..policy.rewrites
    };
    prepared.prefer(Policy { rewrites, ..policy });
    let at = dense(&d, &prepared);
    assert!(prepared.schedule(&d, &at).unwrap().is_ok());
}

/// Each operation runs on one of twelve machines. Their native degree is twice the ring's, equal to it, or half of it
/// (half rings), and they have few or many RPAUs.
#[test]
fn every_operation_on_a_machine() {
    check_operations(12);
}

#[test]
#[ignore = "each operation on all machines; `make full` runs it"]
fn every_operation_on_every_machine() {
    check_operations(1);
}

/// Runs each operation on one of every `share` machines.
fn check_operations(share: usize) {
    let params = params(8, 3, 1);
    let levels = [Level::LOWEST, params.max_level()];
    let keys: Vec<OpKey> = levels.into_iter().flat_map(|l| operations(l, 8)).collect();
    for (turn, native) in [9, 8, 7].into_iter().enumerate() {
        for (shape, (rpaus, butterflies, stored)) in
            [(4, 4, false), (2, 8, true), (3, 2, false), (10, 16, true)]
                .into_iter()
                .enumerate()
        {
            // With half rings each limb takes two slots, so two limbs of each polynomial on an RPAU would not fit.
            let rpaus = if native == 7 { rpaus + 2 } else { rpaus };
            let d = description(native, rpaus, butterflies, stored);
            for (_, key) in keys
                .iter()
                .enumerate()
                .filter(|(at, _)| (at + 4 * turn + shape) % share == 0)
            {
                execute_both(&d, &params, key);
            }
        }
    }
}

/// At four times the native degree rings are split twice, and words work on quarters. Each operation runs on one of
/// three machines.
#[test]
#[ignore = "ten seconds; `make full` runs it"]
fn every_operation_on_quarters() {
    check_quarters(3);
}

#[test]
#[ignore = "each operation on all machines; `make full` runs it"]
fn every_operation_on_quarters_on_every_machine() {
    check_quarters(1);
}

/// Runs each operation on one of every `share` machines.
fn check_quarters(share: usize) {
    let params = params(8, 3, 1);
    let machines = [(5, 4, false, 0), (7, 4, true, 1), (6, 2, false, 2)];
    for (turn, (rpaus, butterflies, stored, level)) in machines.into_iter().enumerate() {
        let mut d = description(6, rpaus, butterflies, stored);
        d.splits = 2;
        d.keys.slots = 128;
        d.check().unwrap();
        // A set of rotations needs room for two results beside its digits. The 32 slots are enough only for few digits.
        let many = level > 1;
        for (_, key) in operations(Level(level), 8)
            .iter()
            .enumerate()
            .filter(|(at, _)| (at + turn) % share == 0)
            .filter(|(_, key)| !(many && key.op() == Op::HoistedRotate))
        {
            execute_alone(&d, &params, key);
        }
    }
}

/// Without dyadic cores the main cores execute all operations, among them products with the generator's limbs. Main
/// cores that cannot accumulate take two passes for an accumulation.
#[test]
fn main_cores_alone_do_every_operation() {
    let params = params(8, 2, 1);
    for stored in [false, true] {
        let mut d = description(8, 4, 4, stored);
        d.cores.dyadic = 0;
        d.check().unwrap();
        for key in operations(Level(2), 8) {
            execute_both(&d, &params, &key);
        }
    }
}

/// A ring that needs more splits than the description's field `splits` is refused.
#[test]
fn larger_rings_than_a_machine_splits_are_refused() {
    let params = params(8, 1, 1);
    let procedure = ProcCache::new(params).get(&OpKey::rescale(Level(1), 2));
    let procedure = procedure.unwrap();
    for (native, splits, fits) in [
        (7, 0, false),
        (7, 1, true),
        (6, 1, false),
        (6, 2, true),
        (5, 2, false),
    ] {
        let mut d = description(native, 3, 4, true);
        d.splits = splits;
        let prepared = Prepared::new(&d, &procedure);
        assert_eq!(prepared.is_ok(), fits, "2^{native}, split {splits} times");
        if let Err(error) = prepared {
            assert!(error.to_string().contains("`splits`"), "{error}");
        }
    }
}

/// A machine of one RPAU and one controller runs every operation.
#[test]
fn one_rpau_and_one_controller() {
    let params = params(8, 2, 1);
    let mut d = description(8, 1, 4, false);
    d.controllers = 1;
    d.keys.slots = 128;
    d.memory[0].slots = 27;
    for key in operations(Level(1), 8) {
        execute_both(&d, &params, &key);
    }
}

/// Key-switch digits of several primes are extended by base extensions.
#[test]
fn digits_of_several_primes() {
    let params = params(8, 4, 2);
    for native in [8, 7] {
        let mut d = description(native, 6, 4, true);
        d.memory[0].slots = 24;
        for key in [
            OpKey::mul_relin(Level(3), true),
            OpKey::rotate(Level(3), Galois(5), false),
        ] {
            execute_both(&d, &params, &key);
        }
    }
}

/// Makes a procedure of three exact base extensions from the table's first three moduli to all after the fourth. One of
/// them uses a limb modulo the fourth, redundant modulus.
fn exact(log_n: u8, table: &[TableModulus]) -> Procedure {
    let mut b = ProcBuilder::new("exact", log_n, table).unwrap();
    let mut params = Vec::new();
    for m in 0..4 {
        let ty = LimbType {
            ring: Ring::full(log_n),
            modulus: ModulusId(m),
            form: Form::Coeff,
        };
        let role = ParamRole::Cipher {
            arg: 0,
            poly: Poly(0),
        };
        params.push(b.param("x", ty, role).unwrap());
    }
    let to: Vec<ModulusId> = (4..table.len() as u16).map(ModulusId).collect();
    let (x, r) = (&params[..3], params[3]);
    let results = [
        b.bextx(x, &to, Representative::NonNegative).unwrap(),
        b.bextx(x, &to, Representative::Centred).unwrap(),
        b.bextr(x, r, &to).unwrap(),
    ];
    for (index, limbs) in (0..).zip(results) {
        for v in limbs {
            b.result(v, "y", index, Poly(0)).unwrap();
        }
    }
    b.finish().unwrap()
}

/// The ring machine has no instruction for an exact base extension. It runs the expansions of both kinds.
#[test]
fn exact_base_extensions_run_expanded() {
    let table = TableModulus::primes(&primes::ntt_primes(50, 8, 6).unwrap());
    for (native, rpaus) in [(8, 6), (8, 3), (7, 6)] {
        let mut d = description(native, rpaus, 4, true);
        d.memory[0].slots = 24;
        execute_procedure(&d, &exact(8, &table), None);
    }
}

#[test]
fn moduli_of_other_kinds_are_refused_by_name() {
    let mut table = TableModulus::primes(&primes::ntt_primes(50, 8, 5).unwrap());
    let d = description(8, 6, 4, true);
    for kind in [TableModulus::Plain(65_537), TableModulus::PowerOfTwo(64)] {
        table.push(kind);
        match Prepared::new(&d, &exact(8, &table)) {
            Err(error @ MachineError::ModulusKind { modulus, .. }) => {
                assert_eq!(modulus, kind);
                assert!(error.to_string().contains("`rpaus`"), "{error}");
            }
            other => panic!("{:?}", other.map(|p| p.name)),
        }
        table.pop();
    }
    // A modulus of another kind that no value has does no harm.
    let procedure = exact(8, &table);
    table.push(TableModulus::PowerOfTwo(64));
    let unused = Procedure {
        moduli: table,
        ..procedure
    };
    execute_procedure(&d, &unused, None);
}

/// Stand-ins, which are RPAUs without a prime of the program, take some digits of the special prime's sums at every
/// level above 0, be there one stand-in or two.
#[test]
fn stand_ins_share_the_special_primes_sums() {
    let params = params(8, 3, 1);
    for helpers in [&[5usize][..], &[5, 6]] {
        let mut d = description(8, 7, 4, true);
        let alone = d.clone();
        d.stand_in = helpers
            .iter()
            .map(|&rpau| StandIn { rpau, prime: 4 })
            .collect();
        d.check().unwrap();
        for level in 0..=3 {
            let key = OpKey::mul_relin(Level(level), true);
            execute_both(&d, &params, &key);
            let procedure = ProcCache::new(params.clone()).get(&key).unwrap();
            let shared = Prepared::new(&d, &procedure).unwrap();
            let primes = &shared.graph().primes;
            // A single digit stays with the special prime's RPAU.
            assert_eq!(
                primes[helpers[0]],
                if level > 0 { 4 } else { 5 },
                "level {level}"
            );
            let whole = Prepared::new(&alone, &procedure).unwrap();
            let count = |p: &Prepared| {
                let ntts = p.graph().nodes.iter().filter(|n| n.op == Opcode::Ntt);
                ntts.filter(|n| n.rpau == 4).count()
            };
            let hands = 1 + helpers.len();
            assert_eq!(
                count(&shared),
                count(&whole).div_ceil(hands),
                "level {level}"
            );
        }
    }
}
