// SPDX-License-Identifier: Apache-2.0
//! Runs a program on a card, stage after stage: the host's part on the CPU's kernels, the co-processors' parts on their
//! engines.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use ringmill_cpu::{Cpu, CpuStats};
use ringmill_device::pool::{OutputLimb, limb_modulus};
use ringmill_device::progress::{Progress, Silent, Step};
use ringmill_device::report::{EndToEnd, Own};
use ringmill_device::trace::TraceSink;
use ringmill_device::{Bindings, DeviceError, Limb, Outcome, SeedExpansion};
use ringmill_isa::mid::{Called, LimbId, Procedure, ValueId, ValueType, Verified, stats};
use ringmill_limits::Watch;
use ringmill_machines::coprocessor::{Engine, HostTimes, OffloadTimes, OffloadUse, Turn, Work};
use ringmill_math::Residues;

use super::malformed;
use super::segment::{Segment, Segments};
use crate::RunError;

/// The residues of a limb during a run: a limb that the caller passed in, or one that the run computed.
#[derive(Clone)]
enum Held<'a> {
    Bound(&'a [u64]),
    Made(Arc<[u64]>),
}

impl<'a> From<Cow<'a, [u64]>> for Held<'a> {
    fn from(residues: Cow<'a, [u64]>) -> Self {
        match residues {
            Cow::Borrowed(residues) => Self::Bound(residues),
            Cow::Owned(residues) => Self::Made(residues.into()),
        }
    }
}

impl Held<'_> {
    fn residues(&self) -> &[u64] {
        match self {
            Self::Bound(residues) => residues,
            Self::Made(residues) => residues,
        }
    }
}

/// The state of a program's run on a card: the co-processors' engines or models, and the measured times.
pub struct Run<'a> {
    work: Work<'a>,
    cpu: &'a Cpu,
    /// The RTL engine of each co-processor. `None` if the CPU's kernels compute their part, and the models time it.
    engines: Option<Vec<Box<dyn Engine>>>,
    trace: Option<&'a mut dyn TraceSink>,
    /// The measured seconds of the host's part of the run. `replaced_seconds` is the time that the CPU alone takes
    /// for the part that the co-processors compute.
    host_seconds: f64,
    replaced_seconds: f64,
    watch: &'a Watch,
}

type Values<'a> = HashMap<ValueId, Held<'a>>;

impl<'a> Run<'a> {
    pub fn new(
        work: Work<'a>,
        cpu: &'a Cpu,
        engines: Option<Vec<Box<dyn Engine>>>,
        trace: Option<&'a mut dyn TraceSink>,
        watch: &'a Watch,
    ) -> Self {
        Self {
            work,
            cpu,
            engines,
            trace,
            host_seconds: 0.0,
            replaced_seconds: 0.0,
            watch,
        }
    }

    /// Runs a verified program on the card, with checked bindings of its inputs. `segments` has the segments of
    /// each of the program's procedures.
    pub fn program(
        mut self,
        program: &Verified,
        segments: &[Arc<Segments>],
        bindings: &Bindings<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, DeviceError> {
        let begin = Instant::now();
        // The program's inputs, and the limbs that calls computed and later calls read.
        let inputs = (0..).map(LimbId).zip(&bindings.limbs);
        let mut limbs: HashMap<LimbId, Held<'_>> = inputs
            .map(|(limb, bound)| (limb, Held::from(bound.residues())))
            .collect();
        let total = stats::calls(program.program());
        let mut stream = program.stream();
        while let Some(called) = stream.next_call()? {
            let at = called.call.proc as usize;
            let (Some(procedure), Some(parts)) = (program.bound_procs().get(at), segments.get(at))
            else {
                return Err(malformed("a call of no procedure"));
            };
            self.call(procedure, parts, &called, &bindings.seeds, &mut limbs)?;
            for limb in &called.dies {
                limbs.remove(limb);
            }
            let (done, elapsed) = (called.number + 1, begin.elapsed());
            let left = total.saturating_sub(done) as f64 / done as f64;
            progress.step(Step {
                stage: "running",
                done,
                total,
                elapsed,
                remaining: Some(elapsed.mul_f64(left)),
            });
        }
        let output = |(limb, &ty): (&LimbId, &ValueType)| match limbs.get(limb) {
            Some(held) => {
                let modulus = limb_modulus(ty, &program.moduli);
                Ok(OutputLimb::of(Residues::Wide(held.residues()), modulus))
            }
            None => Err(malformed("an output is not defined")),
        };
        let names = stream.outputs()?;
        let outputs = names.iter().zip(&program.types().outputs).map(output);
        let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
        let alone = self.alone(program, bindings)?;
        self.outcome(&names, outputs, alone)
    }

    /// Measures the seconds of the whole program on the CPU alone. The first run, which plans the procedures, does not
    /// count.
    fn alone(&self, program: &Verified, bindings: &Bindings<'_>) -> Result<CpuStats, DeviceError> {
        self.cpu
            .execute_watched(program, bindings, &Silent, None, self.watch)?;
        Ok(self
            .cpu
            .execute_watched(program, bindings, &Silent, None, self.watch)?
            .1)
    }

    fn outcome(
        self,
        names: &[LimbId],
        outputs: Vec<OutputLimb>,
        alone: CpuStats,
    ) -> Result<Outcome, DeviceError> {
        let how = if self.engines.is_some() {
            "RTL"
        } else {
            "model"
        };
        let mut report = self.work.report(how, names);
        let host = HostTimes {
            threads: alone.threads,
            host_seconds: self.host_seconds,
            replaced_seconds: self.replaced_seconds,
            alone_seconds: alone.seconds,
        };
        let times = OffloadTimes::new(host, &report);
        report.end_to_end =
            EndToEnd::offload(Some(host.host_seconds), &report.link, report.seconds);
        let offload = report.own::<OffloadUse>().cloned();
        let offload = offload.ok_or_else(|| malformed("a report of no offload"))?;
        report.own = Own::new(OffloadUse {
            measured: Some(times),
            ..offload
        });
        Ok(Outcome {
            outputs: Some(outputs),
            statistics: Some(Arc::new(alone)),
            machine: Some(report),
        })
    }

    fn call<'b>(
        &mut self,
        procedure: &Procedure,
        parts: &Segments,
        called: &Called,
        seeds: &[Arc<SeedExpansion>],
        limbs: &mut HashMap<LimbId, Held<'b>>,
    ) -> Result<(), DeviceError> {
        self.watch.check()?;
        let call = &called.call;
        let malformed = |what: &str| malformed(&format!("{}: {what}", procedure.name));
        let seeds = call.seeds.iter().map(|&at| seeds.get(at as usize).cloned());
        let seeds: Option<Vec<_>> = seeds.collect();
        let seeds = seeds.ok_or_else(|| malformed("a seed is not bound"))?;
        let mut values: Values<'b> = HashMap::new();
        for (param, limb) in procedure.params.iter().zip(&call.args) {
            let held = limbs.get(limb).cloned();
            let held = held.ok_or_else(|| malformed("an argument is not defined"))?;
            values.insert(param.value, held);
        }
        self.work.begin(procedure, &parts.partition, call);
        for number in 0..parts.stages.len() {
            self.stage(procedure, parts, number, &seeds, &mut values)?;
        }
        self.work.end(procedure, &parts.partition, called);
        for (result, limb) in procedure.results.iter().zip(&call.results) {
            let held = values.get(&parts.partition.real(result.value)).cloned();
            let held = held.ok_or_else(|| malformed("a result is not defined"))?;
            limbs.insert(*limb, held);
        }
        Ok(())
    }

