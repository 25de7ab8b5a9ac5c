// SPDX-License-Identifier: Apache-2.0
//! Tests encodings, Galois elements and rotations against the definition of slots by evaluation.

use ringmill_math::slots::{Rotation, SlotElement, SlotEncoder, SlotError, SlotStructure};
use ringmill_math::{Modulus, NttPlan, Ring};

use crate::common::random_limb;
use crate::slots::polynomials::*;

/// Shapes (log2 N, p, e) of slot rings. They cover factors of x^N + 1 that are binomials (p is 1 modulo 4) and trinomials
/// (p is 3 modulo 4), few slots to N slots, and slots of degree 1 and more.
pub const SHAPES: [(u32, u64, u32); 16] = [
    (3, 3, 2),
    (3, 5, 3),
    (3, 7, 4),
    (3, 17, 2),
    (3, 31, 2),
    (3, 23, 2),
    (4, 17, 3),
    (4, 31, 2),
    (5, 127, 4),
    (6, 13, 3),
    (6, 127, 3),
    (6, 97, 3),
    (6, 257, 2),
    (7, 127, 4),
    (7, 41, 2),
    (8, 8191, 3),
];

pub fn encoder((log_n, p, exponent): (u32, u64, u32)) -> SlotEncoder {
    SlotEncoder::new(SlotStructure::new(log_n, p).unwrap(), exponent).unwrap()
}

fn random_elements(encoder: &SlotEncoder, seed: u64) -> Vec<SlotElement> {
    let s = encoder.structure();
    let all = random_limb(encoder.modulus(), s.ring_degree(), seed);
    all.chunks(s.degree())
        .map(|c| encoder.element(c).unwrap())
        .collect()
}

/// Returns all coefficients of the factor of slot 0.
fn first_factor(encoder: &SlotEncoder) -> Vec<u64> {
    let f = encoder.factors()[0];
    let mut dense = vec![0; f.degree + 1];
    dense[f.degree] = 1;
    let q = encoder.modulus();
    dense[f.degree / 2] = q.add(dense[f.degree / 2], f.middle);
    dense[0] = q.add(dense[0], f.constant);
    dense
}

#[test]
fn slots_are_values_at_powers_of_a_root() {
    for shape in SHAPES {
        let encoder = encoder(shape);
        let (q, s, first) = (
            encoder.modulus(),
            encoder.structure(),
            first_factor(&encoder),
        );
        let elements = random_elements(&encoder, 1);
        let m = encoder.encode_elements(&elements).unwrap();
        assert_eq!(encoder.decode_elements(&m).unwrap(), elements, "{shape:?}");
        for (slot, element) in elements.iter().enumerate() {
            let value = remainder(q, automorphism(q, &m, s.representative(slot)), &first);
            assert_eq!(value, element.coefficients(), "{shape:?} slot {slot}");
        }
        // Any polynomial decodes to slots, which encode to the same polynomial.
        let any = random_limb(q, s.ring_degree(), 2);
        let slots = encoder.decode_elements(&any).unwrap();
        assert_eq!(encoder.encode_elements(&slots).unwrap(), any);
        // The slots of a product are the products of slots.
        let product = mul_mod(q, &any, &m, &cyclotomic(s.ring_degree()));
        let products = encoder.decode_elements(&product).unwrap();
        for ((a, b), c) in slots.iter().zip(&elements).zip(products) {
            let expected = mul_mod(q, a.coefficients(), b.coefficients(), &first);
            assert_eq!(c.coefficients(), expected);
            assert_eq!(c, encoder.multiply_elements(a, b));
        }
    }
}

#[test]
fn integers_are_the_constants_of_the_slot_ring() {
    for shape in SHAPES {
        let encoder = encoder(shape);
        let s = encoder.structure();
        let integers = random_limb(encoder.modulus(), s.slots(), 3);
        let elements: Vec<_> = integers
            .iter()
            .map(|&x| encoder.element(&[x]).unwrap())
            .collect();
        let m = encoder.encode(&integers).unwrap();
        assert_eq!(encoder.encode_elements(&elements).unwrap(), m);
        assert_eq!(encoder.decode(&m).unwrap(), integers);
        let core = encoder.encode_core(&integers).unwrap();
        assert_eq!(core.coefficients().len() * core.spacing(), m.len());
        let one = encoder.encode(&vec![1; s.slots()]).unwrap();
        assert!(one[0] == 1 && one[1..].iter().all(|&c| c == 0));
    }
}

#[test]
fn galois_elements_move_slots_as_said() {
    for shape in SHAPES {
        let encoder = encoder(shape);
        let (q, s) = (encoder.modulus(), encoder.structure());
        let elements = random_elements(&encoder, 4);
        let m = encoder.encode_elements(&elements).unwrap();
        let integers = random_limb(q, s.slots(), 5);
        let thin = encoder.encode(&integers).unwrap();
        for g in (1..2 * s.ring_degree() as u64).step_by(2) {
            let moved = encoder.decode_elements(&automorphism(q, &m, g)).unwrap();
            for (slot, element) in moved.iter().enumerate() {
                let from = s.locate(s.representative(slot) * g);
                let expected = encoder.frobenius(&elements[from.slot], from.frobenius);
                assert_eq!(*element, expected, "{shape:?} {g} {slot}");
            }
            let moved = encoder.decode(&automorphism(q, &thin, g)).unwrap();
            let expected: Vec<_> = s
                .permutation(g)
                .iter()
                .map(|&from| integers[from])
                .collect();
            assert_eq!(moved, expected);
        }
    }
}

