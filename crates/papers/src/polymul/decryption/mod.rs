// SPDX-License-Identifier: Apache-2.0
//! The decryption study of sections 4.1 and 5: BFV's decryption as SEAL does it, on our own ciphertexts and on SEAL's, with
//! its product c_1 s on the machine. Host, link and machine apart; and what else goes through the machine.
//!
//! In this study alone a secret key goes to a device, as the paper has it. Devices that programs run on never get one.

mod beyond;
mod card;
mod homomorphic;
pub(crate) mod host;
pub(crate) mod link;
pub(crate) mod sample;
pub(crate) mod seal;

use std::sync::Arc;

use ringmill_machines::polymul::{ArrayOp, Description, Tables};
use ringmill_runtime::shown::Parts;

use super::paper::{Polymul, SealDecrypt};
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};
use card::{Card, Product, Work};
use link::{Link, OneCall, stream_break_even};
use sample::{Sample, Set};
use seal::Seal;

const HOST: &str = "Table 3: a decryption on one thread of the host";
const CALL: &str = "Section 5: c1 s on the machine, one call after another";
const OFFLOADED: &str = "Section 5: a decryption with c1 s on the machine";
const SPEED_UP: &str = "Section 5: speed-up";
const STREAM: &str = "Section 4.1: a stream of decryptions, host, link and machine at work at once";
const BREAK_EVEN: &str = "The slowest link on which offloading c1 s pays";
const SEALS: &str = "SEAL's own ciphertext files";

/// Products of the stream whose period is taken.
const STREAMED: u32 = 8;
/// Why a figure that stands on [`Seal::rest`] is missing.
const NOISY: &str = "SEAL's transforms alone were timed longer than its decryption: the processor was shared; run again";

/// Jobs of a set on the machine: ours (first, steady, stream) and SEAL's.
const CALLS: u64 = 4;

/// How our figures come about.
#[derive(Clone, Copy)]
pub(super) struct Study<'a> {
    pub paper: &'a Polymul,
    pub machine: &'a Description,
    /// The RTL's tools; without them cycles are the model's.
    pub hdl: Option<&'a ringmill_hdl::Hdl>,
    /// Decryptions that a host's time is the mean of.
    pub runs: u32,
}

impl Study<'_> {
    /// Parts of the work that take about as long as each other.
    pub fn parts(self) -> u64 {
        CALLS * self.paper.seal_decrypt.len() as u64 + beyond::PARTS + 1
    }

    /// Every row, table by table.
    pub fn rows(self, parts: &mut Parts<'_>) -> Result<Vec<Row>, PaperError> {
        let printed = &self.paper.seal_decrypt;
        let sets = printed.iter().map(|s| Set { n: s.n, bits: s.k });
        let sets: Vec<Set> = sets.collect();
        let seal = seal::run(&sets, self.runs)?;
        let mut card = Card::new(self.machine.shape()?, self.hdl)?;
        let mut rows = Vec::new();
        for (at, (&set, printed)) in sets.iter().zip(printed).enumerate() {
            let theirs = seal.as_ref().map(|found| found.get(at));
            let figures = self.of_set(set, &mut card, parts)?;
            let table = SetRows {
                study: self,
                case: format!("n = {}, K = {}", set.n, set.bits),
                printed,
                figures,
            };
            let theirs = match theirs {
                Ok(Some(found)) => {
                    table.figures.seals(found, &mut card)?;
                    parts.done();
                    Ok(found)
                }
                Ok(None) => Err("SEAL printed fewer sets"),
                Err(why) => Err(why.as_str()),
            };
            rows.extend(table.rows(theirs));
        }
        // Table by table, not set by set.
        let order = [HOST, CALL, OFFLOADED, SPEED_UP, STREAM, BREAK_EVEN, SEALS];
        rows.sort_by_key(|row| order.iter().position(|&table| table == row.table));
        rows.extend(beyond::rows(self, &mut card, parts)?);
        rows.extend(homomorphic::rows(self)?);
        parts.done();
        Ok(rows)
    }

    fn us(self, cycles: f64) -> f64 {
        cycles / self.paper.clock_mhz
    }

    fn link(self) -> Link {
        Link(self.paper.pcie_effective_gbps)
    }

    /// How cycles come about.
    fn counted(self, value: f64) -> Ours {
        let how = match self.hdl {
            Some(_) => How::Rtl,
            None => How::Model,
        };
        Ours::Is(value, how)
    }

    /// A row of cycles, or of what follows from them, with the simulator's version.
    fn of_cycles(self, row: Row) -> Row {
        match self.hdl {
            Some(hdl) => row.remarked(format!("Verilator {}", hdl.tools().versions().verilator)),
            None => row,
        }
    }

    /// Our ciphertext of a set on host and machine.
    fn of_set(
        self,
        set: Set,
        card: &mut Card,
        parts: &mut Parts<'_>,
    ) -> Result<Figures, PaperError> {
        let sample = Sample::ours(set)?;
        let host = host::measure(&sample, self.runs)?;
        let tables = Arc::new(Tables::new(card.shape(), set.n, set.prime()?)?);
        let work = work(&sample, &tables);
        card.forget();
        let first = card.call(&work, &[PRODUCT])?;
        parts.done();
        let steady = card.call(&work, &[PRODUCT])?;
        parts.done();
        let stream = card.call(&work, &[PRODUCT; STREAMED as usize])?;
        parts.done();
        for product in first.products.iter().chain(&steady.products) {
            host::finish(&sample, product)?;
        }
        let us = |name: &str| self.us(steady.of(name).iter().sum::<u64>() as f64);
        Ok(Figures {
            host,
            call: OneCall {
                n: set.n,
                load: us("LOAD"),
                product: us("HPM"),
                unload: us("UNLOAD"),
            },
            tables_us: self.us(first.of("TABLES").iter().sum::<u64>() as f64),
            steady: steady.cycles(),
            first: first.cycles(),
            period: stream.period(),
            tables,
        })
    }
}

