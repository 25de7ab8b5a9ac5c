// SPDX-License-Identifier: Apache-2.0
//! Table 8 of the BASALISC paper on our vector machine, and the paper's statements about its units.

use std::sync::Arc;

use ringmill_compiler::bgv::{bootstrapping_for, one_bootstrap};
use ringmill_device::progress::Progress;
use ringmill_isa::mid;
use ringmill_machines::vector::description::Order;
use ringmill_machines::vector::{
    Alone, Counting, Description, VectorMachine, alone, resident, time, unit_multipliers,
};
use ringmill_machines::{Machine, SimOptions};
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure};
use ringmill_schemes::bgv::{BgvError, OpKey, ProcCache};
use ringmill_sim::calls_done;

use super::operations::procedures;
use crate::error::PaperError;
use crate::scope::{Record, fields, record};
use crate::value::Value;

/// Returns the description of a vector machine for a ring degree: the BASALISC paper's machine, or for a ring degree
/// that it does not take, one with another radix.
///
/// # Errors
/// Fails if the shipped description is refused.
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

/// Returns the fields of a machine's description, with the multipliers of its transform units.
///
/// # Errors
/// Fails if the description cannot be turned into fields.
pub fn described(d: &Description) -> Result<Record, PaperError> {
    let mut found = fields(d)?;
    let [butterfly, pre, post] = unit_multipliers(d.log_radix);
    found.extend(record([
        ("multipliers.butterfly", butterfly.into()),
        ("multipliers.pre", pre.into()),
        ("multipliers.post", post.into()),
        ("units", d.units().into()),
    ]));
    Ok(found)
}

/// Returns the micro-cycles of the operations of Table 8 of the BASALISC paper with operands in the buffer, and how the
/// buffer's ports and the units used them.
///
/// # Errors
/// Fails if the machine cannot run an operation.
pub fn operations(procedure: &Procedure) -> Result<Vec<Record>, PaperError> {
    let params = Arc::clone(procedure.params());
    let mut d = machine(params.log_n())?;
    let top = params.max_level();
    // The constant 3: the paper's 5 us belong to a product with a constant.
    let constant = OpKey::mul_scalar(top, 2, vec![3; top.primes()]);
    let constant = ProcCache::new(Arc::clone(&params)).get(&constant)?;
    let constant = Arc::new(constant.bind(&vec![3; constant.immediates.len()])?);
    let operations = procedures(&params)?.map(|(name, procedure)| match name {
        "plaintext_mul" => ("polynomial_mul", procedure),
        name => (name, procedure),
    });
    let operations = operations.into_iter().chain([("plaintext_mul", constant)]);
    let found = operations.map(|(name, procedure)| {
        d.schedule = Order::Overlapped;
        let ours = made(&d, &procedure)?;
        let (whole, tally) = time(&d, &ours.program, Counting::WHOLE)?;
        d.schedule = Order::InOrder;
        let in_order = made(&d, &procedure)?;
        let (m, spent) = (&d.micro, &ours.tally);
        let [port, sums] = ours.floors;
        Ok(record([
            ("operation", name.into()),
            ("micro_cycles", ours.micro.into()),
            ("whole", whole.into()),
            ("in_order", in_order.micro.into()),
            ("divider", m.buffer.into()),
            ("loads", ours.loads.into()),
            ("dry", (tally.dry / m.buffer).into()),
            ("port", port.into()),
            ("sums", sums.into()),
            ("reads", spent.reads.into()),
            ("writes", spent.writes.into()),
            ("stalls", (spent.stalled / m.buffer).into()),
            ("mac_micro", (spent.mac * m.mac).into()),
            (
                "transform_micro",
                (spent.transform * 2 * m.transform).into(),
            ),
        ]))
    });
    found.collect()
}

/// Returns the bootstrap of the parameter set `setup` in the form that the vector machine runs: every division is
/// modulo single primes, and keys come from memory.
///
/// # Errors
/// Fails if the set cannot be made for the machine.
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
/// instructions counted too. Returns the fields of the report, and the busy cycles of the units.
///
/// # Errors
/// Fails if the machine cannot be built or refuses the program.
pub fn simulate(
    description: Description,
    program: &mid::Verified,
    progress: &dyn Progress,
) -> Result<Record, PaperError> {
    let machine = VectorMachine::new(description)?;
    let mut tell = calls_done(progress, mid::stats::calls(program.program()));
    let options = SimOptions {
        progress: Some(&mut tell),
        ..SimOptions::default()
    };
    let report = machine.simulate(program, options)?;
    let busy = |unit: &str| {
        let found = report.utilisation.iter().find(|of| of.unit == unit);
        Value::from(found.map_or(0, |of| of.busy_cycles))
    };
    let mut found = fields(&report)?;
    found.extend(record([
        ("busy.mac", busy("multiply-accumulate")),
        ("busy.transform", busy("transform")),
    ]));
    Ok(found)
}

/// Runs one bootstrap of the parameter set on the vector machine (BASALISC paper, section 8.3.1).
///
/// # Errors
/// Fails if the bootstrap does not compile, or if the machine refuses it.
pub fn bootstrap(
    procedure: &Arc<Procedure>,
    progress: &dyn Progress,
) -> Result<Record, PaperError> {
    let compiled = one_bootstrap(procedure)?;
    simulate(
        machine(procedure.params().log_n())?,
        &compiled.program,
        progress,
    )
}
