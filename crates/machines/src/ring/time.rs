// SPDX-License-Identifier: Apache-2.0
//! Computes the end-to-end time of a program on the ring machine, and what bounds it.

use super::description::Description;
use super::help::help;
use super::program::Totals;
use ringmill_device::report::EndToEnd;

/// Computes the end-to-end time of a run from its totals. Between calls, link and units work one after the other.
/// Inside procedures that do not fit polynomial or key memory they overlap.
pub fn end_to_end(d: &Description, totals: &Totals) -> EndToEnd {
    let seconds = |cycles: u64| cycles as f64 / (d.clock_mhz * 1e6);
    let tally = &totals.tally;
    let [stores, loads, keys] = tally.moving;
    let spilled = totals.spills.bytes;
    // A resident key limb is counted as it is stored, in pieces of at most the native degree.
    let bytes_a_key = 8u64 << d.log_n.min(totals.log_n);
    let parts = EndToEnd {
        inputs_seconds: d.link_seconds(totals.bytes_in),
        keys_seconds: d.link_seconds(totals.key_bytes) + seconds(keys),
        programs_seconds: d.link_seconds(totals.program_bytes),
        // The cycles in which the link does not work alone.
        compute_seconds: seconds(totals.cycles + tally.overlap - tally.link),
        spills_seconds: d.link_seconds(spilled) + seconds(stores + loads),
        outputs_seconds: d.link_seconds(totals.bytes_out),
        overlap_seconds: seconds(tally.overlap),
        resident_key_limbs: totals.resident_keys,
        resident_key_seconds: d.link_seconds(totals.resident_keys * bytes_a_key),
        ..EndToEnd::default()
    };
    parts.summed(|by| help(d, totals, by))
}