/// c_1 times the key, which lies there from the first call on.
const PRODUCT: Product = Product {
    op: ArrayOp::Hpm,
    modulus: 0,
    a: 1,
    b: 0,
};

fn work<'a>(sample: &'a Sample, tables: &Arc<Tables>) -> Work<'a> {
    Work {
        tables: vec![Arc::clone(tables)],
        operands: vec![&sample.key, &sample.c1],
    }
}

/// What was found of a set.
struct Figures {
    host: host::Parts,
    /// Of the steady state.
    call: OneCall,
    tables_us: f64,
    /// Cycles from the first command to the end of the last.
    steady: u64,
    first: u64,
    /// Cycles from result to result in a stream.
    period: f64,
    tables: Arc<Tables>,
}

impl Figures {
    /// Decrypts SEAL's ciphertext with SEAL's key, by our host, and by it with the machine's product.
    fn seals(&self, found: &Seal, card: &mut Card) -> Result<(), PaperError> {
        host::measure(&found.sample, 1)?;
        card.forget();
        let call = card.call(&work(&found.sample, &self.tables), &[PRODUCT])?;
        let mut products = call.products.iter();
        products.try_for_each(|product| host::finish(&found.sample, product))
    }
}

/// The rows of one set.
struct SetRows<'a> {
    study: Study<'a>,
    case: String,
    printed: &'a SealDecrypt,
    figures: Figures,
}

