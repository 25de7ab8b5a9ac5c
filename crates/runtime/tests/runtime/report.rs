// SPDX-License-Identifier: Apache-2.0
//! Tests the texts of reports about precision.

use ringmill_runtime::report::{
    Counts, Digits, How, InstructionReport, ParameterReport, PrecisionReport, RunReport,
    SchemeReport,
};
use ringmill_schemes::ckks::Params;

/// Returns the report of a run without any figure.
pub fn report() -> RunReport {
    RunReport {
        program: "p".to_owned(),
        device: "cpu:1".to_owned(),
        scheme: SchemeReport {
            name: "ckks".to_owned(),
            why: String::new(),
        },
        parameters: ParameterReport::new(&*Params::named("set1").unwrap()),
        keys: None,
        key_halves: None,
        instructions: InstructionReport {
            macro_level: Counts::new(),
            mid_level: Counts::new(),
            micro_level: None,
            how: How::Counted,
        },
        cpu: None,
        machine: None,
        by_line: Vec::new(),
        timeline: None,
        assumptions: Vec::new(),
        precision: Vec::new(),
        noise: Vec::new(),
    }
}

#[test]
fn what_promises_no_bit_says_so() {
    for (predicted_bits, says) in [
        (20.26, "at least 20.3"),
        (0.0, "at least 0.0"),
        (-28.3, "none sure (error up to 2^28.3)"),
        (f64::INFINITY, "at least inf"),
    ] {
        let output = PrecisionReport {
            output: "y".to_owned(),
            predicted_bits,
            predicted_bits_like_sample: None,
            predicted_digits: Digits {
                digits: 4.25,
                of: 64.0,
                which: "bound",
            },
            measured_bits: None,
            conditional: false,
        };
        let report = RunReport {
            precision: vec![output],
            ..report()
        };
        for text in [report.to_string(), report.detail().to_string()] {
            assert!(text.contains(says), "{says}: {text}");
            assert!(text.contains("4.2 digits of 64 (bound)"), "{text}");
        }
    }
}
