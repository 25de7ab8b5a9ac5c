// SPDX-License-Identifier: Apache-2.0
//! Counts the FPGA resources of a bootstrapping engine: the memories and multipliers of the RTL.

use super::gather::HELD;
use super::shape::RAW_BEATS;
use super::{Schedule, Shape};
use crate::fpga::{MemoryKind, Multipliers, Need, Needs, Part, Reduction, Unit};

/// The bits of a residue modulo 2^52 - 2^12 + 1. `WORD` has the bits of a torus coefficient.
const RESIDUE: u64 = 52;
const WORD: u64 = 32;

fn multipliers(name: &str, count: u64) -> Need {
    Need::Multipliers(Multipliers {
        name: name.to_owned(),
        count,
        width: RESIDUE as u32,
        reduction: Reduction::Solinas52,
    })
}

impl Shape {
    /// Returns the memories and multipliers of the engine `machine` on the FPGA `part`.
    pub(super) fn needs(self, machine: &str, part: &'static Part) -> Needs {
        let s = self.sizes();
        let (lanes, rows) = (1u64 << s.log_lanes, self.half_rows());
        let places = (s.places as u64).next_power_of_two();
        let slots = self.slots().next_power_of_two();
        let group = (s.group as u64).next_power_of_two();
        let positions = self.positions() as u64;
        let lut =
            |name, count, depth, width| Need::memory(name, MemoryKind::Lutram, count, depth, width);
        let bram =
            |name, count, depth, width| Need::memory(name, MemoryKind::Bram, count, depth, width);
        // `rm_torus_ram`: beyond 32 words a look-up table holds half as many bits.
        let by_depth = |name, count, depth, width| match depth {
            0..=32 => lut(name, count, depth, width),
            _ => bram(name, count, depth, width),
        };
        // Rotation reads twice; decomposition and the update read once each.
        let copies = if s.unroll == 1 { 4 } else { 2 };
        let (products, weighing) = self.multipliers();
        let columns = match self.schedule() {
            Schedule::Sums | Schedule::Coefficients => 2,
            Schedule::Pairs => s.units as u64,
        };
        let mut shared = vec![
            multipliers("product multipliers", products),
            by_depth("accumulators", 4 * lanes * copies, places * rows, WORD),
            // There are two banks for each column of sums or of products.
            lut(
                match self.schedule() {
                    Schedule::Sums | Schedule::Coefficients => "sums of products",
                    Schedule::Pairs => "products",
                },
                columns * 2 * lanes / positions,
                places * rows,
                positions * RESIDUE,
            ),
            // A memory has the twiddles of the forward and of the inverse transform.
            lut(
                "twiddles",
                lanes,
                2 * (2 * rows + u64::from(s.log_lanes)).next_power_of_two(),
                RESIDUE,
            ),
            match self.schedule() {
                Schedule::Sums | Schedule::Pairs => {
                    bram("key", 1, s.key_beats as u64, self.beat_bits())
                }
                // Each of the 2^unroll - 1 patterns has a memory, and so has the bundle, their sum.
                Schedule::Coefficients => bram(
                    "key",
                    1 << s.unroll,
                    HELD * self.key_groups() as u64,
                    self.beat_bits(),
                ),
            },
            bram(
                "exponents",
                s.unroll as u64,
                places * (self.steps() as u64).next_power_of_two(),
                u64::from(s.log_n) + 1,
            ),
            bram("extracted ciphertexts", s.places as u64, 1 << s.log_n, WORD),
            bram(
                "switched ciphertexts",
                1,
                places * (s.dim as u64 + 1).next_power_of_two(),
                WORD,
            ),
        ];
        if weighing > 0 {
            shared.push(multipliers("weight multipliers", weighing));
            shared.push(bram("powers of psi", positions, 2 << s.log_n, RESIDUE));
        }
        if self.bundles() || self.schedule() == Schedule::Coefficients {
            let width = self.beat_bits();
            shared.push(bram("key before it is bundled", 1, RAW_BEATS, width));
        }
        let mut unit = vec![
            multipliers("butterflies", lanes),
            lut(
                "rows under way",
                2,
                2 * slots * group * rows,
                lanes * RESIDUE,
            ),
            by_depth(
                "evaluations",
                2 * self.slots(),
                places * rows,
                lanes * RESIDUE,
            ),
        ];
        if self.schedule() == Schedule::Coefficients {
            // Two halves of a polynomial, by beats, with the sign of each residue.
            let beats = lanes / self.key_positions() as u64;
            unit.push(lut(
                "bundles",
                2 * 2 * self.slots() * beats,
                places * rows,
                self.key_positions() as u64 * (WORD + 1),
            ));
            // The memories hold the bundles of two steps, each of two columns.
            unit.push(by_depth(
                "evaluations of bundles",
                2 * 2 * self.slots(),
                2 * places * rows,
                lanes * RESIDUE,
            ));
        }
        Needs {
            machine: machine.to_owned(),
            part,
            unit: Unit {
                name: "transform unit",
                count: s.units as u64,
                needs: unit,
            },
            shared,
        }
    }
}
