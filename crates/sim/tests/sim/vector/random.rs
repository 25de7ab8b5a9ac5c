// SPDX-License-Identifier: Apache-2.0
//! Tests the vector machine's back end on random procedures. Each micro program gives the CPU's bits on residues, and
//! takes the same time when it is timed again.

use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Limb, SeedExpansion};
use ringmill_isa::Poly;
use ringmill_isa::mid::{
    Call, Input, InputRole, LimbId, LimbType, Output, ParamRole, Procedure, Program, Unrolled,
    Verified,
};
use ringmill_isa::vector::verify;
use ringmill_machines::vector::description::{Masks, Order, Replacement};
use ringmill_machines::vector::session::Running;
use ringmill_machines::vector::{Counting, Description, alone, correct, time};
use ringmill_machines::{MachineError, SimOptions};
use ringmill_schemes::bgv::friendly_primes;

use crate::vector::draw::Draw;

/// Draws a machine of radix 16 whose buffer has `limbs` limbs of N = 256.
fn machine(draw: &mut Draw, limbs: u64) -> Description {
    let mut d = Description::read(Description::PAPER).unwrap();
    d.log_radix = 4;
    d.log_lanes = 5 + draw.below(3) as u8;
    d.buffer_words = limbs << 8;
    d.registers = [8, 16][draw.below(2)];
    d.schedule = [Order::Overlapped, Order::InOrder][draw.below(2)];
    d.replacement = [Replacement::Furthest, Replacement::Lru][draw.below(2)];
    d.key_masks = [Masks::Stored, Masks::Generated][draw.below(2)];
    d.distant.channels = 1 + draw.below(3);
    d.queue = [1, 128, 1024][draw.below(3)];
    (d.load_chunks, d.store_chunks) = [(1, 1), (3, 16), (16, 2)][draw.below(3)];
    d
}

/// Makes a program of `times` calls of a procedure. Several operands may be the same limb, and the results of some
/// calls are outputs.
fn repeated(procedure: Procedure, times: usize, draw: &mut Draw) -> Verified {
    let mut program = Unrolled::empty(procedure.log_n, procedure.moduli.clone());
    let limb = |program: &mut Unrolled, ty: LimbType| {
        program.limbs.push(ty.into());
        LimbId(program.limbs.len() as u64 - 1)
    };
    let types: Vec<LimbType> = procedure
        .params
        .iter()
        .map(|p| procedure.limb(p.value).unwrap())
        .collect();
    for (number, &ty) in types.iter().enumerate() {
        let (input, name) = (number as u32, format!("x{number}"));
        let poly = Poly::FIRST;
        let role = InputRole::Cipher { input, poly };
        let limb = limb(&mut program, ty);
        program.inputs.push(Input { limb, name, role });
    }
    program.seeds = (0..procedure.seeds.len() as u32).collect();
    let mut output = 0;
    for _ in 0..times {
        let args = types.iter().enumerate().map(|(own, ty)| {
            let other = draw.below(types.len());
            let at = if types[other] == *ty { other } else { own };
            program.inputs[at].limb
        });
        let args = args.collect();
        let kept = draw.below(2) == 0;
        let mut results = Vec::new();
        for result in &procedure.results {
            let limb = limb(&mut program, procedure.limb(result.value).unwrap());
            results.push(limb);
            if kept {
                let (name, poly) = (format!("y{output}"), Poly::FIRST);
                program.outputs.push(Output {
                    limb,
                    name,
                    output,
                    poly,
                });
                output += 1;
            }
        }
        program.calls.push(Call {
            proc: 0,
            args,
            seeds: program.seeds.clone(),
            results,
            loc: None,
        });
    }
    program.procs.push(Arc::new(procedure));
    Verified::try_from(program).unwrap()
}

/// Checks that a program takes the same time with replays of calls and without.
fn replayed(d: &Description, program: &Verified) {
    let runs = [true, false].map(|replays| {
        let mut running = Running::new(d, &program.head(), SimOptions::default());
        running.replays = replays;
        let mut stream = program.stream();
        while let Some(called) = stream.next_call().unwrap() {
            running.feed(&called).unwrap();
        }
        running.finish(&stream.outputs().unwrap()).unwrap();
        (running.total.micro, running.total.tally)
    });
    assert_eq!(runs[0], runs[1]);
}

