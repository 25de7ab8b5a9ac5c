// SPDX-License-Identifier: Apache-2.0
//! The polynomial multiplier as a machine: its refusals, the instructions that it takes, and its reports.

use std::sync::Arc;

use ringmill_isa::Poly;
use ringmill_isa::mid::{
    Form, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, Program, TableModulus, Verified,
};
use ringmill_machines::coprocessor::{Partition, Resident, Stage};
use ringmill_machines::polymul::{
    ArrayOp, Command, Description, Job, PolymulError, Shape, Tables, apply, cycles, load_cycles,
    partition, table_cycles, timeline, unload_cycles,
};
use ringmill_machines::{Registry, SimOptions};
use ringmill_math::Ring;
use ringmill_math::primes::ntt_primes;

fn paper() -> Shape {
    Shape::new(32, 12, 4).unwrap()
}

fn refused(n: usize, q: u64) -> PolymulError {
    match Tables::new(paper(), n, q) {
        Err(error) => error.as_own::<PolymulError>().unwrap().clone(),
        Ok(tables) => panic!("{tables:?}"),
    }
}

#[test]
fn moduli_and_degrees_are_refused_with_a_reason() {
    use PolymulError::*;
    assert_eq!(refused(1000, 12289), NotPowerOfTwo { got: 1000 });
    assert!(matches!(refused(128, 12289), Degree { got: 128, .. }));
    assert!(matches!(refused(8192, 65537), Degree { most: 4096, .. }));
    assert_eq!(refused(1024, 12288), Even { q: 12288 });
    // Every degree takes moduli of 32 bits, and none takes 33.
    let high = ntt_primes(32, 8, 1).unwrap()[0];
    assert!(Tables::new(paper(), 256, high).is_ok());
    let wide = ntt_primes(33, 12, 1).unwrap()[0];
    assert!(matches!(refused(4096, wide), Range { bits: 32, .. }));
    assert!(matches!(refused(1024, 1), Range { least: 2049, .. }));
    assert!(matches!(
        refused(1024, 7681),
        NotOneModulo { order: 2048, .. }
    ));
    // 6145 is 1 modulo 2^11, and is 5 * 1229.
    assert_eq!(refused(1024, 6145), Composite { q: 6145 });

    let tables = Tables::new(paper(), 1024, 12289).unwrap();
    let short = Length {
        expected: 1024,
        got: 3,
    };
    assert_eq!(tables.check(&[0; 3]), Err(short));
    let mut limb = vec![12288; 1024];
    assert_eq!(tables.check(&limb), Ok(()));
    limb[7] = 12289;
    let high = NotReduced {
        at: 7,
        value: 12289,
        q: 12289,
    };
    assert_eq!(tables.check(&limb), Err(high));
}

#[test]
fn shapes_outside_the_configurations_do_not_exist() {
    for (units, max_log_n, beat) in [
        (2, 12, 2),
        (128, 12, 4),
        (24, 12, 4),
        (32, 7, 4),
        (32, 17, 4),
        (32, 12, 1),
        (4, 12, 8),
    ] {
        assert!(Shape::new(units, max_log_n, beat).is_none());
    }
}

#[test]
fn descriptions_are_checked() {
    let text = Description::PAPER;
    for (old, new) in [
        ("units = 32", "units = 31"),
        ("max_log_n = 12", "max_log_n = 40"),
        ("beat = 4", "beat = 0"),
        ("clock_mhz = 150.0", "clock_mhz = nan"),
        ("gbit_per_second = 24.0", "gbit_per_second = -1.0"),
        ("kind = \"polymul\"", "kind = \"toaster\""),
    ] {
        let broken = text.replace(old, new);
        assert_ne!(broken, text, "{old}");
        assert!(Registry::standard().load(&broken).is_err(), "{new}");
    }
}

