// SPDX-License-Identifier: Apache-2.0
//! Tests a server's keys and constants under budgets of bytes: equal ciphertexts, the figures of reports, and runs that
//! are stopped and continued.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use num_complex::Complex64;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_compiler::compile;
use ringmill_device::progress::{Progress, Silent, Step};
use ringmill_device::{DeviceError, ExpandedStats, Request, Saving};
use ringmill_isa::macros::Visibility;
use ringmill_limits::{Halt, Limits, Watch};
use ringmill_runtime::{
    Answer, Ciphertexts, Client, EvaluationKeys, RuntimeError, Server, Vectors, simulate,
};
use ringmill_schemes::ckks::Params;
use ringmill_sim::open;

fn under(budget: u64) -> Request<'static> {
    Request {
        expanded_bytes: Some(budget),
        ..Request::function_only()
    }
}

const SLOTS: u32 = 32;
/// The number of constant vectors of the program.
const VECTORS: u32 = 6;

/// Returns a program of `turns` turns. Each turn rotates a sum and adds x times one of the constant vectors.
fn compiled(turns: u32) -> Arc<Compiled> {
    let params = Params::builder(10)
        .prime_bits(&[50, 36, 36], &[50])
        .default_scale(2f64.powi(36))
        .allow_insecure_parameters_for_tests_only();
    let mut t = TraceBuilder::new("weights", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let vector = |k| (0..SLOTS).map(|i| (f64::from(i + k) / 64.0, 0.0)).collect();
    let vectors: Vec<_> = (0..VECTORS)
        .map(|k| t.vector(vector(k), None).unwrap())
        .collect();
    let mut sum = x;
    for turn in 0..turns {
        let turned = t.rotate(sum, 1 + i64::from(turn % 3), None).unwrap();
        let vector = vectors[turn as usize % vectors.len()];
        let weighted = t.mul(x, vector, None).unwrap();
        sum = t.add(turned, weighted, None).unwrap();
    }
    t.output("sum", sum, None).unwrap();
    let options = Options {
        seeded_keys: true,
        ..Options::given(params.build().unwrap())
    };
    Arc::new(compile(t.finish(), &options).unwrap())
}

struct Ready {
    compiled: Arc<Compiled>,
    keys: EvaluationKeys,
    ciphers: Ciphertexts,
}

impl Ready {
    fn new(turns: u32) -> Self {
        let compiled = compiled(turns);
        let client = Client::new(Arc::clone(&compiled)).unwrap();
        let x = vec![Complex64::new(0.01, 0.0); SLOTS as usize];
        Self {
            keys: client.evaluation_keys().unwrap(),
            ciphers: client
                .encrypt(&Vectors::from([("x".to_owned(), x)]))
                .unwrap(),
            compiled,
        }
    }

    /// Returns a server that has not expanded anything yet.
    fn server(&self) -> Server {
        Server::new(Arc::clone(&self.compiled), self.keys.clone()).unwrap()
    }

    fn run(
        &self,
        server: &Server,
        device: &str,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Answer, RuntimeError> {
        let device = open(device).unwrap();
        server.run(&*device, &self.ciphers, &Vectors::new(), request, progress)
    }
}

fn of(answer: &Answer) -> ExpandedStats {
    answer.report.cpu.as_ref().unwrap().stats.expanded()
}

#[test]
fn constants_are_encoded_as_they_are_read_and_kept_under_the_same_budget() {
    let ready = Ready::new(24);
    let server = ready.server();
    let ask = Request::function_only;
    let whole = ready.run(&server, "cpu:1", ask(), &Silent).unwrap();
    let all = of(&whole);
    assert_eq!((all.constants, all.constants_again), (VECTORS.into(), 0));
    assert!(all.limbs > 0 && all.limbs_again == 0, "{all:?}");
    let again = ready.run(&server, "cpu:1", ask(), &Silent).unwrap();
    assert_eq!((of(&again).constants, of(&again).limbs), (0, 0), "kept");
    let least = match ready.run(&server, "cpu:1", under(1), &Silent) {
        Err(RuntimeError::Device(DeviceError::SmallBudget { least, .. })) => least,
        other => panic!("{other:?}"),
    };
    // The largest item is a constant, which has all limbs of its level, and not the single limb of a key.
    assert!(least > 8 << 10, "{least}");
    let mut made_again = 0;
    for device in ["cpu:1", "cpu:2", "sim:ring"] {
        for budget in [least, 2 * least, all.peak_bytes / 2, all.peak_bytes] {
            let server = ready.server();
            for _ in 0..2 {
                let answer = ready.run(&server, device, under(budget), &Silent).unwrap();
                let one = of(&answer);
                assert_eq!(answer.outputs, whole.outputs, "{device}, {budget}");
                // On one thread the steps of one call hold at most 16 limbs of 8 KiB, even above the budget.
                let calls = if device == "cpu:1" { 1 } else { u64::MAX / 2 };
                let held = all.peak_bytes.min(calls.saturating_mul(16 * (8 << 10)));
                assert!(one.peak_bytes <= budget.max(held), "{budget}: {one:?}");
                made_again += one.constants_again;
            }
        }
    }
    assert!(made_again > 0);
    // Other machines receive every constant encoded, so they refuse a budget.
    let answer = ready.run(&server, "sim:polymul", under(least), &Silent);
    assert!(
        matches!(
            answer,
            Err(RuntimeError::Device(DeviceError::NoBudget { .. }))
        ),
        "{answer:?}"
    );
    let timed = simulate(
        &*ready.compiled,
        &*open("sim:ring").unwrap(),
        under(least),
        &Silent,
    );
    assert!(matches!(
        timed,
        Err(RuntimeError::Device(DeviceError::NoBudget { .. }))
    ));
}

#[test]
fn reports_state_the_budget_and_what_was_made_again() {
    let ready = Ready::new(24);
    let server = ready.server();
    let whole = ready.run(&server, "cpu:1", Request::function_only(), &Silent);
    let whole = whole.unwrap();
    let json = serde_json::to_value(&whole.report).unwrap();
    let expanded = &json["cpu"]["expanded"];
    assert!(expanded["budget_bytes"].is_null(), "{expanded}");
    assert_eq!(expanded["constants"], VECTORS);
    assert_eq!(expanded["peak_bytes"], of(&whole).peak_bytes);
    let text = whole.report.detail().to_string();
    assert!(
        text.contains("no budget") && text.contains("6 encoded, 0 of them again"),
        "{text}"
    );
    let budget = of(&whole).peak_bytes / 2;
    let half = ready.run(&ready.server(), "cpu:1", under(budget), &Silent);
    let half = half.unwrap();
    let json = serde_json::to_value(&half.report).unwrap();
    let expanded = &json["cpu"]["expanded"];
    assert_eq!(expanded["budget_bytes"], budget);
    let (limbs, again) = (of(&half).limbs, of(&half).limbs_again);
    assert!(again > 0 && expanded["limbs_again"] == again);
    let text = half.report.detail().to_string();
    let line = format!("{limbs} expanded, {again} of them again");
    assert!(text.contains(&line), "{line}\n{text}");
    assert!(!text.contains("no budget"), "{text}");
}

/// An observer of progress that stops the run once this number of calls is done.
struct StopAt<'w>(u64, &'w Watch);

impl Progress for StopAt<'_> {
    fn told(&self, _: &str) {}

    fn step(&self, step: Step) {
        if step.done >= self.0 {
            self.1.stop();
        }
    }
}

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_run_that_was_stopped_leaves_the_server_usable_and_goes_on_under_another_budget() {
    let ready = Ready::new(200);
    let name = format!("ringmill-{}-expanded.checkpoint", std::process::id());
    let file = Scratch(std::env::temp_dir().join(name));
    let whole = ready.run(&ready.server(), "cpu:1", Request::function_only(), &Silent);
    let whole = whole.unwrap().outputs;
    for device in ["cpu:1", "cpu:2"] {
        let server = ready.server();
        let budget = 256 << 10;
        let watch = Watch::default();
        let request = Request {
            watch: watch.clone(),
            saving: Some(Saving {
                path: file.0.clone(),
                every: Duration::from_secs(3600),
            }),
            ..under(budget)
        };
        let stopped = ready.run(&server, device, request, &StopAt(0, &watch));
        let stopped = stopped.unwrap_err();
        assert_eq!(Halt::of(&stopped), Some(&Halt::Interrupted), "{stopped}");
        // The next run of the same server has no budget, so the budget of the stopped run must have ended.
        let answer = ready.run(&server, device, Request::function_only(), &Silent);
        let answer = answer.unwrap();
        assert_eq!(answer.outputs, whole);
        assert_eq!(of(&answer).budget_bytes, None);
        let kept = ready.run(&server, device, Request::function_only(), &Silent);
        assert_eq!(of(&kept.unwrap()).limbs, 0, "all is kept");
        // A new server, as in another process, continues from the checkpoint under half the budget.
        let request = Request {
            resume: Some(file.0.clone()),
            ..under(budget / 2)
        };
        let gone_on = ready.run(&ready.server(), device, request, &Silent);
        assert_eq!(gone_on.unwrap().outputs, whole, "{device}");
    }
}

