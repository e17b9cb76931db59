//! Reads streams that may be longer than anything sensible.

use std::io::{self, ErrorKind, Read};

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// The largest event, answer and message that is read, in bytes: many times the largest that any agent was
/// seen to send.
pub const MAX_MESSAGE: usize = 64 << 20;

/// The beginning of a stream.
#[derive(Debug)]
pub struct Beginning {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether the stream goes on.
    pub is_cut: bool,
}

/// Reads the first bytes of a stream, at most `most`.
pub fn read_beginning(reader: impl Read, most: usize) -> io::Result<Beginning> {
    read_onto(Vec::new(), reader, most)
}

/// Reads a whole stream that has probably `expected` bytes; an error when it has more than `most`.
pub fn read_expected(reader: impl Read, expected: usize, most: usize) -> io::Result<Vec<u8>> {
    // One byte more tells that it has ended, without another allocation.
    let room = Vec::with_capacity(expected.min(most).saturating_add(1));
    let Beginning { bytes, is_cut } = read_onto(room, reader, most)?;
    if is_cut { Err(too_large(most)) } else { Ok(bytes) }
}

/// Reads a line, its newline included.
///
/// # Errors
/// [`ErrorKind::FileTooLarge`] for a line of more than `most` bytes, and
/// [`ErrorKind::UnexpectedEof`] when the stream ends before the line does.
pub async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    most: usize,
) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    reader.take(one_more(most)).read_until(b'\n', &mut line).await?;
    if line.len() > most {
        return Err(too_large(most));
    }
    if line.ends_with(b"\n") { Ok(line) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

fn read_onto(mut bytes: Vec<u8>, reader: impl Read, most: usize) -> io::Result<Beginning> {
    reader.take(one_more(most)).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > most;
    bytes.truncate(most);
    Ok(Beginning { bytes, is_cut })
}

/// Returns `most` and one byte, which tells that there are more.
fn one_more(most: usize) -> u64 {
    (most as u64).saturating_add(1)
}

fn too_large(most: usize) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {most} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_itself_is_not_too_much() {
        let beginning = |most| read_beginning(&b"12345"[..], most).unwrap();
        assert_eq!((&*beginning(5).bytes, beginning(5).is_cut), (&b"12345"[..], false));
        assert_eq!((&*beginning(4).bytes, beginning(4).is_cut), (&b"1234"[..], true));
        assert_eq!(read_expected(&b"12345"[..], 9, 5).unwrap(), b"12345");
        let error = read_expected(&b"12345"[..], 9, 4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it is larger than 4 bytes");
        assert_eq!(read_expected(&b"12345"[..], 2, usize::MAX).unwrap(), b"12345");
    }

    #[tokio::test]
    async fn a_line_is_whole_or_an_error() {
        let mut stream = &b"ab\ncd\nef"[..];
        assert_eq!(read_line(&mut stream, 3).await.unwrap(), b"ab\n");
        assert_eq!(read_line(&mut stream, 2).await.unwrap_err().kind(), ErrorKind::FileTooLarge);
        let mut stream = &b"ef"[..];
        assert_eq!(read_line(&mut stream, 9).await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        // An endless line is not read to its end.
        let mut endless = tokio::io::BufReader::new(tokio::io::repeat(b'x'));
        let error = read_line(&mut endless, 1000).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }
}
