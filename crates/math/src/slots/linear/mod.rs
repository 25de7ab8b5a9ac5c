// SPDX-License-Identifier: Apache-2.0
//! The linear maps of thin bootstrapping, as data: stages of automorphisms and products with constants.
//!
//! # Where the integers go
//!
//! With l slots, the integers of a thin polynomial become the coefficients of the powers of u = x^(N/l);
//! [`coefficient_of_slot`] says which. So the trace to Z\[u\], the smallest subring with room for these coefficients, removes
//! all other coefficients. It takes log2(N/l) doublings, the fewest possible.
//!
//! | map | from | to |
//! | --- | --- | --- |
//! | [`slots_to_coefficients`] | thin polynomials | Z\[u\] |
//! | [`trace`] | all polynomials, or those of a subring Z\[x^(N/N')\] | Z\[u\], times N'/l |
//! | [`coefficients_to_slots`] | Z\[u\], times N'/l | thin polynomials |
//! | [`halvings`] | all polynomials | N/l of Z\[u\], times N/l, one for each power of x below N/l |
//!
//! # Two parts, and why they are cheap
//!
//! For p = 1 mod 4, thin polynomials are Z\[u\] itself. For p = 3 mod 4 they are another subring: the polynomials in the core's
//! y that p-th powers of roots leave unchanged. Z\[u\] is what y -> -y leaves unchanged. A map from one to the other has l
//! terms `constant * automorphism` with constants in the core. But a map into a subring that an involution leaves unchanged is
//! V + involution(V), where V has half as many terms. So for p = 3 mod 4 both maps have l / 2 terms and one more automorphism
//! *without a constant*, thus without depth. At l = 64 that makes 4 + 8 - 2 + 1 = 11 key switches a map instead of 8 + 8 - 2
//! = 14.
//!
//! The terms come from a transform on n = l / 2 points xi^j, with j = 5^k or -5^k and xi of order 2l. On these points
//! the coefficients of u^i and u^(i + n) make one number (1 and xi^n as its parts). The transform has log2 n butterfly
//! stages of three terms each, except that the last stage has two. [`Shape`] says how many of them are multiplied into
//! one stage: all for depth 1, or fewer if there are many slots. This is the special transform of CKKS, over a Galois
//! ring. For BGV, see Halevi and Shoup, *Bootstrapping for HElib*, for the maps a dimension at a time. Thin
//! bootstrapping is from Chen and Han, *Homomorphic lower digits removal and improved FHE bootstrapping*.

mod butterflies;
mod split;
mod stage;
mod terms;
mod thin;
mod unpacking;

pub use split::{Costs, Shape};
pub use stage::{Count, Factor, Giant, LinearMap, Stage, Term};
pub use thin::{coefficient_of_slot, coefficients_to_slots, slots_to_coefficients, trace};
pub use unpacking::{Halving, halvings};
