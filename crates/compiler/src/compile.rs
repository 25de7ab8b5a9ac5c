//! The whole way, from a traced program to calls of limb procedures.

use std::sync::{Arc, OnceLock};

use ringmill_isa::VerifyError;
use ringmill_isa::macros::{
    LevelNote, LevelScale, MacroImm, MacroProgram, MacroType, MacroValue, Visibility,
    verify_with_primes,
};
use ringmill_isa::mid::{Program, Unrolled};
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{KSwitchKey, Params, ProcCache};

use crate::canonical::CanonicalScales;
use crate::error::CompileError;
use crate::lower::{KeyRequest, Lowered, PlainRequest, PlainSource};
use crate::options::{Options, ParamsChoice};
use crate::params::Fitted;
use crate::precision::{Known, Precision};
use crate::range::InputRange;
use crate::{galois, lower, params, pipeline, transparent};

/// An input of the program: encrypted inputs are encrypted at `at`; a plain input's `at` is that of its first use, and
/// [`Compiled::plaintexts`] lists all. An input that no output depends on is at the level of the outputs.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledInput {
    pub name: String,
    pub visibility: Visibility,
    pub at: LevelScale,
    /// Where its slots must lie: what the program was compiled for.
    pub range: InputRange,
}

/// An output of the program and where its ciphertext is.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledOutput {
    pub name: String,
    pub at: LevelScale,
}

/// A compiled program and all that is needed to run it.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub params: Arc<Params>,
    /// As traced, calls and repeats as they are.
    pub source: MacroProgram,
    /// With relinearisations, levels and scales.
    pub managed: MacroProgram,
    /// Calls of limb procedures, verified.
    pub program: Program,
    /// In the order of the source's inputs; `InputRole::Cipher { input, .. }` indexes this.
    pub inputs: Vec<CompiledInput>,
    /// `InputRole::Plain { input }` indexes this.
    pub plaintexts: Vec<PlainRequest>,
    /// `InputRole::Key { key, .. }` and `Program::seeds` index this.
    pub keys: Vec<KeyRequest>,
    /// In the order of the source's outputs.
    pub outputs: Vec<CompiledOutput>,
    /// Predicted precision of each output.
    pub predicted: Vec<Precision>,
    /// Level at which outputs were wanted: the one asked for, or above it where parameters were chosen that need it.
    pub output_level: u32,
    /// Whether key halves come from seeds.
    pub seeded: bool,
    pub(crate) unrolled: OnceLock<Arc<Unrolled>>,
}

/// Most calls of a program that is written out to be run.
const MOST_CALLS: usize = 1 << 24;

impl Compiled {
    /// The program written out call by call, made when first asked for.
    ///
    /// # Errors
    /// Where it has more than 2^24 calls.
    pub fn unrolled(&self) -> Result<&Arc<Unrolled>, VerifyError> {
        if let Some(known) = self.unrolled.get() {
            return Ok(known);
        }
        let made = Arc::new(Unrolled::of(&self.program, MOST_CALLS)?);
        Ok(self.unrolled.get_or_init(|| made))
    }

    /// Bytes of the evaluation keys that the program needs, known before any is made.
    pub fn key_bytes(&self) -> u64 {
        let form = if self.seeded {
            KeyForm::Seeded
        } else {
            KeyForm::Stored
        };
        self.keys.len() as u64 * KSwitchKey::bytes_of(&self.params, form)
    }
}

