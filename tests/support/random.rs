//! Chance that can be had again: a generator of pseudorandom numbers (`SplitMix64`).

/// A generator.
pub(crate) struct Random(u64);

impl Random {
    /// Returns the generator of one dispatch or text, for one purpose.
    pub(crate) fn new(seed: u64, number: usize, purpose: u64) -> Self {
        let mut random = Self(seed ^ (number as u64).rotate_left(32) ^ purpose);
        // Neighbours must not look alike.
        random.next();
        random
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    /// Returns one of `choices`.
    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
