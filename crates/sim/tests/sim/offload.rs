// SPDX-License-Identifier: Apache-2.0
//! Tests programs that are partitioned between the CPU and the polynomial multiplier, as a model and as RTL. The bits
//! are the CPU's, the cycles of model and RTL agree, and the report has the times of the offload.

use std::sync::Arc;

use crate::common::random::case;
use crate::common::{bind, ready, unmeasured};
use crate::described::Described;
use num_complex::Complex64;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_compiler::compile;
use ringmill_device::progress::Silent;
use ringmill_device::report::MachineReport;
use ringmill_device::trace::TraceWriter;
use ringmill_device::{Bindings, Device, Outcome, Request};
use ringmill_isa::macros::Visibility;
use ringmill_machines::MachineError;
use ringmill_machines::coprocessor::OffloadUse;
use ringmill_runtime::{Client, Server, Vectors, simulate};
use ringmill_schemes::ckks::Params;
use ringmill_sim::{OpenError, open};

/// Returns the polynomial multiplier with another number of units. RTL of few units builds fast.
fn with_units(units: usize) -> Described {
    let text = ringmill_machines::Registry::standard()
        .description("polymul")
        .unwrap();
    let edited = text.replace("units = 32", &format!("units = {units}"));
    assert_ne!(edited, text);
    Described::new(&edited)
}

/// Returns the part of a report that is the same for the model and the RTL, as JSON.
fn figures(report: &MachineReport) -> serde_json::Value {
    let mut json = unmeasured(report);
    json["how"] = "".into();
    json
}

/// In random limb programs the machine takes only transforms and products modulo primes that fit it. Model and RTL give
/// the CPU's bits, and equal reports and traces.
#[test]
fn random_programs_have_the_cpus_bits_and_the_models_cycles() {
    let machine = with_units(4);
    let (model, rtl) = (machine.device("sim"), machine.device("rtl"));
    let cpu = open("cpu:1").unwrap();
    let mut instructions = 0;
    for seed in 0..12 {
        let case = case(seed, 8 + (seed % 3) as u8, 4);
        let (program, bindings) = (&ready(&case.program), bind(&case));
        let run = |device: &dyn Device, request| -> Outcome {
            device.run(program, &bindings, request, &Silent).unwrap()
        };
        let want = run(cpu.as_ref(), Request::function_only()).outputs.unwrap();
        let by_model = run(model.as_ref(), Request::both());
        let by_rtl = run(rtl.as_ref(), Request::both());
        assert_eq!(by_model.outputs.unwrap(), want, "seed {seed}");
        assert_eq!(by_rtl.outputs.unwrap(), want, "seed {seed}");
        let (by_model, by_rtl) = (by_model.machine.unwrap(), by_rtl.machine.unwrap());
        assert_eq!((by_model.how, by_rtl.how), ("model", "RTL"));
        assert_eq!(figures(&by_model), figures(&by_rtl), "seed {seed}");
        instructions += by_rtl.own::<OffloadUse>().unwrap().machine_instructions;

        // The cycles do not depend on data.
        for device in [model.as_ref(), rtl.as_ref()] {
            let alone = device.run(
                program,
                &Bindings::default(),
                Request::timing_only(),
                &Silent,
            );
            let alone = alone.unwrap().machine.unwrap();
            assert!(alone.own::<OffloadUse>().unwrap().measured.is_none());
            assert_eq!(figures(&alone), figures(&by_rtl), "seed {seed}");
        }
        let trace = |device: &dyn Device| -> Vec<u8> {
            let mut writer = TraceWriter::new(Vec::new(), "machine", device.clock_mhz().unwrap());
            let request = Request {
                machine_trace: Some(&mut writer),
                ..Request::both()
            };
            device.run(program, &bindings, request, &Silent).unwrap();
            writer.finish().unwrap()
        };
        assert_eq!(trace(model.as_ref()), trace(rtl.as_ref()), "seed {seed}");
    }
    // One modulus in eight fits the machine. So some programs leave it idle, but not all.
    assert!(instructions > 20, "{instructions}");
}

