//! Chance, which keeps many machines from doing the same at the same time.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// Returns a random number from 0 to 1.
pub(crate) fn share() -> f64 {
    let number = RandomState::new().build_hasher().finish() >> 32;
    f64::from(u32::try_from(number).unwrap_or_default()) / f64::from(u32::MAX)
}

/// Returns a time that is up to a quarter shorter or longer.
pub(crate) fn around(time: Duration) -> Duration {
    time.mul_f64(0.75 + share() / 2.0)
}