/// Returns a procedure whose result is 2 x y. The host adds x to itself, and the machine makes the full product with y.
fn product(log_n: u8, q: u64) -> Procedure {
    let mut p = ProcBuilder::new("product", log_n, &[q]).unwrap();
    let limb = LimbType {
        ring: Ring::full(log_n),
        modulus: ModulusId(0),
        form: Form::Coeff,
    };
    let x = p
        .param(
            "x",
            limb,
            ParamRole::Cipher {
                arg: 0,
                poly: Poly(0),
            },
        )
        .unwrap();
    let y = p
        .param(
            "y",
            limb,
            ParamRole::Cipher {
                arg: 1,
                poly: Poly(0),
            },
        )
        .unwrap();
    let twice = p.add(x, x).unwrap();
    let (a, b) = (p.ntt(twice).unwrap(), p.ntt(y).unwrap());
    let c = p.mul(a, b).unwrap();
    let c = p.intt(c).unwrap();
    p.result(c, "c", 0, Poly(0)).unwrap();
    p.finish().unwrap()
}

/// Returns the array commands of a stage.
fn jobs(procedure: &Procedure, stage: &Stage) -> Vec<Job> {
    let claims = stage.jobs.iter().flatten();
    claims.map(|c| Job::of(procedure, c).unwrap()).collect()
}

fn split(procedure: &Procedure, accepts: impl Fn(ModulusId) -> bool) -> Partition {
    let degree = paper().degree(1 << procedure.log_n).unwrap();
    partition(paper(), degree, procedure, accepts)
}

fn program(procedure: Procedure) -> Verified {
    Verified::new(Program::calling(Arc::new(procedure), Vec::new())).unwrap()
}

#[test]
fn a_product_becomes_one_command() {
    let q = ntt_primes(32, 12, 1).unwrap()[0];
    let procedure = product(12, q);
    let split = split(&procedure, |_| true);
    let ops: Vec<ArrayOp> = split
        .jobs()
        .map(|claim| Job::of(&procedure, claim).unwrap().op)
        .collect();
    assert_eq!(ops, [ArrayOp::Fpm]);
    assert_eq!(split.host(&procedure).values().sum::<u64>(), 1);
    assert_eq!(split.stages.len(), 1);
    assert_eq!(split.stages[0].offloaded().len(), 4);

    let machine = Registry::standard().open("polymul").unwrap();
    let program = program(procedure);
    let report = machine.simulate(&program, SimOptions::default()).unwrap();
    let degree = paper().degree(4096).unwrap();
    let one = table_cycles(degree)
        + 2 * load_cycles(paper(), degree)
        + cycles(paper(), degree, ArrayOp::Fpm)
        + unload_cycles(paper(), degree);
    assert_eq!(report.cycles, one);
    assert_eq!(report.link.bytes_in, 4 * (3 * 4096 + 8));
    assert_eq!(report.link.bytes_out, 4 * 4096);
    assert!((report.link.seconds_out - 4096.0 * 32.0 / 24e9).abs() < 1e-12);
    assert_eq!(report.instructions_by_kind["host ADD"], 1);
    let mut text = Vec::new();
    machine
        .micro_text(&program, SimOptions::default(), &mut text)
        .unwrap();
    assert!(String::from_utf8(text).unwrap().contains("FPM"));
}

/// Checks that the host takes other kinds of moduli. A program without a prime is refused, with the field that forbids
/// it.
#[test]
fn other_kinds_of_moduli_are_the_hosts() {
    let limb = |modulus| LimbType {
        ring: Ring::full(12),
        modulus: ModulusId(modulus),
        form: Form::Coeff,
    };
    let sum = |table: &[TableModulus]| {
        let mut p = ProcBuilder::new("sum", 12, table).unwrap();
        let role = |arg| ParamRole::Cipher { arg, poly: Poly(0) };
        let x = p.param("x", limb(0), role(0)).unwrap();
        let y = p.param("y", limb(0), role(1)).unwrap();
        let sum = p.add(x, y).unwrap();
        p.result(sum, "c", 0, Poly(0)).unwrap();
        program(p.finish().unwrap())
    };
    let machine = Registry::standard().open("polymul").unwrap();
    for kind in [TableModulus::Plain(65_537), TableModulus::PowerOfTwo(64)] {
        let error = machine.simulate(&sum(&[kind]), SimOptions::default()).err();
        let text = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(
            text.contains(&kind.to_string()) && text.contains("`units`"),
            "{text}"
        );
        let prime = TableModulus::Prime(ntt_primes(32, 12, 1).unwrap()[0]);
        let report = machine.simulate(&sum(&[kind, prime]), SimOptions::default());
        assert_eq!(report.unwrap().instructions_by_kind["host ADD"], 1);
    }
}

