//! `hookexec install`, `uninstall` and `doctor` on settings as they are found.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hookexec_agents::Agent;
use serde_json::{Value, json};

use crate::support::Sandbox;

/// Where each agent's settings are, under the home directory.
const USER: [(&str, &str); 11] = [
    ("claude-code", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json"),
    ("copilot", ".copilot/hooks/hookexec.json"),
    ("cursor", ".cursor/hooks.json"),
    ("droid", ".factory/hooks.json"),
    ("windsurf", ".codeium/windsurf/hooks.json"),
    ("kiro", ".kiro/hooks/hookexec.json"),
    ("kimi", ".kimi-code/config.toml"),
    ("vibe", ".vibe/hooks.toml"),
];

/// The agents whose settings are in TOML.
const TOML: [&str; 2] = ["kimi", "vibe"];

/// Returns the value of a settings file.
fn parsed(text: &str) -> Value {
    if text.starts_with('{') {
        return serde_json::from_str(text).unwrap();
    }
    toml_edit::de::from_str(text).unwrap()
}

/// Settings with hooks of the user's own, as people have them.
fn lived_in(agent: &str) -> Vec<String> {
    let mine = json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": "/home/me/my-hook.sh"}]}]);
    let event = if agent == "gemini" { "BeforeTool" } else { "PreToolUse" };
    let nested = json!({"model": "x", "hooks": {event: mine, "Stop": []}, "permissions": {"allow": ["Bash(ls:*)"]}});
    let mut found = vec![
        serde_json::to_string_pretty(&nested).unwrap(),
        nested.to_string() + "\n",
        serde_json::to_string_pretty(&nested).unwrap().replace("  ", "\t").replace('\n', "\r\n"),
        "{}".to_owned(),
        "{\n}\n".to_owned(),
        "{ \"hooks\": { } }\n".to_owned(),
        String::new(),
    ];
    if agent == "gemini" || agent == "qwen" {
        found.push("{\n  // who pays\n  \"auth\": {\"type\": \"key\"}, /* not yet */\n  \"ui\": {\n    \"theme\": \"dark\", // at night\n  },\n}\n".to_owned());
    }
    if agent == "cursor" || agent == "windsurf" {
        let mine = json!({"version": 1, "hooks": {"preToolUse": [{"command": "mine"}], "pre_run_command": [{"command": "mine", "show_output": true}]}});
        found = vec![serde_json::to_string_pretty(&mine).unwrap() + "\n", mine.to_string()];
    }
    if agent == "droid" {
        found = vec![serde_json::to_string_pretty(&nested["hooks"]).unwrap(), "{}".to_owned()];
    }
    if TOML.contains(&agent) {
        let event = match agent {
            "kimi" => "event = \"Stop\"",
            _ => "name = \"mine\"\ntype = \"post_agent\"",
        };
        let mine = format!("[[hooks]] # mine\n{event}\ncommand = \"mine\"\n");
        let more = format!("# who pays\na  = 1\n{mine}\n[models.x]\nname = 'x'  # the best\n");
        found = vec![
            mine,
            more.clone(),
            more.replace('\n', "\r\n"),
            "a = 1".to_owned(),
            "# nothing yet\n".to_owned(),
            String::new(),
        ];
    }
    if agent == "copilot" || agent == "kiro" {
        found.clear();
    }
    found
}

struct Home {
    sandbox: Sandbox,
}

impl Home {
    fn new() -> Self {
        Self { sandbox: Sandbox::new() }
    }

    fn path(&self, agent: &str) -> PathBuf {
        let file = USER.iter().find(|(name, _)| *name == agent).unwrap().1;
        self.sandbox.home().join(file)
    }

    fn put(&self, agent: &str, text: &str) -> PathBuf {
        let path = self.path(agent);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, args: &[&str]) -> crate::support::Done {
        self.sandbox.hookexec(args).run()
    }
}

#[test]
fn uninstalling_gives_every_file_back_as_it_was() {
    for (agent, _) in USER {
        for (index, text) in lived_in(agent).iter().enumerate() {
            let home = Home::new();
            let path = home.put(agent, text);
            let shown = home.run(&["install", agent, "--dry-run"]).exits(0);
            assert!(shown.stdout.starts_with("--- "), "{}", shown.stdout);
            assert_eq!(&fs::read_to_string(&path).unwrap(), text);
            let _ = home.run(&["install", agent]).exits(0);
            let with = fs::read_to_string(&path).unwrap();
            assert_ne!(&with, text, "{agent} {index}");
            assert!(!text.contains("mine") || with.contains("mine"));

            let again = home.run(&["install", agent]).exits(0);
            assert_eq!(again.stdout, "", "a second time changes nothing");
            assert!(again.stderr.contains("already installed"), "{}", again.stderr);
            assert_eq!(fs::read_to_string(&path).unwrap(), with);

            let _ = home.run(&["uninstall", agent]).exits(0);
            assert_eq!(&fs::read_to_string(&path).unwrap(), text, "{agent} {index}");
        }
    }
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    for (agent, _) in USER {
        let home = Home::new();
        let _ = home.run(&["install", agent]).exits(0);
        let text = fs::read_to_string(home.path(agent)).unwrap();
        let _ = parsed(&text);
        let _ = home.run(&["uninstall", agent]).exits(0);
        assert!(!home.path(agent).exists(), "{agent}");
        let nothing = home.run(&["uninstall", agent]).exits(0);
        assert!(nothing.stderr.contains("not installed"), "{}", nothing.stderr);
    }
}

#[test]
fn what_the_user_changed_meanwhile_stays() {
    let home = Home::new();
    let path = home.put("claude-code", &lived_in("claude-code")[0]);
    let _ = home.run(&["install", "claude-code"]).exits(0);
    let edited = fs::read_to_string(&path).unwrap().replace("\"model\": \"x\"", "\"model\": \"y\"");
    fs::write(&path, &edited).unwrap();
    // Installing once more over the edit keeps it.
    let _ = home.run(&["install", "claude-code", "--timeout", "30"]).exits(0);
    let _ = home.run(&["uninstall", "claude-code"]).exits(0);
    let left = fs::read_to_string(&path).unwrap();
    // An empty list goes along with the entries.
    let before = lived_in("claude-code")[0].replace(",\n    \"Stop\": []", "");
    assert_eq!(left, before.replace("\"model\": \"x\"", "\"model\": \"y\""));
}

#[test]
fn without_a_backup_only_the_entries_go() {
    let home = Home::new();
    let text = &lived_in("codex")[0];
    let path = home.put("codex", text);
    let _ = home.run(&["install", "codex"]).exits(0);
    fs::remove_dir_all(home.sandbox.home().join(".local/state/hookexec")).unwrap();
    let _ = home.run(&["uninstall", "codex"]).exits(0);
    let left: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let mut before: Value = serde_json::from_str(text).unwrap();
    // Whether an empty list was there before can't be known.
    before["hooks"].as_object_mut().unwrap().remove("Stop");
    assert_eq!(left, before);
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let home = Home::new();
    let path = home.put("gemini", "{\n  \"a\": 1\n}\n");
    let done = home.run(&["install", "gemini", "--dry-run"]).exits(0);
    assert!(done.stdout.contains("+  \"hooks\": {"), "{}", done.stdout);
    assert!(done.stdout.contains("-  \"a\": 1"), "the comma is a change, too");
    assert_eq!(fs::read_to_string(path).unwrap(), "{\n  \"a\": 1\n}\n");
    assert!(!home.sandbox.home().join(".local/state/hookexec/backups").exists());
}

#[test]
fn a_file_that_cannot_be_understood_is_not_touched() {
    for text in ["{\"hooks\": [", "[]", "{\"hooks\": []}", "{\"hooks\": {}, \"hooks\": {}}"] {
        let home = Home::new();
        let path = home.put("claude-code", text);
        let done = home.run(&["install", "claude-code"]).exits(64);
        assert!(done.stderr.contains("nothing was changed"), "{}", done.stderr);
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
}

#[test]
fn an_installation_in_the_other_scope_is_named_by_the_doctor() {
    let sandbox = Sandbox::new();
    let run = |args: &[&str]| sandbox.hookexec(args).run().exits(0).stderr;
    let _ = run(&["install", "claude-code", "--scope", "project"]);
    let said = run(&["uninstall", "claude-code"]);
    assert!(
        said.contains("not installed in") && said.contains("`hookexec doctor` shows"),
        "{said}"
    );
    let _ = run(&["install", "claude-code"]);
    let said = sandbox.hookexec(["doctor"]).run().stdout;
    assert!(said.contains("installed in 2 places: every hook runs as often here"), "{said}");
}

#[test]
fn a_file_of_which_the_agent_would_read_no_hook_is_not_touched() {
    for agent in ["claude-code", "codex", "copilot"] {
        for text in ["{\n  // mine\n  \"a\": 1\n}\n", "{\"a\": 1,}", "{\"a\": 1 /* one */}"] {
            let home = Home::new();
            let path = home.put(agent, text);
            let done = home.run(&["install", agent]).exits(64);
            assert!(
                done.stderr.contains("ignores all hooks in a file with comments"),
                "{}",
                done.stderr
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}

#[test]
fn hookexec_is_taken_out_of_a_file_of_which_the_agent_reads_no_hook() {
    let home = Home::new();
    for (agent, mistake) in [("claude-code", "// mine\n"), ("droid", "")] {
        let _ = home.run(&["install", agent]).exits(0);
        let path = home.path(agent);
        let mut text = std::fs::read_to_string(&path).unwrap();
        if mistake.is_empty() {
            text = text.replacen('{', "{ \"added\": [1],", 1);
        }
        std::fs::write(&path, format!("{mistake}{text}")).unwrap();
        let _ = home.run(&["install", agent]).exits(64);
        let _ = home.run(&["uninstall", agent]).exits(0);
        let left = std::fs::read_to_string(&path).unwrap();
        assert!(
            !left.contains("hookexec")
                && left.contains(if mistake.is_empty() { "added" } else { mistake }),
            "{left}"
        );
    }
}

#[test]
fn installing_once_more_keeps_what_was_asked_for_the_first_time() {
    for (agent, _) in USER {
        let home = Home::new();
        let config =
            home.sandbox.write("it's a policy.yaml", "stop: { type: command, command: 'true' }");
        let config = config.to_str().unwrap();
        let _ = home.run(&["install", agent, "--config", config, "--timeout", "100"]).exits(0);
        let first = fs::read_to_string(home.path(agent)).unwrap();
        let again = home.run(&["install", agent]).exits(0);
        assert!(again.stderr.contains("already installed"), "{agent}: {}", again.stderr);
        let _ = home.run(&["install", agent, "--timeout", "79"]).exits(0);
        let _ = home.run(&["install", agent, "--config", config]).exits(0);
        let text = fs::read_to_string(home.path(agent)).unwrap();
        assert!(text.contains("--within 72 --config "), "{agent}: {text}");
        let _ = home.run(&["install", agent, "--timeout", "100"]).exits(0);
        assert_eq!(fs::read_to_string(home.path(agent)).unwrap(), first, "{agent}");
    }
}

#[test]
fn an_entry_that_was_changed_by_hand_stays_and_is_named() {
    for (agent, _) in USER {
        let home = Home::new();
        let path = home.put(agent, if TOML.contains(&agent) { "" } else { "{}" });
        let _ = home.run(&["install", agent]).exits(0);
        let text = fs::read_to_string(&path).unwrap();
        let command = if TOML.contains(&agent) { "command = \"" } else { "\"command\": \"" };
        let mine = text.replacen(&format!("{command}/"), &format!("{command}timeout 30 /"), 1);
        fs::write(&path, &mine).unwrap();
        let done = home.run(&["install", agent, "--timeout", "90"]).exits(0);
        assert!(done.stderr.contains("changed by hand and stays"), "{agent}: {}", done.stderr);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("timeout 30 /").count(), 1, "{agent}: {text}");
        let entries = |text: &str| commands(&parsed(text)).len();
        assert_eq!(entries(&text), entries(&mine), "{agent}: nothing is called twice");
        let done = home.run(&["uninstall", agent]).exits(0);
        assert!(done.stderr.contains("not wholly uninstalled from"), "{agent}: {}", done.stderr);
        assert!(
            done.stderr.contains("changed by hand and is still there"),
            "{agent}: {}",
            done.stderr
        );
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(entries(&text), 1, "{agent}: {text}");
    }
}

#[test]
fn what_is_kept_of_the_settings_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let path = home.put("claude-code", "{\"env\": {\"KEY\": \"secret\"}}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let backups = home.sandbox.home().join(".local/state/hookexec/backups");
    for _ in 0..2 {
        let _ = home.run(&["install", "claude-code"]).exits(0);
        let kept = fs::read_dir(&backups).unwrap().next().unwrap().unwrap().path();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(&backups), mode(&kept)), (0o700, 0o600));
        assert!(fs::read_to_string(&kept).unwrap().contains("secret"));
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::write(&path, "{\"env\": {\"KEY\": \"secret\"}}").unwrap();
    }
}

#[test]
fn a_pipe_in_the_place_of_settings_is_not_waited_for() {
    let home = Home::new();
    for path in [home.path("claude-code"), home.sandbox.project().join(".claude/settings.json")] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    }
    for args in [&["install", "claude-code"][..], &["uninstall", "claude-code"], &["doctor"]] {
        let done = home.run(args);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(said.contains("not a regular file"), "{args:?}: {said}");
    }
}

#[test]
fn a_program_that_settings_cannot_name_is_not_installed() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    // Beside the program itself: the same file system, where a hard link can be made.
    let place =
        tempfile::tempdir_in(Path::new(env!("CARGO_BIN_EXE_hookexec")).parent().unwrap()).unwrap();
    let directory = place.path().join(std::ffi::OsStr::from_bytes(b"x\xffy"));
    fs::create_dir(&directory).unwrap();
    let program = directory.join("hookexec");
    fs::hard_link(env!("CARGO_BIN_EXE_hookexec"), &program).unwrap();
    let mut command = Command::new(&program);
    let output =
        home.sandbox.dress(&mut command).args(["install", "claude-code"]).output().unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not UTF-8"), "{output:?}");
    assert!(!home.path("claude-code").exists());
}

