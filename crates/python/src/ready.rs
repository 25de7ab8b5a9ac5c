// SPDX-License-Identifier: Apache-2.0
//! A compiled program of any scheme, behind one interface for Python.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use ringmill_compiler::arrays::Arrays;
use ringmill_compiler::explain::explain;
use ringmill_compiler::saved;
use ringmill_compiler::{Compiled, Options};
use ringmill_device::Saving;
use ringmill_device::progress::Progress;
use ringmill_isa::macros::{self, MacroProgram};
use ringmill_isa::mid;
use ringmill_limits::{Halt, Watch};
use ringmill_machines::{MachineError, Registry, SimOptions};
use ringmill_runtime::html::{Along, fragment, of_explanation, of_program};
use ringmill_runtime::report::{AssumptionReport, Sources};
use ringmill_runtime::shown::{Asked, TracedError, run_on};
use ringmill_runtime::{Client, EvaluationKeys, Predicted, RuntimeError, Sender, Served, Server};
use ringmill_schemes::file;
use ringmill_schemes::rlwe::RingParams;

use crate::compare::{Bound, Table, Wanted as Compared, compared};
use crate::data::{Ciphertext, PublicKey, ciphers, wrapped};
use crate::errors::{CompileError, DeviceError, FileError, KeysError, halted, raise};
use crate::files;
use crate::keys::{Given, Keys, messages};
use crate::page::RunPage;
use crate::params::Params;
use crate::scheme::{PyEnds, failed};

/// The result of a program's run, for Python: ciphertexts by output name; the report as a summary, with every figure,
/// and as JSON; and the data of HTML pages.
pub type Ran = (HashMap<String, Ciphertext>, [String; 3], RunPage);

/// The options of a program's run, besides its inputs and keys.
pub struct Wanted {
    pub device: String,
    pub trace: Option<PathBuf>,
    pub timeline: bool,
    pub spill: bool,
    /// The reason why the program has its scheme, for the report.
    pub why: String,
    pub checkpoint: Option<(PathBuf, f64)>,
    pub resume: Option<PathBuf>,
    pub expanded_bytes: Option<u64>,
}

/// The interface of a compiled program, whatever its scheme.
pub trait AnyProgram: Send + Sync {
    fn name(&self) -> &str;
    fn params(&self) -> Params;
    fn slots(&self) -> u32;
    fn scheme(&self) -> &str;
    fn outputs(&self) -> &[String];
    fn key_bytes(&self) -> u64;
    fn predicted_bits(&self) -> Option<Vec<(String, f64)>>;
    fn predicted_bits_like_sample(&self) -> Option<Vec<(String, f64)>>;
    fn predicted_digits(&self) -> Option<Vec<(String, f64)>>;
    fn predicted_budget(&self) -> Option<Vec<(String, f64)>>;
    fn ranges(&self) -> Vec<(String, PyEnds)>;
    fn assumptions(&self) -> Vec<String>;
    fn text(&self, level: &str, machine: &str, watch: &Watch) -> PyResult<String>;
    /// Returns the program's description as a part of an HTML page.
    fn fragment(&self, sources: &Sources) -> String;
    /// Returns the compiler's decisions on the program in three forms: as text, as JSON, and as a part of an HTML page.
    fn explained(&self, watch: &Watch) -> PyResult<[String; 3]>;
    fn source(&self) -> &MacroProgram;
    fn saved(&self, arrays: &Arrays) -> String;
    /// Returns the text of the program's file, as `saved` does, with the values of the sample added. It is `None` if
    /// the program was compiled without a sample.
    fn saved_with_sample(&self, arrays: &Arrays) -> Option<String>;
    fn counts(&self) -> (HashMap<String, u64>, HashMap<String, u64>);
    fn unrolled_counts(&self) -> PyResult<HashMap<String, u64>>;
    fn keygen(&self, watch: &Watch) -> PyResult<Keys>;
    fn encrypt(
        &self,
        key: &PublicKey,
        inputs: Given,
        watch: &Watch,
    ) -> PyResult<HashMap<String, Ciphertext>>;
    fn load_secret_key(&self, path: &Path, watch: &Watch) -> PyResult<Keys>;
    fn run(
        &self,
        ciphertexts: &HashMap<String, Ciphertext>,
        plain: Given,
        keys: &Arc<EvaluationKeys>,
        wanted: Wanted,
        progress: &dyn Progress,
        watch: &Watch,
    ) -> PyResult<Ran>;
    /// Compares the program's time on several machines.
    fn compare(&self, wanted: Compared, progress: &dyn Progress, watch: &Watch) -> PyResult<Table>;
}

