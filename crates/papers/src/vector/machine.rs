// SPDX-License-Identifier: Apache-2.0
//! Table 8 on the machine, and what the text claims of its units.

use std::sync::Arc;

use ringmill_compiler::bgv::{bootstrapping_for, one_bootstrap};
use ringmill_device::progress::Progress;
use ringmill_device::report::MachineReport;
use ringmill_isa::mid;
use ringmill_machines::vector::description::Order;
use ringmill_machines::vector::{
    Alone, Counting, Description, VectorMachine, VectorUse, alone, resident, time,
};
use ringmill_machines::{Machine, SimOptions};
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure};
use ringmill_schemes::bgv::{BgvError, OpKey, ProcCache};
use ringmill_sim::calls_done;

use super::operations::procedures;
use super::paper::Vector;
use super::{claims, cycles, runs};
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str =
    "Table 8: operations of the set on the machine, operands in its buffer, keys in distant memory";
const BOOTSTRAP: &str = "Section 8.3: one bootstrap of the set, our digit removal";

/// The machine for a ring: the paper's, or, of rings below its least, one of a smaller radix.
pub fn machine(log_n: u8) -> Result<Description, PaperError> {
    let mut d = Description::read(Description::PAPER)?;
    if !d.log_n().contains(&log_n) {
        d.log_radix = log_n.div_ceil(2);
        d.log_lanes = d.log_radix + 1;
        d.buffer_words = 256 << (2 * d.log_radix);
    }
    Ok(d)
}

fn made(d: &Description, procedure: &mid::Procedure) -> Result<Alone, PaperError> {
    let resident = resident(d, procedure);
    Ok(alone(d, procedure, &resident, Counting::PAPER)?)
}

pub fn rows(paper: &Vector, procedure: &Procedure) -> Result<Vec<Row>, PaperError> {
    let params = Arc::clone(procedure.params());
    let mut d = machine(params.log_n())?;
    let us = |micro: u64| Ours::Is(d_us(micro), How::Model);
    let (mut found, mut split) = (Vec::new(), Vec::new());
    let top = params.max_level();
    // By 3: a product with a constant is what the paper's 5 us are.
    let residues = vec![3; top.primes()];
    let constant = OpKey::mul_scalar(top, 2, residues.clone());
    let constant = ProcCache::new(Arc::clone(&params)).get(&constant)?;
    let constant = Arc::new(constant.bind(&vec![3; constant.immediates.len()])?);
    let operations = procedures(&params)?.map(|(name, procedure)| match name {
        "plaintext_mul" => ("polynomial_mul", procedure),
        name => (name, procedure),
    });
    for (name, procedure) in operations.into_iter().chain([("plaintext_mul", constant)]) {
        let printed = paper.us.get(name).copied();
        d.schedule = Order::Overlapped;
        let ours = made(&d, &procedure)?;
        let row = |case, printed, micro| Row::new(TABLE, case, name, "us", printed, us(micro));
        found.push(row("paper's counting", printed, ours.micro));
        if name == "keyswitch" {
            split = cycles::of_procedure(name, &d, ours.micro, &ours.tally);
        }
        let (whole, tally) = time(&d, &ours.program, Counting::WHOLE)?;
        let dry = tally.dry / d.micro.buffer;
        let remark = format!("{} limbs loaded; queue dry for {dry} cycles", ours.loads);
        found.push(row("with distant memory", None, whole).remarked(remark));
        let floor = ours.floors[0].max(ours.floors[1]) * d.micro.buffer;
        let [port, sums] = ours.floors;
        let row = Row::new(
            TABLE,
            "floor",
            name,
            "us",
            None,
            Ours::Is(d_us(floor), How::Counted),
        );
        found.push(row.remarked(format!("port {port} cycles, sums {sums}")));
        d.schedule = Order::InOrder;
        let in_order = made(&d, &procedure)?;
        let row = Row::new(
            TABLE,
            "limb after limb",
            name,
            "us",
            printed,
            us(in_order.micro),
        );
        found.push(row);
    }
    found.extend(split);
    found.extend(claims::rows(paper, &d));
    Ok(found)
}