    fn stage<'b>(
        &mut self,
        procedure: &Procedure,
        parts: &Segments,
        number: usize,
        seeds: &[Arc<SeedExpansion>],
        values: &mut Values<'b>,
    ) -> Result<(), DeviceError> {
        let Some(segments) = parts.stages.get(number) else {
            return Ok(());
        };
        if let Some(host) = &segments.host {
            let (made, seconds) = self.on_cpu(host, seeds, values)?;
            self.host_seconds += seconds;
            values.extend(made);
        }
        // The CPU computes this part, too: its time is the value of the co-processors.
        let mut expected = Values::new();
        if let Some(offloaded) = &segments.offloaded {
            let (made, seconds) = self.on_cpu(offloaded, seeds, values)?;
            self.replaced_seconds += seconds;
            expected = made;
        }
        let partition = &parts.partition;
        let mut made: Vec<(ValueId, Vec<u64>)> = Vec::new();
        let engines = &mut self.engines;
        let mut run = |turn: Turn<'_>| -> Result<_, DeviceError> {
            let Some(engines) = engines else {
                return Ok(turn.model());
            };
            let engine = engines.get_mut(turn.unit);
            let engine = engine.ok_or_else(|| malformed("a co-processor without RTL"))?;
            let limb = |value| values.get(&partition.real(value)).map(Held::residues);
            let executed = engine.turn(&turn, &limb)?;
            made.extend(executed.limbs);
            Ok(executed.schedule)
        };
        let trace = self.trace.as_deref_mut();
        self.work
            .stage(procedure, partition, number, &mut run, trace)?;
        for (value, residues) in &made {
            let want = expected.get(value).map(Held::residues);
            if want.is_some_and(|want| *want != residues[..]) {
                return Err(RunError::RtlDiffers {
                    procedure: procedure.name.clone(),
                    value: value.0,
                }
                .into());
            }
        }
        // A co-processor without RTL has the kernels' results; the RTL's results replace the others.
        values.extend(expected);
        let made = made.into_iter();
        values.extend(made.map(|(value, residues)| (value, Held::Made(residues.into()))));
        Ok(())
    }

    /// Runs a segment on the CPU's kernels. Returns the limbs that it computes for other segments, and the seconds
    /// that it took. A segment that never ran before runs twice, so that its time does not include planning.
    fn on_cpu<'b>(
        &self,
        segment: &Segment,
        seeds: &[Arc<SeedExpansion>],
        values: &Values<'b>,
    ) -> Result<(Values<'b>, f64), DeviceError> {
        let program = &segment.program;
        let mut limbs = Vec::with_capacity(segment.inputs.len());
        let head = program.program();
        for (value, input) in segment.inputs.iter().zip(&head.inputs) {
            let modulus = input.ty.limb().map(|ty| usize::from(ty.modulus.0));
            let modulus = modulus.and_then(|at| head.moduli.get(at));
            let (Some(held), Some(&modulus)) = (values.get(value), modulus) else {
                return Err(malformed(&format!("value %{} is not defined", value.0)));
            };
            // Bound limbs were checked. The others were computed by exact kernels, or compared with them.
            limbs.push(Limb::scanned(held.residues(), modulus));
        }
        let bindings = Bindings {
            limbs,
            seeds: seeds.to_vec(),
        };
        if segment.is_cold() {
            self.cpu
                .execute_watched(program, &bindings, &Silent, None, self.watch)?;
        }
        let (outputs, stats) = self
            .cpu
            .execute_watched(program, &bindings, &Silent, None, self.watch)?;
        let made = segment.outputs.iter().zip(outputs);
        let made = made.map(|(&value, limb)| (value, Held::Made(limb.wide().into())));
        Ok((made.collect(), stats.seconds))
    }
}
