// SPDX-License-Identifier: Apache-2.0
//! Compares the areas of the vector machine's arithmetic with those of generic designs (BASALISC paper, Table 4).
//! Computes the areas of the machine's units as sums of leaf modules (Table 6 of that paper).

use ringmill_machines::vector::{Description, unit_multipliers};

use crate::{Hdl, HdlError, Library, Top};

/// A module of the vector machine for Montgomery-friendly moduli, and two modules that compute the
/// same for any odd modulus.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    pub what: &'static str,
    pub friendly: Top,
    /// The module for any odd modulus that has as many pipeline stages as `friendly`, the one for
    /// Montgomery-friendly moduli.
    pub generic: Top,
    /// The module for any odd modulus whose pipeline stages are no longer than those of `friendly`,
    /// the one for Montgomery-friendly moduli. It therefore has more stages.
    pub deep: Top,
}

/// Returns two Montgomery multipliers: one for Montgomery-friendly moduli, one for any odd modulus. In both, the
/// product of the operands takes one pipeline stage. Both have equally many stages of equal length, and are as small as
/// synthesis makes them.
pub fn whole_multipliers() -> [Top; 2] {
    let of = |friendly| {
        Top::new("rm_vector_mul_whole")
            .int("Friendly", friendly)
            .int("Stalls", 0)
    };
    [of(1), of(0)]
}

/// Returns the comparisons of the reduction, the multiplier and the butterfly, for words of 32
/// bits. Registers have no enable input, as if their clock were gated. The butterfly does not halve
/// its results, as the butterfly of the BASALISC paper does not.
pub fn comparisons() -> [Comparison; 3] {
    let bare = |module: &str| Top::new(module).int("Stalls", 0);
    let of = |what, friendly: Top, generic: &str| Comparison {
        what,
        friendly,
        generic: bare(generic),
        deep: bare(generic).int("Deep", 1),
    };
    [
        of("reduction", bare("rm_vector_red"), "rm_vector_red_any"),
        of("multiplier", bare("rm_vector_mul"), "rm_vector_mul_any"),
        of(
            "butterfly",
            bare("rm_vector_butterfly").int("Halves", 0),
            "rm_vector_butterfly_any",
        ),
    ]
}

/// Returns by how many percent the area `ours` is smaller than the area `than` of another design.
pub fn saved_percent(ours: f64, than: f64) -> f64 {
    100.0 * (1.0 - ours / than)
}

/// A module that is synthesised, and how many times its area is added to a unit's area. The number
/// is negative if the area is subtracted.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    pub top: Top,
    pub times: i64,
}

/// A unit of the vector machine that is too large for one synthesis, as a list of modules whose
/// areas are added.
#[derive(Clone, PartialEq, Debug)]
pub struct Element {
    /// The unit's name in Table 6 of the BASALISC paper.
    pub name: &'static str,
    pub pieces: Vec<Piece>,
}

/// The area of a unit of the vector machine as the sum of its modules' areas, and the cell library
/// that was used.
#[derive(Clone, PartialEq, Debug)]
pub struct ElementArea {
    pub um2: f64,
    pub gates: f64,
    pub library: Library,
}

impl Element {
    /// Computes the area of the unit. Each module is synthesised unless the cache has its area.
    /// Returns `None` for a unit with an empty list of modules.
    ///
    /// # Errors
    /// The errors of the tools.
    pub fn area(&self, hdl: &Hdl) -> Result<Option<ElementArea>, HdlError> {
        let mut sum: Option<ElementArea> = None;
        for Piece { top, times } in &self.pieces {
            let area = hdl.area(top)?;
            let times = *times as f64;
            let (um2, gates) = sum.as_ref().map_or((0.0, 0.0), |s| (s.um2, s.gates));
            sum = Some(ElementArea {
                um2: um2 + times * area.area,
                gates: gates + times * area.gates,
                library: area.library,
            });
        }
        Ok(sum)
    }

