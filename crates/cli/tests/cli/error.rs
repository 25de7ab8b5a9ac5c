// SPDX-License-Identifier: Apache-2.0
//! Tests of the exit statuses of errors.

use ringmill_cli::internals::CliError;
use ringmill_device::DeviceError;
use ringmill_limits::Halt;
use ringmill_papers::PaperError;
use ringmill_runtime::RuntimeError;
use ringmill_schemes::ckks::CkksError;
use ringmill_sim::{OpenError, RunError};

#[test]
fn results_that_differ_are_told_from_what_could_not_be_done() {
    let differs = || -> DeviceError {
        let procedure = "p".to_owned();
        RunError::RtlDiffers {
            procedure,
            value: 0,
        }
        .into()
    };
    let unknown = OpenError::UnknownDevice {
        got: "abacus".to_owned(),
        known: Vec::new(),
    };
    for (error, status) in [
        (CliError::Disagreement(String::new()), 1),
        (CliError::Device(differs()), 1),
        (RuntimeError::<CkksError>::Device(differs()).into(), 1),
        (PaperError::Device(differs()).into(), 1),
        (PaperError::Disagreement(String::new()).into(), 1),
        (PaperError::Tables(String::new()).into(), 2),
        (PaperError::Halt(Halt::Interrupted).into(), 130),
        (CliError::Device(unknown.into()), 2),
        (CliError::Usage(String::new()), 2),
        (CliError::Internal(String::new()), 2),
        (Halt::Interrupted.into(), 130),
    ] {
        assert_eq!(error.exit_code(), status, "{error:?}");
    }
}
