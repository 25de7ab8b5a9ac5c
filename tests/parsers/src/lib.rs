// SPDX-License-Identifier: Apache-2.0
//! Every parser of the project as a function of bytes, with small inputs that it accepts.
//!
//! Such a function returns whether the parser takes the input. The fuzz targets (`fuzz/`) and a bounded test give it
//! damaged inputs. It may refuse them, and must not panic, hang, or use memory without bound. The text of a program
//! that a parser takes must survive a round trip.

mod exact;
pub mod netlist;
pub mod tfhe;

use std::sync::{Arc, LazyLock};

pub use exact::{bfv, bgv};
use num_complex::Complex64;
use ringmill_compiler::arrays::Arrays;
use ringmill_compiler::builder::{TraceBuilder, TraceError, Traced};
use ringmill_compiler::ckks::Options;
use ringmill_compiler::inline::length;
use ringmill_compiler::{compile, saved};
use ringmill_device::ResidueVec;
use ringmill_isa::macros::{MacroProgram, Visibility, text as macros};
use ringmill_isa::mid::text as mid;
use ringmill_isa::{Galois, Level};
use ringmill_machines::Registry;
use ringmill_schemes::ckks::file::{self, Accepted, AcceptedTables, InsecureParams, Kind};
use ringmill_schemes::ckks::{
    Ciphertext, Ckks, Encoder, Encryptor, KeyForm, KeyGenerator, Params, Scale, SecurityTable,
};
use ringmill_schemes::file::{self as container, Part};
use ringmill_schemes::rlwe::EvaluationKeys;
use ringmill_schemes::seal::{self, Compression, SealContext};
use sha2::{Digest, Sha256};

/// The bytes of the SHA-256 checksum at the end of our files.
const CHECKSUM: usize = 32;

/// Returns settings by which a reader accepts parameters of any security, so that the code after that check is tested
/// too.
fn anything() -> Accepted {
    Accepted {
        tables: AcceptedTables::of(&SecurityTable::ALL),
        insecure: InsecureParams::AllowForTestsOnly,
    }
}

/// A parser with inputs that it accepts, from which fuzzing starts.
pub struct Parser {
    pub name: &'static str,
    /// The parser. It returns whether it takes the input.
    pub parse: fn(&[u8]) -> bool,
    /// The inputs that it accepts.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All parsers, each with the name of its fuzz target.
pub const PARSERS: &[Parser] = &[
    Parser {
        name: "macro_text",
        parse: macro_text,
        seeds: macro_seeds,
    },
    Parser {
        name: "mid_text",
        parse: mid_text,
        seeds: mid_seeds,
    },
    Parser {
        name: "micro_text",
        parse: micro_text,
        seeds: micro_seeds,
    },
    Parser {
        name: "saved_program",
        parse: saved_program,
        seeds: saved_seeds,
    },
    Parser {
        name: "ckks_file",
        parse: ckks_file,
        seeds: ckks_seeds,
    },
    Parser {
        name: "bfv_file",
        parse: bfv::parse,
        seeds: bfv::seeds,
    },
    Parser {
        name: "bgv_file",
        parse: bgv::parse,
        seeds: bgv::seeds,
    },
    Parser {
        name: "tfhe_file",
        parse: tfhe::parse,
        seeds: tfhe::seeds,
    },
    Parser {
        name: "netlist",
        parse: netlist::parse,
        seeds: netlist::seeds,
    },
    Parser {
        name: "seal_file",
        parse: seal_file,
        seeds: seal_seeds,
    },
    Parser {
        name: "machine_toml",
        parse: machine_toml,
        seeds: machine_seeds,
    },
];

/// Parameters of ring degree 16. Faults of a parser do not depend on the size, and small inputs are tried faster.
static PARAMS: LazyLock<Arc<Params>> = LazyLock::new(|| {
    Params::builder(4)
        .prime_bits(&[40, 30, 30], &[40])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .expect("the test's parameters are well-formed")
});

static SEAL: LazyLock<SealContext> = LazyLock::new(|| {
    SealContext::new(Arc::clone(&PARAMS)).expect("SEAL can have the test's parameters")
});

/// Parses macro text. A program of it is printed, parsed again and compiled, so that hostile programs reach the
/// compiler.
pub fn macro_text(bytes: &[u8]) -> bool {
    let Some(program) = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| macros::parse(text).ok())
    else {
        return false;
    };
    let again = macros::parse(&macros::print(&program)).expect("what is printed parses");
    assert_eq!(macros::print(&again), macros::print(&program));
    if is_short(&program) {
        // The compiler may refuse the program, but must not panic.
        let _ = compile(program, &Options::given(Arc::clone(&PARAMS)));
    }
    true
}