/// The most calls of procedures that a program may have for [`AnyProgram::unrolled_counts`].
const MOST_UNROLLED: usize = 1 << 20;

/// A compiled program of the scheme `S`, behind the interface that Python sees.
pub struct Ready<S: Served> {
    compiled: Arc<Compiled<S>>,
    /// The options with which the program was compiled.
    options: Options<S>,
    /// The server with the evaluation keys of the last run, together with the keys that it was made of. It holds
    /// expanded keys and encoded constants for the next run.
    server: Mutex<Option<Kept<S>>>,
}

type Kept<S> = (Arc<EvaluationKeys>, Arc<Server<S>>);

impl<S: Served> Ready<S> {
    pub fn new(compiled: Compiled<S>, options: Options<S>) -> Self {
        Self {
            compiled: Arc::new(compiled),
            options,
            server: Mutex::new(None),
        }
    }

    fn server(
        &self,
        keys: &Arc<EvaluationKeys>,
        watch: &Watch,
    ) -> Result<Arc<Server<S>>, RuntimeError<S::Error>> {
        // The lock is held for moments only, since a process that is forked meanwhile could never take it.
        let kept = || self.server.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, server)) = kept().as_ref().filter(|(of, _)| Arc::ptr_eq(of, keys)) {
            return Ok(Arc::clone(server));
        }
        let compiled = Arc::clone(&self.compiled);
        let server = Server::new_watched(compiled, (**keys).clone(), watch)?;
        let server = Arc::new(server);
        *kept() = Some((Arc::clone(keys), Arc::clone(&server)));
        Ok(server)
    }

    /// Returns the Python exception for a run that failed. If a machine refused the program and compiling for this
    /// machine would help, the message says so.
    fn stopped(&self, error: TracedError<S::Error>, device: &str) -> PyErr {
        let by_machine = matches!(
            &error,
            TracedError::Run(RuntimeError::Device(why)) if why.as_own::<MachineError>().is_some()
        );
        match error {
            error if by_machine => raise::<DeviceError, _>(match self.cure(device) {
                Some(cure) => format!("{error}; {cure}"),
                None => error.to_string(),
            }),
            TracedError::Run(error) => failed::<S>(error),
            error @ TracedError::File { .. } => raise::<FileError, _>(error),
        }
    }

    /// Returns the cure for a device's refusal of the program: the argument `target` of `compile`. Returns `None` if
    /// compiling for the device's machine would not help.
    fn cure(&self, device: &str) -> Option<String> {
        let (_, machine) = device.split_once(':')?;
        let target = ringmill_sim::target(machine).ok()?;
        let suits = self.compiled.suits_once_compiled_for(target, &self.options);
        suits.then(|| {
            format!("the program was not compiled for this machine: compile(target={machine:?}) does that")
        })
    }

    /// Returns for each output the prediction that `of` selects, or `None` if the scheme does not predict it.
    fn predicted(&self, of: fn(Predicted) -> Option<f64>) -> Option<Vec<(String, f64)>> {
        let outputs = self.compiled.outputs.iter().zip(&self.compiled.predicted);
        outputs
            .map(|(output, predicted)| Some((output.name.clone(), of(S::predicted(predicted))?)))
            .collect()
    }
}

impl<S: Served> AnyProgram for Ready<S> {
    fn name(&self) -> &str {
        &self.compiled.source.name
    }

    fn params(&self) -> Params {
        Params::of::<S>(&self.compiled.params)
    }

    fn slots(&self) -> u32 {
        self.compiled.source.slots
    }

    fn scheme(&self) -> &str {
        self.compiled.source.scheme.as_str()
    }

    fn outputs(&self) -> &[String] {
        &self.compiled.source.outputs
    }

    fn key_bytes(&self) -> u64 {
        self.compiled.key_bytes()
    }

