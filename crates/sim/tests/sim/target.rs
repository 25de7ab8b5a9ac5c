// SPDX-License-Identifier: Apache-2.0
//! A program made for a machine fits it, or is refused with the field of the machine's description that forbids it.
#![allow(clippy::unwrap_used)]

use ringmill_compiler::Accuracy;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options, ParamsChoice, Wanted};
use ringmill_compiler::{CompileError, Target, TargetError, compile};
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::macros::{MacroProgram, Visibility};
use ringmill_machines::MachineError;
use ringmill_runtime::simulate;
use ringmill_schemes::ckks::Params;
use ringmill_sim::{OpenError, engine, open, target};

/// Makes a program that computes x^(2^depth) for vectors of `slots` slots.
fn power(depth: u32, slots: u32) -> MacroProgram {
    let mut t = TraceBuilder::new("power", slots).unwrap();
    let mut x = t.input("x", Visibility::Encrypted, None).unwrap();
    for _ in 0..depth {
        x = t.square(x, None).unwrap();
    }
    t.output("y", x, None).unwrap();
    t.finish()
}

/// Makes a program that multiplies a value by `depth` vectors, one after another.
fn chain(depth: u32) -> MacroProgram {
    let mut t = TraceBuilder::new("chain", 64).unwrap();
    let mut x = t.input("x", Visibility::Encrypted, None).unwrap();
    for level in 0..depth {
        let weights = (0..64)
            .map(|i| (1.0 / f64::from(i + level + 1), 0.0))
            .collect();
        let weights = t.vector(weights, None).unwrap();
        x = t.mul(x, weights, None).unwrap();
    }
    t.output("y", x, None).unwrap();
    t.finish()
}

fn made_for(
    target: Target,
    program: MacroProgram,
    precision_bits: u32,
) -> Result<Compiled, CompileError> {
    let options = Options {
        target: Some(target),
        params: ParamsChoice::Choose(Wanted {
            accuracy: Accuracy::Bits(precision_bits),
            ..Wanted::default()
        }),
        ..Options::default()
    };
    compile(program, &options)
}

fn refusal(result: Result<Compiled, CompileError>) -> TargetError {
    match result {
        Err(CompileError::Target(refused)) => *refused,
        Err(other) => panic!("another error: {other}"),
        Ok(compiled) => panic!("accepted: {}", compiled.params.summary()),
    }
}

#[test]
fn what_is_made_for_a_machine_runs_on_it() {
    for machine in ["ring", "ring-stored", "polymul"] {
        for (depth, precision) in [(1, 6), (1, 8)] {
            let limits = target(machine).unwrap();
            let compiled = made_for(limits.clone(), power(depth, 64), precision).unwrap();
            ringmill_compiler::target::check(&limits, &*compiled.params).unwrap();
            let device = open(&format!("sim:{machine}")).unwrap();
            let report =
                simulate(&compiled, device.as_ref(), Request::timing_only(), &Silent).unwrap();
            assert!(report.machine.unwrap().cycles > 0, "{machine}");
        }
    }
    // With the target all primes fit the multiplier. Without it some primes are too wide, and the host would run their
    // transforms.
    let compiled = made_for(target("sim:polymul").unwrap(), power(1, 64), 6).unwrap();
    assert!(compiled.params.moduli().iter().all(|q| q >> 32 == 0));
    let free = compile(power(1, 64), &Options::default()).unwrap();
    assert!(free.params.moduli().iter().any(|q| q >> 32 != 0));
}

#[test]
fn friendly_primes_are_friendly() {
    let mut limits = target("ring").unwrap();
    limits.friendly_bits.is = 18;
    let compiled = made_for(limits.clone(), power(3, 64), 20).unwrap();
    assert!(compiled.params.moduli().iter().all(|q| q % (1 << 18) == 1));
    limits.friendly_bits.is = 50;
    let refused = refusal(made_for(limits, power(3, 64), 20));
    assert_eq!(refused.field, "word_bits");
}

#[test]
fn the_refusal_names_the_field() {
    let ring = target("ring").unwrap();
    // The program is too deep for N = 2^15 at 128 bits of security.
    let refused = refusal(made_for(ring.clone(), chain(30), 20));
    assert_eq!((refused.machine.as_str(), refused.field), ("ring", "log_n"));
    // The vectors are longer than the slots of the machine's largest ring.
    let refused = refusal(made_for(ring.clone(), power(1, 1 << 15), 20));
    assert_eq!(refused.field, "log_n");
    let few = Target {
        moduli: ringmill_isa::Limit {
            field: "rpaus",
            is: 3,
        },
        ..ring.clone()
    };
    let refused = refusal(made_for(few, power(4, 64), 20));
    assert_eq!((refused.field, refused.needed.as_str()), ("rpaus", "6"));
    let polymul = target("polymul").unwrap();
    let refused = refusal(made_for(polymul.clone(), power(1, 64), 20));
    assert_eq!(refused.field, "max_log_n");
    let refused = refusal(made_for(polymul.clone(), power(0, 64), 25));
    assert_eq!(refused.field, "kind");
    assert!(refused.to_string().contains("at most 32"), "{refused}");
    // Parameters that the caller gives are checked and not changed.
    let given = Options {
        target: Some(polymul),
        ..Options::given(Params::named("set2").unwrap())
    };
    assert_eq!(refusal(compile(power(1, 64), &given)).field, "max_log_n");
    let given = Options {
        target: Some(ring),
        ..Options::given(Params::named("set2").unwrap())
    };
    compile(power(1, 64), &given).unwrap();
    // A program that no parameters can run is not refused because of the machine.
    let hopeless = made_for(target("ring").unwrap(), chain(200), 20);
    assert!(matches!(hopeless, Err(CompileError::NoParameters { .. })));
    let unknown = target("abacus").unwrap_err();
    assert!(unknown.as_own::<MachineError>().is_some());
}

#[test]
fn a_bootstrapping_engine_is_known_by_its_machines_name() {
    let torus = engine("torus").unwrap();
    assert_eq!((torus.dimension, torus.log_degree), (630, 10));
    assert_eq!(torus.unrolling, 1);
    assert_eq!((torus.bootstrap.log_base, torus.bootstrap.levels), (7, 3));
    let switch = torus.key_switch;
    assert_eq!((switch.log_base, switch.levels), (1, 15));
    for device in ["sim:torus", "rtl:torus"] {
        assert_eq!(engine(device).unwrap(), torus);
    }
    for other in ["ring", "sim:polymul", "rtl:vector"] {
        let refused = engine(other).unwrap_err();
        let none = matches!(refused.as_own(), Some(OpenError::NoBootstraps { machine }) if machine == other);
        assert!(none, "{other}: {refused:?}");
    }
    let unknown = engine("abacus").unwrap_err();
    assert!(unknown.as_own::<MachineError>().is_some());
}
