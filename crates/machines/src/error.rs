// SPDX-License-Identifier: Apache-2.0
//! The errors of simulated machines: descriptions, programs and requests that a machine refuses.

use ringmill_isa::VerifyError;
use ringmill_isa::mid::TableModulus;
use ringmill_limits::Halt;
use ringmill_math::MathError;
use thiserror::Error;

/// The reason for which a simulated machine refuses a description, a program or a request.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MachineError {
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error("no machine is called `{name}`: expected one of {known}, or a description file")]
    Unknown { name: String, known: String },
    #[error("the machine description does not parse: {0}")]
    Syntax(String),
    #[error("machine description, {field} = {got}: expected {expected}")]
    Field {
        field: &'static str,
        got: String,
        expected: String,
    },
    #[error(
        "machine description, part = {got:?}: no part of that name is known: expected one of {known}"
    )]
    UnknownPart { got: String, known: String },
    #[error(
        "queue overrun: instruction {instruction} finds no room, as {waiting} wait in a queue of {queue} (`queue`): write fewer at once, or later"
    )]
    Overrun {
        instruction: usize,
        queue: usize,
        waiting: usize,
    },
    #[error(
        "`{memory}` is read {reads} and written {writes} times a cycle, which no {kind} has ports for: cut it into banks"
    )]
    Ports {
        memory: String,
        kind: &'static str,
        reads: u64,
        writes: u64,
    },
    #[error(
        "machine description `{machine}` exceeds its part {part}: {excess}. Make it smaller, name a larger `part`, or say why it may: allow_more_than_the_part_has = \"...\""
    )]
    ExceedsPart {
        machine: String,
        part: &'static str,
        /// The FPGA resources of which the machine needs more than its FPGA or die has. For each the text has the
        /// amount needed, the amount that is there, and the memory or multiplier group that needs the most. The text
        /// also says if the dies have no room for all units.
        excess: String,
    },
    #[error(
        "machine description `{machine}` says in allow_more_than_the_part_has why it exceeds its part, but all of it fits the {part}: take that statement away"
    )]
    FitsAfterAll { machine: String, part: &'static str },
    #[error(
        "the program's ring degree is 2^{got}; this machine runs up to 2^{most} (its native 2^{native}, `log_n` of its description, and what `splits` of it splits into rings of that)"
    )]
    RingDegree { native: u8, most: u8, got: u8 },
    #[error(
        "the program has {got} moduli; this machine's instruction word reaches {most}; use more RPAUs (`rpaus` of its description) or fewer primes"
    )]
    TooManyModuli { most: usize, got: usize },
    #[error(
        "procedure {procedure}: %{value} is of modulus `{modulus}`; the RPAUs of this machine (`rpaus` of its description) compute modulo NTT-friendly primes alone: leave what needs others to the host"
    )]
    ModulusKind {
        procedure: String,
        value: u32,
        modulus: TableModulus,
    },
    #[error(
        "machine {machine} holds limbs alone, and input `{input}` of the program is {kind}; leave what works on it to the host"
    )]
    Kind {
        machine: String,
        input: String,
        kind: &'static str,
    },
    #[error("procedure {procedure}: this machine cannot run {what}")]
    Unsupported { procedure: String, what: String },
    #[error(
        "procedure {procedure} needs {needs} key limbs on each RPAU at once, the key memory holds {slots} (`keys.slots` of the description): make room for them, use seeded keys, or, where there is room for one, do not forbid spills"
    )]
    KeyMemory {
        procedure: String,
        needs: usize,
        slots: usize,
    },
    #[error(
        "procedure {procedure} reads {needs} key limbs or more, this machine's instruction word names {most}: use seeded keys, or more RPAUs (`rpaus` of its description), so that fewer primes share one"
    )]
    KeyIndices {
        procedure: String,
        needs: usize,
        most: usize,
    },
    #[error(
        "procedure {procedure} needs {needs} slots on an RPAU at its peak ({live} of them for values alive across the call), the machine has {slots} (`memory.slots` of its description): do not forbid spills, or hold fewer values at once"
    )]
    Memory {
        procedure: String,
        needs: usize,
        live: usize,
        slots: usize,
    },
    #[error(
        "procedure {procedure}: one of its instructions needs more slots on an RPAU than the {slots} that the machine has (`memory.slots` of its description), so spills do not help: use more RPAUs (`rpaus`) or more memory"
    )]
    TooFewSlots { procedure: String, slots: usize },
    #[error(
        "procedure {procedure} has more words, constants, generator streams, Galois elements or seeds than the machine's `tables` hold"
    )]
    Tables { procedure: String },
    #[error("procedure {procedure}, stream {stream}, word {at}: {what}")]
    BadWord {
        procedure: String,
        stream: usize,
        at: usize,
        what: String,
    },
    #[error("{loc}: {error}")]
    At {
        loc: String,
        error: Box<MachineError>,
    },
    #[error("operands for procedure {procedure}: {what}")]
    Operands { procedure: String, what: String },
    #[error("the program is malformed: {0}")]
    Program(String),
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(transparent)]
    Math(#[from] MathError),
    /// The error is one of a single kind of machine, such as a modulus that it does not support.
    /// Its message is that of the wrapped error.
    #[error(transparent)]
    Own(Box<dyn std::error::Error + Send + Sync>),
    #[error("writing micro code: {0}")]
    Io(#[from] std::io::Error),
}

impl MachineError {
    /// Wraps an error that is specific to one kind of machine, such as a modulus that it does not
    /// support.
    pub fn own(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Own(Box::new(error))
    }

    /// Returns the error that one kind of machine wrapped in `Own` as type `E`. Returns `None` if the wrapped error has
    /// another type, and for every other variant.
    pub fn as_own<E: std::error::Error + 'static>(&self) -> Option<&E> {
        let Self::Own(error) = self else {
            return None;
        };
        error.downcast_ref()
    }
}

impl From<MachineError> for ringmill_device::DeviceError {
    fn from(error: MachineError) -> Self {
        match error {
            MachineError::Halt(halt) => Self::Halt(halt),
            other => Self::own(ringmill_device::error::Kind::Machine, other),
        }
    }
}
