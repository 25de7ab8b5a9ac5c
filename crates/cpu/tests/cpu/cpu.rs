// SPDX-License-Identifier: Apache-2.0
//! Tests the CPU device: its bits against the definition of each instruction on several numbers of threads, its memory,
//! and its refusals.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::common::naive::interpret;
use crate::common::random::{Dice, case, moduli};
use ringmill_cpu::{Cpu, OpenError};
use ringmill_device::progress::{Progress, Silent, Step};
use ringmill_device::{Bindings, Device, DeviceError, Limb, Request};
use ringmill_isa::mid::*;
use ringmill_isa::{Galois, Poly};
use ringmill_math::{Residues, Ring};

#[test]
fn random_programs_give_the_defined_bits_on_any_number_of_threads() {
    let mut devices: Vec<Cpu> = [1, 2, 5].iter().map(|&n| Cpu::new(n).unwrap()).collect();
    devices.extend([1, 2].map(|n| Cpu::new(n).unwrap().without_fusion()));
    let mut seen = BTreeSet::new();
    for seed in 0..60 {
        let case = case(seed, 4 + (seed % 3) as u8, 12);
        seen.extend(
            case.program
                .procs
                .iter()
                .flat_map(|p| &p.instrs)
                .map(|i| i.op),
        );
        let expected = interpret(&case.program, &case.inputs, &case.seeds);
        let short = crate::common::short_words(&case);
        for cpu in &devices {
            for bindings in [
                crate::common::bind(&case),
                crate::common::bind_short(&case, &short),
            ] {
                let outcome = cpu
                    .run(
                        &crate::common::ready(&case.program),
                        &bindings,
                        Request::function_only(),
                        &Silent,
                    )
                    .unwrap();
                let outputs = outcome.outputs.unwrap();
                crate::common::check_words(&case.program, &outputs);
                assert_eq!(outputs, expected, "seed {seed}, {} threads", cpu.threads());
            }
        }
        // The reference interpreter gives the same, and so do both on the expansions of composites.
        let expanded = Unrolled {
            procs: (case.program.procs.iter())
                .map(|p| Arc::new(expand_composites(p, |_| false).unwrap()))
                .collect(),
            ..case.program.clone()
        };
        for program in [&case.program, &expanded] {
            assert_eq!(
                crate::common::by_reference(program, &case.inputs, &case.seeds),
                expected,
                "seed {seed}"
            );
        }
        for cpu in &devices[..2] {
            let outcome = cpu.run(
                &crate::common::ready(&expanded),
                &crate::common::bind(&case),
                Request::function_only(),
                &Silent,
            );
            let outputs = outcome.unwrap().outputs.unwrap();
            assert_eq!(outputs, expected, "seed {seed}, expanded");
        }
    }
    // The torus extension has its own tests (`torus_instructions.rs`), and no procedure has HCF.
    let elsewhere = [Op::Rotdiff, Op::Decomp, Op::Extract, Op::Lweks, Op::Hcf];
    let missing = |op: &Op| !seen.contains(op) && !elsewhere.contains(op);
    let missing: Vec<_> = Op::ALL.into_iter().filter(missing).collect();
    assert!(missing.is_empty(), "every instruction occurs: {missing:?}");
}

#[test]
fn buffers_do_not_grow_from_run_to_run() {
    for threads in [1, 2] {
        let cpu = Cpu::new(threads).unwrap();
        let case = case(7, 5, 20);
        let bindings = crate::common::bind(&case);
        let mut held = Vec::new();
        for _ in 0..20 {
            let (_, stats) = cpu
                .execute(
                    &crate::common::ready(&case.program),
                    &bindings,
                    &Silent,
                    None,
                )
                .unwrap();
            assert_eq!(cpu.pool_usage().live, 0, "every buffer is given back");
            held.push(stats.pool_held_bytes);
        }
        if threads == 1 {
            assert!(held.iter().all(|&h| h == held[0]), "{held:?}");
        } else {
            // The order of steps differs from run to run. So a later run may need more memory, but at most twice as
            // much.
            assert!(held.iter().all(|&h| h <= 2 * held[0]), "{held:?}");
        }
    }
}

/// Returns a program of two calls in sequence. The called procedure is a chain of dependent instructions on one limb in
/// evaluation form; one of its first values is read again near the end.
fn chain(log_n: u8) -> Unrolled {
    chain_modulo(log_n, 0)
}

