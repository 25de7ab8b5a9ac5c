// SPDX-License-Identifier: Apache-2.0
//! Identifies the processor, so that nobody uses choices of kernels that another processor made.

/// Returns the processor's own name with its family, model and stepping, or only the architecture's name on
/// other processors than x86-64. A virtual machine often gives one name to many processors.
pub fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    {
        x86::processor()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        std::env::consts::ARCH.to_owned()
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use std::arch::x86_64::__cpuid;

    const BRAND: std::ops::RangeInclusive<u32> = 0x8000_0002..=0x8000_0004;

    pub fn processor() -> String {
        let brand = if __cpuid(0x8000_0000).eax >= *BRAND.end() {
            brand()
        } else {
            String::from("x86-64")
        };
        let [family, model, stepping] = signature(__cpuid(1).eax);
        format!("{brand} {family}-{model}-{stepping}")
    }

    /// Returns the name that the processor tells in 48 bytes: its printable characters, with single spaces.
    fn brand() -> String {
        let registers = BRAND.flat_map(|leaf| {
            let part = __cpuid(leaf);
            [part.eax, part.ebx, part.ecx, part.edx]
        });
        let bytes: Vec<u8> = registers.flat_map(u32::to_le_bytes).collect();
        let printed = bytes.iter().take_while(|&&byte| byte != 0);
        let text: String = printed
            .map(|&byte| {
                if byte.is_ascii_graphic() {
                    char::from(byte)
                } else {
                    ' '
                }
            })
            .collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the family, the model and the stepping in a processor's signature word, counted as
    /// operating systems count them.
    pub fn signature(word: u32) -> [u32; 3] {
        let part = |shift: u32, bits: u32| word >> shift & ((1 << bits) - 1);
        let base = part(8, 4);
        let family = if base == 15 { base + part(20, 8) } else { base };
        let extended = matches!(base, 6 | 15);
        let model = part(4, 4) + if extended { part(16, 4) << 4 } else { 0 };
        [family, model, part(0, 4)]
    }
}
