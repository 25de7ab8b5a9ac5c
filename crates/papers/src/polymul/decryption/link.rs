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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_link_takes_what_it_says() {
        let link = Link(24.0);
        // Section 4.1's 732,420 and 366,210 inputs a second; section 5's 1.3 us, and 2.73 where it prints 2.67.
        assert_eq!((1e6 / link.us(1024)) as u64, 732_421);
        assert_eq!((1e6 / link.us(2048)) as u64, 366_210);
        assert!((link.us(1024) - 1.365).abs() < 1e-3 && (link.us(2048) - 2.731).abs() < 1e-3);
        // With the 7.5 us of the paper's product and no port in the way: its 12.96 us.
        let call = OneCall {
            n: 2048,
            load: 0.0,
            product: 7.5,
            unload: 0.0,
        };
        assert!((call.through(link) - 12.96).abs() < 2e-3);
    }

    #[test]
    fn at_break_even_the_call_takes_as_long_as_the_host() {
        let call = OneCall {
            n: 1024,
            load: 1.74,
            product: 2.65,
            unload: 1.76,
        };
        for host in [6.16, 6.17, 7.0, 28.8] {
            let link = call.break_even(host).unwrap();
            assert!((call.through(link) - host).abs() < 1e-9, "{host}");
            assert!(call.through(Link(link.0 * 0.9)) > host, "{host}");
        }
        assert!(call.break_even(6.14).is_none() && call.break_even(3.0).is_none());
        let link = stream_break_even(1024, 3.0, 10.0).unwrap();
        assert!((2.0 * link.us(1024) - 10.0).abs() < 1e-9);
        assert!(stream_break_even(1024, 3.0, 3.0).is_none());
    }
}