    fn predicted_bits(&self) -> Option<Vec<(String, f64)>> {
        self.predicted(|predicted| match predicted {
            Predicted::Precision { bits, .. } => Some(bits),
            Predicted::Budget { .. } => None,
        })
    }

    fn predicted_bits_like_sample(&self) -> Option<Vec<(String, f64)>> {
        self.predicted(|predicted| match predicted {
            Predicted::Precision { like_sample, .. } => like_sample,
            Predicted::Budget { .. } => None,
        })
    }

    fn predicted_digits(&self) -> Option<Vec<(String, f64)>> {
        self.predicted(|predicted| match predicted {
            Predicted::Precision { digits, .. } => Some(digits.digits),
            Predicted::Budget { .. } => None,
        })
    }

    fn predicted_budget(&self) -> Option<Vec<(String, f64)>> {
        self.predicted(|predicted| match predicted {
            Predicted::Budget { bits, .. } => Some(bits),
            Predicted::Precision { .. } => None,
        })
    }

    fn assumptions(&self) -> Vec<String> {
        let words = AssumptionReport::of(&self.compiled.source);
        words.iter().map(AssumptionReport::to_string).collect()
    }

    fn ranges(&self) -> Vec<(String, PyEnds)> {
        let inputs = self.compiled.inputs.iter();
        inputs
            .map(|i| (i.name.clone(), S::ends(&i.range).into()))
            .collect()
    }

    fn text(&self, level: &str, machine: &str, watch: &Watch) -> PyResult<String> {
        let compiled = &self.compiled;
        match level {
            "macro" => Ok(macros::text::print(&compiled.managed)),
            "mid" => Ok(mid::text::print_program(&compiled.program)),
            "micro" => {
                let mut text = Vec::new();
                let machine = Registry::standard()
                    .open(machine)
                    .map_err(raise::<DeviceError, _>)?;
                let options = SimOptions {
                    watch: watch.clone(),
                    ..SimOptions::default()
                };
                machine
                    .micro_text(&compiled.program, options, &mut text)
                    .map_err(raise::<DeviceError, _>)?;
                String::from_utf8(text).map_err(raise::<DeviceError, _>)
            }
            other => Err(CompileError::new_err(format!(
                "there is no level `{other}`; expected macro, mid or micro"
            ))),
        }
    }

    fn fragment(&self, sources: &Sources) -> String {
        let title = format!("Program {}", self.compiled.source.name);
        fragment(&title, &of_program(&self.compiled, sources))
    }

    fn explained(&self, watch: &Watch) -> PyResult<[String; 3]> {
        let options = Options {
            watch: watch.clone(),
            ..self.options.clone()
        };
        let explanation = explain(&self.compiled, &options);
        let explanation = explanation.map_err(raise::<CompileError, _>)?;
        let json = serde_json::to_string(&explanation).map_err(raise::<CompileError, _>)?;
        let title = format!("Program {}", explanation.program);
        let html = fragment(&title, &of_explanation(&explanation));
        Ok([explanation.to_string(), json, html])
    }

    fn source(&self) -> &MacroProgram {
        &self.compiled.source
    }

    fn saved(&self, arrays: &Arrays) -> String {
        saved::print(&self.compiled, &self.options, arrays)
    }

    fn saved_with_sample(&self, arrays: &Arrays) -> Option<String> {
        saved::print_with_sample(&self.compiled, &self.options, arrays)
    }

    fn counts(&self) -> (HashMap<String, u64>, HashMap<String, u64>) {
        let macros = macros::stats::counts(&self.compiled.managed).into_iter();
        let mid = mid::stats::program_counts(&self.compiled.program).into_iter();
        let macros = macros.map(|(op, count)| (op.mnemonic().to_owned(), count));
        let mid = mid.map(|(op, count)| (op.mnemonic().to_owned(), count));
        (macros.collect(), mid.collect())
    }

    fn unrolled_counts(&self) -> PyResult<HashMap<String, u64>> {
        let program = mid::Unrolled::of(&self.compiled.program, MOST_UNROLLED);
        let program = program.map_err(raise::<CompileError, _>)?;
        let mut counts = HashMap::new();
        for call in &program.calls {
            let procedure = program.procs.get(call.proc as usize).into_iter();
            for instr in procedure.flat_map(|procedure| &procedure.instrs) {
                *counts.entry(instr.op.mnemonic().to_owned()).or_default() += 1;
            }
        }
        Ok(counts)
    }