/// Tests that a limit of memory that has no room for all expanded limbs acts as a budget.
#[test]
fn what_does_not_fit_the_limit_is_made_again() {
    let ready = Ready::new(24);
    let whole = ready.run(&ready.server(), "cpu:1", Request::function_only(), &Silent);
    let whole = whole.unwrap();
    let all = of(&whole).peak_bytes;
    let buffers = whole
        .report
        .cpu
        .as_ref()
        .unwrap()
        .stats
        .buffers_peak_bytes();
    let (mut kept, mut bounded) = (0, 0);
    // The limits go from one with room for all limbs down to one at which the run is refused.
    for eighths in (0..40).rev() {
        let memory = buffers + all * eighths / 8;
        let request = Request {
            watch: Watch::new(Limits { memory }),
            ..Request::function_only()
        };
        match ready.run(&ready.server(), "cpu:1", request, &Silent) {
            Ok(answer) => {
                assert_eq!(answer.outputs, whole.outputs);
                let one = of(&answer);
                match one.budget_bytes {
                    Some(budget) => {
                        bounded += 1;
                        assert!(budget < all && budget < memory, "{one:?}");
                    }
                    None => kept += 1,
                }
            }
            // The run may also be refused because other tests made the process grow meanwhile.
            Err(error) => assert!(
                matches!(Halt::of(&error), Some(Halt::OverLimit { .. })),
                "{error}"
            ),
        }
    }
    assert!(kept > 0 && bounded > 0, "{kept} kept all, {bounded} a part");
}

/// Tests that keys and constants stay with a session: its second run expands and encodes nothing.
#[test]
fn an_opened_program_runs_again_without_expanding() {
    let ready = Ready::new(8);
    let server = ready.server();
    let want = ready.run(&server, "cpu:1", Request::function_only(), &Silent);
    let want = want.unwrap().outputs;
    let server = ready.server();
    let device = open("cpu:2").unwrap();
    let mut running = server.open(&*device, &Watch::default()).unwrap();
    for run in 0..3 {
        let request = Request::function_only();
        let answer = running.run(&ready.ciphers, &Vectors::new(), request, &Silent);
        let answer = answer.unwrap();
        let made = of(&answer);
        let some = made.limbs > 0 && made.constants > 0;
        assert_eq!(some, run == 0, "run {run}: {made:?}");
        assert!(run == 0 || made.limbs + made.constants == 0);
        assert_eq!(answer.outputs, want);
    }
}
