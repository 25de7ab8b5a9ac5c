// SPDX-License-Identifier: Apache-2.0
//! Helpers for tests of the ring machine: small machines, small parameters, and the comparison of micro code with the
//! reference interpreter.
#![allow(dead_code)] // each test file uses a part

pub mod programs;

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::{LimbId, ParamRole, Procedure, Unrolled, Verified};
use ringmill_machines::ring::interpret::{Memory, execute};
use ringmill_machines::ring::place::{Class, order};
use ringmill_machines::ring::policy::Policy;
use ringmill_machines::ring::program::run;
use ringmill_machines::ring::schedule::Placement;
use ringmill_machines::ring::search::{Prepared, cycles};
use ringmill_machines::ring::{Description, description::TwiddleSource};
use ringmill_machines::{MachineError, SimOptions};
use ringmill_schemes::ckks::ops::{OpKey, ProcCache};
use ringmill_schemes::ckks::params::Params;

/// Returns the description of `ring`, or of `ring-stored` if `stored` is set, with this native degree 2^`log_n` and
/// these numbers of RPAUs and butterflies. Its rows and ports are made narrower to match. It has 64 key slots, and no
/// stand-ins.
pub fn description(log_n: u8, rpaus: usize, butterflies: usize, stored: bool) -> Description {
    let text = if stored {
        Description::STORED
    } else {
        Description::MEDHA
    };
    let mut d = Description::parse(text).unwrap();
    d.log_n = log_n;
    d.rpaus = rpaus;
    d.cores.butterfly = butterflies;
    d.cores.generator = if stored { 0 } else { butterflies };
    assert_eq!(stored, d.twiddles.source == TwiddleSource::Stored);
    d.main.lanes = butterflies;
    // Chained pairs of butterflies need rows of at least four coefficients, and so four butterflies.
    d.main.stages = if butterflies < 4 { 1 } else { d.main.stages };
    d.row = (2 * butterflies) >> (d.main.stages - 1);
    d.keys.group = d.keys.group.min(d.row);
    for group in &mut d.memory {
        group.residues = group.residues.map(|r| r.min(d.row / 2));
    }
    d.cores.dyadic = d.cores.dyadic.min(d.row);
    d.generator.residues_per_cycle = d.generator.residues_per_cycle.min(d.row);
    d.ring.lanes = d.ring.lanes.min(d.row);
    d.keys.slots = 64;
    d.stand_in.clear();
    d.memory[0].slots = 27;
    // A memory column takes a whole ultra RAM, however shallow it is. Machines of many columns exceed the FPGA.
    d.allow_more_than_the_part_has = None;
    if matches!(d.check(), Err(MachineError::ExceedsPart { .. })) {
        d.allow_more_than_the_part_has = Some("a test of words, not of a layout".to_owned());
    }
    d.check().unwrap();
    d
}

/// Returns the description with `slots` slots in all. The last port groups are dropped until the groups behind the
/// first have fewer slots than that. The first group gets the rest.
pub fn with_slots(mut d: Description, slots: usize) -> Description {
    let rest = |d: &Description| d.memory[1..].iter().map(|g| g.slots).sum::<usize>();
    while rest(&d) >= slots {
        d.memory.pop();
    }
    d.memory[0].slots = slots - rest(&d);
    d
}

/// Returns small, insecure CKKS parameters with `levels + 1` ciphertext primes and `special` special primes.
pub fn params(log_n: u8, levels: usize, special: usize) -> Arc<Params> {
    let cipher: Vec<u32> = std::iter::once(50)
        .chain(std::iter::repeat_n(40, levels))
        .collect();
    let builder = Params::builder(log_n).prime_bits(&cipher, &vec![50; special]);
    let builder = if special > 1 {
        builder.dnum((levels + 1).div_ceil(special))
    } else {
        builder
    };
    builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

/// Returns `n` residues modulo `q`, which depend on the arguments alone.
pub fn residues(n: usize, q: u64, salt: u64) -> Vec<u64> {
    let mut x = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % q
    };
    (0..n).map(|_| next()).collect()
}

/// Places the arguments side by side, in the slots that share ports first. Every third argument must stay in its slots.
pub fn dense(d: &Description, prepared: &Prepared) -> Placement {
    let graph = prepared.graph();
    let order = order(d, Class::Keep);
    let mut next = [0usize; 16];
    let mut place = |v: u32| {
        let r = usize::from(graph.values[v as usize].rpau);
        next[r] += 1;
        order[next[r] - 1]
    };
    let args: Vec<Vec<u8>> = graph
        .params
        .iter()
        .map(|p| p.iter().map(|&v| place(v)).collect())
        .collect();
    let pinned = (0..args.len()).map(|i| i % 3 == 0).collect();
    Placement {
        args,
        pinned,
        busy: [0; 16],
    }
}

/// Schedules, encodes, decodes and executes an operation, and compares every result limb with the interpreter's.
pub fn execute_both(d: &Description, params: &Arc<Params>, key: &OpKey) {
    execute_policy(d, params, key, None);
}

