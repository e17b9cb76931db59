//! The `console` blocks of the README and the quickstart print what they show, and their files are sound.
//!
//! A block is one shell session in a directory that holds `examples/` and the page's own files: a
//! `yaml` block that begins with `# NAME` is the file of that name. A line that begins with `$` is a
//! command, what follows is its output, stderr included. Durations may differ; a line `...` stands
//! for any lines.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Sandbox, wait};

const PAGES: [&str; 2] =
    [include_str!("../../README.md"), include_str!("../../docs/quickstart.md")];

/// Returns the text of every fenced block of the page in `language`.
fn blocks(page: &'static str, language: &str) -> Vec<&'static str> {
    let fence = format!("\n```{language}\n");
    page.split(&*fence).skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect()
}

/// Writes the files that the page shows, and those it talks of.
fn prepare(sandbox: &Sandbox, page: &'static str) {
    let examples = Path::new(crate::support::ROOT).join("examples");
    std::os::unix::fs::symlink(examples, sandbox.project().join("examples")).unwrap();
    for block in blocks(page, "yaml") {
        let name = block.lines().next().unwrap().strip_prefix("# ").expect("a file name");
        sandbox.write(name, &format!("{block}\n"));
    }
    // The blocks before the one that approves it are not about the file.
    sandbox.trust();
}

/// Runs the commands in one shell and returns the output of each.
fn session(sandbox: &Sandbox, commands: &[&str]) -> Vec<String> {
    const END: &str = "-- end of command --";
    let program = Path::new(env!("CARGO_BIN_EXE_hookexec"));
    let step = |command: &&str| {
        let command = command.replace("cargo run -q --", "hookexec");
        // There is no person at a terminal here, and `prepare` has approved the file already.
        let add = "hookexec trust remove --yes >/dev/null; hookexec trust add --yes";
        let command = command.replace("hookexec trust add", add);
        format!("{command}\nstatus=$?; echo '{END}'; (exit $status)\n")
    };
    let script = format!("exec 2>&1\n{}", commands.iter().map(step).collect::<String>());
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("sh");
    let child = sandbox
        .dress(&mut shell)
        .args(["-c", &script])
        .env("PATH", format!("{}:{path}", program.parent().unwrap().display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = String::from_utf8(wait(child).stdout).unwrap();
    let mut outputs: Vec<String> =
        output.split(&format!("{END}\n")).map(|text| without_times(&sandbox.plain(text))).collect();
    assert_eq!(outputs.pop().as_deref(), Some(""), "{output}");
    assert_eq!(outputs.len(), commands.len(), "{output}");
    outputs
}

fn without_times(text: &str) -> String {
    let times = regex::Regex::new(r#"\d+\.\d ms|("duration_ms":)[0-9.]+"#).unwrap();
    times.replace_all(text, "${1}[TIME]").into_owned()
}

/// Whether `shown`, in which a line `...` stands for any lines, shows `found`.
fn shows(shown: &[&str], found: &[&str]) -> bool {
    match (shown, found) {
        ([], []) => true,
        (["...", shown @ ..], _) => (0..=found.len()).any(|from| shows(shown, &found[from..])),
        ([line, shown @ ..], [other, found @ ..]) => line == other && shows(shown, found),
        _ => false,
    }
}

#[test]
fn the_console_blocks_print_what_they_show() {
    for page in PAGES {
        let sandbox = Sandbox::new();
        prepare(&sandbox, page);
        let blocks = blocks(page, "console");
        assert!(blocks.len() >= 3, "{blocks:?}");
        for block in blocks {
            check_console(&sandbox, block);
        }
    }
}

fn check_console(sandbox: &Sandbox, block: &str) {
    let steps: Vec<(&str, &str)> = format!("\n{block}\n")
        .leak()
        .split("\n$ ")
        .skip(1)
        .map(|step| step.split_once('\n').unwrap_or((step, "")))
        .collect();
    let commands: Vec<&str> = steps.iter().map(|(command, _)| *command).collect();
    for ((command, shown), found) in steps.iter().zip(session(sandbox, &commands)) {
        let shown = without_times(shown);
        assert!(
            shows(&shown.lines().collect::<Vec<_>>(), &found.lines().collect::<Vec<_>>()),
            "$ {command}\n-- the page shows\n{shown}\n-- it prints\n{found}"
        );
    }
}

#[test]
fn the_other_blocks_work_when_they_are_pasted() {
    let mut count = 0;
    for page in PAGES {
        let sandbox = Sandbox::new();
        prepare(&sandbox, page);
        for block in blocks(page, "sh") {
            for (index, output) in session(&sandbox, &[block, "echo $?"]).iter().enumerate() {
                let failed = output.contains("error:") || index == 1 && output != "0\n";
                assert!(!failed, "{block}\n{output}");
            }
            count += 1;
        }
    }
    assert!(count > 0);
}

/// Returns the pages of `docs/` and `docs/agents/`.
fn pages() -> Vec<PathBuf> {
    let docs = Path::new(crate::support::ROOT).join("docs");
    let mut pages = Vec::new();
    for directory in [docs.join("agents"), docs] {
        for entry in std::fs::read_dir(directory).unwrap() {
            pages.push(entry.unwrap().path());
        }
    }
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages
}

#[test]
fn the_files_that_pages_link_exist() {
    let root = Path::new(crate::support::ROOT);
    let link = regex::Regex::new(r"\]\(([^)#:\s]+)(#[^)]*)?\)").unwrap();
    let mut count = 0;
    let pages = pages().into_iter();
    for page in pages.chain([root.join("README.md"), root.join("CONTRIBUTING.md")]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for found in link.captures_iter(&text) {
            let path = &found[1];
            let linked = page.parent().unwrap().join(path);
            assert!(linked.exists(), "{} links {path}, which is gone", page.display());
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn the_site_lists_every_page() {
    let docs = Path::new(crate::support::ROOT).join("docs");
    let list = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for page in pages() {
        let name = page.strip_prefix(&docs).unwrap().display().to_string();
        let listed = name == "SUMMARY.md" || list.contains(&format!("({name})"));
        assert!(listed, "docs/SUMMARY.md lacks {name}");
    }
}

#[test]
fn it_names_every_direct_dependency() {
    let manifests = [
        include_str!("../../Cargo.toml"),
        include_str!("../../crates/agents/Cargo.toml"),
        include_str!("../../crates/cli/Cargo.toml"),
        include_str!("../../crates/files/Cargo.toml"),
        include_str!("../../crates/project/Cargo.toml"),
        include_str!("../../crates/serve/Cargo.toml"),
        include_str!("../../crates/setup/Cargo.toml"),
        include_str!("../../crates/workbench/Cargo.toml"),
    ];
    let sections = manifests.iter().map(|manifest| {
        let section = manifest.split("\n[dependencies]\n").nth(1).unwrap();
        section.split("\n[").next().unwrap()
    });
    let page = include_str!("../../docs/architecture.md");
    let table = page.split("\n## Dependencies\n").nth(1).unwrap();
    let names = sections
        .flat_map(str::lines)
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
        .map(|name| name.trim_end_matches(".workspace"))
        .filter(|name| !name.starts_with("hookexec"));
    for name in names {
        assert!(table.contains(&format!("`{name}`")), "`{name}` is not in docs/architecture.md");
    }
}
