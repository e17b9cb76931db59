//! Names that the reader of shell texts and the rules know; `names.txt` says what each list is.

include!(concat!(env!("OUT_DIR"), "/names.rs"));