/// Does the same as [`execute_both`], under the policy `policy` if it is given.
pub fn execute_policy(d: &Description, params: &Arc<Params>, key: &OpKey, policy: Option<Policy>) {
    let procedure = ProcCache::new(params.clone()).get(key).unwrap();
    execute_procedure(d, &procedure, policy);
}

/// Does the same as [`execute_both`], with operands whose slots results may overwrite. Small machines have room for no
/// more.
pub fn execute_alone(d: &Description, params: &Arc<Params>, key: &OpKey) {
    let procedure = ProcCache::new(params.clone()).get(key).unwrap();
    let prepared = Prepared::new(d, &procedure).unwrap();
    let mut at = dense(d, &prepared);
    at.pinned.fill(false);
    execute_placed(d, &procedure, None, (prepared, at));
}

/// Does the same as [`execute_policy`] for any procedure.
pub fn execute_procedure(d: &Description, procedure: &Procedure, policy: Option<Policy>) {
    let prepared = Prepared::new(d, procedure).unwrap();
    let at = dense(d, &prepared);
    execute_placed(d, procedure, policy, (prepared, at));
}

fn execute_placed(
    d: &Description,
    procedure: &Procedure,
    policy: Option<Policy>,
    (mut prepared, at): (Prepared, Placement),
) {
    let what = format!(
        "{} on {} 2^{} x {}",
        procedure.name, d.name, d.log_n, d.rpaus
    );
    let scheduled = match policy {
        None => prepared.schedule(d, &at).unwrap(),
        Some(policy) => prepared.try_policy(d, &at, &policy).map(|s| {
            let cycles = cycles(d, &s).unwrap();
            (s, cycles)
        }),
    };
    let (scheduled, cycles) = scheduled.unwrap_or_else(|e| panic!("{what}: {e:?}"));
    let n = 1usize << procedure.log_n;
    let args: Vec<Vec<u64>> = procedure
        .params
        .iter()
        .enumerate()
        .map(|(i, p)| residues(n, modulus(procedure, p.value.0), i as u64))
        .collect();
    let seeds: Vec<[u8; 32]> = (0..procedure.seeds.len())
        .map(|i| [i as u8 + 7; 32])
        .collect();
    let refs: Vec<&[u64]> = args.iter().map(Vec::as_slice).collect();
    let expected = ringmill_device::interpret::run(procedure, &refs, &seeds).unwrap();

    let pieces = d.pieces(procedure.log_n);
    let splits = d.depth(procedure.log_n).into();
    let mut memory = Memory::new(procedure.moduli.clone(), seeds, false).split(splits);
    let mut keys: Vec<(u16, u16, u16, usize)> = Vec::new();
    let params = procedure.params.iter().zip(&args).zip(&at.args);
    for (param_at, ((param, limb), slots)) in params.enumerate() {
        let index = usize::from(procedure.limb(param.value).unwrap().modulus.0);
        for (i, part) in limb.chunks(n / pieces).enumerate() {
            let mut r = index % d.rpaus;
            if let ParamRole::Key {
                arg,
                digit,
                part: poly,
            } = param.role
            {
                let id = (arg, digit, poly, index / d.rpaus);
                let at = keys.iter().position(|k| *k == id).unwrap_or_else(|| {
                    keys.push(id);
                    keys.len() - 1
                });
                let at = (at * pieces + i) as u8;
                r = usize::from(prepared.graph().key_homes[param_at]);
                memory.key_table.insert((r, at), at);
                memory.keys.insert((r, at), part.to_vec());
            } else {
                memory.slots.insert((r, slots[i]), part.to_vec());
            }
        }
    }
    let pinned: Vec<_> = memory.slots.clone().into_iter().collect();
    assert_eq!(
        execute(d, &scheduled.code, &mut memory).unwrap(),
        cycles,
        "{what}"
    );
    for ((result, slots), expected) in procedure
        .results
        .iter()
        .zip(&scheduled.results)
        .zip(&expected)
    {
        let r = usize::from(procedure.limb(result.value).unwrap().modulus.0) % d.rpaus;
        let got: Vec<u64> = slots
            .iter()
            .flat_map(|s| memory.slots[&(r, *s)].clone())
            .collect();
        assert!(&got == expected, "{what}: result {} differs", result.name);
    }
    // Parameters that outlive the call are unchanged.
    for ((param, slots), _) in procedure
        .params
        .iter()
        .zip(&at.args)
        .zip(&at.pinned)
        .filter(|(_, p)| **p)
    {
        let r = usize::from(procedure.limb(param.value).unwrap().modulus.0) % d.rpaus;
        for slot in slots {
            let before = pinned
                .iter()
                .find(|(k, _)| *k == (r, *slot))
                .map(|(_, v)| v);
            assert_eq!(
                memory.slots.get(&(r, *slot)),
                before,
                "{what}: {}",
                param.name
            );
        }
    }
}

