// SPDX-License-Identifier: Apache-2.0
//! Tests a compiled program from its keys to its report: every device gives the same bits, and errors name the fault.

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_compiler::compile;
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::macros::Visibility;
use ringmill_runtime::{
    Ciphertexts, Client, EvaluationKeys, RuntimeError, Server, Vectors, simulate,
};
use ringmill_schemes::ckks::{Flooding, Params, RelinKey};
use ringmill_sim::open;

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

/// Returns a program with the outputs y = x w + (x rotated by 1) p + 0.25 and z = x^2, and with a constant vector.
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
    let client = Client::new(compiled.clone()).unwrap();
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
    let summary = answer.report.to_string();
    // The summary of a machine that does not fit its part has a warning on top (crates/cli/tests/cli/needs.rs). This
    // machine fits, so the summary has at most twelve lines.
    assert!(summary.lines().count() <= 12, "{summary}");
    let first = summary.lines().next().unwrap_or_default();
    let fit = &json["machine"]["fit"];
    assert_eq!((&fit["part"], &fit["fits"]), (&"U250".into(), &true.into()));
    let memories = fit["needs"].as_array().unwrap();
    let keys = memories.iter().find(|n| n["name"] == "key memory").unwrap();
    assert_eq!(keys["resource"], "ultra RAM");
    assert_eq!(
        (&keys["used"], &keys["available"]),
        (&630.0.into(), &1280.0.into())
    );
    assert_eq!(
        keys["ports"],
        serde_json::json!({ "reads": 1, "writes": 1, "either": 0 })
    );
    assert!(first.contains(" from end to end, modelled"), "{summary}");
    for part in [
        "inputs over the link",
        "keys over the link",
        "programs over the link",
        "compute",
        "outputs over the link",
        "link and units in turn",
        "key limbs are there before: cold, with their ",
        "bound by",
        "would help",
        "no part of the time above",
        "NOT SECURE, by explicit opt-out",
    ] {
        assert!(summary.contains(part), "no `{part}` in\n{summary}");
    }
    let text = answer.report.detail().to_string();
    assert!(text.starts_with(&summary));
    for part in [
        "NOT SECURE, by explicit opt-out",
        "1,177 of 2,688 of the U250",
        "1,020 of 1,280 of the U250",
        "630 of 1,280 ultra RAM",
        "idle",
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
        &**server.compiled(),
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
        client,
        server,
        ciphers,
        ..
    } = case(true);
    let encrypt = |change: &dyn Fn(&mut Vectors)| {
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
    for bad in [f64::NAN, f64::INFINITY] {
        let error = encrypt(&|v| v.get_mut("x").unwrap()[3].re = bad);
        assert!(
            matches!(&error, RuntimeError::Value { name, .. } if name == "x"),
            "{error}"
        );
    }
    for bad in [1e30, -1.01] {
        let error = encrypt(&|v| v.get_mut("x").unwrap()[3].re = bad);
        assert!(
            matches!(&error, RuntimeError::OutOfRange { name, slot: 3, .. } if name == "x"),
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
    let other = Client::new(program(params(9), true)).unwrap();
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
    // A program with stored keys takes seeded keys, because the server expands them.
    assert!(Server::new(stored_program, keys).is_ok());
}

#[test]
fn keys_and_inputs_of_two_clients_are_refused_by_both_identities() {
    let (a, b) = (case(true), case(true));
    let ids = [&a, &b].map(|c| c.client.key_id().unwrap().short());
    let says_both = |error: RuntimeError| {
        let said = error.to_string();
        assert!(ids.iter().all(|id| said.contains(id)), "{said}");
        assert!(said.contains("one client"), "{said}");
    };
    let cpu = open("cpu:1").unwrap();
    let run = |ciphers: &Ciphertexts| {
        let request = Request::function_only();
        a.server
            .run(cpu.as_ref(), ciphers, &plain(), request, &Silent)
    };
    // All inputs, or one of two, are of another client.
    says_both(run(&b.ciphers).unwrap_err());
    let mut mixed = a.ciphers.clone();
    mixed.insert("w".into(), b.ciphers["w"].clone());
    let error = run(&mixed).unwrap_err();
    assert!(matches!(&error, RuntimeError::OtherKeys { what, .. } if what.contains("`w`")));
    says_both(error);
    // The evaluation keys are of two clients.
    let keys = EvaluationKeys {
        relin: b.keys.relin.clone(),
        ..a.keys.clone()
    };
    assert!(keys.key_id().is_err());
    says_both(
        Server::new(a.server.compiled().clone(), keys)
            .err()
            .unwrap(),
    );
    // A result is decrypted with the wrong secret key.
    let answer = run(&a.ciphers).unwrap();
    let outputs = answer.outputs.unwrap();
    says_both(b.client.decrypt(&outputs).unwrap_err());
    assert!(a.client.decrypt(&outputs).is_ok());
    let keys = answer.report.keys.unwrap();
    assert_eq!(keys.identity, a.client.key_id().map(|id| id.to_string()));
    assert!(keys.unchecked.is_empty());
    assert_eq!(outputs["y"].key_id(), a.client.key_id());
}

#[test]
fn what_has_no_identity_is_run_and_the_report_says_so() {
    let Case {
        client,
        server,
        keys,
        ciphers,
    } = case(true);
    let cpu = open("cpu:1").unwrap();
    let run = |server: &Server, ciphers: &Ciphertexts| {
        let request = Request::function_only();
        let answer = server.run(cpu.as_ref(), ciphers, &plain(), request, &Silent);
        answer.unwrap()
    };
    let mut unnamed = ciphers.clone();
    let w = unnamed.remove("w").unwrap().with_key_id(None);
    unnamed.insert("w".into(), w);
    let answer = run(&server, &unnamed);
    for said in [
        answer.report.to_string(),
        answer.report.detail().to_string(),
    ] {
        assert!(
            said.contains("NOT CHECKED whose ciphertext `w` is"),
            "{said}"
        );
    }
    let detail = answer.report.detail().to_string();
    assert!(
        detail.contains("belong together: ciphertext `w` without identity"),
        "{detail}"
    );
    assert_eq!(answer.report.keys.unwrap().unchecked, ["ciphertext `w`"]);
    let outputs = answer.outputs.unwrap();
    assert_eq!(outputs["y"].key_id(), None);
    assert!(client.decrypt(&outputs).is_ok());

    let relin = keys.relin.clone().map(|k| RelinKey(k.0.with_key_id(None)));
    let server = Server::new(server.compiled().clone(), EvaluationKeys { relin, ..keys }).unwrap();
    let report = run(&server, &ciphers).report;
    assert_eq!(report.keys.unwrap().unchecked, ["relinearisation key"]);
}

/// Returns the program x (x + 1/4) at a scale of 2^54, whose result has more than 40 bits of precision.
fn precise() -> Arc<Compiled> {
    let mut t = TraceBuilder::new("precise", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let quarter = t.scalar(0.25, None).unwrap();
    let shifted = t.add(x, quarter, None).unwrap();
    let product = t.mul(x, shifted, None).unwrap();
    t.output("y", product, None).unwrap();
    let params = Params::builder(10)
        .prime_bits(&[60, 54], &[60])
        .default_scale(2f64.powi(54))
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    Arc::new(compile(t.finish(), &Options::given(params)).unwrap())
}

#[test]
fn a_shared_decryption_has_the_noise_that_was_asked_for() {
    let compiled = precise();
    let client = Client::new(compiled.clone()).unwrap();
    let server = Server::new(compiled.clone(), client.evaluation_keys().unwrap()).unwrap();
    let x = vector(|i| (i / 5.0).sin());
    let ciphers = client
        .encrypt(&Vectors::from([("x".into(), x.clone())]))
        .unwrap();
    let cpu = open("cpu:1").unwrap();
    let request = Request::function_only();
    let answer = server
        .run(cpu.as_ref(), &ciphers, &Vectors::new(), request, &Silent)
        .unwrap();
    let outputs = answer.outputs.unwrap();
    let exact = client.decrypt(&outputs).unwrap();

    let flooding = Flooding::new(10, 16).unwrap();
    let bits = client.shared_bits(&flooding)["y"];
    let bound = (-compiled.predicted[0].bits()).exp2();
    // The noise of a slot has the root mean square sqrt(16) 2^10 sqrt(N) times the error bound. No slot has more than
    // the bound of [`Client::shared_bits`].
    let rms = bound * 4.0 * 1024.0 * 32.0;
    let (mut square, mut count, mut largest) = (0f64, 0f64, 0f64);
    let mut seen = Vec::new();
    for _ in 0..16 {
        let shared = client.decrypt_to_share(&outputs, &flooding).unwrap();
        for (noisy, exact) in shared["y"].iter().zip(&exact["y"]) {
            let noise = (noisy - exact).norm();
            square += noise * noise;
            count += 1.0;
            largest = largest.max(noise);
        }
        assert!(!seen.contains(&shared), "the noise is fresh");
        seen.push(shared);
    }
    let measured = (square / count).sqrt();
    assert!(
        (0.9..1.6).contains(&(measured / rms)),
        "{measured:e} for {rms:e}"
    );
    assert!(largest < (-bits).exp2(), "{largest:e} with {bits} bits");
    assert!(bits > 8.0, "{bits}");
}

#[test]
fn nothing_is_shared_without_a_bound_or_when_nothing_would_be_left() {
    let compiled = precise();
    let client = Client::new(compiled.clone()).unwrap();
    let server = Server::new(compiled.clone(), client.evaluation_keys().unwrap()).unwrap();
    let x = Vectors::from([("x".into(), vector(|i| (i / 5.0).sin()))]);
    let ciphers = client.encrypt(&x).unwrap();
    let cpu = open("cpu:1").unwrap();
    let request = Request::function_only();
    let answer = server
        .run(cpu.as_ref(), &ciphers, &Vectors::new(), request, &Silent)
        .unwrap();
    let outputs = answer.outputs.unwrap();
    let share = |outputs: &Ciphertexts, flooding| client.decrypt_to_share(outputs, &flooding);
    let few = Flooding::new(8, 1).unwrap();
    assert!(share(&outputs, few).is_ok());
    let error = share(&outputs, Flooding::new(35, 1).unwrap()).unwrap_err();
    assert!(
        matches!(error, RuntimeError::NotShareable { .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("bits more of precision"),
        "{error}"
    );
    // Two ciphertexts that are no outputs of the program are refused: an input under an output's name, and one under an
    // unknown name.
    let input = Ciphertexts::from([("y".into(), ciphers["x"].clone())]);
    let error = share(&input, few).unwrap_err();
    assert!(
        matches!(error, RuntimeError::NotShareable { .. }),
        "{error}"
    );
    let error = share(&ciphers, few).unwrap_err();
    assert!(matches!(error, RuntimeError::UnknownName { .. }), "{error}");
    let stranger = Client::new(compiled).unwrap();
    assert!(stranger.decrypt_to_share(&outputs, &few).is_err());
    for (bits, decryptions) in [(0, 1), (1, 0), (36, 1), (35, 2), (1, u64::MAX)] {
        assert!(Flooding::new(bits, decryptions).is_err());
    }
}