#[test]
fn frobenius_is_a_ring_map_and_the_p_th_power_modulo_p() {
    for shape in SHAPES {
        let encoder = encoder((shape.0, shape.1, 1));
        let first = first_factor(&encoder);
        let a = &random_elements(&encoder, 6)[0];
        let power = pow_mod(encoder.modulus(), a.coefficients(), shape.1, &first);
        assert_eq!(encoder.frobenius(a, 1).coefficients(), power, "{shape:?}");
        assert_eq!(encoder.frobenius(a, encoder.structure().degree()), *a);
    }
}

#[test]
fn rotations_bring_what_is_further_along_a_dimension() {
    let mut masked = 0;
    for shape in SHAPES {
        let encoder = encoder(shape);
        let (q, s) = (encoder.modulus(), encoder.structure());
        let elements = random_elements(&encoder, 7);
        let m = encoder.encode_elements(&elements).unwrap();
        let integers = random_limb(q, s.slots(), 8);
        let thin = encoder.encode(&integers).unwrap();
        let dimensions = s.dimensions();
        let columns = s.slots() / if s.p() % 4 == 1 { 2 } else { 1 };
        for (index, dim) in dimensions.iter().enumerate() {
            for amount in 0..=dim.order {
                let source = |slot: usize| {
                    let (row, col) = (slot / columns, slot % columns);
                    if dim.generator + 1 == 2 * s.ring_degree() as u64 {
                        (row + amount) % 2 * columns + col
                    } else {
                        row * columns + (col + amount) % columns
                    }
                };
                let rotation = encoder.rotate_elements(index, amount).unwrap();
                masked += usize::from(matches!(rotation, Rotation::Masked(_)));
                assert!(!(dim.good && matches!(rotation, Rotation::Masked(_))));
                let moved = encoder
                    .decode_elements(&rotation.apply(q, &m).unwrap())
                    .unwrap();
                for (slot, element) in moved.iter().enumerate() {
                    assert_eq!(
                        *element,
                        elements[source(slot)],
                        "{shape:?} {index} {amount}"
                    );
                }
                let g = encoder.rotate_integers(index, amount).unwrap();
                let moved = encoder.decode(&automorphism(q, &thin, g)).unwrap();
                let expected: Vec<_> = (0..s.slots()).map(|slot| integers[source(slot)]).collect();
                assert_eq!(moved, expected);
            }
        }
        let got = dimensions.len();
        assert!(matches!(
            encoder.rotate_elements(got, 1),
            Err(SlotError::NoDimension { .. })
        ));
    }
    assert!(masked > 10, "{masked}");
}

/// With d = 1 and e = 1 the slots of m are SEAL's: row 0 has m(psi^(3^i)) and row 1 has m(psi^(-3^i)), where
/// psi is the smallest root.
#[test]
fn slots_of_degree_one_are_those_of_the_transform() {
    for (log_n, p) in [(4u32, 97u64), (6, 257), (10, 12289)] {
        let encoder = encoder((log_n, p, 1));
        let s = encoder.structure();
        assert_eq!(s.degree(), 1);
        let plan = NttPlan::shared(Modulus::new(p).unwrap(), Ring::full(log_n as u8)).unwrap();
        let m = random_limb(encoder.modulus(), s.slots(), 9);
        let mut form = m.clone();
        plan.forward(&mut form).unwrap();
        for (slot, value) in encoder.decode(&m).unwrap().into_iter().enumerate() {
            let g = s.representative(slot);
            let place = ringmill_math::bits::bit_reverse((g / 2) as usize, log_n);
            assert_eq!(value, form[place]);
        }
    }
}

#[test]
fn the_paper_s_ring_encodes_and_decodes() {
    let encoder = encoder((16, 127, 4));
    let s = encoder.structure();
    let elements = random_elements(&encoder, 10);
    let start = std::time::Instant::now();
    let m = encoder.encode_elements(&elements).unwrap();
    assert_eq!(encoder.decode_elements(&m).unwrap(), elements);
    println!("elements, both ways: {:?}", start.elapsed());
    let integers = random_limb(encoder.modulus(), s.slots(), 11);
    assert_eq!(
        encoder.decode(&encoder.encode(&integers).unwrap()).unwrap(),
        integers
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let encoder = encoder((6, 127, 2));
    let s = encoder.structure();
    let q = encoder.modulus().value();
    assert!(matches!(
        encoder.encode(&vec![0; s.slots() + 1]),
        Err(SlotError::Length { .. })
    ));
    assert!(matches!(encoder.encode(&[]), Err(SlotError::Length { .. })));
    assert!(matches!(
        encoder.encode(&vec![q; s.slots()]),
        Err(SlotError::Residue { index: 0, .. })
    ));
    assert!(matches!(
        encoder.decode(&[0; 63]),
        Err(SlotError::Length { .. })
    ));
    assert!(matches!(
        encoder.decode(&[u64::MAX; 64]),
        Err(SlotError::Residue { .. })
    ));
    for at in 1..64 {
        let mut x = vec![0; 64];
        x[at] = 1;
        assert_eq!(encoder.decode(&x), Err(SlotError::NotThin), "x^{at}");
    }
    assert!(encoder.element(&vec![0; s.degree() + 1]).is_err());
    assert!(encoder.element(&[q]).is_err());
    let short = SlotEncoder::new(SlotStructure::new(5, 127).unwrap(), 2).unwrap();
    let foreign = vec![short.element(&[1]).unwrap(); s.slots()];
    assert!(encoder.encode_elements(&foreign).is_err() || short.structure().degree() == s.degree());
}
