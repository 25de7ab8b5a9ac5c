// SPDX-License-Identifier: Apache-2.0
//! The link to the machine.

use ringmill_papers::internals::polymul::{Link, OneCall, stream_break_even};

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
