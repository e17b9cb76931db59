//! The queue of news for a process: apart from its calls, bounded, and never waited for.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many notifications may wait.
const MAX_COUNT: usize = 1024;

/// How many bytes of notifications may wait.
const MAX_BYTES: usize = 4 << 20;

/// Notifications on their way to a process, across its restarts. The newest is turned away when
/// there is no room: what came first is told first, or a reader could never make sense of it.
#[derive(Debug, Default)]
pub(super) struct Lane(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
}

/// There is no room for a notification.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full {
    /// How many are waiting.
    pub(super) waiting: usize,
}

impl Lane {
    /// Adds a notification.
    pub(super) fn push(&self, line: Vec<u8>) -> Result<(), Full> {
        let mut waiting = self.lock();
        let fits = waiting.lines.len() < MAX_COUNT && waiting.bytes + line.len() <= MAX_BYTES;
        // One that is larger than the whole lane must pass when nothing is in its way.
        if !fits && !waiting.lines.is_empty() {
            return Err(Full { waiting: waiting.lines.len() });
        }
        waiting.bytes += line.len();
        waiting.lines.push_back(line);
        Ok(())
    }

    /// Takes the oldest.
    pub(super) fn pop(&self) -> Option<Vec<u8>> {
        let mut waiting = self.lock();
        let line = waiting.lines.pop_front()?;
        waiting.bytes -= line.len();
        Some(line)
    }

    /// Throws everything away and returns how many that were.
    pub(super) fn clear(&self) -> usize {
        std::mem::take(&mut *self.lock()).lines.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().lines.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_come_first_and_the_newest_is_turned_away() {
        let lane = Lane::default();
        for number in 0..MAX_COUNT {
            assert_eq!(lane.push(number.to_string().into_bytes()), Ok(()));
        }
        assert_eq!(lane.push(b"late".to_vec()), Err(Full { waiting: MAX_COUNT }));
        assert_eq!(lane.pop(), Some(b"0".to_vec()));
        assert_eq!(lane.push(b"again".to_vec()), Ok(()));
        assert_eq!(lane.clear(), MAX_COUNT);
        assert!(lane.is_empty());
    }

    #[test]
    fn bytes_count_too_and_a_huge_one_passes_alone() {
        let lane = Lane::default();
        assert_eq!(lane.push(vec![0; MAX_BYTES + 1]), Ok(()));
        assert_eq!(lane.push(vec![0; 1]), Err(Full { waiting: 1 }));
        assert_eq!(lane.pop().map(|line| line.len()), Some(MAX_BYTES + 1));
        assert_eq!(lane.push(vec![0; 1]), Ok(()));
    }
}