/// Returns the program of [`chain`] modulo prime number `which` of [`moduli`]. Only the first of these is below 2^32.
fn chain_modulo(log_n: u8, which: u16) -> Unrolled {
    let moduli = moduli(log_n);
    let ty = LimbType {
        ring: Ring::full(log_n),
        modulus: ModulusId(which),
        form: Form::Eval,
    };
    let mut b = ProcBuilder::new("chain", log_n, &moduli).unwrap();
    let x = b
        .param(
            "x",
            ty,
            ParamRole::Cipher {
                arg: 0,
                poly: Poly(0),
            },
        )
        .unwrap();
    let kept = b.muli(x, 3).unwrap(); // buffer 1: x is bound, not ours to overwrite
    let a = b.intt(kept).unwrap(); // buffer 2: kept is still needed
    let a = b.ntt(a).unwrap(); // in place
    let a = b.auto(a, Galois(5)).unwrap(); // buffer 3: a permutation is not done in place; buffer 2 is free afterwards
    let a = b.mul(a, kept).unwrap(); // in place in buffer 3: both operands die, the other one is free afterwards
    let a = b.neg(a).unwrap(); // in place
    b.result(a, "r", 0, Poly(0)).unwrap();
    Unrolled {
        log_n,
        moduli: TableModulus::primes(&moduli),
        procs: vec![Arc::new(b.finish().unwrap())],
        limbs: vec![ty.into(); 3],
        inputs: vec![Input {
            limb: LimbId(0),
            name: "x".into(),
            role: InputRole::Cipher {
                input: 0,
                poly: Poly(0),
            },
        }],
        seeds: vec![],
        calls: vec![
            Call {
                proc: 0,
                args: vec![LimbId(0)],
                seeds: vec![],
                results: vec![LimbId(1)],
                loc: None,
            },
            Call {
                proc: 0,
                args: vec![LimbId(1)],
                seeds: vec![],
                results: vec![LimbId(2)],
                loc: None,
            },
        ],
        outputs: vec![Output {
            limb: LimbId(2),
            name: "r".into(),
            output: 0,
            poly: Poly(0),
        }],
    }
}

#[test]
fn liveness_keeps_memory_at_what_the_hand_count_says() {
    // Each call needs three buffers. The first call's result is the second's operand, and its last use is the first
    // instruction there. Results in words of 32 bits have buffers of their own. The last instruction writes them when
    // two of the three are free.
    for (which, short) in [(1, 0), (0, 64 * 4)] {
        let program = chain_modulo(6, which);
        let q = program.moduli[usize::from(which)];
        let data = Dice::new(1).residues(q, 64);
        let bindings = Bindings {
            limbs: vec![Limb::borrowed(&data, q).unwrap()],
            seeds: vec![],
        };
        for threads in [1, 2] {
            let (_, stats) = Cpu::new(threads)
                .unwrap()
                .execute(&crate::common::ready(&program), &bindings, &Silent, None)
                .unwrap();
            let wide = 3 * 64 * 8;
            assert_eq!(stats.pool_peak_bytes, wide, "{threads} threads, {q:?}");
            assert_eq!(
                stats.pool_held_bytes,
                wide + short,
                "{threads} threads, {q:?}"
            );
        }
    }
}

#[test]
fn words_of_32_bits_are_bound_to_any_modulus_and_checked_as_others_are() {
    let program = chain_modulo(6, 1);
    let q = program.moduli[1];
    let words: Vec<u32> = (0..64u32).map(|i| u32::MAX - i * i).collect();
    let wide: Vec<u64> = words.iter().map(|&x| x.into()).collect();
    let outputs = [Residues::Short(&words), Residues::Wide(&wide)].map(|data| {
        let bindings = Bindings {
            limbs: vec![Limb::held(data, q).unwrap()],
            seeds: vec![],
        };
        let cpu = Cpu::new(1).unwrap();
        let ran = cpu.execute(&crate::common::ready(&program), &bindings, &Silent, None);
        ran.unwrap().0
    });
    assert_eq!(outputs[0], outputs[1]);
    crate::common::check_words(&program, &outputs[0]);
    let small = program.moduli[0];
    let words = [1, small.value() as u32, 2];
    let refused = Limb::held(Residues::Short(&words), small);
    let Err(DeviceError::Residue { position, .. }) = refused.map(|_| ()) else {
        panic!("a residue that is the modulus");
    };
    assert_eq!(position, 1);
}

