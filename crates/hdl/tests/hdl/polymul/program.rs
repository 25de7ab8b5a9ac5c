// SPDX-License-Identifier: Apache-2.0
//! Tests that run a limb program on the RTL: each command is sent in the cycle that the scheduler gives it.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_hdl::polymul::execute;
use ringmill_isa::Poly;
use ringmill_isa::mid::{Form, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, ValueId};
use ringmill_machines::coprocessor::Resident;
use ringmill_machines::polymul::{Job, Shape, Tables, golden, loaded_after, partition, timeline};
use ringmill_math::Ring;
use ringmill_math::primes::ntt_primes;

use crate::polymul::bench::{Bench, fresh};

/// Returns a procedure with half and full products, single operations, all the moduli, and a result that is used again.
fn procedure(log_n: u8, moduli: &[u64]) -> Procedure {
    let mut p = ProcBuilder::new("mixed", log_n, moduli).unwrap();
    let limb = |modulus: usize, form| LimbType {
        ring: Ring::full(log_n),
        modulus: ModulusId(modulus as u16),
        form,
    };
    for modulus in 0..moduli.len() {
        let mut param = |name: &str, arg: u16, form| {
            let role = ParamRole::Cipher { arg, poly: Poly(0) };
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
            p.result(value, format!("r{modulus}.{i}"), i as u16, Poly(0))
                .unwrap();
        }
    }
    p.finish().unwrap()
}

#[test]
fn scheduled_commands_meet_no_busy_unit() {
    let mut rng = fresh();
    let (n, log_n) = (256, 8);
    let moduli = ntt_primes(18, u32::from(log_n), 2).unwrap();
    let procedure = procedure(log_n, &moduli);
    let mut bench = Bench::new(Shape::new(4, 12, 4).unwrap());
    let shape = bench.shape();
    let tables: Vec<Arc<Tables>> = moduli
        .iter()
        .map(|&q| Arc::new(Tables::new(shape, n, q).unwrap()))
        .collect();
    let mut limbs: HashMap<ValueId, Vec<u64>> = HashMap::new();
    for param in &procedure.params {
        let modulus = procedure.limb(param.value).unwrap().modulus;
        let q = moduli[usize::from(modulus.0)];
        limbs.insert(param.value, rng.limb(n, q));
    }
    let degree = shape.degree(n).unwrap();
    let split = partition(shape, degree, &procedure, |_| true);
    assert_eq!(split.jobs().count(), 2 * 5, "{split:?}");
    assert_eq!(split.stages.len(), 3, "{split:?}");

    let mut loaded = Resident::default();
    for stage in &split.stages {
        let claims = stage.jobs.iter().flatten();
        let jobs = claims.map(|claim| Job::of(&procedure, claim).unwrap());
        let jobs: Vec<Job> = jobs.collect();
        let commands = timeline(shape, degree, &jobs, &loaded);
        let table = |m: ModulusId| tables.get(usize::from(m.0)).cloned();
        let limb = |v: ValueId| limbs.get(&v).map(Vec::as_slice);
        let executed = execute(&mut bench, &commands, table, limb).unwrap();
        // Each unit ends in the cycle that the scheduler says.
        assert_eq!(executed.commands, commands);
        loaded = loaded_after(&commands, loaded);
        let made: HashMap<ValueId, Vec<u64>> = executed.limbs.into_iter().collect();
        for job in &jobs {
            let tables = &tables[usize::from(job.modulus.0)];
            let b = job.b.map_or(&[][..], |b| &limbs[&b]);
            let want = golden(tables, job.op, &limbs[&job.a], b).unwrap();
            assert_eq!(made[&job.out], want, "{job:?}");
        }
        limbs.extend(made);
    }
}
