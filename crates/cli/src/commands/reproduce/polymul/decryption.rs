//! Section 5: SEAL's BFV decryption with its half product on the machine, behind the link and the machine's own port.

use ringmill_machines::polymul::{ArrayOp, Description, Tables, WIDTH, table_cycles};

use super::super::figure::{Figure, How};
use super::super::paper::Polymul;
use super::cycles::{self, Cycles};
use super::{Parts, Rows};
use crate::error::CliError;

pub(super) const TABLE: &str = "Section 5: SEAL's BFV decryption with its half product offloaded";
pub(super) const NOTE: &str = "Section 5: a polynomial crosses the link (24 Gbit/s) and the machine's port \
(128 bits a cycle, 19.2 Gbit/s) at once, at the\nslower of the two; load, product and unload follow one another. In \
the steady state the secret key and the tables are there;\nthe first call brings them.\n";

/// The products and what they take of a decryption, in the steady state and the first time.
pub(super) fn rows(
    rows: &Rows,
    paper: &Polymul,
    machine: &Description,
    cycles: &mut Cycles,
    parts: &mut Parts,
) -> Result<Vec<Figure>, CliError> {
    let shape = machine.shape()?;
    let port = (shape.beat() as u32 * WIDTH) as f64 * paper.clock_mhz / 1e3;
    let link = paper.pcie_effective_gbps;
    let us = |cycles: u64| cycles as f64 / paper.clock_mhz;
    let mut found = vec![
        rows.of(
            How::Stated,
            TABLE,
            "all",
            "link",
            "Gbit/s",
            Some(link),
            machine.link.gbit_per_second,
        ),
        rows.of(How::Stated, TABLE, "all", "port", "Gbit/s", None, port),
    ];
    for seal in &paper.seal_decrypt {
        let case = format!("n = {}, K = {}", seal.n, seal.k);
        let taken = cycles.of(ArrayOp::Hpm, seal.n, seal.k)?;
        parts.done();
        // Words of 32 bits, whatever the modulus.
        let crossing = |words: usize| words as f64 * f64::from(WIDTH) / (link * 1e3);
        let (limb, product) = (crossing(seal.n), us(taken.array));
        let (load, unload) = (limb.max(us(taken.load)), limb.max(us(taken.unload)));
        let steady = load + product + unload;
        // Two beats with the modulus and constants before the twiddles, then the key, in evaluation form as SEAL keeps it.
        let words = seal.n + Tables::HEADER_BEATS * shape.beat();
        let tables = crossing(words).max(us(table_cycles(cycles::degree(shape, seal.n)?)));
        let first = steady + tables + load;
        let host = seal.software_decrypt_us - seal.software_multiply_us;
        let with_io = Some(seal.accelerator_multiply_with_io_us);
        let decrypt = Some(seal.decrypt_with_accelerator_us);
        let row = |metric: &str, paper, ours| rows.cycles(TABLE, &case, metric, "us", paper, ours);
        found.extend([
            row("HPM", Some(seal.accelerator_multiply_us), product),
            row("load, through link and port", None, load),
            row("unload, through port and link", None, unload),
            row("HPM with load and unload", with_io, steady),
            row("the same, first call", None, first),
            row("decryption (paper's host)", decrypt, host + steady),
            row("the same, first call", None, host + first),
            Figure {
                unit: String::new(),
                ..row(
                    "SEAL's own product over ours",
                    None,
                    seal.software_multiply_us / steady,
                )
            },
        ]);
    }
    Ok(found)
}
