// SPDX-License-Identifier: Apache-2.0
//! An application of section 5.3 of the Medha paper: the forecast of a smart grid's demand by a network of three hidden
//! layers that the group method of data handling (GMDH) trains.

use ringmill_compiler::builder::{TraceBuilder, TraceError, Traced};
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_isa::macros::Visibility;
use ringmill_schemes::ckks::Params;

use crate::error::PaperError;

const SLOTS: u32 = 8192;

const INPUTS: u32 = 4;
/// The pair of inputs that each node of the forecasting network takes from the layer before, by layer.
/// `examples/08_grid_forecast.py` trains and prints them. The time of the network depends on nothing else.
const NODES: [&[(usize, usize)]; 4] = [
    &[(1, 3), (0, 3), (0, 2)],
    &[(0, 2), (1, 2), (0, 1)],
    &[(0, 2), (1, 2)],
    &[(0, 1)],
];
/// The coefficients of a node's polynomial in its inputs x and y: those of 1, x, y, x y, x^2 and y^2. No two are equal,
/// so that no result can be used for two nodes.
const COEFFICIENTS: [f64; 6] = [0.011, 0.62, 0.33, 0.023, -0.017, 0.029];

pub const HIDDEN_LAYERS: usize = NODES.len() - 1;

/// Compiles the forecasting network to a CKKS program. One evaluation forecasts in each of 8192 slots. The Medha paper
/// describes forecasts for 60,000 apartments in half an hour: 30 ms for each, and one evaluation each.
///
/// # Errors
/// Fails if the compiler refuses the program.
pub fn compile() -> Result<Compiled, PaperError> {
    let mut t = TraceBuilder::new("grid_forecast", SLOTS)?;
    let mut values = (0..INPUTS)
        .map(|i| t.input(&format!("x{i}"), Visibility::Encrypted, None))
        .collect::<Result<Vec<_>, _>>()?;
    let mut made = 0;
    for layer in NODES {
        values = layer
            .iter()
            .map(|&(i, j)| {
                made += 1;
                node(&mut t, values[i], values[j], made)
            })
            .collect::<Result<_, _>>()?;
    }
    t.output("forecast", values[0], None)?;
    let mut bits = [38; 9];
    bits[0] = 52;
    let params = Params::builder(14).prime_bits(&bits, &[52]).build()?;
    let options = Options {
        input_bound: 6.0,
        ..Options::given(params)
    };
    Ok(ringmill_compiler::compile(t.finish(), &options)?)
}

/// Traces a node of the network: (b4 x + b3 y + b1) x + (b5 y + b2) y + b0 of its inputs x and y, in the form of the
/// example.
fn node(t: &mut TraceBuilder, x: Traced, y: Traced, number: u32) -> Result<Traced, TraceError> {
    let near = 1.0 + f64::from(number) / 64.0;
    let mut b = Vec::new();
    for coefficient in COEFFICIENTS {
        b.push(t.scalar(coefficient * near, None)?);
    }
    let (of_x, of_y) = (t.mul(b[4], x, None)?, t.mul(b[3], y, None)?);
    let sum = t.add(of_x, of_y, None)?;
    let left = t.add(sum, b[1], None)?;
    let left = t.mul(left, x, None)?;
    let right = t.mul(b[5], y, None)?;
    let right = t.add(right, b[2], None)?;
    let right = t.mul(right, y, None)?;
    let sum = t.add(left, right, None)?;
    t.add(sum, b[0], None)
}