/// Returns this program in a directory of the sandbox's home, as a package put it there.
fn packaged(home: &Home, directory: &str) -> PathBuf {
    let directory = home.sandbox.home().join(directory);
    fs::create_dir_all(&directory).unwrap();
    let program = directory.join("hookexec");
    let this = env!("CARGO_BIN_EXE_hookexec");
    // Another file system has no hard link to it.
    fs::hard_link(this, &program).or_else(|_| fs::copy(this, &program).map(drop)).unwrap();
    program
}

/// Runs `program` with arguments, and returns its stderr.
fn run_program(home: &Home, program: &Path, args: &[&str]) -> String {
    let mut command = Command::new(program);
    let output = home.sandbox.dress(&mut command).args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_program_that_may_be_deleted_is_copied_to_where_it_stays() {
    use std::os::unix::fs::PermissionsExt as _;
    const NPM: &str = ".npm/_npx/1/node_modules/@hookexec/linux-x64/bin";
    for (directory, kind) in [
        (NPM, "a directory of npm's"),
        (".cache/uv/archive-v0/x/bin", "a cache"),
        ("venv/bin", "an environment of Python"),
        ("../tmp/bin", "a temporary directory"),
    ] {
        let home = Home::new();
        let program = packaged(&home, directory);
        fs::write(home.sandbox.home().join(directory).join("../pyvenv.cfg"), "").unwrap();
        if kind != "an environment of Python" {
            fs::remove_file(home.sandbox.home().join(directory).join("../pyvenv.cfg")).unwrap();
        }
        let policy = home.sandbox.write(
            "policy.yaml",
            "pre_tool_use: { hooks: { type: command, command: 'echo no >&2; exit 2' } }",
        );
        let kept = home.sandbox.home().join(".local/share/hookexec/bin");
        let kept = kept.join(concat!("hookexec-", env!("CARGO_PKG_VERSION")));
        let args = ["install", "claude-code", "--config", policy.to_str().unwrap()];
        let _ = run_program(&home, &program, &[&args[..], &["--dry-run"]].concat());
        assert!(!kept.exists(), "{kind}: a dry run changes nothing");

        let said = run_program(&home, &program, &args);
        assert!(said.contains(&format!("hookexec is in {kind}; agents call a copy")), "{said}");
        assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o7777, 0o755, "{kind}");
        fs::remove_file(&program).unwrap();
        let entry = guard_entry(&home, Agent::ClaudeCode);
        assert!(entry.contains(&format!(" {} run ", kept.display())), "{kind}: {entry}");
        let denied = as_agent(&home, &entry, CALL);
        assert!(String::from_utf8_lossy(&denied.stdout).contains("\"deny\""), "{denied:?}");

        let again = run_program(&home, &kept, &args);
        assert!(again.contains("already installed"), "{kind}: {again}");
    }
}

