// SPDX-License-Identifier: Apache-2.0
//! Table 8 of the BASALISC paper on our vector machine, and the paper's statements about its units.

use std::sync::Arc;

use ringmill_compiler::bgv::{bootstrapping_for, one_bootstrap};
use ringmill_device::progress::Progress;
use ringmill_isa::mid;
use ringmill_machines::vector::description::Order;
use ringmill_machines::vector::{
    Alone, Counting, Description, VectorMachine, VectorUse, alone, resident, time, unit_multipliers,
};
use ringmill_machines::{Machine, SimOptions};
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure};
use ringmill_schemes::bgv::{BgvError, OpKey, ProcCache};
use ringmill_sim::calls_done;

use super::operations::procedures;
use super::runs::{self, Run};
use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::value::{Value, counted, model};

/// Returns the description of a vector machine for a ring degree: the BASALISC paper's machine, or for a smaller ring
/// one of a smaller radix.
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

/// Returns those fields of a machine's description that the tables in `data/vector.toml` print.
pub fn fields(d: &Description) -> Record {
    let m = &d.micro;
    let [butterfly, pre, post] = unit_multipliers(d.log_radix);
    let number = |count: u64| Value::number(count as f64);
    record([
        ("lanes", number(1 << d.log_lanes)),
        ("channels", number(d.distant.channels as u64)),
        ("gbyte", number(d.distant.gbyte)),
        ("gbyte_per_second", d.distant.gbyte_per_second.into()),
        ("latency_ns", d.distant.latency_ns.into()),
        ("link_gbit", d.link.gbit_per_second.into()),
        ("buffer_words", number(d.buffer_words)),
        ("registers", f64::from(d.registers).into()),
        ("clock_mhz", d.clock_mhz.into()),
        ("mac_clock_mhz", m.mac_clock_mhz.into()),
        ("mac_stages", number(d.stages.mac)),
        (
            "transform_mhz",
            (m.clock_mhz as f64 / m.transform as f64).into(),
        ),
        ("buffer_divider", number(m.buffer)),
        ("mac_divider", number(m.mac)),
        ("multipliers.butterfly", number(butterfly)),
        ("multipliers.pre", number(pre)),
        ("multipliers.post", number(post)),
        (
            "multipliers.all_units",
            number(d.units() * (butterfly + pre + post)),
        ),
    ])
}

/// Returns the microseconds of the operations of Table 8 of the BASALISC paper with operands in the buffer, and how the
/// key switch's cycles split among its parts.
pub fn operations(procedure: &Procedure) -> Result<(Vec<Record>, Record), PaperError> {
    let params = Arc::clone(procedure.params());
    let mut d = machine(params.log_n())?;
    let (mut found, mut split) = (Vec::new(), Record::new());
    let top = params.max_level();
    // The constant 3: the paper's 5 us belong to a product with a constant.
    let residues = vec![3; top.primes()];
    let constant = OpKey::mul_scalar(top, 2, residues.clone());
    let constant = ProcCache::new(Arc::clone(&params)).get(&constant)?;
    let constant = Arc::new(constant.bind(&vec![3; constant.immediates.len()])?);
    let operations = procedures(&params)?.map(|(name, procedure)| match name {
        "plaintext_mul" => ("polynomial_mul", procedure),
        name => (name, procedure),
    });
    // Microseconds of the micro-clock's cycles, at 6 GHz.
    let us = |micro: u64| micro as f64 / 6e3;
    let number = |count: u64| Value::number(count as f64);
    for (name, procedure) in operations.into_iter().chain([("plaintext_mul", constant)]) {
        d.schedule = Order::Overlapped;
        let ours = made(&d, &procedure)?;
        if name == "keyswitch" {
            split = runs::split(name, &d, ours.micro, &ours.tally);
        }
        let (whole, tally) = time(&d, &ours.program, Counting::WHOLE)?;
        let [port, sums] = ours.floors;
        d.schedule = Order::InOrder;
        let in_order = made(&d, &procedure)?;
        found.push(record([
            ("operation", name.into()),
            ("paper_us", model(us(ours.micro))),
            ("whole_us", model(us(whole))),
            ("loads", number(ours.loads)),
            ("dry", number(tally.dry / d.micro.buffer)),
            ("floor_us", counted(us(port.max(sums) * d.micro.buffer))),
            ("port", number(port)),
            ("sums", number(sums)),
            ("in_order_us", model(us(in_order.micro))),
        ]));
    }
    Ok((found, split))
}

/// Returns the bootstrap of the parameter set `setup` in the form that the vector machine runs: every division is
/// modulo single primes, and keys come from memory.
pub fn bootstrapping(setup: &Bootstrapping) -> Result<Arc<Procedure>, PaperError> {
    let target = VectorMachine::new(machine(setup.params().log_n())?)?.target();
    let made = || -> Result<Procedure, BootstrapError> {
        let setup = bootstrapping_for(setup.clone(), &target)?;
        let maps = Maps::new(&setup, setup.shape())?;
        Procedure::new(setup, maps, false)
    };
    Ok(Arc::new(made().map_err(BgvError::from)?))
}

/// Runs a whole program on the vector machine, once as the BASALISC paper counts time, and once with distant memory and
/// instructions counted too.
pub fn simulate(
    description: Description,
    program: &mid::Verified,
    progress: &dyn Progress,
) -> Result<Run, PaperError> {
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
    Ok(Run { report, own })
}

/// Runs one bootstrap of the parameter set (BASALISC paper, section 8.3.1) on the vector machine, once as that
/// paper counts time, and once with distant memory and instructions counted too.
pub fn bootstrap(
    procedure: &Arc<Procedure>,
    progress: &dyn Progress,
) -> Result<(Run, Record), PaperError> {
    let compiled = one_bootstrap(procedure)?;
    let d = machine(procedure.params().log_n())?;
    let run = simulate(d, &compiled.program, progress)?;
    let (report, own) = (&run.report, &run.own);
    let number = |count: u64| Value::number(count as f64);
    let found = record([
        ("paper_ms", model(run.ms(own.cycles_by_papers_counting))),
        ("whole_ms", model(run.ms(report.cycles))),
        ("floor_ms", run.ms(run.floor()).into()),
        ("calls", number(report.calls)),
        ("instructions", number(report.instructions)),
        ("loaded", number(own.limbs_loaded)),
        ("spilled", number(own.limbs_spilled)),
    ]);
    Ok((run, found))
}