/// Returns whether a program has fewer than 1000 operations or is refused for its length, so that compiling it takes
/// little time.
fn is_short(program: &MacroProgram) -> bool {
    !matches!(length(program), Ok(1000..))
}

/// Parses mid text. A program of it is printed, parsed again and verified.
pub fn mid_text(bytes: &[u8]) -> bool {
    let Some(program) = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| mid::parse_program(text).ok())
    else {
        return false;
    };
    // The printed text names source files without their folders, so it may differ from the input.
    let printed = mid::print_program(&program);
    let again = mid::parse_program(&printed).expect("what is printed parses");
    assert_eq!(mid::print_program(&again), printed);
    let _ = ringmill_isa::mid::verify_program(&program);
    true
}

/// Parses micro text of the vector machine. A program of it is printed, parsed again and verified. A small verified
/// program is timed and executed too.
pub fn micro_text(bytes: &[u8]) -> bool {
    use ringmill_isa::vector::{parse, print, verify};
    use ringmill_machines::vector::{Clockwork, Counting, Description, Memory};
    let Some(program) = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| parse(text).ok())
    else {
        return false;
    };
    assert_eq!(parse(&print(&program)).as_ref(), Ok(&program));
    let s = program.shape;
    // Memories of larger programs take long to make.
    let small = s.chunks <= 256 && s.log_n <= 8 && s.distant <= 1024;
    if verify(&program).is_ok() && small {
        let machine = Description::read(Description::PAPER).expect("it is shipped");
        let mut clock = Clockwork::new(&machine, s, Counting::WHOLE);
        for instr in &program.instrs {
            clock.step(instr).expect("what is verified goes on");
        }
        let memory = Memory::new(s, &program.moduli, s.distant as usize);
        let mut memory = memory.expect("what is verified has roots of unity");
        let seeds = program.masks.iter().map(|mask| usize::from(mask.seed) + 1);
        let seeds = vec![[7; 32]; seeds.max().unwrap_or(0)];
        let made = memory.make(&program, &seeds);
        made.expect("all seeds are there");
        memory.execute(&program).expect("what is verified is there");
    }
    true
}

/// Parses a saved program with its options. A short program is compiled, saved and parsed again.
pub fn saved_program(bytes: &[u8]) -> bool {
    let parsed = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| saved::parse::<Ckks>(text, anything()).ok());
    let Some(Some((program, recipe))) = parsed else {
        return false;
    };
    if is_short(&program)
        && let Ok((compiled, options)) = recipe.compile(program, &Options::default().watch)
    {
        let again = saved::print(&compiled, &options, &Arrays::default());
        let read = saved::parse::<Ckks>(&again, anything());
        let (program, _) = read
            .expect("what is saved is read")
            .expect("it has options");
        assert_eq!(program, compiled.source);
    }
    true
}

/// Parses the bytes as our CKKS file of any kind. The checksum refuses almost every damaged file, so the input is tried
/// once as it is and once with a corrected checksum.
pub fn ckks_file(bytes: &[u8]) -> bool {
    // Both are tried, whatever the first returns.
    ckks_object(bytes) | ckks_object(&repaired(bytes))
}