/// Compiles x w + (x rotated by 1), which needs a relinearisation key and a Galois key, with primes of 28 to 32 bits.
fn small_primes(log_n: u8) -> Arc<Compiled> {
    let params = Params::builder(log_n)
        .prime_bits(&[32, 28], &[32])
        .default_scale(2f64.powi(27))
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let mut t = TraceBuilder::new("small", 32).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let w = t.input("w", Visibility::Encrypted, None).unwrap();
    let product = t.mul(x, w, None).unwrap();
    let turned = t.rotate(x, 1, None).unwrap();
    let sum = t.add(product, turned, None).unwrap();
    t.output("y", sum, None).unwrap();
    Arc::new(compile(t.finish(), &Options::given(params)).unwrap())
}

#[test]
fn a_homomorphic_program_runs_on_the_rtl() {
    let compiled = small_primes(10);
    let client = Client::new(Arc::clone(&compiled)).unwrap();
    let keys = client.evaluation_keys().unwrap();
    let vector = |f: fn(f64) -> f64| -> Vec<Complex64> {
        (0..32)
            .map(|i| Complex64::new(f(f64::from(i)), 0.0))
            .collect()
    };
    let inputs = Vectors::from([
        ("x".to_owned(), vector(|i| i / 40.0)),
        ("w".to_owned(), vector(|i| 1.0 - i / 50.0)),
    ]);
    let ciphers = client.encrypt(&inputs).unwrap();
    let server = Server::new(Arc::clone(&compiled), keys).unwrap();
    let machine = with_units(4);
    let run = |device: &dyn Device, request| {
        let none = Vectors::new();
        server
            .run(device, &ciphers, &none, request, &Silent)
            .unwrap()
    };
    let cpu = run(open("cpu:1").unwrap().as_ref(), Request::function_only());
    let model = run(machine.device("sim").as_ref(), Request::both());
    let rtl = run(machine.device("rtl").as_ref(), Request::both());
    assert_eq!(model.outputs, cpu.outputs);
    assert_eq!(rtl.outputs, cpu.outputs);
    let clear = client.decrypt(&rtl.outputs.unwrap()).unwrap();
    let (first, want) = (
        clear["y"][1].re,
        1.0 / 40.0 * (1.0 - 1.0 / 50.0) + 2.0 / 40.0,
    );
    assert!((first - want).abs() < 1e-3, "{first}, not {want}");

    let text = rtl.report.detail().to_string();
    let report = rtl.report.machine.unwrap();
    assert_eq!(figures(&report), figures(&model.report.machine.unwrap()));
    let offload = report.own::<OffloadUse>().unwrap();
    let times = offload.measured.unwrap();
    // The machine runs every transform, since all primes fit it.
    let kinds = &report.instructions_by_kind;
    assert!(
        !kinds.contains_key("host NTT") && !kinds.contains_key("host INTT"),
        "{kinds:?}"
    );
    assert!(kinds["NTT"] > 4 && offload.host_instructions > 0);
    assert!(times.host_seconds > 0.0 && times.replaced_seconds > 0.0);
    assert!(times.alone_seconds > 0.0 && times.threads == 1);
    let link = report.link.seconds_in + report.link.seconds_out;
    assert_eq!(times.link_seconds, link);
    let bytes = (report.link.bytes_in + report.link.bytes_out) as f64;
    assert!((link - bytes * 8.0 / 24e9).abs() < 1e-9);
    let whole = times.host_seconds + times.machine_seconds + link;
    assert!((times.offloaded_seconds - whole).abs() < 1e-12);
    assert!((times.speedup - times.alone_seconds / whole).abs() < 1e-9);
    assert!(times.speedup < times.speedup_bound);
    for said in ["Offload", "host's part", "host link", " RTL\n", "at most"] {
        assert!(text.contains(said), "{said} in\n{text}");
    }
    let timing = simulate(
        &*compiled,
        machine.device("sim").as_ref(),
        Request::timing_only(),
        &Silent,
    );
    assert_eq!(figures(&timing.unwrap().machine.unwrap()), figures(&report));
}

#[test]
fn what_a_multiplier_cannot_run_is_refused() {
    let refused = open("rtl:ring-large").err().unwrap();
    assert!(refused.as_own::<MachineError>().is_some(), "{refused:?}");
    let refused = open("rtl:abacus").err().unwrap();
    let unknown = matches!(refused.as_own(), Some(OpenError::UnknownDevice { .. }));
    assert!(unknown, "{refused:?}");
    // The ring degree is above the machine's.
    let compiled = small_primes(13);
    let refused = simulate(
        &*compiled,
        open("sim:polymul").unwrap().as_ref(),
        Request::timing_only(),
        &Silent,
    );
    assert!(refused.unwrap_err().to_string().contains("256 to 4096"));
}
