//! The notifications that wait for a process: bounded, apart from its calls, and never waited for.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::locks::locked;

/// How many bytes of notifications may wait.
const MAX_BYTES: usize = 4 << 20;

/// The notifications that wait for a process, kept across its restarts.
///
/// A full queue refuses the newest notification, so that a reader sees events in their order.
#[derive(Debug, Default)]
pub(super) struct NotificationQueue(Mutex<VecDeque<Vec<u8>>>);

impl NotificationQueue {
    /// Adds a notification.
    ///
    /// # Errors
    /// When the queue is full: how many are waiting.
    pub(super) fn push(&self, line: Vec<u8>) -> Result<(), usize> {
        let mut waiting = locked(&self.0);
        let bytes: usize = waiting.iter().map(Vec::len).sum();
        let fits = bytes + line.len() <= MAX_BYTES;
        // One that is larger than the whole queue is accepted when the queue is empty.
        if !fits && !waiting.is_empty() {
            return Err(waiting.len());
        }
        waiting.push_back(line);
        Ok(())
    }

    /// Returns a copy of the oldest.
    pub(super) fn oldest(&self) -> Option<Vec<u8>> {
        locked(&self.0).front().cloned()
    }

    /// Takes the oldest.
    pub(super) fn pop(&self) -> Option<Vec<u8>> {
        locked(&self.0).pop_front()
    }

    /// Drops every notification and returns how many there were.
    pub(super) fn clear(&self) -> usize {
        std::mem::take(&mut *locked(&self.0)).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_come_first_and_the_newest_is_turned_away() {
        let queue = NotificationQueue::default();
        let quarter = vec![0; MAX_BYTES / 4];
        for number in 0..4 {
            assert_eq!(queue.push([&[number], &quarter[1..]].concat()), Ok(()));
        }
        assert_eq!(queue.push(b"late".to_vec()), Err(4));
        assert_eq!(queue.pop().map(|line| line[0]), Some(0));
        assert_eq!(queue.push(b"again".to_vec()), Ok(()));
        assert_eq!(queue.clear(), 4);
        assert_eq!(queue.oldest(), None);
    }

    #[test]
    fn a_huge_one_passes_alone() {
        let queue = NotificationQueue::default();
        assert_eq!(queue.push(vec![0; MAX_BYTES + 1]), Ok(()));
        assert_eq!(queue.push(vec![0; 1]), Err(1));
        assert_eq!(queue.pop().map(|line| line.len()), Some(MAX_BYTES + 1));
        assert_eq!(queue.push(vec![0; 1]), Ok(()));
    }
}