fn modulus(procedure: &Procedure, value: u32) -> u64 {
    let modulus = procedure.types[value as usize].modulus().unwrap();
    procedure.moduli[usize::from(modulus.0)].prime().unwrap()
}

/// Computes every limb of a program with the interpreter. Inputs and seeds depend on their numbers alone.
fn interpreted(program: &Unrolled) -> HashMap<LimbId, Vec<u64>> {
    let n = 1usize << program.log_n;
    let mut values: HashMap<LimbId, Vec<u64>> = HashMap::new();
    for input in &program.inputs {
        let ty = program.limb_type(input.limb).unwrap();
        let q = program.moduli[usize::from(ty.modulus.0)];
        values.insert(input.limb, residues(n, q.prime().unwrap(), input.limb.0));
    }
    for call in &program.calls {
        let procedure = &program.procs[call.proc as usize];
        let seeds: Vec<_> = call.seeds.iter().map(|&s| [s as u8 + 7; 32]).collect();
        let args: Vec<&[u64]> = call.args.iter().map(|l| values[l].as_slice()).collect();
        let results = ringmill_device::interpret::run(procedure, &args, &seeds).unwrap();
        values.extend(call.results.iter().copied().zip(results));
    }
    values
}

/// Runs a whole program on residues with its micro code, and compares every result with the interpreter's. Each call,
/// or each part of a cut call, runs in the slots that the machine assigned. `spill` allows spills. Returns the cycles.
pub fn execute_program(d: &Description, ready: &Verified, spill: bool) -> u64 {
    let program = &Unrolled::of(ready, 1 << 20).unwrap();
    let n = 1usize << program.log_n;
    let pieces = d.pieces(program.log_n);
    let rpau = |l: LimbId| usize::from(program.limb_type(l).unwrap().modulus.0) % d.rpaus;
    let expected = interpreted(program);
    let mut values: HashMap<LimbId, Vec<u64>> = HashMap::new();
    for input in &program.inputs {
        values.insert(input.limb, expected[&input.limb].clone());
    }
    let splits = d.depth(program.log_n).into();
    let mut memory = Memory::new(program.moduli.clone(), Vec::new(), false).split(splits);
    // Key memory starts empty, so it has only the limbs that the machine reports as loaded.
    let options = SimOptions {
        spill,
        resident_keys: false,
        ..SimOptions::default()
    };
    let totals = run(d, ready, options, &mut |_| Ok(()), &mut |step| {
        let (call, procedure) = (step.call, step.procedure);
        memory.seeds = call.seeds.iter().map(|&s| [s as u8 + 7; 32]).collect();
        memory.key_table = step.key_table.clone();
        for load in &step.key_loads {
            let (limb, piece) = load.limb;
            let part = values[&limb].chunks(n / pieces).nth(piece.into()).unwrap();
            memory.keys.insert((load.rpau, load.slot), part.to_vec());
        }
        let scheduled = &step.outcome.scheduled;
        let key_indices = step.key_indices(d);
        memory.host.clear();
        memory.host_keys.clear();
        for (at, (&limb, slots)) in call.args.iter().zip(&step.args).enumerate() {
            for (i, part) in values[&limb].chunks(n / pieces).enumerate() {
                let r = rpau(limb);
                if let Some(base) = key_indices[at] {
                    // A stand-in of this RPAU reads the same limb, unless it has a limb of its own.
                    for s in d.stand_in.iter().filter(|s| s.prime == r) {
                        let at = (s.rpau, base + i as u8);
                        memory.host_keys.entry(at).or_insert_with(|| part.to_vec());
                    }
                    memory.host_keys.insert((r, base + i as u8), part.to_vec());
                    continue; // in key memory is only what was loaded
                }
                if let Some(&place) = scheduled.host_params[at].get(i) {
                    memory.host.insert(place, part.to_vec());
                    continue;
                }
                if step.arrived.contains(&limb) {
                    memory.slots.insert((r, slots[i]), part.to_vec());
                } else {
                    assert!(
                        memory.slots[&(r, slots[i])] == part,
                        "{}: {limb:?} is not where it was",
                        procedure.name
                    );
                }
            }
        }
        assert_eq!(
            execute(d, &step.outcome.scheduled.code, &mut memory)?,
            step.outcome.cycles
        );
        for (at, &limb) in call.results.iter().enumerate() {
            let slots = scheduled.results[at].iter();
            let in_slots = slots.flat_map(|s| memory.slots[&(rpau(limb), *s)].clone());
            let on_host = scheduled.host_results[at].iter();
            let got: Vec<u64> = in_slots
                .chain(on_host.flat_map(|h| memory.host[h].clone()))
                .collect();
            assert!(
                got == expected[&limb],
                "{}: {limb:?} differs",
                procedure.name
            );
            values.insert(limb, got);
        }
        Ok(())
    });
    let outputs = program.outputs.iter();
    assert!(outputs.map(|o| o.limb).all(|l| values.contains_key(&l)));
    totals.unwrap().cycles
}