/// Returns the bytes with a corrected checksum at their end.
fn repaired(bytes: &[u8]) -> Vec<u8> {
    let mut repaired = bytes.to_vec();
    if let Some(at) = bytes.len().checked_sub(CHECKSUM) {
        let sum = Sha256::digest(&bytes[..at]);
        repaired[at..].copy_from_slice(&sum);
    }
    repaired
}

fn ckks_object(bytes: &[u8]) -> bool {
    let params = &*PARAMS;
    match file::peek_kind(bytes) {
        Ok(Kind::Params) => file::read_params(bytes, anything()).is_ok(),
        Ok(Kind::Plaintext) => file::read_plaintext(bytes, params).is_ok(),
        Ok(Kind::Ciphertext | Kind::SeededCiphertext) => {
            file::read_ciphertext(bytes, params).is_ok()
        }
        Ok(Kind::PublicKey) => file::read_public_key(bytes, params).is_ok(),
        Ok(Kind::RelinKey) => file::read_relin_key(bytes, params).is_ok(),
        Ok(Kind::GaloisKeys) => file::read_galois_keys(bytes, params).is_ok(),
        Ok(Kind::SecretKey | Kind::CountedSecretKey) => {
            file::read_secret_key_in_the_clear(bytes, params).is_ok()
        }
        Ok(Kind::FurtherKeys) => container::read_further_keys(bytes, params).is_ok(),
        Ok(Kind::EvaluationKeys) => container::read_evaluation_keys(bytes, params).is_ok(),
        Ok(Kind::Message) => container::read_message::<Scale>(bytes, params).is_ok(),
        // Kinds of TFHE.
        Ok(
            Kind::BootstrapKey
            | Kind::KeySwitchKey
            | Kind::Ciphertexts
            | Kind::Integers
            | Kind::SeededIntegers
            | Kind::CircuitKeys
            | Kind::NamedIntegers,
        )
        | Err(_) => false,
    }
}

/// Parses the bytes as each kind of object of SEAL, since the bytes do not tell their kind.
pub fn seal_file(bytes: &[u8]) -> bool {
    let context = &*SEAL;
    let parameters = seal::read_parameters(bytes)
        .map(|b| b.build().is_ok())
        .is_ok();
    parameters
        | seal::read_plaintext(context, bytes).is_ok()
        | seal::read_ciphertext(context, bytes).is_ok()
        | seal::read_public_key(context, bytes).is_ok()
        | seal::read_secret_key(context, bytes).is_ok()
        | seal::read_relin_keys(context, bytes).is_ok()
        | seal::read_galois_keys(context, bytes).is_ok()
}

/// Parses a machine description of any kind.
pub fn machine_toml(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| Registry::standard().load(text).is_ok())
}

/// Returns a program whose text has most kinds of operations.
fn program() -> Result<MacroProgram, TraceError> {
    let mut t = TraceBuilder::new("seed", 8)?;
    let x = t.input("x", Visibility::Encrypted, None)?;
    let y = t.input("y", Visibility::Encrypted, None)?;
    let p = t.input("p", Visibility::Plain, None)?;
    let c = t.vector((0..8).map(|i| (f64::from(i), 0.5)).collect(), None)?;
    let a = t.mul(x, y, None)?;
    let b = t.mul(x, p, None)?;
    let sum = t.add(a, b, None)?;
    let rotated = t.rotate(sum, 3, None)?;
    let conjugate = t.conj(rotated, None)?;
    let shifted = t.sub(conjugate, c, None)?;
    let shifted = repeated(&mut t, x, shifted)?;
    t.output("first", shifted, None)?;
    let cubic = t.polynomial(y, &[0.5, -1.0, 0.0, 2.0], None)?;
    t.output("second", cubic, None)?;
    Ok(t.finish())
}

