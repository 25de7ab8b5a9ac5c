// SPDX-License-Identifier: Apache-2.0
//! Tests files of bootstrapping keys: a written file is read back, and any other content is refused.

use ringmill_schemes::bgv::bootstrap::{BootstrapKeys, Procedure};
use ringmill_schemes::bgv::{KeyForm, KeyGenerator, friendly_primes};
use ringmill_schemes::file::{read_further_keys, write_further_keys};
use ringmill_schemes::rlwe::RingParams;

use super::thin::{Toy, slots};

#[test]
fn keys_are_read_as_they_were_written_and_nothing_else_is() {
    let toy = Toy::new(9, (17, 1, 2), 8, &friendly_primes(21).unwrap(), 7);
    let (setup, maps) = (toy.bootstrapper.setup(), toy.bootstrapper.maps());
    let keygen = KeyGenerator::new(toy.params.clone()).unwrap();
    for form in [KeyForm::Seeded, KeyForm::Stored] {
        let keys = BootstrapKeys::generate(setup, maps, &keygen, form).unwrap();
        let bytes = keys.bytes();
        assert_eq!(BootstrapKeys::bytes_of(setup, maps, form).unwrap(), bytes);
        let file = keys.write(setup).unwrap();
        let again = BootstrapKeys::read(&file, setup, maps).unwrap();
        assert_eq!(again.write(setup).unwrap(), file);
        // Files that are cut, lengthened or altered are refused.
        for cut in [0, 7, 80, 100, file.len() / 2, file.len() - 1] {
            assert!(BootstrapKeys::read(&file[..cut], setup, maps).is_err());
        }
        let mut longer = file.clone();
        longer.push(0);
        assert!(BootstrapKeys::read(&longer, setup, maps).is_err());
        for at in [
            0,
            8,
            10,
            12,
            20,
            60,
            70,
            72,
            1000,
            file.len() - 40,
            file.len() - 1,
        ] {
            let mut altered = file.clone();
            altered[at] ^= 1;
            assert!(BootstrapKeys::read(&altered, setup, maps).is_err(), "{at}");
        }
    }
    // The keys that were read bootstrap as those that were written.
    let file = toy.keys.write(setup).unwrap();
    let keys = BootstrapKeys::read(&file, setup, maps).unwrap();
    let slots = slots(setup.structure().slots(), 17);
    let value = toy.encrypt(&slots, toy.bootstrapper.start());
    let fresh = toy.bootstrapper.bootstrap(&value, &keys).unwrap();
    assert!(
        fresh.cipher
            == toy
                .bootstrapper
                .bootstrap(&value, &toy.keys)
                .unwrap()
                .cipher
    );
    // A file of other parameters is refused.
    let other = Toy::new(9, (17, 1, 2), 8, &friendly_primes(22).unwrap()[1..], 7);
    let (setup, maps) = (other.bootstrapper.setup(), other.bootstrapper.maps());
    assert!(BootstrapKeys::read(&file, setup, maps).is_err());
}

/// Files of the keys that only bootstrapping needs, by the names that programs have for them.
#[test]
fn keys_by_name_are_read_as_they_were_written_and_nothing_else_is() {
    let toy = Toy::new(9, (17, 1, 2), 8, &friendly_primes(21).unwrap(), 7);
    let (setup, maps) = (toy.bootstrapper.setup(), toy.bootstrapper.maps());
    let ring = toy.params.ring_params();
    let keygen = KeyGenerator::new(toy.params.clone()).unwrap();
    for seeded in [true, false] {
        let procedure = Procedure::new(setup.clone(), maps.clone(), seeded).unwrap();
        let keys = procedure.keys(&keygen).unwrap().further;
        assert!(keys.len() > 2);
        let file = write_further_keys(ring, &keys).unwrap();
        assert_eq!(read_further_keys(&file, ring).unwrap(), keys);
        for cut in [0, 71, 76, 90, file.len() / 2, file.len() - 1] {
            assert!(read_further_keys(&file[..cut], ring).is_err());
        }
        // Kind, scheme, count, name, element, level, form, a residue, the checksum.
        for at in [10, 12, 72, 76, 77, 81, 85, 1000, file.len() - 1] {
            let mut altered = file.clone();
            altered[at] ^= 1;
            assert!(read_further_keys(&altered, ring).is_err(), "{at}");
        }
    }
    let other = Toy::new(9, (17, 1, 2), 8, &friendly_primes(22).unwrap()[1..], 7);
    let keys = Procedure::new(setup.clone(), maps.clone(), true).unwrap();
    let keys = keys.keys(&keygen).unwrap();
    assert!(write_further_keys(other.params.ring_params(), &keys.further).is_err());
}
