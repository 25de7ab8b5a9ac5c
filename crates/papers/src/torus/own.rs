// SPDX-License-Identifier: Apache-2.0
//! The paper's own order of a step, `torus-paper`: cycles of each part beside what it prints.

use ringmill_machines::torus::{Description, TorusMachine, give_cycles, load_cycles, run};

use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str = "Section III-D: the paper's engine (`torus-paper`), 12 units of 8 butterflies, n = 630, N = 1024, l = 3";

/// Clock and latency of its transform (Table IV), MHz and microseconds.
const TRANSFORM: (f64, f64) = (433.0, 1.61);

/// m, MHz and milliseconds of a bootstrap (Table VI), GB/s of the link (section IV-F).
const PRINTED: [(usize, f64, f64, f64); 3] = [
    (1, 180.0, 6.62, 15.74),
    (2, 180.0, 3.31, 15.74),
    (3, 170.0, 2.35, 31.5),
];

pub fn rows() -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for (unroll, mhz, ms, rate) in PRINTED {
        let mut d = Description::read(Description::PAPER)?;
        d.unroll = unroll;
        d.clock_mhz = mhz;
        d.key.gbyte_per_second = rate;
        let machine = TorusMachine::new(d)?;
        let shape = machine.shape();
        let (n, dim, steps) = (shape.degree(), shape.sizes().dim, shape.steps() as u64);
        let fed = run(shape, 1, || true).cycles;
        let extraction = n as u64 + 1;
        let switch = machine.switch(1);
        let around = load_cycles(shape) + switch + give_cycles(shape);
        let printed = mhz * ms * 1e3;
        let case = format!("m = {unroll}");
        let mut push = |metric: &str, printed: Option<f64>, ours: u64, remark: &str| {
            let is = Ours::Is(ours as f64, How::Model);
            let row = Row::new(TABLE, case.as_str(), metric, "cycles", printed, is);
            found.push(if remark.is_empty() {
                row
            } else {
                row.remarked(remark)
            });
        };
        let transform = Some(TRANSFORM.0 * TRANSFORM.1);
        push(
            "initialization, plaintext rotate",
            Some((dim + n) as f64),
            load_cycles(shape),
            "Table I; a word a cycle, the body's exponent too",
        );
        push(
            "transforms of a step, forward",
            transform,
            shape.transform_cycles(),
            "Table IV",
        );
        push(
            "products of a step",
            None,
            shape.groups() as u64,
            "4 a cycle in each unit",
        );
        push(
            "transforms of a step, inverse",
            transform,
            shape.transform_cycles(),
            "Table IV",
        );
        push(
            "a step",
            Some(printed / steps as f64),
            (fed - extraction) / steps,
            "printed: latency x clock / steps; passes and products overlap",
        );
        push("extract", Some(extraction as f64), extraction, "Table I");
        let levels = shape.switch().digits().levels;
        push(
            "key switch",
            Some((extraction as usize * levels) as f64),
            switch,
            "Table I; with honest masks, the paper's are one for all",
        );
        push(
            "bootstrap, the key never late",
            Some(printed),
            fed + around,
            "printed: latency x clock",
        );
        let at_link = machine.bootstraps(1, true);
        let waits = at_link.saturating_sub(fed + around);
        let remark = match 100 * waits / at_link {
            0 => "the link keeps up".to_owned(),
            share => format!("bound by the key, which it waits for in {share} % of them"),
        };
        push(
            &format!("bootstrap at {rate} GB/s"),
            Some(printed),
            at_link,
            &remark,
        );
    }
    Ok(found)
}
