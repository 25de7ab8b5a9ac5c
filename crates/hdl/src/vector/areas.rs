//! The vector machine's arithmetic beside what it is compared with: Table 4 of the vector paper.

use crate::Top;

/// A module for Montgomery-friendly moduli and the same for any odd modulus.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    pub what: &'static str,
    pub friendly: Top,
    /// For any odd modulus, in as many stages.
    pub generic: Top,
    /// For any odd modulus, in stages that are no longer than ours: one product of tiles, or one sum, more.
    pub deep: Top,
}

/// The reduction, the multiplier and the butterfly, of words of 32 bits. Registers have no enable, as where clocks are gated; the
/// butterfly has no halving, as the paper's needs none.
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

/// Percent that one area is smaller than another.
pub fn saved_percent(ours: f64, than: f64) -> f64 {
    100.0 * (1.0 - ours / than)
}