impl SetRows<'_> {
    fn rows(&self, seal: Result<&Seal, &str>) -> Vec<Row> {
        [
            self.host(seal),
            self.call(),
            self.offloaded(seal),
            self.speed_up(seal),
            self.stream(),
            self.break_even(seal),
            self.seals(seal),
        ]
        .concat()
    }

    fn row(
        &self,
        table: &'static str,
        metric: &str,
        unit: &'static str,
        printed: Option<f64>,
        ours: Ours,
    ) -> Row {
        Row::new(table, self.case.as_str(), metric, unit, printed, ours)
    }

    /// A row that SEAL's own times are needed for.
    fn with_seal(
        &self,
        row: Row,
        seal: Result<&Seal, &str>,
        figure: impl Fn(&Seal) -> Option<f64>,
        none: &str,
    ) -> Row {
        let (ours, remark) = match seal {
            Ok(seal) => match figure(seal) {
                Some(figure) => (Ours::Is(figure, How::Measured), seal.version.as_str()),
                None => (Ours::None, none),
            },
            Err(why) => (Ours::NotMeasured, why),
        };
        Row { ours, ..row }.remarked(remark)
    }

    fn host(&self, seal: Result<&Seal, &str>) -> Vec<Row> {
        let (printed, host) = (self.printed, self.figures.host);
        let row = |metric: &str, printed: Option<f64>, ours: f64| {
            let ours = Ours::Is(ours, How::Measured);
            self.row(HOST, metric, "us", printed, ours)
        };
        let whole = Some(printed.software_decrypt_us);
        let theirs = |metric: &str, printed: Option<f64>| {
            self.row(HOST, metric, "us", printed, Ours::NotMeasured)
        };
        vec![
            row(
                "NTT_MULTIPLY",
                Some(printed.software_multiply_us),
                host.product,
            ),
            row("FASTBCONV", Some(printed.fastbconv_us), host.extension),
            row("others", Some(printed.others_us), host.others),
            row("decryption", whole, host.whole()),
            self.with_seal(
                theirs("SEAL here, decryption", whole),
                seal,
                |seal| Some(seal.decrypt),
                "",
            ),
            self.with_seal(
                theirs("SEAL here, NTT and INTT of c1", None),
                seal,
                |seal| Some(seal.transforms),
                "",
            ),
        ]
    }

    fn call(&self) -> Vec<Row> {
        let (printed, figures, link) = (self.printed, &self.figures, self.study.link());
        let call = figures.call;
        let row = |metric: &str, unit, printed: Option<f64>, ours: f64| {
            let ours = self.study.counted(ours);
            self.study
                .of_cycles(self.row(CALL, metric, unit, printed, ours))
        };
        let transfer = self.row(
            CALL,
            "a polynomial on the link",
            "us",
            Some(printed.transfer_us),
            Ours::Is(link.us(call.n), How::Stated),
        );
        vec![
            row(
                "HPM",
                "us",
                Some(printed.accelerator_multiply_us),
                call.product,
            ),
            row("load, machine's port", "us", None, call.load),
            row("unload, machine's port", "us", None, call.unload),
            match printed.transfer_should_be_us {
                Some(should_be) => transfer.but(should_be),
                None => transfer,
            },
            row(
                "with load and unload",
                "us",
                Some(printed.accelerator_multiply_with_io_us),
                call.through(link),
            ),
            row("the same, first call", "us", None, self.first_us()),
            row(
                "machine, steady call",
                "cycles",
                None,
                figures.steady as f64,
            ),
            row("machine, first call", "cycles", None, figures.first as f64),
        ]
    }

    /// The first call brings the tables and the key too.
    fn first_us(&self) -> f64 {
        let (call, link) = (self.figures.call, self.study.link());
        let words = call.n + Tables::HEADER_BEATS * self.study.machine.beat;
        let tables = link.us(words).max(self.figures.tables_us);
        call.through(link) + tables + link.us(call.n).max(call.load)
    }

    fn offloaded(&self, seal: Result<&Seal, &str>) -> Vec<Row> {
        let (printed, link) = (self.printed, self.study.link());
        let (steady, first) = (self.figures.call.through(link), self.first_us());
        let rest = self.figures.host.rest();
        let measured = |metric: &str, ours: f64| {
            let ours = Ours::Is(ours, How::Measured);
            self.row(OFFLOADED, metric, "us", None, ours)
        };
        let theirs = printed.software_decrypt_us - printed.software_multiply_us;
        let on_their_host = |metric: &str, paper, ours: f64| {
            let ours = self.study.counted(ours);
            self.study
                .of_cycles(self.row(OFFLOADED, metric, "us", paper, ours))
        };
        let row = self.row(OFFLOADED, "SEAL here", "us", None, Ours::NotMeasured);
        vec![
            on_their_host(
                "paper's host",
                Some(printed.decrypt_with_accelerator_us),
                theirs + steady,
            ),
            on_their_host("paper's host, first call", None, theirs + first),
            measured("our host: FASTBCONV and others", rest),
            measured("our host, link and machine", rest + steady),
            measured("the same, first call", rest + first),
            self.with_seal(row, seal, |seal| Some(seal.rest()? + steady), NOISY),
        ]
    }

    fn speed_up(&self, seal: Result<&Seal, &str>) -> Vec<Row> {
        let (printed, host, call) = (self.printed, self.figures.host, self.figures.call);
        let steady = call.through(self.study.link());
        let software = printed.software_multiply_us;
        let theirs = printed.software_decrypt_us;
        let product = Some(software / printed.accelerator_multiply_us);
        let with_io = Some(software / printed.accelerator_multiply_with_io_us);
        let whole = Some(theirs / printed.decrypt_with_accelerator_us);
        let counted = |metric: &str, paper, ours: f64| {
            let ours = self.study.counted(ours);
            self.study
                .of_cycles(self.row(SPEED_UP, metric, "", paper, ours))
        };
        let measured = |metric: &str, paper, ours: f64| {
            self.row(SPEED_UP, metric, "", paper, Ours::Is(ours, How::Measured))
        };
        let not_yet =
            |metric: &str, paper| self.row(SPEED_UP, metric, "", paper, Ours::NotMeasured);
        vec![
            counted(
                "paper's host, product without I/O",
                product,
                software / call.product,
            ),
            counted("paper's host, product with I/O", with_io, software / steady),
            counted(
                "paper's host, decryption with I/O",
                whole,
                theirs / (theirs - software + steady),
            ),
            measured(
                "our host, product without I/O",
                product,
                host.product / call.product,
            ),
            measured("our host, product with I/O", with_io, host.product / steady),
            measured(
                "our host, decryption without I/O",
                None,
                host.whole() / (host.rest() + call.product),
            ),
            measured(
                "our host, decryption with I/O",
                whole,
                host.whole() / (host.rest() + steady),
            ),
            self.with_seal(
                not_yet("SEAL here, product without I/O", product),
                seal,
                |seal| Some(seal.transforms / call.product),
                "",
            ),
            self.with_seal(
                not_yet("SEAL here, product with I/O", with_io),
                seal,
                |seal| Some(seal.transforms / steady),
                "",
            ),
            self.with_seal(
                not_yet("SEAL here, decryption with I/O", whole),
                seal,
                |seal| Some(seal.decrypt / (seal.rest()? + steady)),
                NOISY,
            ),
        ]
    }

    /// Decryptions a second of each that works, and of the slowest.
    fn stream(&self) -> Vec<Row> {
        let (study, figures) = (self.study, &self.figures);
        let link = study.link();
        let (inputs, both) = (
            1e6 / link.us(figures.call.n),
            1e6 / link.us(2 * figures.call.n),
        );
        let machine = 1e6 / study.us(figures.period);
        let host = 1e6 / figures.host.rest();
        let printed = Some(self.printed.inputs_per_second);
        let row = |metric: &str, paper, ours: Ours| self.row(STREAM, metric, "1/s", paper, ours);
        let stated = |ours: f64| Ours::Is(ours, How::Stated);
        let measured = |ours: f64| Ours::Is(ours, How::Measured);
        vec![
            row("link, inputs alone", printed, stated(inputs)),
            row("link, inputs and results", None, stated(both)),
            study.of_cycles(row("machine", None, study.counted(machine))),
            study.of_cycles(row(
                "link and machine",
                printed,
                study.counted(machine.min(both)),
            )),
            row("our host: FASTBCONV and others", None, measured(host)),
            row(
                "host, link and machine",
                printed,
                measured(host.min(machine).min(both)),
            ),
            row("our host alone", None, measured(1e6 / figures.host.whole())),
        ]
    }

    fn break_even(&self, seal: Result<&Seal, &str>) -> Vec<Row> {
        let (call, host) = (self.figures.call, self.figures.host);
        let least = format!(
            "load, product and unload take {:.2} us on any link",
            call.least()
        );
        let row = |metric: &str| self.row(BREAK_EVEN, metric, "Gbit/s", None, Ours::None);
        let given = |metric: &str, link: Option<Link>, how, none: &str| match link {
            Some(Link(speed)) => Row {
                ours: Ours::Is(speed, how),
                ..row(metric)
            },
            None => row(metric).remarked(none),
        };
        let period = self.study.us(self.figures.period);
        let stream = stream_break_even(call.n, period, host.whole());
        let Ours::Is(_, counted) = self.study.counted(0.0) else {
            return Vec::new();
        };
        vec![
            given(
                "one call, paper's host",
                call.break_even(self.printed.software_multiply_us),
                counted,
                &least,
            ),
            self.with_seal(
                row("one call, SEAL here"),
                seal,
                |seal| call.break_even(seal.transforms).map(|Link(speed)| speed),
                &least,
            ),
            given(
                "one call, our host",
                call.break_even(host.product),
                How::Measured,
                &format!("{least}, our host's product {:.2} us", host.product),
            ),
            given(
                "a stream, our host",
                stream,
                How::Measured,
                &format!(
                    "the machine's period is {period:.2} us, our host's decryption {:.2} us",
                    host.whole()
                ),
            ),
        ]
    }

    fn seals(&self, seal: Result<&Seal, &str>) -> Vec<Row> {
        let row = |metric: &str| self.row(SEALS, metric, "", None, Ours::NotMeasured);
        let n = self.figures.call.n as f64;
        [
            "coefficients decrypted as SEAL does, our host",
            "the same with the machine's c1 s",
        ]
        .map(|metric| self.with_seal(row(metric), seal, |_| Some(n), ""))
        .to_vec()
    }
}

/// What a reader must know of the figures.
pub(super) const NOTE: &str = "The decryption study: t = 256 as coefficients, since no prime of 8 bits is 1 mod 2n; encrypted \
with the secret key, since a public\nkey's noise exceeds what (1024, 14) holds. A polynomial crosses the link (24 Gbit/s, half \
duplex) and the machine's port (128 bits a\ncycle, 19.2 Gbit/s) at once, at the slower of the two; load, product and unload \
follow one another, and in a stream they overlap, with\nqueues between link and machine. In the steady state the secret key and \
the tables are there; the first call brings them. This study\nalone has a secret key on a machine, as the paper does: programs \
never send one. Host times are means, one thread; SEAL's\nNTT_MULTIPLY cannot be taken apart from outside, so its NTT and INTT \
stand for it. The paper's own errors: 2.67 us of a polynomial of\ndegree 2048 is 2.73; 732,420 and 366,210 count what comes in \
and not what goes back.\n";