/// Adds a repeat whose body calls a procedure. Returns the sum of `y` and three times `x`.
fn repeated(t: &mut TraceBuilder, x: Traced, y: Traced) -> Result<Traced, TraceError> {
    let inner = t.begin_procedure("inner", &[Visibility::Encrypted; 2], None)?;
    let sum = t.add(inner[0], inner[1], None)?;
    let inner = t.end(&[sum], None)?;
    let carried = t.begin_body("body", 1, None)?;
    let sum = t.call(&inner, &[carried[0], x], None)?;
    let body = t.end(&sum, None)?;
    Ok(t.repeat(3, &body, &[y], None)?[0])
}

fn macro_seeds() -> Vec<Vec<u8>> {
    let source = program().expect("the seed program traces");
    let compiled =
        compile(source, &Options::given(Arc::clone(&PARAMS))).expect("the seed program compiles");
    vec![
        macros::print(&compiled.source).into_bytes(),
        macros::print(&compiled.managed).into_bytes(),
    ]
}

fn saved_seeds() -> Vec<Vec<u8>> {
    let sample = Some(vec![vec![Complex64::new(0.5, -0.25); 8]; 3]);
    let mut texts = Vec::new();
    for sample in [None, sample] {
        let source = program().expect("the seed program traces");
        let options = Options {
            sample,
            ..Options::given(Arc::clone(&PARAMS))
        };
        let compiled = compile(source, &options).expect("the seed program compiles");
        texts.push(saved::print(&compiled, &options, &Arrays::default()));
        if let Some(text) = saved::print_with_sample(&compiled, &options, &Arrays::default()) {
            texts.push(text.replacen("\"form\":2", "\"form\":1", 1));
            texts.push(text);
        }
    }
    texts.into_iter().map(String::into_bytes).collect()
}

/// Mid text with moduli of every kind, the exact base extensions, immediates, blocks and a repeat.
const EVERY_KIND: &str = r#"
program ring 2^5 moduli q0=193 q1=257 q2=plain 65537 q3=2^64

proc exact
  in %0 : q0 coeff = cipher 0 poly 0 "x0"
  in %1 : q1 coeff = cipher 0 poly 0 "x1"
  in %2 : q2 coeff = cipher 0 poly 0 "r"
  %3, %4 = BEXTX %0, %1, centred : q2 coeff, q3 coeff
  %5 = BEXTR %0, %1, %2 : q3 coeff
  %6 = ADD %4, %5 : q3 coeff
  %7 = MULI %6, 18446744073709551615 : q3 coeff
  %8 = BEXTX %0, nonnegative : q1 coeff
  out %7 = cipher 0 poly 0 "y"
end

proc scale
  in %0 : q3 coeff = cipher 0 poly 0 "x"
  imm 0 = scalar q3
  %1 = MULI %0, imm 0 : q3 coeff
  out %1 = cipher 0 poly 0 "y"
end

block none ()
  give ()
end

block body (q3 coeff)
  call scale (@0) imm (3) dies (@0) -> (@0)
  run none () -> ()
  give (@0)
end

input $0 : q0 coeff = cipher 0 poly 0 "x0"
input $1 : q1 coeff = cipher 0 poly 0 "x1"
input $2 : q2 coeff = cipher 0 poly 0 "r"
call exact ($0, $1, $2) -> (@0)
repeat 3 body (@0) dies (@0) -> (@1) at "a.py":7
output @1 = cipher 0 poly 0 "y"
end
"#;

fn mid_seeds() -> Vec<Vec<u8>> {
    let source = program().expect("the seed program traces");
    let compiled =
        compile(source, &Options::given(Arc::clone(&PARAMS))).expect("the seed program compiles");
    vec![
        mid::print_program(&compiled.program).into_bytes(),
        EVERY_KIND.as_bytes().to_vec(),
    ]
}