fn on_the_cpu(procedure: &Procedure, args: &[Vec<u64>], seeds: &[[u8; 32]]) -> Vec<Vec<u64>> {
    let program = Program::calling(Arc::new(procedure.clone()), Vec::new());
    let program = Verified::new(program).unwrap();
    let limbs = program.inputs.iter().zip(args).map(|(input, limb)| {
        let ty = input.ty.limb().unwrap();
        Limb::borrowed(limb, program.moduli[usize::from(ty.modulus.0)]).unwrap()
    });
    let bindings = Bindings {
        limbs: limbs.collect(),
        seeds: seeds
            .iter()
            .map(|&seed| Arc::new(SeedExpansion::new(seed)))
            .collect(),
    };
    let cpu = Cpu::new(1).unwrap();
    let (outputs, _) = cpu.execute(&program, &bindings, &Silent, None).unwrap();
    outputs
        .iter()
        .map(|limb| limb.wide().into_owned())
        .collect()
}

/// Draws a machine and a procedure, and checks the micro program. Returns false if the buffer is too small for a
/// kernel, so that the procedure is refused.
fn one(seed: u64) -> bool {
    let mut draw = Draw::new(seed);
    let primes = friendly_primes(2 + draw.below(4)).unwrap();
    let log_n = 5 + draw.below(4) as u8;
    let limbs = [16, 24, 64][draw.below(3)];
    let d = machine(&mut draw, limbs);
    let length = 4 + draw.below(40);
    let masks = d.key_masks == Masks::Generated;
    let procedure = draw.procedure(log_n, &primes, length, masks);
    let seeds: Vec<[u8; 32]> = procedure.seeds.iter().map(|&arg| [arg as u8; 32]).collect();
    let n = 1usize << log_n;
    let args = procedure.params.iter().map(|param| {
        let ty = procedure.limb(param.value).unwrap();
        draw.residues(primes[usize::from(ty.modulus.0)], n)
    });
    let args: Vec<Vec<u64>> = args.collect();
    let refs: Vec<&[u64]> = args.iter().map(Vec::as_slice).collect();
    let there = |number: usize| {
        let role = &procedure.params[number].role;
        number < 6 && !matches!(role, ParamRole::Key { .. })
    };
    let made = match alone(&d, &procedure, &there, Counting::PAPER) {
        Err(MachineError::Memory { .. }) => return false,
        other => other.unwrap_or_else(|e| panic!("seed {seed}: {e}")),
    };
    verify(&made.program).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let found = correct::seeded_results(&made, &procedure, &refs, &seeds).unwrap();
    assert!(
        found == on_the_cpu(&procedure, &args, &seeds),
        "seed {seed}"
    );
    let (micro, tally) = time(&d, &made.program, Counting::PAPER).unwrap();
    assert_eq!((micro, tally), (made.micro, made.tally), "seed {seed}");
    let (whole, _) = time(&d, &made.program, Counting::WHOLE).unwrap();
    // Reads of distant memory go before writes. So a read that comes later may let a write go earlier, and the whole
    // time may be shorter by less than the length of a pipeline.
    assert!(whole + 200 >= micro, "seed {seed}: {whole}, {micro}");
    // The procedure also runs as a program of eight calls, with operands in distant memory.
    replayed(&d, &repeated(procedure, 8, &mut draw));
    true
}

#[test]
fn random_procedures_give_the_cpus_bits() {
    let ran = (0..100).filter(|&seed| one(seed)).count();
    assert!(ran >= 75, "{ran}");
}

#[test]
#[ignore = "a minute; `make full` runs it"]
fn hundreds_of_random_procedures_give_the_cpus_bits() {
    let ran = (1000..1400).filter(|&seed| one(seed)).count();
    assert!(ran >= 300, "{ran}");
}
