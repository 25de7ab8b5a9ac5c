//! What can go wrong when a program is run.

use std::path::PathBuf;

use ringmill_isa::mid::TableModulus;
use ringmill_limits::{Halt, human};
use ringmill_math::MathError;
use thiserror::Error;

/// Why a program was not run, or an answer not given: what was expected, what came, what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeviceError {
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error("unknown device `{got}`; known devices: {}", known.join(", "))]
    UnknownDevice { got: String, known: Vec<String> },
    #[error(
        "`{got}` is not a thread count for the cpu device; expected `cpu` (all cores) or `cpu:N` with N from 1 to {max}"
    )]
    ThreadCount { got: String, max: usize },
    #[error("could not start {threads} worker threads: {reason}; ask for fewer with `cpu:N`")]
    Threads { threads: usize, reason: String },
    #[error("could not read machine file {}: {source}", path.display())]
    MachineFile {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "the program has {expected} input limbs, {got} were bound; the first one missing is `{name}`"
    )]
    MissingBinding {
        name: String,
        expected: usize,
        got: usize,
    },
    #[error(
        "the program has {expected} input limbs, {got} were bound; bind one limb for each input, in order"
    )]
    ExtraBindings { expected: usize, got: usize },
    #[error(
        "the program needs {expected} key seeds, {got} were bound; bind one for each entry of `seeds`, in order"
    )]
    SeedCount { expected: usize, got: usize },
    #[error(
        "input limb `{name}` has {got} residues, expected {expected} (the ring degree of its type)"
    )]
    LimbLength {
        name: String,
        expected: usize,
        got: usize,
    },
    #[error(
        "a polynomial of {got} coefficients has no ring here; expected a power of two from 8 to 131072"
    )]
    Degree { got: usize },
    #[error(
        "input limb `{name}` is bound to residues modulo {got}, its type has modulus {expected}; was it made with other parameters?"
    )]
    LimbModulus {
        name: String,
        expected: TableModulus,
        got: TableModulus,
    },
    #[error(
        "residue {value} at position {position} is not below its modulus {modulus}; the data is damaged or of another modulus"
    )]
    Residue {
        position: usize,
        value: u64,
        modulus: TableModulus,
    },
    #[error(
        "device `{device}` does not hold {kind}, and `{input}` of the program is or has one; run it on a device that \
         does, or take limbs alone"
    )]
    Kind {
        device: String,
        input: String,
        kind: &'static str,
    },
    #[error("the program is not well-formed: {0}")]
    Malformed(String),
    #[error(
        "`{device}` makes the masks of the key-switching key itself, from a seed that this input does not have: run a bootstrap with keys, as `Bootstrap` binds them, or `sim:` for random inputs"
    )]
    NoSeed { device: String },
    #[error("instruction {instr} of procedure `{proc}` cannot run: {reason}")]
    Instruction {
        proc: String,
        instr: usize,
        reason: String,
    },
    #[error(
        "a budget of {} for expanded keys and constants is too small: the largest of them takes {}; give at least {least} bytes",
        human(*budget),
        human(*least)
    )]
    SmallBudget { budget: u64, least: u64 },
    #[error(
        "one budget for expanded keys was asked for, and the seeds keep their limbs in {places} places; make them with `SeedExpansion::within` one"
    )]
    SeveralBudgets { places: usize },
    #[error(
        "device `{device}` cannot keep a budget for expanded keys and constants: {why}; leave it out, or run on the cpu"
    )]
    NoBudget { device: String, why: &'static str },
    /// A constant that could not be encoded.
    #[error(transparent)]
    Constant(Box<dyn std::error::Error + Send + Sync>),
    #[error("the request asks for neither function nor timing; ask for one of them")]
    NothingAsked,
    #[error(
        "device `{device}` has no cycle model, so it cannot give timing alone; use a `sim:` device"
    )]
    NoTiming { device: String },
    #[error(
        "machine `{machine}` has no RTL to run; machines that have: {known}. `sim:{machine}` is its model"
    )]
    NoRtl { machine: String, known: String },
    #[error(
        "machine `{machine}` runs no bootstraps of TFHE; `torus` does, and descriptions of its kind"
    )]
    NoBootstraps { machine: String },
    #[error(
        "procedure {procedure}: the RTL gives other residues for %{value} than the CPU's kernels; one of them is wrong: please report it"
    )]
    RtlDiffers { procedure: String, value: u32 },
    #[error(transparent)]
    Verify(#[from] ringmill_isa::VerifyError),
    #[error(transparent)]
    Math(#[from] MathError),
    #[error(transparent)]
    Machine(#[from] ringmill_machines::MachineError),
    #[error(transparent)]
    Hdl(#[from] ringmill_hdl::HdlError),
    #[error(transparent)]
    Ring(#[from] ringmill_hdl::ring::RpauError),
    #[error(transparent)]
    Vector(#[from] ringmill_hdl::vector::VectorError),
    #[error(transparent)]
    Drive(#[from] ringmill_hdl::polymul::DriveError),
    #[error(transparent)]
    Extend(#[from] ringmill_hdl::basext::ExtendError),
    #[error(transparent)]
    Torus(#[from] ringmill_hdl::torus::EngineError),
    #[error(transparent)]
    Checkpoint(#[from] crate::CheckpointError),
    #[error("the trace could not be written: {0}")]
    Trace(#[from] std::io::Error),
}
