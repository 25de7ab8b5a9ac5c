// SPDX-License-Identifier: Apache-2.0
//! The faults of the ring machine, and the checks that must notice them.

use ringmill_hdl::Hdl;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::RpauError;
use ringmill_machines::ring::Description;

use crate::common::failure::{Check, Failure};
use crate::faults::list::{List, When};
use crate::ring::bench::{PRIMES, medha, toy};
use crate::ring::random::{check_programs, check_words_on};
use crate::ring::refusals::{check_links, check_refusals, check_trailing};
use crate::ring::words::check_generated;

impl From<RpauError> for Failure {
    fn from(error: RpauError) -> Self {
        match error {
            RpauError::Hdl(error) => error.into(),
            other => Self::Mismatch(other.to_string()),
        }
    }
}

/// Checks random programs on one RPAU, whose words run beside each other.
fn words(hdl: &Hdl, d: &Description, seed: u64) -> Check {
    Ok(check_words_on(hdl, d, PRIMES[1], 30, &mut Dice::new(seed))?)
}

pub const FAULTS: List = List {
    name: "ring",
    text: include_str!("../faults/ring.toml"),
    checks: &[
        ("unit", |hdl, seed| words(hdl, &toy(7, 4, 1), seed)),
        // The dyadic cores take four cycles for a row, so that a pass may end within such a period.
        ("thirds", |hdl, seed| words(hdl, &toy(7, 8, 1), seed)),
        // An RPAU with one stage a pass and generated twiddle factors.
        ("generated", |hdl, seed| words(hdl, &medha(7, 2, 1), seed)),
        // Three RPAUs, with words in all four streams.
        ("machine", |hdl, seed| {
            Ok(check_programs(hdl, &toy(6, 4, 3), seed, 20)?)
        }),
        // Three RPAUs with one stage a pass, on a ring network that does not reduce.
        ("raw", |hdl, seed| {
            Ok(check_programs(hdl, &medha(7, 2, 3), seed, 20)?)
        }),
        ("generated_words", |hdl, seed| {
            Ok(check_generated(hdl, seed)?)
        }),
        ("links", |hdl, seed| Ok(check_links(hdl, seed)?)),
        ("refusals", |hdl, seed| Ok(check_refusals(hdl, seed)?)),
        ("trailing", |hdl, seed| Ok(check_trailing(hdl, seed)?)),
    ],
};

#[test]
#[ignore = "builds a machine for each fault; `make full` runs it"]
fn every_fault_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}
