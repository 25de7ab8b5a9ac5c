//! Our side of `benches/seal_ckks.py`: reads SEAL's files, proves that the results are SEAL's bit for bit, then times the
//! operations inside this process, block by block, when told to.
//!
//! `seal_peer params SET` prints the parameters as JSON. `seal_peer serve SET FOLDER` reads `relin`, `galois`, `a`, `b`
//! and SEAL's results there (each `.seal`), prints which results are equal, then for each line `ROW COUNT` on standard
//! input prints the seconds of COUNT runs of that row as a JSON list.

mod chain;

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use ringmill_devices::progress::Silent;
use ringmill_devices::{Bindings, Cpu};
use ringmill_isa::mid::Program;
use ringmill_schemes::ckks::{OpKey, Params, ProcCache};
use ringmill_schemes::seal::{self, SealContext};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["params", set] => print_params(set),
        ["serve", set, folder] => serve(set, Path::new(folder)),
        _ => Err("expected `params SET` or `serve SET FOLDER`".into()),
    }
}

fn print_params(set: &str) -> Result<()> {
    let params = Params::named(set)?;
    let json = serde_json::json!({
        "log_n": params.log_n(),
        "moduli": params.moduli(),
        "log2_scale": params.default_scale().log2(),
        "galois": params.galois_element(1)?,
        "backend": format!("{:?}", ringmill_math::Backend::current()),
    });
    println!("{json}");
    Ok(())
}

struct Row<'a> {
    name: &'static str,
    program: Program,
    bindings: Bindings<'a>,
}

fn serve(set: &str, folder: &Path) -> Result<()> {
    let params = Params::named(set)?;
    let context = SealContext::new(params.clone())?;
    let file = |name: &str| std::fs::read(folder.join(format!("{name}.seal")));
    let cipher = |name: &str| -> Result<_> { Ok(seal::read_ciphertext(&context, &file(name)?)?) };
    let relin = seal::read_relin_keys(&context, &file("relin")?)?;
    let galois = seal::read_galois_keys(&context, &file("galois")?)?;
    let (a, b) = (cipher("a")?, cipher("b")?);

    let cpu = Cpu::new(1)?;
    let cache = ProcCache::new(params.clone());
    let level = params.max_level();
    let element = params.galois_element(1)?;
    let (mul_relin, rescale) = (
        OpKey::MulRelin {
            level,
            seeded: false,
        },
        OpKey::Rescale { level, size: 2 },
    );
    let key = Some(&relin.0);
    let rows = [
        (
            "add",
            vec![OpKey::Add {
                level,
                size_a: 2,
                size_b: 2,
            }],
            vec![None],
        ),
        ("multiply", vec![OpKey::Mul { level }], vec![None]),
        ("multiply_relinearise", vec![mul_relin.clone()], vec![key]),
        ("rescale", vec![rescale.clone()], vec![None]),
        (
            "multiply_relinearise_rescale",
            vec![mul_relin, rescale],
            vec![key, None],
        ),
        (
            "rotate",
            vec![OpKey::Rotate {
                level,
                galois: element,
                seeded: false,
            }],
            vec![Some(galois.get(element)?)],
        ),
    ];
    let mut ready = Vec::new();
    let mut equal = serde_json::Map::new();
    for (name, ops, keys) in rows {
        let program = chain::program(&cache, &ops)?;
        let bindings = chain::bind(&program, &[&a, &b], &keys)?;
        let theirs = cipher(name)?;
        let (limbs, _) = cpu.execute(&program, &bindings, &Silent, None)?;
        let ours = chain::ciphertext(&params, theirs.level(), theirs.scale(), &limbs)?;
        equal.insert(name.to_owned(), (ours == theirs).into());
        ready.push(Row {
            name,
            program,
            bindings,
        });
    }
    println!("{}", serde_json::Value::from(equal));
    std::io::stdout().flush()?;

    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (name, count) = line.split_once(' ').ok_or("expected ROW COUNT")?;
        let row = ready.iter().find(|r| r.name == name).ok_or("unknown row")?;
        let mut times = Vec::new();
        for _ in 0..count.parse()? {
            let begin = Instant::now();
            cpu.execute(&row.program, &row.bindings, &Silent, None)?;
            times.push(begin.elapsed().as_secs_f64());
        }
        println!("{}", serde_json::json!(times));
        std::io::stdout().flush()?;
    }
    Ok(())
}
