// SPDX-License-Identifier: Apache-2.0
//! The notes below a comparison's table: where evaluation keys are, what was measured, and which machine exceeds its
//! FPGA part.

use ringmill_device::report::seconds;

use super::rows::{Figures, Row};
use crate::report::KeyHalves;

/// Describes where a machine's evaluation keys are before and during a run. Returns `None` if the machine takes no
/// keys, or if a host beside it has them.
fn keys(figures: &Figures) -> Option<String> {
    let (there, sent) = (figures.resident_key_limbs?, figures.keys_seconds?);
    match (there, sent > 0.0) {
        (0, false) => None,
        (0, true) => Some(format!("all over the link in the run, {}", seconds(sent))),
        (there, false) => Some(format!("all {there} limbs taken to be there before")),
        (there, true) => Some(format!(
            "{there} limbs taken to be there before, the others over the link in the run, {}",
            seconds(sent)
        )),
    }
}

/// Returns sentences that say how the figures of the rows were obtained: by models or by measurement, with which keys
/// in place.
pub fn basis(rows: &[Row]) -> Vec<String> {
    let figures = || rows.iter().filter_map(|row| row.figures.as_ref());
    let mut notes = vec![
        "machines: by their cycle models, from the first input on the host link to the last output"
            .to_owned(),
    ];
    let kept = rows.iter().filter_map(|row| {
        let keys = row.figures.as_ref().and_then(keys)?;
        Some(format!("keys of {}: {keys}", row.which.case))
    });
    notes.extend(kept);
    if figures().any(|f| f.resident_key_limbs.is_some_and(|limbs| limbs > 0)) {
        notes.push(
            "total: with as many keys there before as the machine holds; cold: none is there before, so these cross the link too"
                .to_owned(),
        );
    }
    let has = |form| figures().any(|f| f.bound.is_some() && f.keys == Some(form));
    let forms = [
        (
            KeyHalves::Seeded,
            "seeded: the machine makes half of each key from a seed, the other half comes over the link",
        ),
        (
            KeyHalves::Stored,
            "stored: both halves of each key come over the link; what --target or compile(target=NAME) names asks for it",
        ),
    ];
    for (_, text) in forms.iter().filter(|&&(form, _)| has(form)) {
        notes.push(format!("keys {text}"));
    }
    if figures().any(|f| f.host_seconds.is_some()) {
        notes.push(
            "host: what a machine has no instructions for, measured here on 1 thread; host, link and machine in turn"
                .to_owned(),
        );
    }
    if figures().any(|f| f.bound.is_some() && f.seconds.is_none()) {
        notes.push(
            "no total: a host runs the rest of the program, and takes data to be measured"
                .to_owned(),
        );
    }
    if figures().any(|f| f.multipliers.is_some()) {
        notes.push(
            "multipliers (modular, each of its machine's word), DSP and memory blocks: counted from the descriptions; \
             LUT and FF are known from synthesis alone (ringmill rtl synth)"
                .to_owned(),
        );
    }
    let unfit = |row: &&Row| row.figures.as_ref().is_some_and(|f| f.fits == Some(false));
    let unfit: Vec<&str> = rows
        .iter()
        .filter(unfit)
        .map(|row| row.which.case.as_str())
        .collect();
    if !unfit.is_empty() {
        notes.push(format!(
            "DOES NOT FIT ITS PART, by explicit statement: {}",
            unfit.join(", ")
        ));
    }
    notes
}
