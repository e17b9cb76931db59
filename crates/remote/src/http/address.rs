//! Which addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether an address is public, and not one of this machine, its networks or special.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        (0 | 240..=255, _, _) // this network; reserved
            | (100, 64..=127, _) // shared by a provider's customers
            | (192, 0, 0) // protocol assignments
            | (192, 88, 99) // 6to4 relays
            | (198, 18 | 19, _) // benchmarks
    );
    !(special
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // An IPv4 address in another form: mapped, translated, 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_embedded(high, low)
        }
        [0x2002, high, low, ..] => is_public_embedded(high, low),
        // Teredo, benchmarks, ORCHID; documentation.
        [0x2001, 0..=0x01ff | 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// Returns whether the IPv4 address in two segments is public.
fn is_public_embedded(high: u16, low: u16) -> bool {
    is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        for address in [
            "1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1", "64:ff9b::808:808",
            "2002:808:808::1", "::ffff:8.8.8.8",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "169.254.169.254", "0.0.0.0", "0.1.2.3", "100.64.0.1", "192.0.0.1", "192.0.2.1",
            "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1",
            "fec0::1", "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1",
            "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "2001::1",
            "2001:db8::1", "100::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
