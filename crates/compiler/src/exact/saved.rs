//! Programs of integers in files: ranges of any whole numbers, samples of those that slots hold.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use std::sync::Arc;

use ringmill_schemes::file::{Accepted, FileError};
use serde::{Deserialize, Serialize};

use super::{IntegerRange, range};
use crate::saved::Saves;

/// The ends of a range, which JSON's numbers may not hold.
#[derive(Clone, Serialize, Deserialize)]
pub struct KeptRange([String; 2]);

impl From<IntegerRange> for KeptRange {
    fn from(range: IntegerRange) -> Self {
        Self([range.low().to_string(), range.high().to_string()])
    }
}

impl KeptRange {
    /// `None` where the ends are no whole numbers in order.
    pub fn range(&self) -> Option<IntegerRange> {
        let [low, high] = &self.0;
        IntegerRange::new(low.parse().ok()?, high.parse().ok()?)
    }
}

/// Schemes of integers, each by its module.
macro_rules! saves {
    ($($module:ident::$scheme:ident),*) => {$(
        impl Saves for ringmill_schemes::$module::$scheme {
            type KeptRange = KeptRange;
            type KeptSlot = i64;

            fn keep_range(range: &IntegerRange) -> KeptRange {
                (*range).into()
            }

            fn range_of(kept: KeptRange) -> Option<IntegerRange> {
                kept.range()
            }

            fn keep_message(message: &Vec<i64>) -> Vec<i64> {
                message.clone()
            }

            fn message_of(kept: Vec<i64>) -> Vec<i64> {
                kept
            }

            fn range_by(sample: &Vec<i64>, margin: f64) -> IntegerRange {
                IntegerRange::up_to(range::as_large(sample, margin))
            }

            fn narrowed(range: &IntegerRange) -> IntegerRange {
                range.narrowed()
            }

            fn write_params(params: &Self::Params) -> Vec<u8> {
                ringmill_schemes::$module::file::write_params(params)
            }

            fn read_params(
                bytes: &[u8],
                accepted: Accepted,
            ) -> Result<Arc<Self::Params>, FileError> {
                ringmill_schemes::$module::file::read_params(bytes, accepted)
            }
        }
    )*};
}

saves!(bfv::Bfv, bgv::Bgv);
