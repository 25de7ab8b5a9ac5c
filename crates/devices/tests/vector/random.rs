//! Random procedures: the back end's micro program gives the CPU's bits on residues, and takes the same time stepped through again.

use std::sync::Arc;

use ringmill_devices::progress::Silent;
use ringmill_devices::{Bindings, Cpu, Limb};
use ringmill_isa::mid::{ParamRole, Procedure, Program, Verified};
use ringmill_isa::vector::verify;
use ringmill_machines::vector::description::{Order, Replacement};
use ringmill_machines::vector::{Counting, Description, VectorMachine, alone, correct, time};
use ringmill_machines::{Machine, MachineError, SimOptions};
use ringmill_schemes::bgv::friendly_primes;

use crate::draw::Draw;

/// Radix 16 and so many limbs of N = 256; of several shapes.
fn machine(draw: &mut Draw, limbs: u64) -> Description {
    let mut d = Description::read(Description::PAPER).unwrap();
    d.log_radix = 4;
    d.log_lanes = 5 + draw.below(3) as u8;
    d.buffer_words = limbs << 8;
    d.registers = [8, 16][draw.below(2)];
    d.schedule = [Order::Overlapped, Order::InOrder][draw.below(2)];
    d.replacement = [Replacement::Furthest, Replacement::Lru][draw.below(2)];
    d
}

fn on_the_cpu(procedure: &Procedure, args: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let program = Program::calling(Arc::new(procedure.clone()), Vec::new());
    let program = Verified::new(program).unwrap();
    let limbs = program.inputs.iter().zip(args).map(|(input, limb)| {
        let ty = input.ty.limb().unwrap();
        Limb::borrowed(limb, program.moduli[usize::from(ty.modulus.0)]).unwrap()
    });
    let bindings = Bindings {
        limbs: limbs.collect(),
        seeds: Vec::new(),
    };
    let cpu = Cpu::new(1).unwrap();
    let (outputs, _) = cpu.execute(&program, &bindings, &Silent, None).unwrap();
    outputs.iter().map(|limb| limb.to_vec()).collect()
}

/// Whether it was run: a buffer may be too small for a kernel, which is refused.
fn one(seed: u64) -> bool {
    let mut draw = Draw::new(seed);
    let primes = friendly_primes(2 + draw.below(4)).unwrap();
    let log_n = 5 + draw.below(4) as u8;
    let limbs = [16, 24, 64][draw.below(3)];
    let d = machine(&mut draw, limbs);
    let length = 4 + draw.below(40);
    let procedure = draw.procedure(log_n, &primes, length);
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
    let found = correct::results(&made, &procedure, &refs).unwrap();
    assert!(found == on_the_cpu(&procedure, &args), "seed {seed}");
    let (micro, tally) = time(&d, &made.program, Counting::PAPER).unwrap();
    assert_eq!((micro, tally), (made.micro, made.tally), "seed {seed}");
    let (whole, _) = time(&d, &made.program, Counting::WHOLE).unwrap();
    assert!(whole >= micro, "seed {seed}: {whole} < {micro}");
    // As a program, operands in distant memory.
    let program = Program::calling(Arc::new(procedure), Vec::new());
    let program = Verified::new(program).unwrap();
    let machine = VectorMachine::new(d).unwrap();
    let report = machine.simulate(&program, SimOptions::default()).unwrap();
    assert!(report.cycles > 0, "seed {seed}");
    true
}

#[test]
fn random_procedures_give_the_cpus_bits() {
    let ran = (0..12).filter(|&seed| one(seed)).count();
    assert!(ran >= 9, "{ran}");
}

#[test]
#[ignore = "a minute; `make full` runs it"]
fn hundreds_of_random_procedures_give_the_cpus_bits() {
    let ran = (1000..1400).filter(|&seed| one(seed)).count();
    assert!(ran >= 300, "{ran}");
}
