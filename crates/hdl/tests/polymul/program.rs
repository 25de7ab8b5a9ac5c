//! A limb program's commands, sent in the cycles that the scheduler gives them.

use std::collections::HashMap;

use ringmill_isa::mid::{Form, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, ValueId};
use ringmill_machines::polymul::{Command, Shape, Tables, partition, timeline};
use ringmill_math::Ring;
use ringmill_math::primes::ntt_primes;

use crate::bench::{Bench, Code, Rng, Unit, place};
use crate::lockstep::golden;

/// Half and full products, lone operations, two moduli, a result taken up again.
fn procedure(log_n: u8, moduli: &[u64]) -> Procedure {
    let mut p = ProcBuilder::new("mixed", log_n, moduli).unwrap();
    let limb = |modulus: usize, form| LimbType {
        ring: Ring::full(log_n),
        modulus: ModulusId(modulus as u16),
        form,
    };
    for modulus in 0..moduli.len() {
        let mut param = |name: &str, arg: u16, form| {
            let role = ParamRole::Cipher { arg, poly: 0 };
            p.param(format!("{name}{modulus}"), limb(modulus, form), role)
                .unwrap()
        };
        let x = param("x", 0, Form::Coeff);
        let y = param("y", 1, Form::Coeff);
        let e = param("e", 2, Form::Eval);
        let (nx, ny) = (p.ntt(x).unwrap(), p.ntt(y).unwrap());
        let full = p.mul(nx, ny).unwrap();
        let full = p.intt(full).unwrap();
        let again = p.ntt(full).unwrap();
        let product = p.mul(again, e).unwrap();
        let ny = p.ntt(y).unwrap();
        let half = p.mul(e, ny).unwrap();
        let half = p.intt(half).unwrap();
        let back = p.intt(e).unwrap();
        for (i, value) in [full, product, half, back].into_iter().enumerate() {
            p.result(value, format!("r{modulus}.{i}"), i as u16, 0)
                .unwrap();
        }
    }
    p.finish().unwrap()
}

#[test]
fn scheduled_commands_meet_no_busy_unit() {
    let mut rng = Rng::fresh();
    let (n, log_n) = (256, 8);
    let moduli = ntt_primes(18, u32::from(log_n), 2).unwrap();
    let procedure = procedure(log_n, &moduli);
    let mut bench = Bench::new(Shape::new(4, 12, 4).unwrap());
    let tables: Vec<Tables> = moduli
        .iter()
        .map(|&q| Tables::new(bench.shape, n, q).unwrap())
        .collect();
    let mut limbs: HashMap<ValueId, Vec<u64>> = HashMap::new();
    for param in &procedure.params {
        let modulus = procedure.types[param.value.0 as usize].modulus;
        let q = moduli[usize::from(modulus.0)];
        limbs.insert(param.value, rng.limb(n, q));
    }
    let jobs = partition(&procedure).jobs;
    assert_eq!(jobs.len(), 2 * 5, "{jobs:?}");
    for job in &jobs {
        let tables = &tables[usize::from(job.modulus.0)];
        let b = job.b.map_or(&[][..], |b| &limbs[&b]);
        let out = golden(tables, job.op, &limbs[&job.a], b);
        limbs.insert(job.out, out);
    }

    let degree = bench.shape.degree(n).unwrap();
    let commands = timeline(bench.shape, degree, &jobs);
    let base = bench.cycle();
    for timed in &commands {
        while bench.cycle() < base + timed.begin {
            bench.tick();
        }
        let code = match timed.command {
            Command::Tables(modulus) => {
                let tables = &tables[usize::from(modulus.0)];
                bench.send(&tables.words(bench.shape), true);
                bench.start_tables(u32::from(log_n), tables.three())
            }
            Command::Load {
                set,
                buf,
                eval,
                limb,
            } => {
                let words: Vec<u32> = limbs[&limb].iter().map(|&x| x as u32).collect();
                bench.send(&words, true);
                bench.start_load(place(set as u64, buf as u64, eval))
            }
            Command::Run { set, op } => bench.start(op, set as u64, 0),
            Command::Unload { set, eval, .. } => bench.start_unload(place(set as u64, 0, eval)),
        };
        assert_eq!(code, Code::Ok, "{timed:?}");
    }
    let end = commands.iter().map(|t| t.end).max().unwrap();
    while bench.cycle() < base + end {
        bench.tick();
    }
    // Each unit is done when the scheduler says.
    for (unit, is) in [
        (Unit::Array, "NTT INTT MUL HPM FPM"),
        (Unit::Load, "LOAD TABLES"),
        (Unit::Unload, "UNLOAD"),
    ] {
        let want = commands
            .iter()
            .filter(|t| is.split(' ').any(|name| name == t.command.name()))
            .map(|t| base + t.end);
        let got = bench.done.iter().filter(|d| d.0 == unit).map(|d| d.1);
        assert!(want.eq(got), "{unit:?}");
    }
    for timed in &commands {
        if let Command::Unload { limb, .. } = timed.command {
            let got: Vec<u64> = bench
                .output
                .pop_front()
                .unwrap()
                .into_iter()
                .map(u64::from)
                .collect();
            assert_eq!(got, limbs[&limb], "{timed:?}");
        }
    }
}