#[test]
fn wide_moduli_are_refused() {
    let q = ntt_primes(54, 12, 1).unwrap()[0];
    let machine = Registry::standard().open("polymul").unwrap();
    let refused = machine.simulate(&program(product(12, q)), SimOptions::default());
    let refused = refused.unwrap_err();
    assert!(matches!(
        refused.as_own(),
        Some(PolymulError::Range { bits: 32, .. })
    ));
}

/// Checks that transforms are put into stages, with the host's work between them. Moduli that the machine does not take
/// stay on the host.
#[test]
fn jobs_wait_for_what_the_host_makes_of_other_jobs() {
    let narrow = ntt_primes(30, 12, 2).unwrap();
    let moduli = [narrow[0], ntt_primes(54, 12, 1).unwrap()[0], narrow[1]];
    let mut p = ProcBuilder::new("mixed", 12, &moduli).unwrap();
    let limb = |modulus, form| LimbType {
        ring: Ring::full(12),
        modulus: ModulusId(modulus),
        form,
    };
    let role = |poly| ParamRole::Cipher { arg: 0, poly };
    let x = p.param("x", limb(0, Form::Eval), role(Poly(0))).unwrap();
    let y = p.param("y", limb(1, Form::Eval), role(Poly(1))).unwrap();
    let z = p.param("z", limb(2, Form::Coeff), role(Poly(2))).unwrap();
    let c = p.intt(x).unwrap(); // stage 0
    let on_host = p.conv(c, ModulusId(1)).unwrap();
    let on_host = p.ntt(on_host).unwrap(); // 54 bits: the host's
    let on_host = p.sub(y, on_host).unwrap();
    let next = p.conv(c, ModulusId(2)).unwrap();
    let next = p.ntt(next).unwrap(); // stage 1
    let early = p.ntt(z).unwrap(); // stage 0
    let last = p.mul(next, early).unwrap(); // stage 2
    p.result(on_host, "h", 0, Poly(0)).unwrap();
    p.result(last, "l", 0, Poly(1)).unwrap();
    let procedure = p.finish().unwrap();
    let split = split(&procedure, |m| m.0 != 1);
    let ops: Vec<Vec<ArrayOp>> = split
        .stages
        .iter()
        .map(|s| jobs(&procedure, s).iter().map(|j| j.op).collect())
        .collect();
    use ArrayOp::*;
    assert_eq!(ops, [vec![Intt, Ntt], vec![Ntt], vec![Mul]]);
    assert_eq!(split.stages[1].host.len(), 4);

    // Jobs of the modulus whose tables are loaded go first. Tables of each other modulus are loaded once.
    let degree = paper().degree(4096).unwrap();
    let names = |loaded: Resident| -> Vec<&str> {
        let jobs = jobs(&procedure, &split.stages[0]);
        let commands = timeline(paper(), degree, &jobs, &loaded);
        commands.iter().map(|t| t.command.name()).collect()
    };
    let tables = |names: &[&str]| names.iter().filter(|n| **n == "TABLES").count();
    assert_eq!(tables(&names(Resident::default())), 2);
    let mut with_last = Resident::default();
    let tables_of_last = Command::Tables {
        slot: 1,
        modulus: ModulusId(2),
    };
    apply(&mut with_last, tables_of_last);
    let with_last = names(with_last);
    assert_eq!(tables(&with_last), 1);
    let position = |what| with_last.iter().position(|n| *n == what);
    assert!(position("NTT") < position("INTT"), "{with_last:?}");
}