    fn keygen(&self, watch: &Watch) -> PyResult<Keys> {
        let client = Client::new(Arc::clone(&self.compiled));
        Keys::new(&self.compiled, client, watch)
    }

    fn encrypt(
        &self,
        key: &PublicKey,
        inputs: Given,
        watch: &Watch,
    ) -> PyResult<HashMap<String, Ciphertext>> {
        let params = self.compiled.params.ring_params();
        let own = params.check_id("public key", key.inner.params_id());
        own.map_err(raise::<KeysError, _>)?;
        let inputs = messages::<S>(inputs)?;
        let sender = Sender::new(Arc::clone(&self.compiled), &key.inner).map_err(failed::<S>)?;
        let encrypted = sender.encrypt(&inputs, watch).map_err(failed::<S>)?;
        Ok(wrapped::<S>(encrypted, &self.compiled.params))
    }

    fn load_secret_key(&self, path: &Path, watch: &Watch) -> PyResult<Keys> {
        let params = self.compiled.params.ring_params();
        let secret = files::read_secret(path, watch, |bytes| {
            file::read_secret_key_in_the_clear(bytes, params)
        })?;
        let secret = secret.kept_in(path);
        let client = Client::with_secret_key(Arc::clone(&self.compiled), secret);
        Keys::new(&self.compiled, client, watch)
    }

    fn run(
        &self,
        ciphertexts: &HashMap<String, Ciphertext>,
        plain: Given,
        keys: &Arc<EvaluationKeys>,
        wanted: Wanted,
        progress: &dyn Progress,
        watch: &Watch,
    ) -> PyResult<Ran> {
        let plains = messages::<S>(plain)?;
        let device = ringmill_sim::open(&wanted.device).map_err(raise::<DeviceError, _>)?;
        let server = self.server(keys, watch).map_err(failed::<S>)?;
        let bytes = ciphertexts.values().map(|c| c.inner.bytes()).sum();
        let starved = |halt: Halt| halted(&halt, halt.to_string());
        watch
            .admit("the encrypted inputs", bytes)
            .map_err(starved)?;
        let ciphers = ciphers::<S>(ciphertexts)?;
        let answer = run_on(
            device.as_ref(),
            &server,
            &ciphers,
            &plains,
            Asked {
                spill: wanted.spill,
                trace: wanted.trace.as_deref(),
                timeline: wanted.timeline,
                saving: wanted.checkpoint.map(|(path, seconds)| Saving {
                    path,
                    // Our own Python checks the value. Seconds that form no duration mean that nothing is saved in
                    // between.
                    every: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
                }),
                resume: wanted.resume,
                expanded_bytes: wanted.expanded_bytes,
            },
            progress,
            watch,
        );
        let mut answer = answer.map_err(|error| self.stopped(error, &wanted.device))?;
        answer.report.scheme.why = wanted.why;
        let outputs = answer.outputs.unwrap_or_default();
        let outputs = wrapped::<S>(outputs, &self.compiled.params);
        let along = Along::of(&self.compiled.managed, &*self.compiled.params);
        let page = RunPage::new(answer.report, along);
        Ok((outputs, page.texts()?, page))
    }

    fn compare(
        &self,
        mut wanted: Compared,
        progress: &dyn Progress,
        watch: &Watch,
    ) -> PyResult<Table> {
        let bound = wanted.inputs.take().map(|inputs| -> PyResult<_> {
            let plains = messages::<S>(inputs.plains)?;
            let server = self.server(&inputs.keys, watch).map_err(failed::<S>)?;
            let bytes = inputs.ciphertexts.values().map(|c| c.inner.bytes()).sum();
            let starved = |halt: Halt| halted(&halt, halt.to_string());
            watch
                .admit("the encrypted inputs", bytes)
                .map_err(starved)?;
            Ok(Bound {
                server,
                ciphers: ciphers::<S>(&inputs.ciphertexts)?,
                plains,
            })
        });
        let bound = bound.transpose()?;
        compared(&self.compiled, &wanted, bound.as_ref(), progress, watch)
    }
}
