//! Adding and taking away, on settings as they are found.

use jsonc_parser::json;

use super::*;

fn element(event: &str) -> CstInputValue {
    json!({
        "matcher": "*",
        "hooks": [{ "type": "command", "command": (format!("hookexec {event}")) }],
    })
}

fn ours(command: &str) -> bool {
    command.starts_with("hookexec ")
}

fn our_commands(text: &str) -> usize {
    text.matches("\"hookexec ").count()
}

fn appended(text: &str, event: &str) -> Result<String, SettingsError> {
    let tree = tree(text)?;
    let object = tree.object_value().ok_or(SettingsError::NotAnObject)?;
    append(&object, &["hooks"], event, element(event))?;
    Ok(tree.to_string())
}

fn installed(text: &str) -> String {
    let mut text = text.to_owned();
    for event in ["PreToolUse", "PostToolUse", "Stop"] {
        text = appended(&text, event).unwrap();
    }
    text
}

/// Settings with one entry a line where something is added: with comments, tabs, CRLF, trailing
/// commas.
const SPREAD: [&str; 11] = [
    "{}",
    "{}\n",
    "{\n  // nothing yet\n}\n",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\n\t\"model\": \"opus\",\n\t\"b\": [1,2]\n}\n",
    "{\r\n    \"model\": \"opus\"\r\n}\r\n",
    "{\n  // mine\n  \"model\": \"opus\", // the best\n  /* and */ \"b\": 2 // last  \n}\n",
    "{\n  \"model\": \"opus\", // trailing comma\n}\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"mine\" } ] }\n    ]\n  },\n  \"z\": 1\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [ {\"command\": \"a\"}, ], // c\n      },\n    ],\n  },\n}\n",
    "{\n  \"a\": {\n  }\n}",
];

/// Settings with several entries on one line.
const DENSE: [&str; 7] = [
    "{\"a\":1}",
    "{ \"a\": 1 }\n",
    "{\"a\":1,\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"command\":\"mine\"}]}]}}",
    "{\n\"hooks\": {\"Notification\": []},\n   \"odd\":    true    }\n",
    "  {\n  \"a\": 1}\n\n",
    "{\"hooks\": {\"PreToolUse\": [{\"command\": \"x\"}]}, \"t\": \"a, } ] // no comment\"}",
    "{\"ä\": \"ü\",\n \"hooks\": {\"Stop\": [{\"command\": \"ö\"}]}}\n",
];

fn found() -> impl Iterator<Item = &'static str> {
    SPREAD.into_iter().chain(DENSE)
}

#[test]
fn taking_away_gives_the_bytes_back() {
    for text in SPREAD {
        let with = installed(text);
        assert_eq!(our_commands(&with), 3, "{with}");
        assert_eq!(remove(&with, ours).unwrap(), text, "of\n{with}");
    }
}

#[test]
fn taking_away_from_dense_text_leaves_its_entries_on_lines_of_their_own() {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    for text in DENSE {
        let with = installed(text);
        assert_eq!(our_commands(&with), 3, "{with}");
        let left = remove(&with, ours).unwrap();
        assert_eq!(squeezed(&left), squeezed(text), "of\n{with}");
        assert_eq!(remove(&installed(&left), ours).unwrap(), left);
    }
}

#[test]
fn what_was_there_stays_in_its_place() {
    for text in found() {
        let with = installed(text);
        let mut rest = with.as_str();
        for letter in text.chars() {
            let place = rest.find(letter).unwrap_or_else(|| panic!("{letter:?} in\n{with}"));
            rest = &rest[place + letter.len_utf8()..];
        }
    }
}

#[test]
fn what_the_user_adds_afterwards_stays() {
    for text in found() {
        let with = installed(text).replace("\"hookexec Stop\"", "\"mine\"");
        let without = remove(&with, ours).unwrap();
        assert!(without.contains("\"mine\""), "{without}");
        assert!(our_commands(&without) == 0);
        plain_json(&without).unwrap();
    }
    let with = installed("{}").replace("]\n  }", "],\n    \"More\": [1]\n  }");
    assert_eq!(remove(&with, ours).unwrap(), "{\n  \"hooks\": {\n    \"More\": [1]\n  }\n}");
}

#[test]
fn it_reads_like_the_rest_of_the_file() {
    insta::assert_snapshot!(installed(SPREAD[6]));
    insta::assert_snapshot!(installed(SPREAD[8]));
    insta::assert_snapshot!(appended(DENSE[0], "Stop").unwrap());
}

#[test]
fn a_file_that_cannot_be_understood_is_left_alone() {
    for (text, reason) in [
        ("", "not a JSON object"),
        ("[]", "not a JSON object"),
        ("{\"hooks\": []}", "`hooks` is not an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "`Stop` is not a list"),
        ("{\"hooks\": {}, \"hooks\": {}}", "`hooks` appears twice"),
        ("{\"hooks\": ", "not valid JSON"),
        ("{'hooks': {}}", "not valid JSON"),
        ("{\"a\": \"\\x41\"}", "not valid JSON"),
        ("{\"a\": .5}", "not valid JSON"),
        ("{\"a\": NaN}", "not valid JSON"),
    ] {
        let error = appended(text, "Stop").unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn a_group_with_something_of_the_users_in_it_stays() {
    let text = r#"{"hooks":{"PreToolUse":[{"matcher":"*","_off":[{"command":"guard"}],"hooks":[{"command":"hookexec run"}]}]}}"#;
    let left = remove(text, ours).unwrap();
    assert!(left.contains("guard") && !left.contains("hookexec"), "{left}");
    let text = r#"{"hooks":{"PreToolUse":[{"matcher":"*","name":"x","hooks":[{"command":"hookexec run"}]}]}}"#;
    assert!(!remove(text, ours).unwrap().contains("matcher"));
}
