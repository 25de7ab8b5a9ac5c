// SPDX-License-Identifier: Apache-2.0
//! Tests of polynomials that stay in the machine from call to call. The example is SEAL's decryption product, whose key
//! and tables are sent once.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_hdl::polymul::execute;
use ringmill_isa::Poly;
use ringmill_isa::mid::{
    Call, Form, LimbId, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, ValueId,
};
use ringmill_machines::coprocessor::Resident;
use ringmill_machines::polymul::{
    ArrayOp, Job, Shape, Tables, cycles, golden, load_cycles, loaded_after, partition,
    table_cycles, timeline, unload_cycles,
};
use ringmill_math::Ring;
use ringmill_math::primes::ntt_primes;

use crate::polymul::bench::{Bench, Rng, fresh};

const LOG_N: u8 = 8;
const N: usize = 1 << LOG_N;

/// Returns the procedure `INTT(NTT(c) s)`, or `INTT(NTT(c) NTT(s))` if the key is given in coefficient form.
fn product(q: u64, key: Form) -> Procedure {
    let mut p = ProcBuilder::new("product", LOG_N, &[q]).unwrap();
    let limb = |form| LimbType {
        ring: Ring::full(LOG_N),
        modulus: ModulusId(0),
        form,
    };
    let role = |arg| ParamRole::Cipher { arg, poly: Poly(0) };
    let c = p.param("c", limb(Form::Coeff), role(0)).unwrap();
    let s = p.param("s", limb(key), role(1)).unwrap();
    let c = p.ntt(c).unwrap();
    let s = if key == Form::Coeff {
        p.ntt(s).unwrap()
    } else {
        s
    };
    let product = p.mul(c, s).unwrap();
    let product = p.intt(product).unwrap();
    p.result(product, "r", 0, Poly(0)).unwrap();
    p.finish().unwrap()
}

/// A machine with what it holds between calls, and the program's limbs.
struct Session {
    bench: Bench,
    tables: Arc<Tables>,
    resident: Resident,
    limbs: HashMap<LimbId, Vec<u64>>,
    rng: Rng,
}

impl Session {
    /// Runs a call of the procedure on the RTL, with the limbs of c, of the key s and of the result r. Returns the
    /// names of its commands, and the cycles until the last is done.
    fn call(&mut self, procedure: &Procedure, [c, s, r]: [u64; 3]) -> (Vec<&'static str>, u64) {
        let q = self.tables.modulus().value();
        let [c, s, r] = [c, s, r].map(LimbId);
        for limb in [c, s] {
            let rng = &mut self.rng;
            self.limbs.entry(limb).or_insert_with(|| rng.limb(N, q));
        }
        let call = Call {
            proc: 0,
            args: vec![c, s],
            seeds: Vec::new(),
            results: vec![r],
            loc: None,
        };
        let shape = self.bench.shape();
        let degree = shape.degree(N).unwrap();
        let split = partition(shape, degree, procedure, |_| true);
        assert_eq!(split.stages.len(), 1, "{split:?}");
        let claims = split.jobs();
        let jobs: Vec<Job> = claims.map(|c| Job::of(procedure, c).unwrap()).collect();
        let before = std::mem::take(&mut self.resident).enter(procedure, &call);
        let commands = timeline(shape, degree, &jobs, &before);
        let values: HashMap<ValueId, &[u64]> = procedure
            .params
            .iter()
            .zip(&call.args)
            .map(|(param, limb)| (param.value, self.limbs[limb].as_slice()))
            .collect();
        let executed = execute(
            &mut self.bench,
            &commands,
            |_| Some(Arc::clone(&self.tables)),
            |value| values.get(&value).copied(),
        )
        .unwrap();
        assert_eq!(executed.commands, commands);
        let made = executed.limbs.first().unwrap().1.clone();
        let want = golden(&self.tables, jobs[0].op, &self.limbs[&c], &self.limbs[&s]).unwrap();
        assert_eq!(made, want, "{call:?}");
        self.limbs.insert(r, made);
        self.resident = loaded_after(&commands, before).leave(procedure, &call);
        let end = commands.iter().map(|timed| timed.end).max().unwrap();
        (commands.iter().map(|t| t.command.name()).collect(), end)
    }
}

fn session() -> Session {
    let bench = Bench::new(Shape::new(4, 12, 4).unwrap());
    let q = ntt_primes(30, u32::from(LOG_N), 1).unwrap()[0];
    let tables = Arc::new(Tables::new(bench.shape(), N, q).unwrap());
    Session {
        bench,
        tables,
        resident: Resident::default(),
        limbs: HashMap::new(),
        rng: fresh(),
    }
}

/// The first call sends tables and key. Each further call sends only its own operand: it loads, multiplies and unloads,
/// one after another. Another key must be sent; the tables stay.
#[test]
fn a_key_and_its_tables_are_sent_once() {
    let mut session = session();
    let (shape, q) = (session.bench.shape(), session.tables.modulus().value());
    let degree = shape.degree(N).unwrap();
    let procedure = product(q, Form::Eval);
    let (load, unload) = (load_cycles(shape, degree), unload_cycles(shape, degree));
    let steady = load + cycles(shape, degree, ArrayOp::Hpm) + unload;

    let (names, first) = session.call(&procedure, [0, 1, 2]);
    assert_eq!(names, ["TABLES", "LOAD", "LOAD", "HPM", "UNLOAD"]);
    assert_eq!(first, steady + table_cycles(degree) + load);
    for number in 1..4 {
        let (names, taken) = session.call(&procedure, [3 * number, 1, 3 * number + 2]);
        assert_eq!(names, ["LOAD", "HPM", "UNLOAD"]);
        assert_eq!(taken, steady);
    }
    let (names, taken) = session.call(&procedure, [20, 21, 22]);
    assert_eq!(names, ["LOAD", "LOAD", "HPM", "UNLOAD"]);
    assert_eq!(taken, steady + load);
    // The first key was overwritten, and must be sent like any other limb.
    let (names, _) = session.call(&procedure, [23, 1, 24]);
    assert_eq!(names, ["LOAD", "LOAD", "HPM", "UNLOAD"]);
}

/// A full product overwrites its second operand, so that the operand is sent for each call. A result that is used again
/// is still in the machine.
#[test]
fn what_a_product_overwrites_is_sent_again() {
    let mut session = session();
    let procedure = product(session.tables.modulus().value(), Form::Coeff);
    let (names, _) = session.call(&procedure, [0, 1, 2]);
    assert_eq!(names, ["TABLES", "LOAD", "LOAD", "FPM", "UNLOAD"]);
    let (names, _) = session.call(&procedure, [3, 1, 4]);
    assert_eq!(names, ["LOAD", "LOAD", "FPM", "UNLOAD"]);
    let (names, _) = session.call(&procedure, [4, 1, 5]);
    assert_eq!(names, ["LOAD", "FPM", "UNLOAD"]);
}
