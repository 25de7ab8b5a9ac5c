//! A compiled program from keys to report: every device gives the same bits, and what is wrong is said.

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::{Compiled, Options, compile};
use ringmill_devices::progress::Silent;
use ringmill_devices::runtime::{
    Ciphertexts, Client, EvaluationKeys, RuntimeError, Server, Vectors, simulate,
};
use ringmill_devices::{Request, open};
use ringmill_isa::macros::Visibility;
use ringmill_schemes::ckks::Params;

const SLOTS: u32 = 32;

fn params(log_n: u8) -> Arc<Params> {
    let builder = Params::builder(log_n)
        .prime_bits(&[50, 36, 36], &[50])
        .default_scale(2f64.powi(36));
    builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

/// y = x w + (x rotated by 1) p + 0.25, z = x^2, with a constant vector too.
fn program(params: Arc<Params>, seeded: bool) -> Arc<Compiled> {
    let mut t = TraceBuilder::new("mixture", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let w = t.input("w", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let constant = t
        .vector(
            (0..SLOTS).map(|i| (f64::from(i) / 64.0, 0.0)).collect(),
            None,
        )
        .unwrap();
    let product = t.mul(x, w, None).unwrap();
    let turned = t.rotate(x, 1, None).unwrap();
    let weighted = t.mul(turned, p, None).unwrap();
    let shifted = t.mul(turned, constant, None).unwrap();
    let quarter = t.scalar(0.25, None).unwrap();
    let sum = t.add(product, weighted, None).unwrap();
    let sum = t.add(sum, shifted, None).unwrap();
    let y = t.add(sum, quarter, None).unwrap();
    let z = t.square(x, None).unwrap();
    t.output("y", y, None).unwrap();
    t.output("z", z, None).unwrap();
    let options = Options {
        seeded_keys: seeded,
        ..Options::given(params)
    };
    Arc::new(compile(t.finish(), &options).unwrap())
}

fn vector(f: impl Fn(f64) -> f64) -> Vec<Complex64> {
    (0..SLOTS)
        .map(|i| Complex64::new(f(f64::from(i)), 0.0))
        .collect()
}

fn encrypted() -> Vectors {
    let w = vector(|i| (i / 3.0).cos());
    Vectors::from([("x".into(), vector(|i| (i / 5.0).sin())), ("w".into(), w)])
}

fn plain() -> Vectors {
    Vectors::from([("p".into(), vector(|i| 1.0 - i / 40.0))])
}

struct Case {
    client: Client,
    keys: EvaluationKeys,
    server: Server,
    ciphers: Ciphertexts,
}

fn case(seeded: bool) -> Case {
    let compiled = program(params(10), seeded);
    let mut client = Client::new(compiled.clone()).unwrap();
    let keys = client.evaluation_keys().unwrap();
    let server = Server::new(compiled, keys.clone()).unwrap();
    let ciphers = client.encrypt(&encrypted()).unwrap();
    Case {
        client,
        keys,
        server,
        ciphers,
    }
}

#[test]
fn every_device_gives_the_same_ciphertexts_and_they_decrypt_right() {
    for seeded in [true, false] {
        let Case {
            client,
            server,
            ciphers,
            ..
        } = case(seeded);
        let mut first: Option<Ciphertexts> = None;
        for name in ["cpu:1", "cpu:2", "sim:ring", "sim:ring-stored"] {
            let device = open(name).unwrap();
            let request = if device.clock_mhz().is_some() {
                Request::both()
            } else {
                Request::function_only()
            };
            let answer = server
                .run(device.as_ref(), &ciphers, &plain(), request, &Silent)
                .unwrap();
            assert_eq!(answer.report.machine.is_some(), name.starts_with("sim:"));
            let outputs = answer.outputs.unwrap();
            assert_eq!(
                *first.get_or_insert_with(|| outputs.clone()),
                outputs,
                "{name}"
            );
        }
        let vectors = client.decrypt(&first.unwrap()).unwrap();
        let all: Vectors = encrypted().into_iter().chain(plain()).collect();
        let precision = client.measure(&all, &vectors).unwrap();
        assert_eq!(precision.len(), 2);
        for row in precision {
            let measured = row.measured_bits.unwrap();
            assert!(
                measured >= row.predicted_bits,
                "{}: {measured} < {}",
                row.output,
                row.predicted_bits
            );
            assert!(row.predicted_bits > 5.0 && measured < 60.0, "{row:?}");
        }
    }
}

#[test]
fn reports_say_what_ran_and_how_each_figure_was_obtained() {
    let Case {
        server, ciphers, ..
    } = case(true);
    let device = open("sim:ring").unwrap();
    let answer = server
        .run(
            device.as_ref(),
            &ciphers,
            &plain(),
            Request::both(),
            &Silent,
        )
        .unwrap();
    let json = serde_json::to_value(&answer.report).unwrap();
    assert_eq!(json["device"], "sim:ring");
    assert_eq!(json["parameters"]["log_n"], 10);
    assert!(json["parameters"]["insecure"].is_string());
    assert_eq!(json["instructions"]["macro"]["SQUARE"], 1);
    assert!(json["instructions"]["mid"]["NTT"].as_u64().unwrap() > 10);
    assert!(json["instructions"]["micro"].is_object());
    assert_eq!(json["cpu"]["how"], "measured");
    assert_eq!(json["machine"]["how"], "model");
    assert!(json["machine"]["cycles"].as_u64().unwrap() > 0);
    assert!(
        json["cpu"]["process_peak_bytes"].as_u64().unwrap()
            > json["cpu"]["pool_peak_bytes"].as_u64().unwrap()
    );
    let text = answer.report.to_string();
    for part in [
        "NOT SECURE, by explicit opt-out",
        "mid",
        "measured",
        "model",
        "cycles",
        "Precision",
        "host link",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    // Timing needs neither keys nor data, and is the same without them.
    let alone = simulate(
        server.compiled(),
        device.as_ref(),
        Request::timing_only(),
        &Silent,
    )
    .unwrap();
    assert_eq!(alone.machine, answer.report.machine);
    assert!(alone.cpu.is_none());
    let none = server.run(
        device.as_ref(),
        &Ciphertexts::new(),
        &Vectors::new(),
        Request::timing_only(),
        &Silent,
    );
    assert!(none.unwrap().outputs.is_none());
}

#[test]
fn wrong_inputs_are_refused_by_name() {
    let Case {
        mut client,
        server,
        ciphers,
        ..
    } = case(true);
    let mut encrypt = |change: &dyn Fn(&mut Vectors)| {
        let mut inputs = encrypted();
        change(&mut inputs);
        client.encrypt(&inputs).err().unwrap()
    };
    let error = encrypt(&|v| drop(v.remove("w")));
    assert!(
        matches!(&error, RuntimeError::MissingInput { name, .. } if name == "w"),
        "{error}"
    );
    let error = encrypt(&|v| drop(v.insert("q".into(), vector(|_| 0.0))));
    assert!(
        matches!(&error, RuntimeError::UnknownName { name, known, .. } if name == "q" && known.len() == 2),
        "{error}"
    );
    let error = encrypt(&|v| v.get_mut("x").unwrap().truncate(5));
    assert!(
        matches!(
            &error,
            RuntimeError::VectorLength {
                expected: 32,
                got: 5,
                ..
            }
        ),
        "{error}"
    );
    for bad in [f64::NAN, f64::INFINITY, 1e30] {
        let error = encrypt(&|v| v.get_mut("x").unwrap()[3].re = bad);
        assert!(
            matches!(&error, RuntimeError::Value { name, .. } if name == "x"),
            "{error}"
        );
    }

    let cpu = open("cpu:1").unwrap();
    let run = |ciphers: &Ciphertexts, plains: &Vectors| {
        server
            .run(
                cpu.as_ref(),
                ciphers,
                plains,
                Request::function_only(),
                &Silent,
            )
            .err()
            .unwrap()
    };
    let error = run(&ciphers, &Vectors::new());
    assert!(
        matches!(&error, RuntimeError::MissingInput { kind: "plain", name } if name == "p"),
        "{error}"
    );
    let error = run(&ciphers, &Vectors::from([("p".into(), vec![])]));
    assert!(
        matches!(&error, RuntimeError::VectorLength { got: 0, .. }),
        "{error}"
    );
    let mut fewer = ciphers.clone();
    let x = fewer.remove("x").unwrap();
    let error = run(&fewer, &plain());
    assert!(
        matches!(&error, RuntimeError::MissingInput { kind: "encrypted", name } if name == "x"),
        "{error}"
    );
    let mut moved = ciphers.clone();
    moved.insert("x".into(), x.with_scale(3.0));
    let error = run(&moved, &plain());
    assert!(
        matches!(&error, RuntimeError::WrongPlace { name, .. } if name == "x"),
        "{error}"
    );
    let mut other = Client::new(program(params(9), true)).unwrap();
    let error = run(&other.encrypt(&encrypted()).unwrap(), &plain());
    assert!(
        matches!(&error, RuntimeError::Value { .. })
            && error.to_string().contains("other parameters"),
        "{error}"
    );
}

#[test]
fn wrong_keys_are_refused_before_anything_runs() {
    let Case { server, keys, .. } = case(true);
    let compiled = server.compiled().clone();
    let refuse =
        |compiled: &Arc<Compiled>, keys| Server::new(compiled.clone(), keys).err().unwrap();
    let error = refuse(
        &compiled,
        EvaluationKeys {
            relin: None,
            ..keys.clone()
        },
    );
    assert!(
        matches!(&error, RuntimeError::MissingKey { key } if key.contains("relinearisation")),
        "{error}"
    );
    let error = refuse(
        &compiled,
        EvaluationKeys {
            galois: Default::default(),
            ..keys.clone()
        },
    );
    assert!(
        matches!(&error, RuntimeError::MissingKey { key } if key.contains("Galois")),
        "{error}"
    );
    let other = Client::new(program(params(9), true))
        .unwrap()
        .evaluation_keys()
        .unwrap();
    let error = refuse(&compiled, other);
    assert!(matches!(&error, RuntimeError::Key { .. }), "{error}");
    let stored_program = program(params(10), false);
    let stored = Client::new(stored_program.clone())
        .unwrap()
        .evaluation_keys()
        .unwrap();
    let error = refuse(&compiled, stored);
    assert!(matches!(&error, RuntimeError::NotSeeded { .. }), "{error}");
    // The other way round the server expands the seeds.
    assert!(Server::new(stored_program, keys).is_ok());
}
