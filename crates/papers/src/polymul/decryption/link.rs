// SPDX-License-Identifier: Apache-2.0
//! The link to the machine: what a call takes through it, how many calls a second it lets through, and the slowest link on
//! which offloading pays.

use ringmill_machines::polymul::WIDTH;

/// Half duplex, in Gbit/s.
#[derive(Clone, Copy, Debug)]
pub struct Link(pub f64);

impl Link {
    /// Microseconds of residues, a word each.
    pub fn us(self, residues: usize) -> f64 {
        bits(residues) / (self.0 * 1e3)
    }
}

fn bits(residues: usize) -> f64 {
    residues as f64 * f64::from(WIDTH)
}

/// A product with its operand in and its result out, microseconds: the machine's own, through its port.
#[derive(Clone, Copy, Debug)]
pub struct OneCall {
    pub n: usize,
    pub load: f64,
    pub product: f64,
    pub unload: f64,
}

impl OneCall {
    /// Load, product and unload one after another; a polynomial crosses link and port at once, at the pace of the slower.
    pub fn through(self, link: Link) -> f64 {
        let crossing = link.us(self.n);
        crossing.max(self.load) + self.product + crossing.max(self.unload)
    }

    /// At any speed of link.
    pub fn least(self) -> f64 {
        self.load + self.product + self.unload
    }

    /// The link on which it takes as long as the host's product: slower ones do not pay. None where no link does.
    pub fn break_even(self, host: f64) -> Option<Link> {
        if host <= self.least() {
            return None;
        }
        let (small, large) = (self.load.min(self.unload), self.load.max(self.unload));
        // One way behind the link, the other behind the port; else both behind the link.
        let one = host - self.product - large;
        let crossing = if one <= large && one > small {
            one
        } else {
            (host - self.product) / 2.0
        };
        Some(Link(bits(self.n) / (crossing * 1e3)))
    }
}

/// The link on which a stream of calls, an operand in and a result out each, has this period in microseconds. None where
/// the machine alone takes as long.
pub fn stream_break_even(n: usize, machine: f64, period: f64) -> Option<Link> {
    (machine < period).then(|| Link(bits(2 * n) / (period * 1e3)))
}
