// SPDX-License-Identifier: Apache-2.0
//! The faults of the leaf modules, and the checks that must notice them.

use ringmill_hdl::leaves::MULTIPLIERS;

use crate::faults::list::{List, When};
use crate::rtl::arith::{self, check_multiplier};
use crate::rtl::butterfly::check_butterfly;
use crate::rtl::library;
use crate::rtl::wide::check_wide;

pub const FAULTS: List = List {
    name: "leaves",
    text: include_str!("../faults/leaves.toml"),
    checks: &[
        ("wordmont", |hdl, seed| {
            check_multiplier(hdl, &MULTIPLIERS[0], seed)
        }),
        ("mont17", |hdl, seed| {
            check_multiplier(hdl, &MULTIPLIERS[1], seed)
        }),
        ("sparse", |hdl, seed| {
            check_multiplier(hdl, &MULTIPLIERS[3], seed)
        }),
        ("solinas", |hdl, seed| {
            check_multiplier(hdl, &MULTIPLIERS[5], seed)
        }),
        ("ntt_friendly", |hdl, seed| {
            check_multiplier(hdl, &MULTIPLIERS[6], seed)
        }),
        ("wordmont_butterfly", |hdl, seed| {
            check_butterfly(hdl, &MULTIPLIERS[0], seed)
        }),
        ("wide32", |hdl, seed| check_wide(hdl, 32, 9, 8, seed)),
        ("wide61", |hdl, seed| check_wide(hdl, 61, 9, 14, seed)),
        ("cascade", arith::check_cascade),
        ("combinational", arith::check_combinational),
        ("lazy", arith::check_lazy),
        ("tiled", arith::check_tiled),
        ("delay", library::check_delay),
        ("fifo", library::check_fifo),
        ("ram_1r1w", library::check_ram_1r1w),
        ("ram_2rw", library::check_ram_2rw),
        ("skid", library::check_skid),
    ],
};

#[test]
#[ignore = "65 models; `make full` runs it"]
fn every_fault_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}
