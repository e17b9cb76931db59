//! Options with which programs that people list write files or run other programs.
//!
//! A `*` in a pattern does not stand for them. The table knows what is common, and can't know all.

use crate::calls::base_name;

/// Options of some programs.
struct Hazard {
    programs: &'static [&'static str],
    /// Long options; programs take their beginnings for them.
    long: &'static [&'static str],
    /// Options of one letter.
    letters: &'static str,
    /// Whole words.
    words: &'static [&'static str],
    /// Whether any argument may: a script, or the name of a file to write.
    any: bool,
}

const NONE: Hazard = Hazard { programs: &[], long: &[], letters: "", words: &[], any: false };

static HAZARDS: [Hazard; 15] = [
    Hazard {
        programs: &["git"],
        long: &[
            "output", "ext-diff", "textconv", "exec", "exec-path", "upload-pack", "receive-pack",
            "open-files-in-pager", "config", "config-env", "git-dir", "work-tree",
            "upload-archive",
        ],
        letters: "O",
        ..NONE
    },
    Hazard {
        programs: &["find", "gfind", "bfs"],
        words: &[
            "-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf",
            "-fls",
        ],
        ..NONE
    },
    Hazard { programs: &["fd", "fdfind"], long: &["exec", "exec-batch"], letters: "xX", ..NONE },
    Hazard {
        programs: &["sort", "gsort"],
        long: &["output", "compress-program"],
        letters: "o",
        ..NONE
    },
    Hazard {
        programs: &["tar", "gtar", "bsdtar"],
        long: &[
            "to-command", "checkpoint-action", "use-compress-program", "rsh-command",
            "info-script", "new-volume-script",
        ],
        letters: "IF",
        ..NONE
    },
    Hazard { programs: &["rg"], long: &["pre", "hostname-bin"], ..NONE },
    Hazard {
        programs: &["sed", "gsed", "uniq", "guniq", "xxd", "less", "file"],
        any: true,
        ..NONE
    },
    Hazard { programs: &["man"], long: &["pager", "html", "preprocessor"], letters: "PH", ..NONE },
    Hazard { programs: &["bat", "batcat", "delta"], long: &["pager"], ..NONE },
    Hazard { programs: &["split", "csplit"], long: &["filter"], ..NONE },
    Hazard { programs: &["rsync"], long: &["rsh", "rsync-path"], letters: "e", ..NONE },
    Hazard { programs: &["tree"], letters: "o", ..NONE },
    Hazard { programs: &["yq"], long: &["inplace", "in-place"], letters: "i", ..NONE },
    Hazard { programs: &["printf"], letters: "v", ..NONE },
    Hazard { programs: &["cargo"], long: &["config", "manifest-path"], letters: "Z", ..NONE },
];

/// Returns whether an argument makes the program, in any directory, write a file or run another.
pub(super) fn is_hazard(program: &str, arg: &str) -> bool {
    let program = base_name(program);
    let name = |long: &str| long.split('=').next().unwrap_or(long).to_owned();
    let long = arg.strip_prefix("--").map(name);
    let letters = arg.strip_prefix('-').filter(|_| long.is_none()).unwrap_or_default();
    HAZARDS.iter().filter(|hazard| hazard.programs.contains(&&*program)).any(|hazard| {
        // `--` alone ends the options.
        let is_long = |name: &String| {
            !name.is_empty() && hazard.long.iter().any(|option| option.starts_with(name.as_str()))
        };
        hazard.any
            || long.as_ref().is_some_and(is_long)
            || letters.contains(|letter| hazard.letters.contains(letter))
            || hazard.words.contains(&arg)
    })
}
