// SPDX-License-Identifier: Apache-2.0
//! Tests shared decryptions: they have the promised noise for every input that may be encrypted, and one key allows no
//! more of them than was promised.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use num_complex::Complex64;
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{Compiled, InputRange, Options, ParamsChoice};
use ringmill_compiler::compile;
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::macros::Visibility;
use ringmill_runtime::{Ciphertexts, Client, RuntimeError, Server, Vectors};
use ringmill_schemes::ckks::file::read_secret_key_in_the_clear;
use ringmill_schemes::ckks::{Flooding, LedgerError, Params};
use ringmill_schemes::file;
use ringmill_sim::open;

const SLOTS: u32 = 512;

fn params() -> Arc<Params> {
    params_of(50)
}

/// Returns parameters with a scale of 2^`scale`.
fn params_of(scale: u32) -> Arc<Params> {
    let mut primes = vec![scale; 8];
    primes[0] = 60;
    Params::builder(10)
        .prime_bits(&primes, &[60])
        .default_scale(f64::from(scale).exp2())
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

/// Compiles the program that `trace` makes of the encrypted inputs x and y and the plain input w.
fn compiled(
    trace: impl Fn(&mut TraceBuilder, [Traced; 3]) -> Traced,
    options: Options,
) -> Compiled {
    let mut t = TraceBuilder::new("shared", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.input("y", Visibility::Encrypted, None).unwrap();
    let w = t.input("w", Visibility::Plain, None).unwrap();
    let out = trace(&mut t, [x, y, w]);
    t.output("out", out, None).unwrap();
    compile(t.finish(), &options).unwrap()
}

fn filled(value: f64) -> Vec<Complex64> {
    vec![Complex64::new(value, 0.0); SLOTS as usize]
}

fn sampled(values: [f64; 3], margin: f64) -> Options {
    Options {
        sample: Some(values.map(filled).to_vec()),
        margin,
        ..Options::given(params())
    }
}

/// Returns slots at the ends of a range. With `which` = 0 all slots are at the first end, with 1 at the second, and
/// with 2 both ends occur.
fn ends(range: InputRange, which: usize) -> Vec<Complex64> {
    let end = |slot: usize| {
        let second = (which == 1) || (which == 2 && slot % 3 == 1);
        match (range, second) {
            (InputRange::Real { lowest, .. }, true) => Complex64::new(lowest, 0.0),
            (InputRange::Real { highest, .. }, false) => Complex64::new(highest, 0.0),
            (InputRange::Disc { radius }, false) => Complex64::new(radius, 0.0),
            (InputRange::Disc { radius }, true) => Complex64::from_polar(radius, slot as f64),
        }
    };
    (0..SLOTS as usize).map(end).collect()
}

fn outputs(compiled: &Arc<Compiled>, client: &Client, inputs: &Vectors) -> Ciphertexts {
    let server = Server::new(Arc::clone(compiled), client.evaluation_keys().unwrap()).unwrap();
    let (mut plain, mut encrypted) = (Vectors::new(), Vectors::new());
    for input in &compiled.inputs {
        let into = match input.visibility {
            Visibility::Plain => &mut plain,
            Visibility::Encrypted => &mut encrypted,
        };
        into.insert(input.name.clone(), inputs[&input.name].clone());
    }
    let ciphers = client.encrypt(&encrypted).unwrap();
    let cpu = open("cpu:1").unwrap();
    let request = Request::function_only();
    let answer = server.run(cpu.as_ref(), &ciphers, &plain, request, &Silent);
    answer.unwrap().outputs.unwrap()
}

fn largest(a: &[Complex64], b: &[Complex64]) -> f64 {
    let errors = a.iter().zip(b).map(|(x, y)| (x - y).norm());
    errors.fold(0.0, f64::max)
}

/// Checks the noise of shared outputs for inputs at the ends of their ranges. The noise must be at least 512 times the
/// real error and 512 times its bound. Returns the least ratio of the noise to 512 times the real error, or NaN if an
/// output is not shared.
fn noise_at_the_ends(compiled: Compiled) -> f64 {
    let compiled = Arc::new(compiled);
    let flooding = Flooding::new(8, 4).unwrap();
    let promised = 256.0 * 2.0;
    let client = Client::new(Arc::clone(&compiled)).unwrap();
    let mut least = f64::INFINITY;
    for which in 0..3 {
        let inputs = compiled.inputs.iter();
        let inputs: Vectors = inputs
            .map(|input| (input.name.clone(), ends(input.range, which)))
            .collect();
        let clear: Vec<_> = compiled
            .source
            .inputs
            .iter()
            .map(|input| inputs[&input.name].clone())
            .collect();
        let expected = evaluate(&compiled.source, &clear).unwrap().remove(0);
        let outputs = outputs(&compiled, &client, &inputs);
        let exact = client.decrypt(&outputs).unwrap().remove("out").unwrap();
        let error = largest(&exact, &expected);
        let shared = match client.decrypt_to_share(&outputs, &flooding) {
            Ok(shared) => shared,
            Err(RuntimeError::NotShareable { .. }) => return f64::NAN,
            Err(error) => panic!("{error}"),
        };
        let squares = shared["out"].iter().zip(&exact);
        let squares: f64 = squares.map(|(x, y)| (x - y).norm_sqr()).sum();
        // The width of the noise of one coefficient: a slot is a sum of N coefficients.
        let sigma = (squares / f64::from(SLOTS)).sqrt() / f64::from(2 * SLOTS).sqrt();
        let bound = compiled.predicted[0].error;
        assert!(error <= bound, "{error:e} beyond {bound:e}");
        // The slots determine the width within a sixth, practically always.
        assert!(
            sigma * 7.0 / 6.0 >= promised * error,
            "{sigma:e} hides {error:e}"
        );
        assert!(
            sigma * 7.0 / 6.0 >= promised * bound,
            "{sigma:e} for {bound:e}"
        );
        least = least.min(sigma / (promised * error));
    }
    least
}

fn power(t: &mut TraceBuilder, x: Traced) -> Traced {
    (0..5).fold(x, |x, _| t.square(x, None).unwrap())
}

/// Tests programs whose error at the ends of the input ranges is far above that on the sample, such as x^32 with a
/// sample of ones and inputs up to 2.
#[test]
fn the_noise_hides_the_error_at_the_ends_of_the_ranges() {
    let thirty_second = compiled(|t, [x, ..]| power(t, x), sampled([1.0, 1.0, 1.0], 2.0));
    assert!(noise_at_the_ends(thirty_second) >= 1.0);
    let wide = |lowest, highest| Some(InputRange::Real { lowest, highest });
    let product = Options {
        ranges: vec![wide(-3.0, 40.0), None, wide(0.01, 5.0)],
        ..sampled([0.01, 0.5, 0.02], 3.0)
    };
    let product = compiled(
        |t, [x, y, w]| {
            let (a, b) = (t.mul(x, w, None).unwrap(), t.mul(y, y, None).unwrap());
            t.mul(a, b, None).unwrap()
        },
        product,
    );
    assert!(noise_at_the_ends(product) >= 1.0);
    let sum = compiled(
        |t, [x, y, w]| {
            let mut sum = t.mul(x, y, None).unwrap();
            for step in [1, 2, 4, 8, 16, 32] {
                let turned = t.rotate(sum, step, None).unwrap();
                sum = t.add(sum, turned, None).unwrap();
            }
            let sum = t.add(sum, w, None).unwrap();
            t.mul(sum, sum, None).unwrap()
        },
        sampled([0.1, -0.2, 1e-3], 2.0),
    );
    assert!(noise_at_the_ends(sum) >= 1.0);
    // An output that would drown in the noise is not shared.
    let coarse = Options {
        params: ParamsChoice::Given(params_of(26)),
        ..sampled([1.0, 1.0, 1.0], 2.0)
    };
    assert!(noise_at_the_ends(compiled(|t, [x, ..]| power(t, x), coarse)).is_nan());
}

/// Returns a program with the outputs 2 x and 3 x, so that one call shares two outputs.
fn two_outputs() -> Arc<Compiled> {
    let mut t = TraceBuilder::new("two", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let twice = t.add(x, x, None).unwrap();
    let thrice = t.add(twice, x, None).unwrap();
    t.output("a", twice, None).unwrap();
    t.output("b", thrice, None).unwrap();
    Arc::new(compile(t.finish(), &Options::given(params())).unwrap())
}

fn ones(compiled: &Arc<Compiled>, client: &Client) -> Ciphertexts {
    outputs(
        compiled,
        client,
        &Vectors::from([("x".into(), filled(1.0))]),
    )
}

fn count(error: RuntimeError) -> LedgerError {
    match error {
        RuntimeError::Count(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn each_output_counts_over_all_programs_and_clients_of_a_key() {
    let first = two_outputs();
    let client = Client::new(Arc::clone(&first)).unwrap();
    let second = compiled(
        |t, [x, y, _]| t.add(x, y, None).unwrap(),
        Options::given(params()),
    );
    let second = Arc::new(second);
    let other = Client::with_secret_key(Arc::clone(&second), client.secret_key().clone()).unwrap();
    let outs = ones(&first, &client);
    let flooding = Flooding::new(8, 5).unwrap();
    assert_eq!(client.secret_key().shared_decryptions(), Some(0));
    client.decrypt_to_share(&outs, &flooding).unwrap();
    client
        .watched(&Default::default())
        .decrypt_to_share(&outs, &flooding)
        .unwrap();
    assert_eq!(other.secret_key().shared_decryptions(), Some(4));
    let refused = count(client.decrypt_to_share(&outs, &flooding).unwrap_err());
    let (so_far, asked, limit) = (4, 2, 5);
    assert_eq!(
        refused,
        LedgerError::Count {
            so_far,
            asked,
            limit
        }
    );
    let inputs = ["x", "y", "w"].map(|name| (name.to_owned(), filled(1.0)));
    let sum = outputs(&second, &other, &Vectors::from(inputs));
    other.decrypt_to_share(&sum, &flooding).unwrap();
    count(other.decrypt_to_share(&sum, &flooding).unwrap_err());
    count(client.decrypt_to_share(&outs, &flooding).unwrap_err());
    // A decryption that is refused does not count, and neither does a call without outputs.
    let client = Client::new(first).unwrap();
    assert!(client.decrypt_to_share(&outs, &flooding).is_err());
    assert!(
        client
            .decrypt_to_share(&Ciphertexts::new(), &flooding)
            .unwrap()
            .is_empty()
    );
    assert_eq!(client.secret_key().shared_decryptions(), Some(0));
}

/// A folder for one test, which its drop removes.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ringmill-shared-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn loaded(compiled: &Arc<Compiled>, path: &Path) -> Client {
    let bytes = std::fs::read(path).unwrap();
    let secret = read_secret_key_in_the_clear(&bytes, &compiled.params).unwrap();
    Client::with_secret_key(Arc::clone(compiled), secret.kept_in(path)).unwrap()
}

#[test]
fn the_count_is_kept_in_the_keys_file() {
    let (compiled, folder) = (two_outputs(), Folder::new());
    let path = folder.0.join("key");
    let client = Client::new(Arc::clone(&compiled)).unwrap();
    let outs = ones(&compiled, &client);
    let flooding = Flooding::new(8, 8).unwrap();
    let share = |client: &Client| client.decrypt_to_share(&outs, &flooding).map(drop);
    share(&client).unwrap();
    client.secret_key().save(&path).unwrap();
    // The client that saved the key and two clients that read it share one count.
    let (a, b) = (loaded(&compiled, &path), loaded(&compiled, &path));
    share(&a).unwrap();
    share(&client).unwrap();
    assert_eq!(b.secret_key().shared_decryptions(), Some(6));
    share(&b).unwrap();
    for client in [&a, &b, &client, &loaded(&compiled, &path)] {
        let refused = count(share(client).unwrap_err());
        assert!(
            matches!(refused, LedgerError::Count { so_far: 8, .. }),
            "{refused}"
        );
    }
    // Saving again keeps the count in the file. A copy in a second file has no count.
    client.secret_key().save(&path).unwrap();
    assert_eq!(
        loaded(&compiled, &path).secret_key().shared_decryptions(),
        Some(8)
    );
    let second = folder.0.join("second");
    a.secret_key().save(&second).unwrap();
    let copy = loaded(&compiled, &second);
    assert_eq!(copy.secret_key().shared_decryptions(), None);
    assert_eq!(count(share(&copy).unwrap_err()), LedgerError::Unknown);
    assert_eq!(copy.key_id(), client.key_id());
}

#[test]
fn a_key_without_a_count_is_not_shared_under_unless_the_caller_names_it() {
    let (compiled, folder) = (two_outputs(), Folder::new());
    let path = folder.0.join("old");
    let client = Client::new(Arc::clone(&compiled)).unwrap();
    let outs = ones(&compiled, &client);
    let old = file::write_secret_key_in_the_clear(client.secret_key());
    std::fs::write(&path, &old).unwrap();
    let flooding = Flooding::new(8, 8).unwrap();
    let refused = |client: &Client| count(client.decrypt_to_share(&outs, &flooding).unwrap_err());
    assert_eq!(refused(&loaded(&compiled, &path)), LedgerError::Unknown);
    // A key that was read from bytes has no file and no count.
    let bytes = read_secret_key_in_the_clear(&old, &compiled.params).unwrap();
    let bare = Client::with_secret_key(Arc::clone(&compiled), bytes).unwrap();
    assert_eq!(refused(&bare), LedgerError::Unknown);
    // After the caller has named the count once, the file keeps it.
    let named = flooding.decrypted_so_far(3);
    loaded(&compiled, &path)
        .decrypt_to_share(&outs, &named)
        .unwrap();
    let again = loaded(&compiled, &path);
    assert_eq!(again.secret_key().shared_decryptions(), Some(5));
    again.decrypt_to_share(&outs, &flooding).unwrap();
    assert!(matches!(
        refused(&again),
        LedgerError::Count { so_far: 7, .. }
    ));
    // The named count leaves too few decryptions.
    let all = flooding.decrypted_so_far(7);
    count(bare.decrypt_to_share(&outs, &all).unwrap_err());
    bare.decrypt_to_share(&outs, &flooding.decrypted_so_far(6))
        .unwrap();
    assert!(matches!(
        refused(&bare),
        LedgerError::Count { so_far: 8, .. }
    ));
}

#[test]
fn a_key_whose_file_cannot_be_written_is_refused_unless_the_count_is_named() {
    let (compiled, folder) = (two_outputs(), Folder::new());
    let path = folder.0.join("key");
    let client = Client::new(Arc::clone(&compiled)).unwrap();
    client.secret_key().save(&path).unwrap();
    let outs = ones(&compiled, &client);
    let flooding = Flooding::new(8, 8).unwrap();
    let lost = loaded(&compiled, &path);
    let elsewhere = folder.0.join("elsewhere");
    std::fs::rename(&path, &elsewhere).unwrap();
    let unkept = |client: &Client| {
        let refused = count(client.decrypt_to_share(&outs, &flooding).unwrap_err());
        assert!(matches!(refused, LedgerError::Unkept { .. }), "{refused}");
        assert!(
            refused.to_string().contains("decrypted_so_far"),
            "{refused}"
        );
    };
    unkept(&lost);
    // In the place of the file there is another key, then a damaged file, then a folder.
    let stranger = Client::new(Arc::clone(&compiled)).unwrap();
    stranger.secret_key().save(&path).unwrap();
    unkept(&lost);
    std::fs::write(&path, b"RINGMILL").unwrap();
    unkept(&lost);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    unkept(&lost);
    // After the caller has named the count once, this process counts on.
    let named = flooding.decrypted_so_far(2);
    for so_far in [4, 6, 8] {
        lost.decrypt_to_share(&outs, &named).unwrap();
        assert_eq!(lost.secret_key().shared_decryptions(), Some(so_far));
    }
    count(lost.decrypt_to_share(&outs, &flooding).unwrap_err());
    // Once the file is back in its place, it receives the count of the meantime.
    std::fs::remove_dir(&path).unwrap();
    std::fs::rename(&elsewhere, &path).unwrap();
    count(lost.decrypt_to_share(&outs, &flooding).unwrap_err());
}

/// Tests that several threads, each with a key that it read from the file, together get exactly the promised number of
/// decryptions.
#[test]
fn many_at_once_take_no_more_than_there_is() {
    let (compiled, folder) = (two_outputs(), Folder::new());
    let path = folder.0.join("key");
    let client = Client::new(Arc::clone(&compiled)).unwrap();
    client.secret_key().save(&path).unwrap();
    let charge = Flooding::new(8, 60).unwrap().charge(3.try_into().unwrap());
    let granted = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = loaded(&compiled, &path);
                for _ in 0..8 {
                    if own.secret_key().charge(&charge).is_ok() {
                        granted.fetch_add(3, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(granted.into_inner(), 60);
    assert_eq!(client.secret_key().shared_decryptions(), Some(60));
}

/// Tests that noise whose sampled distribution is too far from a Gaussian is refused. The distance grows with the ring
/// degree, the width of the noise and the number of decryptions.
#[test]
fn noise_that_the_sampler_does_not_make_well_enough_is_refused() {
    let ring = |log_n| {
        let builder = Params::builder(log_n).prime_bits(&[60, 60, 60], &[60]);
        let builder = builder.default_scale(2f64.powi(58));
        builder
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap()
    };
    let check = |log_n: u8, bits: u32, decryptions: u64, log_sigma: i32| {
        let flooding = Flooding::new(bits, decryptions).unwrap();
        let factor = (decryptions as f64).sqrt() * f64::from(bits).exp2();
        let bound = f64::from(log_sigma).exp2() / factor;
        flooding.check(&ring(log_n), bound, 1.0).is_ok()
    };
    // The distance 2^(10 + 5 - 57) of one decryption is far below the limit, 7/16 of 2^-35.
    assert!(check(10, 35, 1, 70) && check(10, 1, 1 << 34, 70));
    // The distance 2^(15 + 5 - 57) is below the limit, and 2^(15 + 6 - 57) and 2^(16 + 5 - 57) are above it.
    assert!(check(15, 35, 1, 78) && !check(15, 35, 1, 79) && !check(16, 35, 1, 78));
    assert!(check(15, 34, 1, 79) && check(16, 34, 1, 78));
    assert!(check(16, 1, 1 << 33, 78) && !check(16, 1, 1 << 34, 78));
    assert!(check(17, 32, 1, 79) && !check(17, 33, 1, 79));
    assert!(!check(10, 8, 1, 111));
}
