//! CKKS in the command: complex numbers, named parameter sets, precision.

use std::path::Path;
use std::sync::Arc;

use num_complex::Complex64;
use ringmill_compiler::ckks::{InputRange, Precision, Wanted};
use ringmill_devices::report::RunReport;
use ringmill_devices::runtime::Client;
use ringmill_schemes::ckks::{Ciphertext, Ckks, Params, ParamsBuilder, file};
use ringmill_schemes::file::FileError;
use ringmill_schemes::rlwe::{SecurityLevel, SecurityTable};
use serde_json::{Map, Value, json};

use super::{Ciphers, Messages, Served};
use crate::args::{Fill, ProgramArgs};
use crate::error::CliError;
use crate::inputs;
use crate::inputs::Room;

impl Served for Ckks {
    const WRONG: &'static str = "less precise than predicted";

    fn write_ciphertext(cipher: &Ciphertext) -> Vec<u8> {
        file::write_ciphertext(cipher)
    }

    fn read_ciphertext(bytes: &[u8], params: &Params) -> Result<Ciphertext, FileError> {
        file::read_ciphertext(bytes, params)
    }

    fn named_params(
        name: &str,
        table: SecurityTable,
        level: SecurityLevel,
    ) -> Result<Arc<Params>, CliError> {
        Ok(ParamsBuilder::named(name)?.security(table, level).build()?)
    }

    fn wanted(args: &ProgramArgs) -> Result<Wanted, CliError> {
        let (table, level) = args.security.wanted()?;
        let default = Wanted::default();
        Ok(Wanted {
            precision_bits: args.precision.unwrap_or(default.precision_bits),
            integer_bits: args.integer_bits.unwrap_or(default.integer_bits),
            table,
            level,
        })
    }

    fn describe(params: &Params) -> Map<String, Value> {
        let scale = json!(params.default_scale().log2());
        Map::from_iter([("scale_log2".to_owned(), scale)])
    }

    fn range(low: &str, high: &str) -> Option<InputRange> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let (lowest, highest) = (number(low)?, number(high)?);
        (lowest <= highest).then_some(InputRange::Real { lowest, highest })
    }

    fn typed_range(_: i128, _: i128) -> Option<InputRange> {
        None
    }

    fn bounded(bound: f64) -> Result<InputRange, CliError> {
        Ok(InputRange::Disc { radius: bound })
    }

    fn unsaid(names: &[&str], json: bool) -> Result<(), CliError> {
        if !json {
            eprintln!(
                "note: absolute values of {} are taken to be at most 1; --range, --sample or --input-bound says otherwise",
                names.join(", ")
            );
        }
        Ok(())
    }

    /// None: inputs are as large as the command line says.
    fn kept_ranges(_: &str) -> Result<Vec<Option<InputRange>>, CliError> {
        Ok(Vec::new())
    }

    fn read(path: &Path, room: Room, fill: Option<Fill>) -> Result<Vec<Complex64>, CliError> {
        inputs::read(path, room, fill)
    }

    fn random(
        seed: u64,
        input: u64,
        room: Room,
        range: Option<&InputRange>,
        bound: Option<f64>,
    ) -> Vec<Complex64> {
        let bound = bound.unwrap_or(1.0).min(1.0);
        let ends = match range {
            Some(&InputRange::Real { lowest, highest }) => (lowest, highest),
            Some(&InputRange::Disc { radius }) => (-radius, radius),
            None => (-bound, bound),
        };
        inputs::random(seed, input, room, ends)
    }

    fn is_zero(message: &Vec<Complex64>) -> bool {
        message.iter().all(|z| z.norm() == 0.0)
    }

    fn bytes(message: &Vec<Complex64>) -> Vec<u8> {
        let parts = message.iter().flat_map(|z| [z.re, z.im]);
        parts.flat_map(f64::to_le_bytes).collect()
    }

    /// A list of numbers; of pairs where the imaginary parts are more than noise.
    fn shown(values: &Vec<Complex64>, first: usize) -> Value {
        let values = values.get(..first).unwrap_or(values);
        let largest = values.iter().map(|z| z.norm()).fold(0.0, f64::max);
        if values
            .iter()
            .all(|z| z.im.abs() <= 1e-4 * largest.max(1e-4))
        {
            values.iter().map(|z| z.re).collect()
        } else {
            values.iter().map(|z| json!([z.re, z.im])).collect()
        }
    }

    fn predicted(prediction: &Precision) -> Map<String, Value> {
        let like = prediction.bits_like_sample();
        let like = like.map(|bits| ("predicted_bits_like_sample".to_owned(), json!(bits)));
        let all = ("predicted_bits".to_owned(), json!(prediction.bits()));
        std::iter::once(all).chain(like).collect()
    }

    /// Outputs whose error is larger than the noise model predicts.
    fn judge(
        client: &Client<Self>,
        inputs: &Messages<Self>,
        (_, clear): (&Ciphers<Self>, &Messages<Self>),
        report: &mut RunReport,
    ) -> Result<Vec<String>, CliError> {
        report.precision = client.measure(inputs, clear)?;
        let wrong = report.precision.iter().filter(|row| {
            row.measured_bits
                .is_some_and(|bits| bits < row.predicted_bits)
        });
        let wrong = wrong.map(|row| format!("{} on {}", row.output, report.device));
        Ok(wrong.collect())
    }
}
