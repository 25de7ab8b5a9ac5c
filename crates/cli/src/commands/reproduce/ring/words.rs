//! The instructions of the ring paper's Table 2: words alone, on operands and results with ports of their own.

use ringmill_machines::MachineError;
use ringmill_machines::ring::micro::{OpWord, Opcode, Operand, Unit};
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE, timing};
use ringmill_math::RingKind;

use super::super::figure::{Figure, How};
use super::super::paper;
use super::TABLE_2;

/// Slots with ports of their own: two operands and a result. The second result of a pair shares its port with no other.
const SLOTS: [u8; 4] = [8, 9, 10, 0];

/// Cycles of each word and how many a second an RPAU does one after another, as the paper counts them, on limbs of 2^14.
pub fn figures(paper: &paper::Ring) -> Result<Vec<Figure>, MachineError> {
    let mut figures = Vec::new();
    for (name, text) in OF_THE_PAPERS_SIZE {
        let d = Description::parse(text)?;
        let groups = d.slot_groups();
        for (metric, printed, word) in words(paper, &d) {
            let cycles = timing::duration(&d, &groups, d.log_n, &word).total as f64;
            for (unit, paper, ours) in [
                ("cycles", printed, cycles),
                (
                    "a second",
                    paper.a_second(printed),
                    (d.clock_mhz * 1e6 / cycles).floor(),
                ),
            ] {
                figures.push(Figure {
                    machine: (*name).to_owned(),
                    table: TABLE_2.to_owned(),
                    case: "instruction".to_owned(),
                    metric: metric.to_owned(),
                    unit: unit.to_owned(),
                    paper: Some(paper),
                    ours,
                    how: How::Model,
                    tool: None,
                });
            }
        }
    }
    Ok(figures)
}

/// Name, the paper's cycles, and the word.
fn words(paper: &paper::Ring, d: &Description) -> Vec<(&'static str, f64, OpWord)> {
    let [a, b, dst, second] = SLOTS;
    let word = |op, unit| OpWord {
        op,
        controller: 0,
        unit,
        mask: 1,
        ring: RingKind::Full,
        layer: 0,
        dst,
        a,
        b: Operand::None,
        c: 0,
        imm: 1,
    };
    let of_two = |op, unit| OpWord {
        b: Operand::Slot(b),
        imm: 0,
        ..word(op, unit)
    };
    let pair = |op| OpWord {
        c: second,
        ..of_two(op, Unit::Main)
    };
    let everywhere = OpWord {
        mask: ((1u32 << d.rpaus) - 1) as u16,
        imm: 0,
        ..word(Opcode::Bcast, Unit::Main)
    };
    let mac = OpWord {
        c: second,
        ..of_two(Opcode::Mac, Unit::Dyadic)
    };
    let (main, dyadic) = (Unit::Main, Unit::Dyadic);
    let mut list = vec![
        ("NTT", paper.ntt_reported, word(Opcode::Ntt, main)),
        ("INTT", paper.ntt_reported, word(Opcode::Intt, main)),
        ("broadcast to all RPAUs", paper.broadcast, everywhere),
        ("scale by a constant", paper.scale, word(Opcode::Muli, main)),
    ];
    for (metric, op) in [
        ("coefficient-wise add, main cores", Opcode::Add),
        ("coefficient-wise subtract, main cores", Opcode::Sub),
        ("coefficient-wise multiply, main cores", Opcode::Mul),
    ] {
        list.push((metric, paper.coefficientwise_main, of_two(op, main)));
    }
    let each = paper.coefficientwise_dyadic;
    for (metric, word) in [
        (
            "coefficient-wise add, dyadic cores",
            of_two(Opcode::Add, dyadic),
        ),
        (
            "coefficient-wise subtract, dyadic cores",
            of_two(Opcode::Sub, dyadic),
        ),
        (
            "coefficient-wise multiply, dyadic cores",
            of_two(Opcode::Mul, dyadic),
        ),
        ("coefficient-wise c + a b, dyadic cores", mac),
    ] {
        list.push((metric, each, word));
    }
    list.extend([
        ("SPLIT", paper.split_join, pair(Opcode::Split)),
        ("JOIN", paper.split_join, pair(Opcode::Join)),
        ("automorphism", paper.automorphism, word(Opcode::Auto, main)),
    ]);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each kind of the paper's rows, for each machine, within a tenth of it; and the same figure as a throughput.
    #[test]
    fn every_instruction_is_near_the_papers() {
        let figures = figures(&paper::ring().unwrap()).unwrap();
        assert_eq!(figures.len(), OF_THE_PAPERS_SIZE.len() * 14 * 2);
        for f in &figures {
            let (paper, ours) = (f.paper.unwrap(), f.ours);
            let transform = f.metric.ends_with("NTT");
            let near = if f.unit == "cycles" {
                ours / paper
            } else {
                paper / ours
            };
            // Two stages a pass halve the second machine's transforms.
            let least = if transform { 0.5 } else { 1.0 };
            assert!(
                (least..1.1).contains(&near),
                "{} {}: {ours}",
                f.machine,
                f.metric
            );
        }
        let throughput = figures.iter().find(|f| f.unit == "a second").unwrap();
        assert_eq!(
            (throughput.metric.as_str(), throughput.paper),
            ("NTT", Some(27_777.0))
        );
    }
}
