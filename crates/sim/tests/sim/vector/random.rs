// SPDX-License-Identifier: Apache-2.0
//! Random procedures: the back end's micro program gives the CPU's bits on residues, and takes the same time stepped through again.

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

/// Radix 16 and so many limbs of N = 256; of several shapes.
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

/// Calls of a procedure on operands that may be the same limb; of some calls the results are outputs.
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

/// What a program takes with and without replays.
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

/// Whether it was run: a buffer may be too small for a kernel, which is refused.
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
    // Reads come before writes, so what comes later may let a write go earlier: by less than a pipeline's length.
    assert!(whole + 200 >= micro, "seed {seed}: {whole}, {micro}");
    // As a program, operands in distant memory, of calls that come again.
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