#[test]
fn bad_bindings_are_refused_before_anything_runs() {
    let program = chain(6);
    let cpu = Cpu::new(1).unwrap();
    let run = |limbs: Vec<Limb<'_>>| {
        cpu.execute(
            &crate::common::ready(&program),
            &Bindings {
                limbs,
                seeds: vec![],
            },
            &Silent,
            None,
        )
        .err()
    };
    let q = program.moduli[0].top() + 1;
    let (good, short) = (vec![1; 64], vec![1; 32]);
    assert!(
        matches!(run(vec![]), Some(DeviceError::MissingBinding { name, expected: 1, got: 0 }) if name == "x")
    );
    let two = vec![
        Limb::borrowed(&good, q).unwrap(),
        Limb::borrowed(&good, q).unwrap(),
    ];
    assert!(matches!(
        run(two),
        Some(DeviceError::ExtraBindings {
            expected: 1,
            got: 2
        })
    ));
    let limb = Limb::borrowed(&short, q).unwrap();
    assert!(matches!(
        run(vec![limb]),
        Some(DeviceError::LimbLength {
            expected: 64,
            got: 32,
            ..
        })
    ));
    let limb = Limb::borrowed(&good, program.moduli[1]).unwrap();
    assert!(matches!(
        run(vec![limb]),
        Some(DeviceError::LimbModulus { .. })
    ));
    for bad in [q, q + 1, 1 << 63, u64::MAX] {
        let mut data = good.clone();
        data[17] = bad;
        let refused = Limb::borrowed(&data, q).err();
        assert!(
            matches!(refused, Some(DeviceError::Residue { position: 17, value, .. }) if value == bad)
        );
        assert!(Limb::shared(data.into(), q).is_err());
    }
    for kind in [
        TableModulus::Plain(6),
        TableModulus::Plain((1 << 61) - 1),
        TableModulus::PowerOfTwo(1),
        TableModulus::PowerOfTwo(61),
        TableModulus::PowerOfTwo(63),
    ] {
        let mut data = vec![kind.top(); 64];
        assert!(Limb::borrowed(&data, kind).is_ok(), "{kind}");
        for bad in [kind.top() + 1, u64::MAX] {
            data[63] = bad;
            let refused = Limb::borrowed(&data, kind).err();
            assert!(
                matches!(refused, Some(DeviceError::Residue { position: 63, value, modulus }) if value == bad && modulus == kind)
            );
        }
    }
    // Every word is a residue of 2^64.
    assert!(Limb::borrowed(&[u64::MAX, 0], TableModulus::PowerOfTwo(64)).is_ok());
    let edge = vec![q - 1; 64];
    assert!(Limb::borrowed(&edge, q).is_ok());
    let limb = Limb::borrowed(&good, q).unwrap();
    let seeds = vec![Arc::new(ringmill_device::SeedExpansion::new([0; 32]))];
    let error = cpu
        .execute(
            &crate::common::ready(&program),
            &Bindings {
                limbs: vec![limb],
                seeds,
            },
            &Silent,
            None,
        )
        .err();
    assert!(matches!(
        error,
        Some(DeviceError::SeedCount {
            expected: 0,
            got: 1
        })
    ));
}

#[test]
fn ill_formed_programs_and_empty_requests_are_refused() {
    let cpu = Cpu::new(2).unwrap();
    let mut program = chain(6);
    program.calls[0].args[0] = LimbId(2);
    assert!(Verified::try_from(program.clone()).is_err());
    let data = vec![0; 64];
    let bindings = Bindings {
        limbs: vec![Limb::borrowed(&data, program.moduli[0]).unwrap()],
        seeds: vec![],
    };
    let error = cpu
        .run(
            &crate::common::ready(&chain(6)),
            &bindings,
            Request::timing_only(),
            &Silent,
        )
        .err();
    assert!(matches!(error, Some(DeviceError::NoTiming { .. })));
    let error = cpu
        .run(
            &crate::common::ready(&chain(6)),
            &bindings,
            Request {
                timing: false,
                ..Request::timing_only()
            },
            &Silent,
        )
        .err();
    assert!(matches!(error, Some(DeviceError::NothingAsked)));
}

#[test]
fn devices_are_opened_by_name_and_unknown_ones_are_told_what_is_known() {
    assert_eq!(ringmill_sim::open("cpu:2").unwrap().name(), "cpu:2");
    assert!(
        ringmill_sim::open("cpu")
            .unwrap()
            .name()
            .starts_with("cpu:")
    );
    for bad in ["cpu:0", "cpu:x", "cpu:-1", "cpu:100000", "cpu:"] {
        let refused = ringmill_sim::open(bad).err().unwrap();
        let threads = matches!(refused.as_own(), Some(OpenError::ThreadCount { .. }));
        assert!(threads, "{bad}");
    }
    for bad in [
        "",
        "gpu",
        "sim",
        "sim:",
        "sim:abacus",
        "ring",
        &"x".repeat(1 << 20),
    ] {
        let error = ringmill_sim::open(bad).err().unwrap();
        assert!(
            matches!(error.as_own(), Some(ringmill_sim::OpenError::UnknownDevice { known, .. }) if known.contains(&"cpu".to_owned()))
        );
        assert!(error.to_string().len() < 1000);
    }
}

#[test]
fn progress_ends_at_the_last_call() {
    struct Last(std::sync::Mutex<Vec<Step>>);
    impl Progress for Last {
        fn told(&self, _: &str) {}

        fn step(&self, step: Step) {
            self.0.lock().unwrap().push(step);
        }
    }
    for threads in [1, 2] {
        let seen = Last(Default::default());
        let case = case(3, 4, 9);
        Cpu::new(threads)
            .unwrap()
            .execute(
                &crate::common::ready(&case.program),
                &crate::common::bind(&case),
                &seen,
                None,
            )
            .unwrap();
        let last = *seen.0.lock().unwrap().last().unwrap();
        assert_eq!((last.done, last.total), (9, 9));
        assert_eq!(last.remaining, Some(std::time::Duration::ZERO));
    }
}
