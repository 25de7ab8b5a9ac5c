// SPDX-License-Identifier: Apache-2.0
//! Prints the FPGA resources that a machine needs, beside those of its FPGA part and those that its paper states. They
//! are printed as comments below a description, or as JSON.

use std::fmt::Write;

use ringmill_machines::fpga::{Fit, NeedUse, Printed, pieces_text};

/// The comment line above the part of a description file that `ringmill machine show` computes.
const MARK: &str = "# ---- computed from the fields above by `ringmill machine show`, no part of the description ----";

/// Returns a description's text without the part that an earlier call of `ringmill machine show` has computed.
pub fn written(text: &str) -> &str {
    let comment = |line: &str| line.trim().is_empty() || line.starts_with('#');
    match text.find(MARK) {
        Some(at) if text[at..].lines().all(comment) => text[..at].trim_end(),
        _ => text.trim_end(),
    }
}

/// Returns the resources that a machine needs as comment lines of a description file.
pub fn comment(fit: &Fit, printed: &Printed) -> String {
    let device = match fit.device {
        same if same == fit.part => String::new(),
        device => format!(" ({device})"),
    };
    let mut out = format!(
        "{MARK}\n# What it needs of the {}{device}: each {} (of {}) and the machine. Block RAM in blocks of 36 Kbit.\n",
        fit.part, fit.unit, fit.units
    );
    let mut line = |name: &str, each: &str, used: &str, available: &str, shape: &str| {
        let text = format!("{name:<29} {each:>12} {used:>13} {available:>11}   {shape}");
        // Nothing is lost: a string takes whatever is written to it.
        let _ = writeln!(out, "#   {}", text.trim_end());
    };
    line(
        "",
        "each",
        "the machine",
        "the part",
        "memories or multipliers of each, ports",
    );
    for total in &fit.totals {
        let of = total.resource;
        line(of.name(), "", "", "", "");
        for need in fit.needs.iter().filter(|n| n.resource == of) {
            let name = format!("  {}", need.name);
            line(
                &name,
                &each_of(need),
                &pieces_text(need.used),
                "",
                &need.shape,
            );
        }
        let available = pieces_text(total.available);
        let verdict = if total.used > total.available {
            "TOO MANY"
        } else {
            ""
        };
        line(
            "  in all",
            &pieces_text(total.each),
            &pieces_text(total.used),
            &available,
            verdict,
        );
        if let Some(p) = printed.uses.iter().find(|p| p.resource == of) {
            let each = p.each.map_or(String::new(), pieces_text);
            line("  the paper's", &each, &pieces_text(p.used), "", "");
        }
    }
    if let Some(r) = &fit.regions {
        let theirs = printed.units_in_a_region;
        let theirs = theirs.map_or(String::new(), |n| format!(" (the paper: {n})"));
        let _ = writeln!(
            out,
            "# A die region, of {}, has {} {}: room for {} {}{theirs}.",
            r.regions,
            pieces_text(r.available),
            r.resource.name(),
            r.room,
            fit.unit
        );
    }
    let verdict = fit
        .warning()
        .unwrap_or_else(|| format!("Fits the {}.", fit.part));
    let _ = writeln!(out, "# {verdict}");
    out
}

/// Returns as text the resources that each of several equal units needs, or an empty text for resources that units
/// share.
fn each_of(need: &NeedUse) -> String {
    need.units.map_or(String::new(), |_| pieces_text(need.each))
}
