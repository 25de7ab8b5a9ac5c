// SPDX-License-Identifier: Apache-2.0
//! The entry to the crate: RTL sources, tools and cache together, with a method for each task.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::origin::Origin;
use crate::watch::{Stage, Watch};
use crate::{
    Area, Effort, Family, HdlError, Levels, Model, Part, Placement, Proof, Sources, Synthesis,
    Tools, Top,
};
use crate::{area, build, build::BuildOptions, instances, place, prove, synth, timing};

/// RTL sources, tools, and a cache directory for the tools' results.
#[derive(Clone, Debug)]
pub struct Hdl {
    pub(crate) tools: Tools,
    pub(crate) sources: Sources,
    pub(crate) cache: PathBuf,
    pub(crate) watch: Watch,
}

impl Hdl {
    /// Takes the sources below `roots`, and caches models in `cache`.
    pub fn new(tools: Tools, roots: &[&Path], cache: PathBuf) -> Result<Self, HdlError> {
        Ok(Self {
            tools,
            sources: Sources::read(roots)?,
            cache,
            watch: Watch::default(),
        })
    }

    /// Finds sources, tools and cache of the checkout at or above `start`: its `rtl`, the tools of `$RINGMILL_VENV` or
    /// its `.venv`, and a cache below `$CARGO_TARGET_DIR` or its `target`. Without a checkout it takes the installed
    /// package ([`install`](crate::install)): its sources, the tools of `$RINGMILL_VENV` or its environment, and a
    /// cache below `$XDG_CACHE_HOME` or `~/.cache`.
    pub fn find(start: &Path) -> Result<Self, HdlError> {
        let origin = Origin::find(start)?;
        Ok(Self {
            tools: origin.tools()?,
            sources: origin.sources()?,
            cache: origin.cache()?,
            watch: Watch::default(),
        })
    }

    /// Returns the same tools and cache with the sources of the papers' comparisons in addition to the hardware. They
    /// come from the checkout at or above `start`, or from the installed package.
    pub fn with_peers(&self, start: &Path) -> Result<Self, HdlError> {
        Ok(Self {
            sources: Origin::find(start)?.sources_with_peers()?,
            ..self.clone()
        })
    }

    /// Returns the same tools and cache with other sources.
    pub fn with_sources(&self, roots: &[&Path]) -> Result<Self, HdlError> {
        Ok(Self {
            sources: Sources::read(roots)?,
            ..self.clone()
        })
    }

    /// Makes `watch` receive each stage of synthesis, proof, placement and routing.
    pub fn watched(mut self, watch: impl Fn(&Stage) + Send + Sync + 'static) -> Self {
        self.watch = Watch::new(watch);
        self
    }

    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Returns a model of `top`, built unless the cache has it. Every register and memory word starts at a random value
    /// (from a fixed seed; [`Model::restart`] takes another). So a result that depends on a register without reset
    /// shows.
    pub fn model(&self, top: &Top, options: BuildOptions) -> Result<Model, HdlError> {
        Model::load(&self.build(top, options)?)
    }

    /// Builds the shared object of a model unless the cache has it, and returns its path.
    pub fn build(&self, top: &Top, options: BuildOptions) -> Result<PathBuf, HdlError> {
        build::build(self, top, options)
    }

    /// Verilator's `--lint-only -Wall`, every warning an error.
    pub fn lint(&self, top: &Top) -> Result<(), HdlError> {
        build::lint(self, top)
    }

    /// Synthesis for the 7-series, the family of the papers' figures.
    pub fn synthesise(&self, top: &Top) -> Result<Synthesis, HdlError> {
        self.synthesise_for(top, Family::Xc7)
    }

    /// Counts the instances of each module in the elaborated design, by the modules' names; the top is one.
    ///
    /// # Errors
    /// The errors of Verilator, and [`HdlError::Answer`] for a tree that cannot be read.
    pub fn instances(&self, top: &Top) -> Result<BTreeMap<String, u64>, HdlError> {
        instances::instances(self, top)
    }

    /// Synthesis by Yosys' `synth_xilinx`, flattened, without I/O buffers. The cache keeps the counts.
    pub fn synthesise_for(&self, top: &Top, family: Family) -> Result<Synthesis, HdlError> {
        synth::synthesise(self, top, family)
    }

    /// Returns levels and carry bits of the worst paths between registers, from the same synthesis, which the cache
    /// keeps.
    pub fn levels(&self, top: &Top, family: Family) -> Result<Levels, HdlError> {
        timing::levels(self, top, family)
    }

    /// Standard-cell area and slowest path: Yosys and abc to the cells of a liberty file, flattened, before placement. The cache keeps it.
    pub fn area(&self, top: &Top) -> Result<Area, HdlError> {
        area::area(self, top)
    }

    /// Place and route for the largest ECP5, for a clock frequency. The cache keeps it.
    pub fn place(&self, top: &Top, effort: Effort) -> Result<Placement, HdlError> {
        self.place_on(top, Part::Ecp5, effort)
    }

    /// Places and routes for any part that open tools route. Registers beside DSP blocks go into them.
    pub fn place_on(&self, top: &Top, part: Part, effort: Effort) -> Result<Placement, HdlError> {
        place::place(self, top, part, effort)
    }

    /// Proves each assertion in `top`, with registers transparent. The feed-forward pipelines here compute the same
    /// with registers as without, delayed. Simulation checks the delays.
    pub fn prove(&self, top: &Top, seconds_each: u32) -> Result<Vec<Proof>, HdlError> {
        prove::prove(self, top, seconds_each, 0)
    }

    /// Proves each assertion in `top` by induction over `steps` cycles, with registers and memories kept. The base is
    /// the cycles after a reset (`rst_ni`). The step is each cycle after `steps` cycles in which all assertions held.
    pub fn prove_always(
        &self,
        top: &Top,
        steps: std::num::NonZeroU32,
        seconds_each: u32,
    ) -> Result<Vec<Proof>, HdlError> {
        prove::prove(self, top, seconds_each, steps.get())
    }
}