/// Compiles a traced program: simplifies it, places relinearisations, hoists rotations, chooses or checks parameters,
/// manages levels and scales, and lowers it to the mid level.
///
/// ```
/// use ringmill_compiler::builder::TraceBuilder;
/// use ringmill_compiler::{Options, compile};
/// use ringmill_isa::macros::Visibility;
/// let mut t = TraceBuilder::new("square", 64)?;
/// let x = t.input("x", Visibility::Encrypted, None)?;
/// let y = t.square(x, None)?;
/// t.output("y", y, None)?;
/// let compiled = compile(t.finish(), &Options::default())?;
/// assert_eq!(compiled.inputs[0].at.level, 1);
/// assert!(compiled.predicted[0].bits() >= 20.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CompileError`]: an ill-formed program, one too deep or with vectors too long for the parameters, constants that do
/// not fit, or wishes that no secure parameters meet.
pub fn compile(source: MacroProgram, options: &Options) -> Result<Compiled, CompileError> {
    options.watch.check()?;
    pipeline::check(&source)?;
    let ranges = options.ranges_of(&source.inputs)?;
    let sample = options.sample.as_deref();
    let known = Known {
        ranges: &ranges,
        sample: sample.map(|inputs| (inputs, options.margin)),
    };
    let relinearised = pipeline::plain(&source, &options.watch)?;
    let relinearised = pipeline::relinearised(relinearised, options.passes)?;
    transparent::refuse(&relinearised)?;
    let Fitted {
        params,
        managed,
        output_level,
        prediction,
    } = match &options.params {
        ParamsChoice::Given(params) => params::given(&relinearised, params, options, known)?,
        ParamsChoice::Choose(wanted) => params::choose(&relinearised, wanted, options, known)?,
    };
    // What the passes made, once: of the programs that the search for parameters made, the one it chose.
    verify_with_primes(&managed, params.cipher_moduli())?;
    let galois = galois::elements(&managed, &params)?;
    let procs = ProcCache::new(Arc::clone(&params));
    let Lowered {
        program,
        plaintexts,
        keys,
    } = lower::run(
        &managed,
        &galois,
        &procs,
        options.seeded_keys,
        &options.watch,
    )?;
    let (inputs, outputs) = interface(&managed, &plaintexts, &params, output_level, &ranges)?;
    Ok(Compiled {
        params,
        source,
        managed,
        program,
        inputs,
        plaintexts,
        keys,
        outputs,
        predicted: prediction.outputs,
        output_level,
        seeded: options.seeded_keys,
        unrolled: OnceLock::new(),
    })
}

/// Where inputs and outputs are.
fn interface(
    managed: &MacroProgram,
    plaintexts: &[PlainRequest],
    params: &Params,
    output_level: u32,
    ranges: &[InputRange],
) -> Result<(Vec<CompiledInput>, Vec<CompiledOutput>), CompileError> {
    let scales = CanonicalScales::new(params.cipher_moduli(), params.default_scale())?;
    let unused = LevelScale {
        level: output_level,
        scale: scales.normal(output_level),
    };
    let at = |v: Option<&MacroValue>| match v.and_then(|v| managed.types.get(v.0 as usize)) {
        Some(MacroType::Cipher { at, .. } | MacroType::Plain { at }) => {
            at.and_then(LevelNote::scaled).unwrap_or(unused)
        }
        None => unused,
    };
    // An input that nothing is computed from is encrypted all the same, at the lowest level that holds it.
    let holds = |level: &u32, range: &InputRange| {
        let room = params.log_q(*level) - 1.0 - scales.normal(*level).log2();
        range.magnitude().max(1.0).log2() < room
    };
    let lowest = |range: &InputRange| {
        let level = (output_level..=params.max_level())
            .find(|level| holds(level, range))
            .unwrap_or(output_level);
        LevelScale {
            level,
            scale: scales.normal(level),
        }
    };
    let mut input_at: Vec<LevelScale> = ranges.iter().map(lowest).collect();
    let mut output_at = vec![unused; managed.outputs.len()];
    for request in plaintexts.iter().rev() {
        if let PlainSource::Input(i) = request.from
            && let Some(slot) = input_at.get_mut(i as usize)
        {
            *slot = request.at;
        }
    }
    for instr in &managed.instrs {
        match instr.imm {
            MacroImm::Input(i) => {
                let encrypted = managed
                    .inputs
                    .get(i as usize)
                    .is_some_and(|x| x.visibility == Visibility::Encrypted);
                if let Some(slot) = input_at.get_mut(i as usize).filter(|_| encrypted) {
                    *slot = at(instr.dst.first());
                }
            }
            MacroImm::Output(o) => {
                if let Some(slot) = output_at.get_mut(o as usize) {
                    *slot = at(instr.src.first());
                }
            }
            MacroImm::None
            | MacroImm::Data(_)
            | MacroImm::Constant { .. }
            | MacroImm::Integer(_)
            | MacroImm::Level(_)
            | MacroImm::Steps(_)
            | MacroImm::Proc(_)
            | MacroImm::Repeat { .. } => {}
        }
    }
    let inputs = managed.inputs.iter().zip(input_at).zip(ranges);
    let inputs = inputs.map(|((i, at), &range)| CompiledInput {
        name: i.name.clone(),
        visibility: i.visibility,
        at,
        range,
    });
    let inputs = inputs.collect();
    let outputs = managed
        .outputs
        .iter()
        .zip(output_at)
        .map(|(name, at)| CompiledOutput {
            name: name.clone(),
            at,
        })
        .collect();
    Ok((inputs, outputs))
}
