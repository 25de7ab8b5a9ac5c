//! A compiled program as the run time sees it, whatever its scheme.

use std::sync::Arc;

use ringmill_isa::VerifyError;
use ringmill_isa::mid::{Program, Unrolled};
use ringmill_schemes::roles::{KeyHolder, Operator, Place};
use ringmill_schemes::{ParameterSet, Scheme};

use super::error::RuntimeError;
use crate::device::Outcome;
use crate::report::KeyReport;

/// What an input or output is called and where it is.
pub struct Port<'p, S: Scheme> {
    pub name: &'p str,
    /// Whether it is encrypted; outputs always are.
    pub encrypted: bool,
    pub at: Place<S>,
}

/// Where the message of an encoded plaintext comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlainFrom {
    /// A constant of the program, by its number.
    Constant(u32),
    /// A plain input, by its number among the inputs.
    Input(u32),
}

/// A compiled program: its mid-level code and what its inputs stand for.
pub trait Executable: Send + Sync + 'static {
    type Scheme: Scheme;
    type Holder: KeyHolder<Scheme = Self::Scheme>;
    type Operator: Operator<Scheme = Self::Scheme>;
    /// What a run says of itself.
    type Report;

    fn params(&self) -> &Arc<<Self::Scheme as Scheme>::Params>;
    /// `InputRole::Cipher { input, .. }` indexes [`Executable::inputs`], `InputRole::Plain { input }`
    /// [`Executable::plaintexts`], `InputRole::Key { key, .. }` and `Program::seeds` [`Executable::keys`].
    fn program(&self) -> &Program;
    /// The program written out call by call.
    ///
    /// # Errors
    /// Where it is too long for that.
    fn unrolled(&self) -> Result<&Unrolled, VerifyError>;
    fn inputs(&self) -> Vec<Port<'_, Self::Scheme>>;
    fn outputs(&self) -> Vec<Port<'_, Self::Scheme>>;
    fn plaintexts(&self) -> Vec<(PlainFrom, Place<Self::Scheme>)>;
    /// The constant of that number, if there is one.
    fn constant(&self, number: u32) -> Option<MessageOf<Self>>;
    fn keys(&self) -> &[KeyNameOf<Self>];
    /// Whether keys come with the seed of their uniform halves.
    fn seeded(&self) -> bool;
    /// Bytes of the evaluation keys.
    fn key_bytes(&self) -> u64;
    /// Values in a message.
    fn length(&self) -> usize;

    /// Refuses a message that is not one the program was compiled for.
    fn check(
        &self,
        input: usize,
        message: &MessageOf<Self>,
    ) -> Result<(), RuntimeError<ErrorOf<Self>>>;

    fn report(&self, device: &str, outcome: &Outcome, keys: Option<KeyReport>) -> Self::Report;
}

pub type ErrorOf<P> = <<P as Executable>::Scheme as Scheme>::Error;
pub type MessageOf<P> = <<P as Executable>::Scheme as Scheme>::Message;
pub type KeyNameOf<P> = <<P as Executable>::Scheme as Scheme>::KeyName;
pub type KeysOf<P> = <<P as Executable>::Scheme as Scheme>::Keys;
pub type KeyOf<P> = <<P as Executable>::Scheme as Scheme>::Key;
pub type PlaintextOf<P> = <<P as Executable>::Scheme as Scheme>::Plaintext;
pub type CiphertextOf<P> = <<P as Executable>::Scheme as Scheme>::Ciphertext;
pub type SecretKeyOf<P> = <<P as Executable>::Holder as KeyHolder>::SecretKey;

/// Bytes of a limb of a program's full ring.
pub(super) fn limb_bytes<P: Executable>(program: &P) -> u64 {
    8 << program.params().log_n()
}
