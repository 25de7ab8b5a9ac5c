// SPDX-License-Identifier: Apache-2.0
//! The entry to the crate: RTL sources, tools and cache together, with one method for each task.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::origin::Origin;
use crate::watch::{Stage, Watch};
use crate::{
    Area, Effort, Family, HdlError, Levels, Model, Part, Placement, Proof, Sources, Synthesis,
    Tools, Top,
};
use crate::{area, build, build::BuildOptions, instances, place, prove, synth, timing};

/// The entry to all tasks of the crate: the RTL sources, the hardware tools, and the cache
/// directory for the tools' results.
#[derive(Clone, Debug)]
pub struct Hdl {
    pub(crate) tools: Tools,
    pub(crate) sources: Sources,
    pub(crate) cache: PathBuf,
    pub(crate) watch: Watch,
}

impl Hdl {
    /// Reads the RTL sources below `roots`. The tools' results will be cached in the directory `cache`.
    ///
    /// # Errors
    /// The errors of [`Sources::read`].
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
    ///
    /// # Errors
    /// [`HdlError::NoWorkspace`] if there is neither a checkout nor a package; [`HdlError::NoCache`] if the user has no
    /// cache directory; the errors of [`Tools::in_venv`] and of [`Sources::read`].
    pub fn find(start: &Path) -> Result<Self, HdlError> {
        let origin = Origin::find(start)?;
        Ok(Self {
            tools: origin.tools()?,
            sources: origin.sources()?,
            cache: origin.cache()?,
            watch: Watch::default(),
        })
    }

    /// Returns a copy of this value with more RTL sources: designs of published papers, with which this project's
    /// modules are compared. All sources are read anew, from the checkout at or above `start` or from the installed
    /// package.
    ///
    /// # Errors
    /// [`HdlError::NoWorkspace`] if there is neither a checkout nor a package; [`HdlError::NoCache`] if a package has
    /// no cache directory to write its sources to; the errors of [`Sources::read`].
    pub fn with_peers(&self, start: &Path) -> Result<Self, HdlError> {
        Ok(Self {
            sources: Origin::find(start)?.sources_with_peers()?,
            ..self.clone()
        })
    }

    /// Returns a copy of this value with the RTL sources below `roots` in place of its own.
    ///
    /// # Errors
    /// The errors of [`Sources::read`].
    pub fn with_sources(&self, roots: &[&Path]) -> Result<Self, HdlError> {
        Ok(Self {
            sources: Sources::read(roots)?,
            ..self.clone()
        })
    }

    /// Makes the function `watch` receive each stage of synthesis, area counts, proofs, placement and routing while the
    /// tools work. A result that the cache has comes without stages.
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

    /// Returns a running simulation model of `top`, built unless the cache has it. Every register and memory word that
    /// the sources give no initial value starts at a random value (from a fixed seed; [`Model::restart`] takes
    /// another). So a result that depends on a register without reset becomes visible.
    ///
    /// # Errors
    /// The errors of [`Self::build`]; [`HdlError::Load`] if the model's shared object cannot be loaded;
    /// [`HdlError::Simulation`] if the simulation cannot start, for example because a table file is missing.
    pub fn model(&self, top: &Top, options: BuildOptions) -> Result<Model, HdlError> {
        Model::load(&self.build(top, options)?)
    }

    /// Builds the shared object of a simulation model unless the cache has it, and returns the object's path.
    ///
    /// # Errors
    /// [`HdlError::UnknownModule`] if no source has the module. [`HdlError::BadIdentifier`] or [`HdlError::BadText`]
    /// for a name or a text that could be taken for something else. [`HdlError::Tool`] if Verilator, the compiler or
    /// the linker fails; [`HdlError::Io`] if a file cannot be read or written.
    pub fn build(&self, top: &Top, options: BuildOptions) -> Result<PathBuf, HdlError> {
        build::build(self, top, options)
    }

    /// Checks a module with Verilator's `--lint-only -Wall`. Every warning is an error.
    ///
    /// # Errors
    /// [`HdlError::Tool`] with Verilator's warnings; otherwise as for [`Self::build`].
    pub fn lint(&self, top: &Top) -> Result<(), HdlError> {
        build::lint(self, top)
    }

    /// Counts the resources of a 7-series FPGA of Xilinx that a module takes, as [`Self::synthesise_for`] does.
    ///
    /// # Errors
    /// The errors of [`Self::synthesise_for`].
    pub fn synthesise(&self, top: &Top) -> Result<Synthesis, HdlError> {
        self.synthesise_for(top, Family::Xc7)
    }