#[test]
fn the_copy_is_where_data_of_the_user_is() {
    let home = Home::new();
    let program = packaged(&home, "node_modules/hookexec");
    let data = home.sandbox.home().join("my data");
    let mut command = Command::new(&program);
    let _ = home.sandbox.dress(&mut command).env("XDG_DATA_HOME", &data);
    let output = command.args(["install", "codex", "opencode"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let kept = data.join(concat!("hookexec/bin/hookexec-", env!("CARGO_PKG_VERSION")));
    assert!(kept.is_file());
    let kept = kept.to_str().unwrap();
    assert!(guard_entry(&home, Agent::Codex).contains(&format!("'{kept}'")));
    let plugin = home.sandbox.home().join(".config/opencode/plugin/hookexec.js");
    assert!(fs::read_to_string(plugin).unwrap().contains(kept));
}

#[test]
fn a_link_on_the_search_path_is_called_and_not_copied() {
    let home = Home::new();
    let program = packaged(&home, "tools/hookexec/bin");
    fs::write(home.sandbox.home().join("tools/hookexec/pyvenv.cfg"), "").unwrap();
    let links = home.sandbox.home().join(".local/bin");
    fs::create_dir_all(&links).unwrap();
    std::os::unix::fs::symlink(&program, links.join("hookexec")).unwrap();
    let directories = [program.parent().unwrap(), &links, Path::new("/usr/bin"), Path::new("/bin")];
    let mut command = Command::new(&program);
    let _ =
        home.sandbox.dress(&mut command).env("PATH", std::env::join_paths(directories).unwrap());
    let output = command.args(["install", "codex"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let link = links.canonicalize().unwrap().join("hookexec");
    let entry = guard_entry(&home, Agent::Codex);
    assert!(entry.contains(&format!(" {} run ", link.display())), "{entry}");
    assert!(!home.sandbox.home().join(".local/share/hookexec").exists());
}

#[test]
fn a_project_is_warned_when_only_npx_has_the_program() {
    let home = Home::new();
    let program = packaged(&home, ".npm/_npx/1/node_modules/.bin");
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let mut command = Command::new(&program);
    let _ = home.sandbox.dress(&mut command).env("PATH", path);
    let output = command.args(["install", "codex", "--scope", "project"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`hookexec` is not on the PATH"), "{said}");
    assert!(!home.sandbox.home().join(".local/share/hookexec").exists());
}

#[test]
fn nothing_is_installed_in_the_home_of_another_user() {
    let home = Home::new();
    let path = home.put("claude-code", "{}");
    let mut theirs = home.sandbox.home();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&theirs, Some(65534), None).unwrap();
    } else {
        theirs = "/".into();
    }
    for command in ["install", "uninstall"] {
        let run = home.sandbox.hookexec([command, "claude-code"]).env("HOME", &theirs);
        let done = run.run().exits(64);
        assert!(done.stderr.contains("belongs to another user"), "{}", done.stderr);
    }
    assert_eq!(fs::read_to_string(path).unwrap(), "{}");
}

#[test]
fn droid_keeps_the_hooks_it_has_in_its_settings() {
    let home = Home::new();
    let settings = home.sandbox.home().join(".factory/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let text = "{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}\n}\n";
    fs::write(&settings, text).unwrap();
    let _ = home.run(&["install", "droid"]).exits(0);
    assert!(!home.path("droid").exists(), "a hooks.json would switch off those in settings.json");
    assert!(fs::read_to_string(&settings).unwrap().contains("--from droid --event PreToolUse"));
    let _ = home.run(&["uninstall", "droid"]).exits(0);
    assert_eq!(fs::read_to_string(&settings).unwrap(), text);
}

#[test]
fn the_agents_own_directories_are_looked_for_where_they_were_moved() {
    let home = Home::new();
    let codex = home.sandbox.home().join("elsewhere");
    let done = home.sandbox.hookexec(["install", "codex"]).env("CODEX_HOME", &codex).run().exits(0);
    assert!(codex.join("hooks.json").exists());
    assert!(done.stderr.contains("NOT ACTIVE YET"), "{}", done.stderr);
}

#[test]
fn an_agent_without_hooks_of_a_project_gets_none() {
    let home = Home::new();
    for command in ["install", "uninstall"] {
        let done = home.run(&[command, "kimi", "--scope", "project"]).exits(64);
        assert!(done.stderr.contains("Kimi Code reads no hooks of a project"), "{}", done.stderr);
    }
    let _ = home.run(&["install", "kimi", "--timeout", "900"]).exits(0);
    let text = fs::read_to_string(home.path("kimi")).unwrap();
    assert!(text.contains("timeout = 600\n") && text.contains("--within 540"), "{text}");
}

#[test]
fn settings_of_a_project_are_its_own() {
    let home = Home::new();
    let _ = home.run(&["install", "claude-code", "--scope", "project"]).exits(0);
    assert!(home.sandbox.project().join(".claude/settings.json").exists());
    assert!(!home.path("claude-code").exists());
    let said = home.run(&["doctor", "claude-code"]).stdout;
    let expected = "installed for the project: [SANDBOX]/project/.claude/settings.json (15 events)";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn what_is_installed_denies_when_a_shell_runs_it() {
    for (agent, _) in USER {
        let home = Home::new();
        let config = home.sandbox.write(
            "it's a policy.yaml",
            "pre_tool_use: { hooks: { type: command, command: 'echo no >&2; exit 2' } }",
        );
        let config = config.to_str().unwrap();
        let _ = home.run(&["install", agent, "--config", config]).exits(0);
        let text = fs::read_to_string(home.path(agent)).unwrap();
        let settings = parsed(&text);
        let agent: Agent = agent.parse().unwrap();
        let native = agent.events().iter().find(|native| native.is_deciding()).unwrap();
        let command = commands(&settings)
            .into_iter()
            .find(|command| command.contains(&format!("--event {} ", native.name)))
            .unwrap();
        let payload = fs::read_to_string(golden(agent, native.name)).unwrap();
        let payload: Value = serde_json::from_str(&payload).unwrap();
        let mut child = home
            .sandbox
            .dress(Command::new("sh").args(["-c", &command]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        serde_json::to_writer(child.stdin.take().unwrap(), &payload["payload"]).unwrap();
        let output = crate::support::wait(child);
        let said = String::from_utf8_lossy(&output.stdout);
        let denied = said.contains("\"deny\"") || output.status.code() == Some(2);
        assert!(denied, "{agent}: {command}\n{output:?}");
    }
}

fn golden(agent: Agent, event: &str) -> PathBuf {
    let root = Path::new(crate::support::ROOT).join("tests/agents/golden");
    root.join(agent.name()).join(format!("{event}.json"))
}

/// Returns every command in a settings file.
fn commands(settings: &Value) -> Vec<String> {
    match settings {
        Value::Array(items) => items.iter().flat_map(commands).collect(),
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match value {
                Value::String(text) if key == "command" => vec![text.clone()],
                value => commands(value),
            })
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_doctor_of_nothing_says_what_comes_next() {
    let home = Home::new();
    let nothing = home.run(&["doctor"]).exits(1).stdout;
    assert!(
        nothing.contains("next: `hookexec install AGENT`, where AGENT is one of claude-code"),
        "{nothing}"
    );
    std::fs::create_dir(home.sandbox.home().join(".codex")).unwrap();
    let found = home.run(&["doctor"]).exits(1).stdout;
    let next = "not installed: `hookexec install codex` writes to [SANDBOX]/home/.codex/hooks.json";
    assert!(found.contains(next), "{found}");
    let found = home.run(&["doctor", "--format", "json"]).exits(1).stdout;
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["agents"][0]["hooks"], 0, "{found}");
    let _ = home.run(&["install", "codex"]).exits(0);
    let found = home.run(&["doctor"]).stdout;
    assert!(!found.contains("not installed"), "{found}");
}

/// Runs `command` as an agent does, with `payload` on stdin.
fn as_agent(home: &Home, command: &str, payload: &str) -> std::process::Output {
    let mut child = home
        .sandbox
        .dress(Command::new("sh").args(["-c", command]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that is missing reads nothing.
    let _ = std::io::Write::write_all(&mut stdin, payload.as_bytes());
    drop(stdin);
    crate::support::wait(child)
}

const CALL: &str = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},
    "session_id":"s","cwd":"/"}"#;

/// Returns the entry that `install` writes for the event before a tool.
fn guard_entry(home: &Home, agent: Agent) -> String {
    let text = fs::read_to_string(home.path(agent.name())).unwrap();
    let native = agent
        .events()
        .iter()
        .find(|native| native.event == Some(hookexec::Event::PreToolUse))
        .unwrap();
    let wanted = format!("--event {} ", native.name);
    let all = commands(&parsed(&text));
    all.into_iter().find(|command| command.contains(&wanted)).unwrap()
}

#[test]
fn an_entry_denies_when_hookexec_is_missing_or_killed() {
    for agent in Agent::all().filter(|agent| agent.settings().is_some()) {
        let home = Home::new();
        home.sandbox.script("bin/hookexec", "#!/bin/sh\nexit $(cat code)\n");
        home.sandbox.script("bin/killed", "#!/bin/sh\nkill -9 $$\n");
        let _ = home.run(&["install", agent.name()]).exits(0);
        let entry = guard_entry(&home, agent);
        let this = Path::new(env!("CARGO_BIN_EXE_hookexec")).canonicalize().unwrap();
        let calling = |program: &str| entry.replace(this.to_str().unwrap(), program);
        for (program, code) in [("/gone/hookexec", ""), ("bin/killed", ""), ("bin/hookexec", "70")]
        {
            home.sandbox.write("code", code);
            let output = as_agent(&home, &calling(program), CALL);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{agent}: {program}: {said}");
            assert!(said.contains("no answer from hookexec"), "{agent}: {program}: {said}");
        }
        // What hookexec itself says goes through word for word.
        home.sandbox.script("bin/denies", "#!/bin/sh\nprintf 'not this' >&2; exit 2\n");
        home.sandbox.script("bin/allows", "#!/bin/sh\nprintf '{}'; cat >&2\n");
        let output = as_agent(&home, &calling("bin/denies"), "");
        assert_eq!((output.status.code(), &*output.stderr), (Some(2), &b"not this"[..]), "{agent}");
        let output = as_agent(&home, &calling("bin/allows"), CALL);
        assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"{}"[..]), "{agent}");
        assert_eq!(output.stderr, CALL.as_bytes(), "{agent}");
    }
}

#[test]
fn an_entry_means_the_same_in_every_shell() {
    let home = Home::new();
    home.sandbox.script("bin/a b/hookexec", "#!/bin/sh\nprintf 'not this' >&2; exit 2\n");
    let _ = home.run(&["install", "codex"]).exits(0);
    let this = Path::new(env!("CARGO_BIN_EXE_hookexec")).canonicalize().unwrap();
    let entry = guard_entry(&home, Agent::Codex);
    for shell in ["sh", "bash", "dash", "zsh", "fish", "csh", "tcsh", "ksh"] {
        for (program, expected) in [("'bin/a b/hookexec'", "not this"), ("/gone", "no answer")] {
            let command = entry.replace(this.to_str().unwrap(), program);
            let mut command_line = Command::new(shell);
            let run = home.sandbox.dress(command_line.args(["-c", &command]));
            let Ok(output) = run.stdin(Stdio::null()).output() else { break };
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{shell}: {said}");
            assert!(said.contains(expected), "{shell}: {said}");
        }
    }
}

#[test]
fn a_project_calls_hookexec_by_name() {
    for (agent, _) in USER.into_iter().filter(|(agent, _)| *agent != "kimi") {
        let home = Home::new();
        let before = walk(&home.sandbox.project());
        let done = home.run(&["install", agent, "--scope", "project"]).exits(0);
        assert!(done.stderr.contains("`hookexec` is not on the PATH"), "{}", done.stderr);
        let mut texts = Vec::new();
        for file in walk(&home.sandbox.project()).iter().filter(|path| path.is_file()) {
            texts.push(fs::read_to_string(file).unwrap());
        }
        let text = texts.concat();
        let all = commands(&parsed(&text));
        assert!(!all.is_empty(), "{agent}: {text}");
        for command in all {
            let machine = env!("CARGO_MANIFEST_DIR").trim_end_matches("/crates/cli");
            assert!(!command.contains(machine), "{agent}: a path of one machine: {command}");
            if !command.starts_with("/bin/sh") {
                continue;
            }
            // It is installed nowhere.
            let output = as_agent(&home, &command.replace("' hookexec ", "' hookexec-gone "), CALL);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{agent}: {said}");
            assert!(said.contains("install it"), "{agent}: {said}");
        }
        let doctor = home.run(&["doctor", agent]);
        assert!(doctor.stdout.contains("`hookexec` is not on the PATH"), "{}", doctor.stdout);
        let _ = home.run(&["uninstall", agent, "--scope", "project"]).exits(0);
        assert_eq!(walk(&home.sandbox.project()), before, "{agent}");
    }
}

#[test]
fn a_project_does_not_name_the_hooks_file_of_one_person() {
    let home = Home::new();
    home.sandbox.write("mine.yaml", "{}");
    let args = ["install", "codex", "--scope", "project", "--config", "mine.yaml"];
    let done = home.run(&args).exits(64);
    assert!(done.stderr.contains(".hookexec/hooks.yaml"), "{}", done.stderr);
    assert!(!home.sandbox.project().join(".codex").exists());
}

/// Returns every file and every empty directory below `directory`, sorted.
fn walk(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(walk(&path));
        }
        found.push(path);
    }
    found.sort();
    found
        .into_iter()
        .filter(|path| !path.is_dir() || path.read_dir().unwrap().count() == 0)
        .collect()
}

#[test]
fn uninstalling_leaves_no_directory_that_installing_made() {
    for (agent, _) in USER {
        let home = Home::new();
        let before = walk(&home.sandbox.home());
        let _ = home.run(&["install", agent]).exits(0);
        let _ = home.run(&["install", agent, "--timeout", "30"]).exits(0);
        let _ = home.run(&["uninstall", agent]).exits(0);
        assert_eq!(walk(&home.sandbox.home()), before, "{agent}");
    }
}

#[test]
fn a_backup_is_never_half_written() {
    const MINE: &str = "{\"permissions\": {\"deny\": [\"Bash(rm:*)\"]}}\n";
    let home = Home::new();
    let path = home.put("claude-code", MINE);
    let _ = home.run(&["install", "claude-code"]).exits(0);
    let backups = home.sandbox.home().join(".local/state/hookexec/backups");
    let backup = fs::read_dir(&backups).unwrap().next().unwrap().unwrap().path();
    // A directory in its place: the backup can't be written. The settings stay as they are.
    let installed = fs::read_to_string(&path).unwrap();
    fs::remove_file(&backup).unwrap();
    fs::create_dir_all(backup.join("x")).unwrap();
    let done = home.run(&["install", "claude-code", "--timeout", "30"]).exits(70);
    let name = backup.file_name().unwrap().to_str().unwrap();
    assert!(done.stderr.contains(name), "the error names the file: {}", done.stderr);
    assert_eq!(fs::read_to_string(&path).unwrap(), installed);
    fs::remove_dir_all(&backup).unwrap();

    // A backup that can't be read: only the entries of hookexec go.
    fs::write(&backup, "{").unwrap();
    let _ = home.run(&["uninstall", "claude-code"]).exits(0);
    let left: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(left, serde_json::from_str::<Value>(MINE).unwrap());
}

#[test]
fn the_link_of_a_dotfiles_repository_stays() {
    let home = Home::new();
    let path = home.put("claude-code", "{}");
    let dotfile = home.sandbox.home().join("dotfiles.json");
    fs::rename(&path, &dotfile).unwrap();
    std::os::unix::fs::symlink("../dotfiles.json", &path).unwrap();
    let _ = home.run(&["install", "claude-code"]).exits(0);
    assert!(path.is_symlink());
    assert!(fs::read_to_string(&dotfile).unwrap().contains("hookexec"));
    let _ = home.run(&["uninstall", "claude-code"]).exits(0);
    assert!(path.is_symlink(), "the link was there before");
    assert_eq!(fs::read_to_string(&dotfile).unwrap(), "{}");
    fs::remove_file(&dotfile).unwrap();
    let done = home.run(&["install", "claude-code"]).exits(70);
    assert!(done.stderr.contains("it is a link to nothing"), "{}", done.stderr);
    assert!(path.is_symlink());
}

#[test]
fn a_file_that_no_agent_reads_is_refused_and_named() {
    for (agent, _) in USER {
        for (text, expected) in [
            ("{\"a\": \"x\u{1}y\"}", "control character"),
            (
                "{\n\"a\": \"x\ty\"}",
                "control character (\\u0000-\\u001F) found while parsing a string at line 2",
            ),
            ("{\"a\nb\": 1}", "control character"),
            ("\u{feff}{}", "save it as UTF-8 without"),
        ] {
            let has_mark = text.starts_with('\u{feff}');
            if has_mark && ["claude-code", "qwen"].contains(&agent)
                || !has_mark && TOML.contains(&agent)
            {
                continue;
            }
            let home = Home::new();
            let path = home.put(agent, text);
            let done = home.run(&["install", agent]).exits(64);
            assert!(done.stderr.contains(expected), "{agent}: {}", done.stderr);
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "{agent}");
            let said = home.run(&["doctor", agent]).exits(1).stdout;
            assert!(said.contains(expected), "{agent}: {said}");
        }
    }
}

#[test]
fn codex_waits_as_long_as_it_may_at_its_short_events() {
    let home = Home::new();
    let _ = home.run(&["install", "codex"]).exits(0);
    let text = fs::read_to_string(home.path("codex")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    for event in ["SessionEnd", "Interrupt"] {
        let hook = &settings["hooks"][event][0]["hooks"][0];
        assert_eq!(hook["timeout"], 3, "{event}");
        assert!(hook["command"].as_str().unwrap().ends_with("--within 2"), "{event}");
    }
}

#[test]
fn an_installation_is_told_in_a_few_lines() {
    let home = Home::new();
    let done = home.run(&["install", "claude-code"]).exits(0);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.lines().count() <= 4, "{}", done.stderr);
    for part in ["installed in", "(15 events)", "next: ", "the model must not change"] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    let done = home.run(&["uninstall", "claude-code", "--dry-run"]).exits(0);
    assert!(done.stdout.starts_with("--- "), "{}", done.stdout);
}

#[test]
fn each_plugin_of_one_file_calls_for_its_own_agent() {
    for (agent, file) in
        [("kilo", ".config/kilo/plugin/hookexec.js"), ("pi", ".pi/agent/extensions/hookexec.ts")]
    {
        let home = Home::new();
        let before = walk(&home.sandbox.home());
        let _ = home.run(&["install", agent]).exits(0);
        let text = fs::read_to_string(home.sandbox.home().join(file)).unwrap();
        assert!(text.contains(&format!("\"--from\", \"{agent}\"")), "{text}");
        let doctor = home.run(&["doctor", agent]).stdout;
        assert!(doctor.contains("ok       installed: ") && doctor.contains(file), "{doctor}");
        assert!(doctor.contains("its plugin: never seen firing yet"), "{doctor}");
        let _ = home.run(&["uninstall", agent]).exits(0);
        assert_eq!(walk(&home.sandbox.home()), before, "{agent}");
    }
}

#[test]
fn the_plugin_of_opencode_is_a_file_of_its_own() {
    let home = Home::new();
    let before = walk(&home.sandbox.home());
    let done = home.run(&["install", "opencode", "--timeout", "20"]).exits(0);
    assert!(done.stderr.contains("OpenCode: installed in"), "{}", done.stderr);
    let path = home.sandbox.home().join(".config/opencode/plugin/hookexec.js");
    let text = fs::read_to_string(&path).unwrap();
    let this = Path::new(env!("CARGO_BIN_EXE_hookexec")).canonicalize().unwrap();
    assert!(text.contains(&format!("HOOKEXEC ?? \"{}\"", this.display())), "{text}");
    assert!(text.contains("HOOKEXEC_SECONDS ?? 18"), "{text}");
    let again = home.run(&["install", "opencode", "--timeout", "20"]).exits(0);
    assert!(again.stderr.contains("already installed"), "{}", again.stderr);
    let doctor = home.run(&["doctor", "opencode"]).stdout;
    assert!(doctor.contains("its plugin: never seen firing yet"), "{doctor}");
    let _ = home.run(&["install", "opencode"]).exits(0);
    let _ = home.run(&["uninstall", "opencode"]).exits(0);
    assert_eq!(walk(&home.sandbox.home()), before);

    // A project names no path of one machine.
    let _ = home.run(&["install", "opencode", "--scope", "project"]).exits(0);
    let shared = home.sandbox.project().join(".opencode/plugin/hookexec.js");
    assert!(fs::read_to_string(&shared).unwrap().contains("HOOKEXEC ?? \"hookexec\""));
    // Another's plugin of that name, and one that was changed, stay.
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "// mine").unwrap();
    let done = home.run(&["install", "opencode"]).exits(64);
    assert!(done.stderr.contains("is not hookexec's plugin"), "{}", done.stderr);
    fs::write(&shared, fs::read_to_string(&shared).unwrap() + "// mine").unwrap();
    let done = home.run(&["uninstall", "opencode", "--scope", "project"]).exits(64);
    assert!(done.stderr.contains("remove it by hand"), "{}", done.stderr);
    assert_eq!(fs::read_to_string(&path).unwrap(), "// mine");
}