fn micro_seeds() -> Vec<Vec<u8>> {
    use ringmill_isa::vector::{
        Chunk, Instr, MASKS, Mask, MicroOp, MicroProgram, Place, Register, Shape, print,
    };
    let chunk = |c| Place::Chunk(Chunk(c));
    let of = |op, d, a, b, n| Instr {
        d,
        a,
        b,
        n,
        ..Instr::new(op)
    };
    let (none, acc) = (Place::None, Place::Accumulator);
    let register = Place::Register(Register(3));
    let program = MicroProgram {
        shape: Shape {
            log_n: 6,
            log_radix: 4,
            log_lanes: 5,
            chunks: 16,
            registers: 8,
            distant: 64,
        },
        moduli: vec![2_147_352_577],
        masks: vec![Mask {
            seed: 1,
            stream: 12,
            modulus: 0,
        }],
        holds: (0..4).map(Chunk).collect(),
        instrs: vec![
            of(MicroOp::Load, chunk(4), none, none, 7),
            of(MicroOp::Load, chunk(7), none, none, MASKS + 1),
            of(MicroOp::Ntt1, chunk(0), chunk(0), none, 0),
            of(MicroOp::Ntt1, chunk(1), chunk(1), none, 0),
            of(MicroOp::Ntt2, chunk(0), chunk(0), none, 0),
            of(MicroOp::Morph, chunk(6), chunk(2), none, 5),
            of(MicroOp::Mov, register, chunk(3), none, 0),
            of(MicroOp::Muli, acc, register, none, 77),
            of(MicroOp::Maci, acc, chunk(4), none, 78),
            of(MicroOp::Acci, chunk(5), none, none, 9),
            of(MicroOp::Store, none, chunk(5), none, 8),
            Instr::new(MicroOp::Hcf),
        ],
    };
    vec![print(&program).into_bytes()]
}

fn machine_seeds() -> Vec<Vec<u8>> {
    let machines = Registry::standard();
    let shipped = machines.kinds().iter().flat_map(|kind| kind.shipped);
    shipped.map(|(_, text)| text.as_bytes().to_vec()).collect()
}

/// The number of bytes of a file before its payload.
const HEADER: usize = 72;

/// Returns our file in version 2 of the format, in which a residue takes 8 bytes. In its payload, `limbs` stand between
/// the first `head` and the last `tail` bytes.
fn version_2(bytes: &[u8], head: usize, limbs: &[ResidueVec], tail: usize) -> Vec<u8> {
    let payload = &bytes[HEADER..bytes.len() - CHECKSUM];
    let mut older = payload[..head].to_vec();
    for limb in limbs {
        let residues = limb.residues();
        older.extend(residues.iter().flat_map(u64::to_le_bytes));
    }
    older.extend(&payload[payload.len() - tail..]);
    let mut file = bytes[..HEADER - 8].to_vec();
    file[8] = 2;
    file.extend((older.len() as u64).to_le_bytes());
    file.extend(older);
    let sum = Sha256::digest(&file);
    file.extend(sum);
    file
}

/// Returns our file in version 1 of the format, which has no scheme and no key identity.
fn version_1(bytes: &[u8]) -> Vec<u8> {
    let covered = bytes.len() - CHECKSUM;
    let mut older = bytes[..8].to_vec();
    older.extend([1, 0]);
    older.extend(&bytes[10..48]);
    older.extend(&bytes[64..covered]);
    let sum = Sha256::digest(&older);
    older.extend(sum);
    older
}