    /// Counts the instances of each module in the elaborated design, by the modules' names. The top module counts as
    /// one.
    ///
    /// # Errors
    /// [`HdlError::Tool`] if Verilator fails; [`HdlError::Answer`] if Verilator's tree has no top module or is no JSON.
    /// Errors for an unknown module or a bad name, as for [`Self::build`].
    pub fn instances(&self, top: &Top) -> Result<BTreeMap<String, u64>, HdlError> {
        instances::instances(self, top)
    }

    /// Counts a module's resources on an FPGA family, by Yosys' `synth_xilinx`, flattened and without I/O buffers. The
    /// cache stores the counts.
    ///
    /// # Errors
    /// [`HdlError::Tool`] if Yosys fails; errors for an unknown module or a bad name, as for [`Self::build`].
    pub fn synthesise_for(&self, top: &Top, family: Family) -> Result<Synthesis, HdlError> {
        synth::synthesise(self, top, family)
    }

    /// Returns the look-up-table levels and carry bits of the worst paths between registers, from the same synthesis as
    /// [`Self::synthesise_for`].
    ///
    /// # Errors
    /// The errors of [`Self::synthesise_for`].
    pub fn levels(&self, top: &Top, family: Family) -> Result<Levels, HdlError> {
        timing::levels(self, top, family)
    }

    /// Computes the standard-cell area and the slowest path of a module. Yosys and abc map it to the cells of a liberty
    /// file, flattened and before placement. OpenSTA finds the path; without OpenSTA there is none. The cache stores
    /// the result.
    ///
    /// # Errors
    /// [`HdlError::LibertyMissing`] without a liberty file; [`HdlError::SourceTooLarge`] for one of more than 256 MiB.
    /// [`HdlError::Tool`] if a tool fails; errors for an unknown module or a bad name, as for [`Self::build`].
    pub fn area(&self, top: &Top) -> Result<Area, HdlError> {
        area::area(self, top)
    }

    /// Places and routes a module on the largest FPGA of the ECP5 family, and finds its clock frequency. `effort` has
    /// the frequency to aim at. The cache stores the result.
    ///
    /// # Errors
    /// The errors of [`Self::place_on`].
    pub fn place(&self, top: &Top, effort: Effort) -> Result<Placement, HdlError> {
        self.place_on(top, Part::Ecp5, effort)
    }

    /// Places and routes a module on an FPGA that open tools can route, and finds its clock frequency. Registers next
    /// to DSP blocks are put into the blocks.
    ///
    /// # Errors
    /// [`HdlError::ToolsMissing`] if nextpnr for this FPGA is not installed; [`HdlError::Misfit`] if the module does
    /// not fit the FPGA. [`HdlError::Tool`] if a tool fails; errors for an unknown module or a bad name, as for
    /// [`Self::build`].
    pub fn place_on(&self, top: &Top, part: Part, effort: Effort) -> Result<Placement, HdlError> {
        place::place(self, top, part, effort)
    }

    /// Proves each assertion in `top`, in at most `seconds_each` seconds, with each register replaced by a wire. The
    /// feed-forward pipelines of this project compute the same without registers, only sooner. Simulation checks how
    /// many cycles they take. An assertion that Yosys finds true by itself is not in the result.
    ///
    /// # Errors
    /// [`HdlError::Tool`] if the tools fail or the assumptions contradict each other; [`HdlError::Answer`] if no
    /// assertion is left to prove. Errors for an unknown module or a bad name, as for [`Self::build`].
    pub fn prove(&self, top: &Top, seconds_each: u32) -> Result<Vec<Proof>, HdlError> {
        prove::prove(self, top, seconds_each, 0)
    }

    /// Proves each assertion in `top` by induction over `steps` cycles, with registers and memories. The base case and
    /// the induction step of an assertion take at most `seconds_each` seconds each. The base case is the first `steps`
    /// cycles after a reset (`rst_ni`). The induction step is each cycle after `steps` cycles in which all assertions
    /// held.
    ///
    /// # Errors
    /// The errors of [`Self::prove`]; [`HdlError::Tool`] for a module without the input `rst_ni`.
    pub fn prove_always(
        &self,
        top: &Top,
        steps: std::num::NonZeroU32,
        seconds_each: u32,
    ) -> Result<Vec<Proof>, HdlError> {
        prove::prove(self, top, seconds_each, steps.get())
    }
}
