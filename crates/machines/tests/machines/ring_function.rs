// SPDX-License-Identifier: Apache-2.0
//! Micro words executed on residues give the mid-level procedure's result, bit for bit.

use crate::common::{description, execute_alone, execute_both, execute_procedure, params};
use ringmill_isa::Poly;
use ringmill_isa::mid::{
    Form, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, Representative, TableModulus,
};
use ringmill_machines::MachineError;
use ringmill_machines::ring::description::StandIn;
use ringmill_machines::ring::micro::Opcode;
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

/// Every operation on one machine: at the native degree, at half of it or at twice it (half rings), with few or many RPAUs.
#[test]
fn every_operation_on_a_machine() {
    check_operations(12);
}

#[test]
#[ignore = "each operation on all machines; `make full` runs it"]
fn every_operation_on_every_machine() {
    check_operations(1);
}

/// Every operation on one in so many machines.
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
            // Half rings double what an RPAU holds; two limbs of them each would not fit.
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

/// At four times the native degree rings are split twice: words on quarters, each operation on a machine of one kind or another.
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

/// Every operation on one in so many machines.
fn check_quarters(share: usize) {
    let params = params(8, 3, 1);
    let machines = [(5, 4, false, 0), (7, 4, true, 1), (6, 2, false, 2)];
    for (turn, (rpaus, butterflies, stored, level)) in machines.into_iter().enumerate() {
        let mut d = description(6, rpaus, butterflies, stored);
        d.splits = 2;
        d.keys.slots = 128;
        d.check().unwrap();
        // Sets of rotations want room for two results beside the digits: 32 slots are enough where there are few of these.
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

/// Without dyadic cores the main cores do all: products with the generator, its limbs, and accumulations in two passes where
/// they take two.
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

/// A machine splits as often as it says, and no more.
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

/// One RPAU holds all limbs; one controller feeds it.
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

/// Digits of several primes go through the base extension.
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

/// Three limbs of the table's first moduli, and one of its fourth, extended to the rest.
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

/// The machine has neither instruction: it runs their expansions.
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
    // One that the table has and nothing uses does no harm.
    let procedure = exact(8, &table);
    table.push(TableModulus::PowerOfTwo(64));
    let unused = Procedure {
        moduli: table,
        ..procedure
    };
    execute_procedure(&d, &unused, None);
}

/// RPAUs without a prime of the program's take digits of its special prime: at every level, and with several of them.
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
            // One digit is not worth the ring's way.
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