    /// Returns the unit's sum of areas as a line of text: each module with its parameters and how
    /// many times it counts.
    pub fn text(&self) -> String {
        let pieces = self.pieces.iter();
        let pieces = pieces.map(|piece| format!("{} {}", piece.times, piece.top));
        pieces.collect::<Vec<_>>().join(" + ")
    }
}

fn piece(top: Top, times: u64) -> Piece {
    Piece {
        top,
        times: times as i64,
    }
}

/// Returns delay registers for `times` words of 32 bits, each as long as the latency of a modular
/// multiplication.
fn beside(times: u64) -> Piece {
    let delay = Top::new("rm_vector_delay").int("Width", 32).int("Depth", 4);
    piece(delay, times)
}

/// Returns the modules of one transform unit of 2^`log_radix` words: multipliers, butterflies
/// without a multiplier, and delays. Word 0 is delayed and not multiplied, because its factor is
/// one. The twiddle factory, which computes powers, is not among them.
pub fn transform_unit(log_radix: u8) -> Vec<Piece> {
    let [products, before, behind] = unit_multipliers(log_radix);
    let butterflies = (u64::from(log_radix) << log_radix) / 2;
    let butterfly = Top::new("rm_vector_butterfly");
    vec![
        piece(butterfly.clone(), products),
        piece(butterfly.int("Product", 0), butterflies - products),
        piece(Top::new("rm_vector_mul"), before + behind),
        beside(2),
    ]
}

/// Returns the modules of `count` equal units: each module of one unit, counted `count` times as
/// often.
fn times(pieces: Vec<Piece>, count: u64) -> impl Iterator<Item = Piece> {
    pieces.into_iter().map(move |piece| Piece {
        times: piece.times * count as i64,
        ..piece
    })
}

/// Returns a permutation network for 2^`log_lanes` words of 32 bits, as a sum of modules: the network for one bit of
/// each word, and 31 times the area that a second bit adds. With `affine` the network can move word i to lane a i + b,
/// before an exclusive or with a constant; without, a is 1 and b is 0.
pub fn network(log_lanes: u8, affine: bool) -> Vec<Piece> {
    let of = |width: u64| {
        Top::new("rm_vector_net")
            .int("LogLanes", log_lanes.into())
            .int("Width", width)
            .int("Affine", affine.into())
    };
    // One bit's words and the configuration, then 31 times the difference that the second bit makes.
    vec![
        Piece {
            top: of(1),
            times: 1 - 31,
        },
        Piece {
            top: of(2),
            times: 31,
        },
    ]
}

/// Returns the units of the vector machine in Table 6 of the BASALISC paper that consist of cells.
/// The buffer is left out, since it is memory, of which the cell library has none.
pub fn elements(d: &Description) -> [Element; 3] {
    let (units, radix) = (d.units(), 1u64 << d.log_radix);
    let lanes = 1u64 << d.log_lanes;
    let registers = u64::from(d.registers);
    let lane = Top::new("rm_vector_mac_lane").int("Registers", registers);
    let unit = Top::new("rm_vector_mac")
        .int("Lanes", 1)
        .int("Registers", registers);
    let mut transforms: Vec<Piece> = times(transform_unit(d.log_radix), units).collect();
    // The twiddle factories: a multiplier and a delay for each power of the seed, the seed itself included.
    transforms.push(piece(Top::new("rm_vector_mul"), units * (radix - 1)));
    transforms.push(beside(units * (radix - 1)));
    let read = times(network(d.log_radix, false), units);
    let write = times(network(d.log_radix, true), units);
    let turn = Top::new("rm_vector_turn")
        .int("LogLanes", d.log_radix.into())
        .int("Lines", units);
    [
        Element {
            name: "mac",
            // The unit with one lane is a lane and the control of all lanes.
            pieces: vec![piece(unit, 1), piece(lane, lanes - 1)],
        },
        Element {
            name: "ntt",
            pieces: transforms,
        },
        Element {
            name: "permutation",
            pieces: read.chain(write).chain([piece(turn, 1)]).collect(),
        },
    ]
}
