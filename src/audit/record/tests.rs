//! What every record of a decision has in common.

use serde_json::json;

use super::*;

#[test]
fn every_record_begins_alike_and_holds_no_secret() {
    let mut input = Input::for_tool("shell", JsonObject::new()).with_session("s");
    let token = format!("ghp_{}", "a1B2".repeat(9));
    input.prompt = Some(format!("use {token}"));
    let verdict = Verdict::denied(Event::PreToolUse, format!("no {token}"));
    let record = Record::new("T".into(), &input, &verdict, 1.5);
    let line = record
        .with_input(&input, verdict.updated_input.clone(), &Redactor::default())
        .line(&Redactor::default())
        .unwrap();
    let line = String::from_utf8(line).unwrap();
    assert!(line.starts_with(BEGINNING) && line.ends_with("}\n"), "{line}");
    assert!(!line.contains(&token), "{line}");
    let read: Record = serde_json::from_str(&line).unwrap();
    assert!(read.input_redacted && !read.input_cut);
    assert_eq!(read.decision, Some(Decision::Deny));
}

#[test]
fn a_record_stays_small_and_says_what_it_lacks() {
    let mut input = Input::default();
    let line_of = |input: &Input, verdict: &Verdict| {
        let record = Record::new("T".into(), input, verdict, 0.0);
        record
            .with_input(input, verdict.updated_input.clone(), &Redactor::default())
            .line(&Redactor::default())
            .unwrap()
    };
    let verdict = Verdict::denied(Event::Stop, "m".repeat(2 * LONGEST));
    input.messages = Some(vec!["x".into(); 3]);
    let line = line_of(&input, &Verdict::no_opinion(Event::Stop));
    assert!(serde_json::from_slice::<Record>(&line).unwrap().input_cut);
    input.prompt = Some("short".into());
    let line = line_of(&input, &verdict);
    let read: Record = serde_json::from_slice(&line).unwrap();
    assert!(line.len() < LONGEST && read.input.is_some(), "a long message costs no input");
    assert!(!read.hooks_cut, "nothing was left out");
    let many = (0..40).map(|key| (key.to_string(), "y".repeat(3000).into()));
    input.tool_input = Some(many.collect());
    let line = line_of(&input, &verdict);
    assert!(line.len() < LONGEST);
    let read: Record = serde_json::from_slice(&line).unwrap();
    assert!(read.input_cut && read.input.is_none());
    let mut verdict = verdict;
    for number in 0..200 {
        let report = json!({
            "name": number.to_string(), "type": "hooks_file", "source": "s".repeat(3000),
            "status": "failed", "duration_ms": 0.0,
        });
        let mut report: HookReport = serde_json::from_value(report).unwrap();
        // Those of the highest layer stand last.
        report.rank = usize::from(number < 190);
        verdict.failed_open.push(report.name.clone());
        verdict.hooks.push(report);
    }
    let line = line_of(&Input::default(), &verdict);
    let read: Record = serde_json::from_slice(&line).unwrap();
    assert!(line.len() < LONGEST && read.hooks_cut && read.hooks[0].name == "190");
    // No more than must go: all ten of the highest layer are there, and some others.
    assert!((11..25).contains(&read.hooks.len()), "{}", read.hooks.len());
    assert_eq!(read.failed_open.len(), read.hooks.len());
    // Here the hooks of a project alone are too many, and the input stays.
    for report in &mut verdict.hooks {
        report.rank = if report.name.len() == 3 { 2 } else { 0 };
    }
    verdict.message = None;
    let hooks = verdict.hooks.clone();
    verdict.hooks.retain(|report| report.rank == 2 || report.name == "7");
    let asked = Input { prompt: Some("short".into()), ..Input::default() };
    let read: Record = serde_json::from_slice(&line_of(&asked, &verdict)).unwrap();
    assert!(read.hooks_cut && !read.input_cut && read.input.is_some());
    assert_eq!(read.hooks[0].name, "7");
    verdict.hooks = hooks;
    let mut input = Input::for_tool("t".repeat(LONGEST), JsonObject::new());
    input.session_id = "s".repeat(LONGEST);
    assert!(line_of(&input, &verdict).len() < LONGEST);
}

#[test]
fn what_a_project_says_costs_a_record_nothing_else() {
    let report = |rank: usize, name: String, reason: String| {
        let report = json!({
            "name": name, "type": "command", "source": "hooks.yaml", "status": "blocked",
            "decision": "deny", "reason": reason, "duration_ms": 0.0,
        });
        let report: HookReport = serde_json::from_value(report).unwrap();
        HookReport { rank, ..report }
    };
    let record = |input: &Input, of_project: usize| {
        let reason = "because ".repeat(200);
        let mut verdict = Verdict::denied(Event::PreToolUse, reason.as_str());
        verdict.hooks.push(report(1, "guard".to_owned(), reason));
        if of_project > 0 {
            let added = (0..18).map(|key| (key.to_string(), "z".repeat(4000).into()));
            verdict.updated_input = Some(added.collect());
        }
        for number in 0..of_project {
            let said = "\u{1f600}".repeat(500);
            let message = verdict.message.get_or_insert_default();
            message.push_str(&said);
            verdict.hooks.push(report(Layer::Project.rank(), number.to_string(), said));
        }
        let record = Record::new("T".into(), input, &verdict, 0.0);
        let record = record.with_input(input, verdict.updated_input.clone(), &Redactor::default());
        let line = record.line(&Redactor::default()).unwrap();
        assert!(line.len() < LONGEST);
        serde_json::from_slice::<Record>(&line).unwrap()
    };
    // Inputs that have a place, and inputs that have none.
    for size in [0, 30_000, 55_000, 61_000, 70_000, 200_000] {
        let texts = (0..size / 1000).map(|key| (key.to_string(), "x".repeat(1000).into()));
        let input = Input::for_tool("shell", texts.collect());
        let alone = record(&input, 0);
        let with_project = record(&input, 60);
        assert_eq!(with_project.hooks[0], alone.hooks[0], "{size}");
        assert_eq!(with_project.input, alone.input, "{size}");
        assert!(with_project.hooks_cut && !alone.hooks_cut, "{size}");
    }
}

#[test]
fn a_text_of_many_megabytes_is_left_out_as_a_whole() {
    let key = format!(
        "-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY-----",
        "k".repeat(LONGEST_WAITING)
    );
    let verdict = Verdict::denied(Event::Stop, format!("{key} ghp_{}", "a1B2".repeat(9)));
    let record = Record::new("T".into(), &Input::default(), &verdict, 0.0);
    assert!(record.message.as_deref().is_some_and(|it| it.ends_with("left out]")));
    let line = String::from_utf8(record.line(&Redactor::default()).unwrap()).unwrap();
    assert!(!line.contains("ghp_"), "{line}");
}

#[test]
fn a_secret_is_taken_out_before_a_text_is_cut() {
    let reason = format!("{} ghp_{} {}", "p".repeat(172), "a1B2".repeat(9), "q".repeat(LONGEST));
    let verdict = Verdict::denied(Event::Stop, reason);
    let record = Record::new("T".into(), &Input::default(), &verdict, 0.0);
    let line = String::from_utf8(record.line(&Redactor::default()).unwrap()).unwrap();
    assert!(line.contains("pppp") && !line.contains("ghp_"), "{line}");
}
