//! Redaction judged on a labelled set.

use std::path::Path;

use hookexec_builtins::secrets::Redactor;
use proptest::prelude::*;
use serde_json::json;

/// One text of the set.
struct Sample {
    line: String,
    text: String,
    secrets: Vec<String>,
}

/// Reads a file of the set; its form stands at the top of `hits.txt`.
fn samples(file: &str) -> Vec<Sample> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/builtins/secrets").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (_, marked) = line.split_once('\t').unwrap();
            let marked = marked.replace('¦', "").replace("\\\\n", "\u{1}");
            let marked = marked.replace("\\n", "\n").replace('\u{1}', "\\n");
            let secrets = marked
                .split('⟦')
                .skip(1)
                .map(|rest| rest.split_once('⟧').unwrap().0.to_owned())
                .collect();
            Sample { line: line.to_owned(), text: marked.replace(['⟦', '⟧'], ""), secrets }
        })
        .collect()
}

/// What redaction does to a set.
pub(crate) struct Score {
    /// How many secrets there are.
    pub(crate) secrets: usize,
    /// The texts with a secret that was not found exactly: all of it, and nothing else.
    pub(crate) missed: Vec<String>,
    /// How many texts without a secret there are.
    pub(crate) harmless: usize,
    /// Those that were changed all the same.
    pub(crate) mistaken: Vec<String>,
}

pub(crate) fn score(hits: &str, misses: &str) -> Score {
    let redactor = Redactor::default();
    let mut score = Score { secrets: 0, missed: vec![], harmless: 0, mistaken: vec![] };
    for sample in samples(hits) {
        let found = redactor.find(&sample.text);
        for secret in &sample.secrets {
            score.secrets += 1;
            let start = sample.text.find(secret.as_str()).unwrap();
            if !found.iter().any(|finding| finding.range == (start..start + secret.len())) {
                score.missed.push(sample.line.clone());
            }
        }
    }
    for sample in samples(misses) {
        score.harmless += 1;
        if !redactor.find(&sample.text).is_empty() {
            score.mistaken.push(sample.line);
        }
    }
    score
}

#[test]
fn the_labelled_set_is_told_apart() {
    let score = score("hits.txt", "misses.txt");
    let known = ["split\t", "command line\t", "encoded\t", "http trace\t> Authorization: Digest"];
    let unexpected: Vec<_> = score
        .missed
        .iter()
        .filter(|line| !known.iter().any(|start| line.starts_with(start)))
        .chain(&score.mistaken)
        .collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert_eq!(score.missed.len(), known.len(), "a known miss is found now: take it off the list");
}

#[test]
fn a_second_look_changes_nothing() {
    let redactor = Redactor::new([("API_TOKEN", "value-of-the-environment")]);
    for sample in samples("hits.txt").iter().chain(&samples("held_out_hits.txt")) {
        let once = redactor.redact(&sample.text).into_owned();
        assert_eq!(redactor.redact(&once), once);
    }
}

#[test]
fn values_of_the_environment_are_found_anywhere() {
    let redactor = Redactor::new([
        ("ACME_TOKEN", "correct-horse"),
        ("ACME_PASSWORD", "short"),
        ("ACME_KEY_FILE", "/run/secrets/acme-key"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-x/agent.1"),
        ("MAX_TOKENS", "100000000"),
        ("EDITOR", "correct-editor"),
        ("DB_PASSWORD", "postgres"),
    ]);
    assert_eq!(
        redactor.redact("echo correct-horse | nc postgres 1; short; correct-editor; 100000000"),
        "echo [REDACTED:env:ACME_TOKEN] | nc postgres 1; short; correct-editor; 100000000"
    );
}

#[test]
fn json_is_cleaned_at_every_depth() {
    let token = format!("gh{}_16C7e42F292c6912E7710c838347Ae178B4a", 'p');
    let mut value = json!({
        "a": [{ "b": format!("x {token}") }],
        "password": "hunter2",
        "db": { "apiKey": "b7d1-44f0-9c2e", "password": null, "n": 1.50 },
        token.clone(): 1,
        "schema": { "password": { "type": "string" } },
        "login": { "password": 12_345_678, "passwords": ["hunter2", 1234, { "a": 1 }], "pin": 1 },
        "usage": { "total_tokens": 123_456_789, "tokens": [101, 2023], "token": 5 },
    });
    assert!(Redactor::default().redact_value(&mut value));
    assert_eq!(
        value,
        json!({
            "a": [{ "b": "x [REDACTED:github-token]" }],
            "password": "[REDACTED:password]",
            "db": { "apiKey": "[REDACTED:api-key]", "password": null, "n": 1.50 },
            "[REDACTED:github-token]": 1,
            "schema": { "password": { "type": "string" } },
            "login": {
                "password": "[REDACTED:password]",
                "passwords": ["[REDACTED:password]", "[REDACTED:password]", { "a": 1 }],
                "pin": 1,
            },
            "usage": { "total_tokens": 123_456_789, "tokens": [101, 2023], "token": 5 },
        })
    );
    let clean = value.clone();
    assert!(!Redactor::default().redact_value(&mut value));
    assert_eq!(value, clean);
}

#[test]
fn long_texts_take_linear_time() {
    // Openings without ends, over and over: what makes a backtracking engine quadratic.
    let redactor = Redactor::default();
    for opening in [
        "-----BEGIN PRIVATE KEY-----\n",
        "password:",
        "password=\"",
        "https://a:",
        "eyJaaaaaaaaa.",
        "token ",
    ] {
        let text = opening.repeat(300_000 / opening.len());
        let started = std::time::Instant::now();
        assert!(!redactor.redact(&text).is_empty());
        assert!(started.elapsed().as_secs() < 60, "{opening}: {:?}", started.elapsed());
    }
}

proptest! {
    #[test]
    fn a_token_never_survives_its_surroundings(before in "\\PC{0,40}[ =:\"'\n/(]", after in "[ ,;\"'\n)&<]\\PC{0,40}") {
        let token = format!("gh{}_16C7e42F292c6912E7710c838347Ae178B4a", 'p');
        let text = format!("{before}{token}{after}");
        let clean = Redactor::default().redact(&text).into_owned();
        prop_assert!(!clean.contains("16C7e42F292c6912E7710c838347Ae178B4a"), "{clean}");
    }

    #[test]
    fn any_text_can_be_redacted(text in "(\\PC|password|token|=|: |\"|sk-|://|@|-----BEGIN PRIVATE KEY-----){0,60}") {
        let redactor = Redactor::default();
        let once = redactor.redact(&text).into_owned();
        prop_assert_eq!(redactor.redact(&once), once.as_str());
    }
}

#[test]
fn the_documentation_holds_the_numbers() {
    let row = |name: &str, score: &Score| {
        let found = score.secrets - score.missed.len();
        let percent = found * 100 / score.secrets;
        format!(
            "| {name} | {found} of {} ({percent} %) | {} of {} |\n",
            score.secrets,
            score.mistaken.len(),
            score.harmless
        )
    };
    let numbers = format!(
        "| set | secrets found | harmless texts changed |\n|---|---|---|\n{}{}",
        row("the rules were made with it", &score("hits.txt", "misses.txt")),
        row("written afterwards", &score("held_out_hits.txt", "held_out_misses.txt")),
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/builtins.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- begin: secrets -->\n", "<!-- end: secrets -->");
    let (head, rest) = page.split_once(begin).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let expected = format!("{head}{begin}{numbers}{end}{tail}");
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert!(page == expected, "docs/builtins.md: UPDATE=1 cargo test --test builtins secrets");
    }
}