/// The bootstrap of the set as the machine runs it: divisions modulo primes alone, keys from memory.
pub fn bootstrapping(setup: &Bootstrapping) -> Result<Arc<Procedure>, PaperError> {
    let target = VectorMachine::new(machine(setup.params().log_n())?)?.target();
    let made = || -> Result<Procedure, BootstrapError> {
        let setup = bootstrapping_for(setup.clone(), &target)?;
        let maps = Maps::new(&setup, setup.shape())?;
        Procedure::new(setup, maps, false)
    };
    Ok(Arc::new(made().map_err(BgvError::from)?))
}

/// A whole program on the machine, by both countings.
pub fn simulate(
    description: Description,
    program: &mid::Verified,
    progress: &dyn Progress,
) -> Result<(MachineReport, VectorUse), PaperError> {
    let machine = VectorMachine::new(description)?;
    let mut tell = calls_done(progress, mid::stats::calls(program.program()));
    let options = SimOptions {
        progress: Some(&mut tell),
        ..SimOptions::default()
    };
    let report = machine.simulate(program, options)?;
    let own = report.own::<VectorUse>().cloned();
    let own = own
        .ok_or_else(|| PaperError::Internal("a vector machine's report is another's".to_owned()))?;
    Ok((report, own))
}

/// One bootstrap of the set (section 8.3.1); its milliseconds by both countings.
pub fn bootstrap(
    paper: &Vector,
    procedure: &Arc<Procedure>,
    progress: &dyn Progress,
) -> Result<(Vec<Row>, [f64; 2]), PaperError> {
    let compiled = one_bootstrap(procedure)?;
    let d = machine(procedure.params().log_n())?;
    let (report, own) = simulate(d, &compiled.program, progress)?;
    let ms = |cycles: u64| Ours::Is(cycles as f64 / (report.clock_mhz * 1e3), How::Model);
    let row =
        |case, printed, cycles| Row::new(BOOTSTRAP, case, "bootstrap", "ms", printed, ms(cycles));
    let printed = Some(paper.bootstrap_ms);
    let paper = row("paper's counting", printed, own.cycles_by_papers_counting);
    let floor = own.port_floor.max(own.mac_floor);
    let floor = Row::new(
        BOOTSTRAP,
        "floor",
        "bootstrap",
        "ms",
        None,
        Ours::Is(floor as f64 / (report.clock_mhz * 1e3), How::Counted),
    );
    let remark = format!(
        "{} calls, {} instructions; {} limbs loaded, {} spilled",
        report.calls, report.instructions, own.limbs_loaded, own.limbs_spilled
    );
    let whole = row("with distant memory", None, report.cycles).remarked(remark);
    let mut found = vec![paper, whole, floor];
    found.extend(runs::rows("bootstrap", &report, &own));
    found.extend(cycles::of_program("bootstrap", &report, &own));
    let ms = |cycles: u64| cycles as f64 / (report.clock_mhz * 1e3);
    Ok((
        found,
        [ms(own.cycles_by_papers_counting), ms(report.cycles)],
    ))
}

/// Microseconds of the micro-clock's cycles, 6 GHz.
fn d_us(micro: u64) -> f64 {
    micro as f64 / 6e3
}

/// What a reader must know of the table.
pub const NOTE: &str = "Table 8 on the machine: `paper's counting` leaves out the time of distant memory and of instructions, as the paper does; \
the key\nof a switch is 84 MB, which both channels bring in 1.7 ms. The set divides modulo primes alone there (Equation 6), as the \
multipliers\ntake no other modulus. `plaintext_mul` is a product with a constant, `polynomial_mul` one with a polynomial.\n";