fn ckks_seeds() -> Vec<Vec<u8>> {
    let made = || -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
        let params = Arc::clone(&PARAMS);
        let keys =
            KeyGenerator::from_seed_for_reproducible_tests_only(Arc::clone(&params), [1; 32])?;
        let public = keys.public_key()?;
        let plain =
            Encoder::new(Arc::clone(&params)).encode_real(&[1.0, -2.0], Level(2), 2f64.powi(30))?;
        let cipher = Encryptor::with_public_key(Arc::clone(&params), &public)?
            .seed_for_reproducible_tests_only([2; 32])
            .encrypt(&plain)?;
        let seeded = Encryptor::with_secret_key(Arc::clone(&params), keys.secret_key().clone())?
            .seed_for_reproducible_tests_only([3; 32])
            .encrypt(&plain)?;
        let mut seeds = vec![
            file::write_params(&params),
            file::write_plaintext(&plain),
            file::write_ciphertext(&params, &cipher)?,
            file::write_ciphertext(&params, &seeded)?,
            file::write_public_key(&params, &public)?,
            file::write_secret_key_in_the_clear(keys.secret_key()).to_vec(),
        ];
        for form in [KeyForm::Stored, KeyForm::Seeded] {
            seeds.push(file::write_relin_key(&params, &keys.relin_key(form)?)?);
            seeds.push(file::write_galois_keys(
                &params,
                &keys.galois_keys(&[Galois(3), Galois(31)], form)?,
            )?);
            let all = EvaluationKeys {
                relin: Some(keys.relin_key(form)?),
                galois: keys.galois_keys(&[Galois(3)], form)?,
                ..EvaluationKeys::default()
            };
            seeds.push(container::write_evaluation_keys(&params, &all)?);
        }
        let part = |batch, texts: &[&str], cipher: &Ciphertext| Part {
            batch,
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
            ciphertexts: vec![("x".to_owned(), cipher.clone())],
        };
        let parts = [
            part(None, &[], &seeded),
            part(Some(2), &["a", "", "{}"], &cipher),
        ];
        seeds.push(container::write_message(&params, &parts)?);
        let wide = |limbs: &[u64]| [ResidueVec::packed(false, limbs.to_vec())];
        let relin = keys.relin_key(KeyForm::Seeded)?;
        let written = file::write_relin_key(&params, &relin)?;
        let older = [
            version_2(&seeds[2], 16, cipher.polys(), 0),
            version_2(&seeds[3], 44, &seeded.polys()[..1], 0),
            version_2(&seeds[4], 1, &wide(public.b()), 32),
            version_2(&written, 1, relin.0.b(), 32),
        ];
        // In these three kinds nothing is packed.
        let same = [&seeds[0], &seeds[1], &seeds[5]];
        let first = older.iter().chain(same).map(|seed| version_1(seed));
        let first: Vec<Vec<u8>> = first.collect();
        seeds.extend(older.into_iter().chain(first));
        Ok(seeds)
    };
    made().expect("our files are written")
}

fn seal_seeds() -> Vec<Vec<u8>> {
    let made = || -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
        let (params, context) = (Arc::clone(&PARAMS), &*SEAL);
        let keys =
            KeyGenerator::from_seed_for_reproducible_tests_only(Arc::clone(&params), [1; 32])?;
        let public = keys.public_key()?;
        let relin = keys.relin_key(KeyForm::Stored)?;
        let galois = keys.galois_keys(&[Galois(3)], KeyForm::Stored)?;
        let plain =
            Encoder::new(Arc::clone(&params)).encode_real(&[1.0, -2.0], Level(2), 2f64.powi(30))?;
        let cipher = Encryptor::with_public_key(params, &public)?
            .seed_for_reproducible_tests_only([2; 32])
            .encrypt(&plain)?;
        let mut seeds = Vec::new();
        for compression in [Compression::None, Compression::Zstd] {
            seeds.push(seal::write_parameters(context, compression)?);
            seeds.push(seal::write_plaintext(context, &plain, compression)?);
            seeds.push(seal::write_ciphertext(context, &cipher, compression)?);
            seeds.push(seal::write_public_key(context, &public, compression)?);
            seeds.push(
                seal::write_secret_key_in_the_clear(context, keys.secret_key(), compression)?
                    .to_vec(),
            );
            seeds.push(seal::write_relin_keys(context, &relin, compression)?);
            seeds.push(seal::write_galois_keys(context, &galois, compression)?);
        }
        Ok(seeds)
    };
    made().expect("SEAL's files are written")
}
