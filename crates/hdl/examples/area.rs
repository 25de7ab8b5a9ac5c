//! Synthesises every leaf for the 7-series and prints the table of `docs/rtl.md` (or JSON lines with `--json`).
//!
//! ```text
//! cargo run -p ringmill-hdl --example area
//! ```

use std::error::Error;
use std::path::Path;

use ringmill_hdl::Hdl;
use ringmill_hdl::leaves::leaves;

fn main() -> Result<(), Box<dyn Error>> {
    let json = std::env::args().skip(1).any(|a| a == "--json");
    let hdl = Hdl::find(Path::new("."))?;
    if !json {
        println!(
            "| module | configuration | latency | LUT | LUT as memory | FF | CARRY4 | DSP48E1 | RAMB18 |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    }
    for leaf in leaves() {
        let made = hdl.synthesise(&leaf.top)?;
        if json {
            println!("{}", serde_json::to_string(&made)?);
            continue;
        }
        let r = &made.resources;
        println!(
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |",
            leaf.top.module,
            leaf.what,
            leaf.latency,
            r.lut,
            r.lut_memory,
            r.ff,
            r.carry4,
            r.dsp,
            r.bram18
        );
        if !r.other.is_empty() {
            eprintln!("{}: also {:?}", leaf.top, r.other);
        }
    }
    let v = hdl.tools().versions();
    eprintln!("Yosys (pyosys {}), synth_xilinx -family xc7", v.pyosys);
    Ok(())
}
