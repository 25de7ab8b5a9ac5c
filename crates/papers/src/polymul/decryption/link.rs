// SPDX-License-Identifier: Apache-2.0
//! Models the link to the machine: the time of a call through it, the calls that fit in a second, and the slowest link
//! on which offloading pays.

use ringmill_machines::polymul::WIDTH;

/// A half-duplex link between host and machine, by its rate in Gbit/s.
#[derive(Clone, Copy, Debug)]
pub struct Link(pub f64);

impl Link {
    /// Returns the microseconds in which the link moves this number of residues, one word each.
    pub fn us(self, residues: usize) -> f64 {
        bits(residues) / (self.0 * 1e3)
    }
}

fn bits(residues: usize) -> f64 {
    residues as f64 * f64::from(WIDTH)
}

/// The times of one product on the machine, with one operand loaded and its result unloaded, in microseconds through
/// the machine's own port.
#[derive(Clone, Copy, Debug)]
pub struct OneCall {
    pub n: usize,
    pub load: f64,
    pub product: f64,
    pub unload: f64,
}

impl OneCall {
    /// Returns the microseconds of load, product and unload on a link, one after another. A polynomial crosses link and
    /// port at once, at the pace of the slower.
    pub fn through(self, link: Link) -> f64 {
        let crossing = link.us(self.n);
        crossing.max(self.load) + self.product + crossing.max(self.unload)
    }

    /// Returns the microseconds of load, product and unload on an infinitely fast link.
    pub fn least(self) -> f64 {
        self.load + self.product + self.unload
    }

    /// Returns the link on which the machine's call takes as long as the host's product of `host` microseconds. On
    /// a slower link the call takes longer than the host. Returns `None` if the call takes longer even on an
    /// infinitely fast link.
    pub fn break_even(self, host: f64) -> Option<Link> {
        if host <= self.least() {
            return None;
        }
        let (small, large) = (self.load.min(self.unload), self.load.max(self.unload));
        // Either the link limits one direction and the port the other, or the link limits both.
        let one = host - self.product - large;
        let crossing = if one <= large && one > small {
            one
        } else {
            (host - self.product) / 2.0
        };
        Some(Link(bits(self.n) / (crossing * 1e3)))
    }
}

/// Returns the rate of the link on which a stream of calls has the period `period` in microseconds, with one
/// operand in and one result out for each call. Returns `None` if the machine alone takes as long.
pub fn stream_break_even(n: usize, machine: f64, period: f64) -> Option<Link> {
    (machine < period).then(|| Link(bits(2 * n) / (period * 1e3)))
}
