//! What the command needs of a scheme beside compiling and running its programs. [`Scheme`](crate::Scheme) lists the
//! schemes, and [`with_scheme`](crate::with_scheme) is the one place that knows the type of each.

mod ckks;
mod exact;

use std::path::Path;
use std::sync::Arc;

use ringmill_compiler::saved::Saves;
use ringmill_devices::report::RunReport;
use ringmill_devices::runtime::{Client, EvaluationKeys, Runs};
use ringmill_schemes::file::FileError;
use ringmill_schemes::rlwe::{RingParams, SecretKey, SecurityLevel, SecurityTable};
use ringmill_schemes::roles::KeyHolder;
use serde_json::{Map, Value};

use crate::args::{Fill, ProgramArgs};
use crate::error::CliError;
use crate::inputs::Room;

/// Messages by input or output name.
pub type Messages<S> = std::collections::BTreeMap<String, <S as ringmill_schemes::Scheme>::Message>;
/// Ciphertexts by input or output name.
pub type Ciphers<S> =
    std::collections::BTreeMap<String, <S as ringmill_schemes::Scheme>::Ciphertext>;

/// A ring scheme whose programs the command compiles, runs and keeps.
pub trait Served:
    Runs<
        Report = RunReport,
        Keys = EvaluationKeys,
        Params: RingParams,
        Ciphertext: Clone + PartialEq,
        Range: Send + Sync,
        Wanted: Send + Sync,
        Prediction: Send + Sync,
        KeyName: Send + Sync,
        Message: Send + Sync,
        Holder: KeyHolder<SecretKey = SecretKey> + Send + Sync,
        Operator: Send,
    > + Saves
{
    /// What outputs are that are not as they should be.
    const WRONG: &'static str;

    fn write_ciphertext(cipher: &Self::Ciphertext) -> Vec<u8>;

    /// # Errors
    /// A damaged file, or one of other parameters.
    fn read_ciphertext(bytes: &[u8], params: &Self::Params) -> Result<Self::Ciphertext, FileError>;

    /// A set known by its name.
    ///
    /// # Errors
    /// A name that is none.
    fn named_params(
        name: &str,
        table: SecurityTable,
        level: SecurityLevel,
    ) -> Result<Arc<Self::Params>, CliError>;

    /// What chosen parameters must provide.
    ///
    /// # Errors
    /// Options that the scheme has no use for.
    fn wanted(args: &ProgramArgs) -> Result<Self::Wanted, CliError>;

    /// What the JSON of parameters has beside what all ring schemes have.
    fn describe(params: &Self::Params) -> Map<String, Value>;

    /// The range between two ends; `None` where they are no numbers of the scheme, the smaller one first.
    fn range(low: &str, high: &str) -> Option<Self::Range>;

    /// The range of an argument whose type sets its ends; `None` where the scheme takes no such type.
    fn typed_range(low: i128, high: i128) -> Option<Self::Range>;

    /// The range that a bound on absolute values declares.
    ///
    /// # Errors
    /// A bound that is none.
    fn bounded(bound: f64) -> Result<Self::Range, CliError>;

    /// Says which inputs have a default range because nothing was said of their size; under JSON it says nothing.
    ///
    /// # Errors
    /// A scheme that has no such default.
    fn unsaid(names: &[&str], json: bool) -> Result<(), CliError>;

    /// The ranges of a saved program's inputs, by the line that says how it was compiled, where the command compiles it for
    /// the same ones.
    ///
    /// # Errors
    /// An altered line.
    fn kept_ranges(line: &str) -> Result<Vec<Option<Self::Range>>, CliError>;

    /// The values of a file in order, as many as there is room for; fewer are refused unless `fill` says what follows them.
    ///
    /// # Errors
    /// A file that cannot be read, or values that are none of the scheme.
    fn read(path: &Path, room: Room, fill: Option<Fill>) -> Result<Self::Message, CliError>;

    /// Values uniform in a range or, where none is declared, within a bound; the same for the same seed and input.
    fn random(
        seed: u64,
        input: u64,
        room: Room,
        range: Option<&Self::Range>,
        bound: Option<f64>,
    ) -> Self::Message;

    /// Whether nothing can be learned of an input's size from these values.
    fn is_zero(message: &Self::Message) -> bool;

    /// A message's bits, for telling runs apart.
    fn bytes(message: &Self::Message) -> Vec<u8>;

    /// The first values of a decrypted output as JSON.
    fn shown(message: &Self::Message, values: usize) -> Value;

    /// What is predicted of an output, as JSON.
    fn predicted(prediction: &Self::Prediction) -> Map<String, Value>;

    /// Compares decrypted outputs with the computation in the clear, adds what was measured to the report and says what
    /// is not as it was predicted.
    ///
    /// # Errors
    /// Inputs or ciphertexts that are not the program's.
    fn judge(
        client: &Client<Self>,
        inputs: &Messages<Self>,
        outputs: (&Ciphers<Self>, &Messages<Self>),
        report: &mut RunReport,
    ) -> Result<Vec<String>, CliError>;
}
