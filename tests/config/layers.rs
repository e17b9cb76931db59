//! Which files are read, and in which order.

use crate::registry::everything;
use std::fs;
use std::path::{Path, PathBuf};

use hookexec::config::InLayer as _;
use hookexec::config::{FailedFile, Layer};
use hookexec::{Config, Event, Executor, Input, Registry};
use hookexec_project::LoadOptions;

/// A machine of its own: a managed directory, a home, a repository in it.
struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(machine.path("home/code/repo/.git")).unwrap();
        fs::create_dir_all(machine.path("home/code/repo/src/deep")).unwrap();
        machine
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// Writes a file with one hook whose command is `name`.
    fn hook(&self, path: &str, name: &str) {
        self.file(path, &format!("stop: {{ type: command, command: {name} }}\n"));
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn options(&self) -> LoadOptions {
        let mut options = LoadOptions::default();
        options.working_dir = Some(self.path("home/code/repo/src/deep"));
        options.home = Some(self.path("home"));
        options.managed_dir = Some(self.path("etc"));
        // What is not approved is loaded, too, but not all of it counts.
        options.trust_projects = true;
        options
    }

    /// Returns the files that failed, each with its place from the root of the machine and its cause.
    fn failures(&self, options: &LoadOptions) -> Vec<String> {
        let root = format!("{}/", self.root.path().display());
        let config = hookexec_project::load(options)
            .unwrap_or_else(|e| panic!("{}", e.render(false)))
            .config;
        let failure = |it: &FailedFile| {
            format!("{:?} {}: {}", it.location.file().layer(), it.location, it.cause)
        };
        config.failed.iter().map(|it| failure(it).replace(&root, "")).collect()
    }

    fn commands(options: &LoadOptions) -> Vec<String> {
        let config = hookexec_project::load(options)
            .unwrap_or_else(|e| panic!("{}", e.render(false)))
            .config;
        config.hooks.iter().map(|hook| format!("{:?} {}", hook.layer(), hook.label())).collect()
    }
}

#[test]
fn layers_add_up_in_order() {
    let machine = Machine::new();
    machine.hook("etc/hooks.yaml", "managed");
    machine.hook("etc/hooks.d/b.yml", "managed-b");
    machine.hook("etc/hooks.d/a.yaml", "managed-a");
    machine.hook("etc/hooks.d/c.yaml.bak", "no");
    machine.hook("etc/hooks.d/.d.yaml", "no");
    machine.hook("home/.config/hookexec/hooks.yaml", "user");
    machine.hook("home/.config/hookexec/hooks.d/x.yaml", "user-x");
    machine.hook("home/code/repo/.hookexec/hooks.yaml", "project");
    machine.hook("home/code/repo/.hookexec/hooks.d/y.yaml", "project-y");
    machine.hook("home/code/repo/hooks.yaml", "project-root");
    machine.hook("one.yaml", "one");
    machine.hook("two.yaml", "two");
    let mut options = machine.options();
    options.files = vec![machine.path("two.yaml"), machine.path("one.yaml")];
    assert_eq!(
        Machine::commands(&options),
        [
            "Managed managed", "Managed managed-a", "Managed managed-b", "User user",
            "User user-x", "Project project", "Project project-y", "Project project-root",
            "CommandLine two", "CommandLine one",
        ]
    );
    options.isolated = true;
    assert_eq!(
        Machine::commands(&options),
        [
            "Managed managed", "Managed managed-a", "Managed managed-b", "CommandLine two",
            "CommandLine one"
        ]
    );
}

#[test]
fn nothing_anywhere_is_no_hooks() {
    let machine = Machine::new();
    let config = hookexec_project::load(&machine.options()).unwrap().config;
    assert!(config.hooks.is_empty() && config.files.is_empty() && config.warnings.is_empty());
}

#[test]
fn every_file_of_the_project_counts_and_the_search_ends_at_the_repository() {
    let machine = Machine::new();
    machine.hook("home/code/hooks.yaml", "above");
    assert_eq!(Machine::commands(&machine.options()), Vec::<String>::new());
    machine.hook("home/code/repo/hooks.yaml", "root");
    assert_eq!(Machine::commands(&machine.options()), ["Project root"]);
    machine.hook("home/code/repo/src/.hookexec/hooks.d/a.yaml", "nearer");
    assert_eq!(Machine::commands(&machine.options()), ["Project root", "Project nearer"]);
}

#[test]
fn a_worktree_is_a_repository_too_and_home_is_the_top() {
    let machine = Machine::new();
    machine.hook("hooks.yaml", "above-home");
    machine.hook("home/code/hooks.yaml", "above");
    machine.file("home/code/tree/.git", "gitdir: elsewhere\n");
    let mut options = machine.options();
    options.working_dir = Some(machine.path("home/code/tree"));
    assert_eq!(Machine::commands(&options), Vec::<String>::new());
    fs::create_dir_all(machine.path("home/plain/sub")).unwrap();
    options.working_dir = Some(machine.path("home/plain/sub"));
    assert_eq!(Machine::commands(&options), Vec::<String>::new());
    machine.hook("home/hooks.yaml", "home");
    assert_eq!(Machine::commands(&options), ["Project home"]);
}

#[test]
fn a_broken_file_is_a_failure_of_its_layer_and_the_others_count() {
    for (path, layer) in [
        ("etc/hooks.yaml", "Managed"),
        ("etc/hooks.d/a.yaml", "Managed"),
        ("home/.config/hookexec/hooks.yaml", "User"),
        ("home/.config/hookexec/hooks.d/a.yaml", "User"),
        ("home/code/repo/.hookexec/hooks.yaml", "Project"),
        ("home/code/repo/hooks.yaml", "Project"),
    ] {
        for (text, said) in [
            ("stop: { typ: command }\n", "unknown key `typ` in a hook"),
            ("x: [", "`[`"),
            ("", "the file is empty"),
            ("stop: { type: command, command: \"\u{0}\" }", "control"),
        ] {
            let machine = Machine::new();
            machine.hook("one.yaml", "sound");
            machine.file(path, text);
            let mut options = machine.options();
            options.files = vec![machine.path("one.yaml")];
            let failures = machine.failures(&options);
            let [failure] = &failures[..] else { panic!("{path} {text:?}: {failures:?}") };
            assert!(failure.starts_with(&format!("{layer} {path}")), "{failure}");
            assert!(failure.contains(said), "{failure}");
            assert_eq!(Machine::commands(&options), ["CommandLine sound"], "{path}");
            // A person named this one: nothing runs.
            machine.file("one.yaml", text);
            assert!(hookexec_project::load(&options).unwrap_err().has_errors());
        }
    }
}

#[test]
fn what_is_there_and_can_not_be_read_is_an_error_and_not_absent() {
    let link = |machine: &Machine, path: &str| {
        fs::create_dir_all(machine.path(path).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/nonexistent", machine.path(path)).unwrap();
    };
    for (path, layer) in [
        ("etc", "Managed"),
        ("home/.config/hookexec", "User"),
        ("home/code/repo/.hookexec", "Project"),
    ] {
        for part in ["", "/hooks.yaml", "/hooks.d"] {
            let whole = format!("{path}{part}");
            let (dangling, odd) = (Machine::new(), Machine::new());
            link(&dangling, &whole);
            match part {
                "/hooks.yaml" => fs::create_dir_all(odd.path(&whole)).unwrap(),
                _ => odd.file(&whole, "a file, not a directory"),
            }
            for machine in [dangling, odd] {
                let failures = machine.failures(&machine.options());
                let [failure] = &failures[..] else { panic!("{whole}: {failures:?}") };
                assert!(failure.starts_with(&format!("{layer} {whole}: this file")), "{failure}");
            }
        }
    }
}

#[test]
fn a_project_has_few_hooks_files() {
    let machine = Machine::new();
    machine.hook("home/.config/hookexec/hooks.d/z.yaml", "user");
    for number in 0..40 {
        machine.hook(&format!("home/code/repo/.hookexec/hooks.d/{number:02}.yaml"), "true");
        machine.hook(&format!("home/.config/hookexec/hooks.d/{number:02}.yaml"), "user");
    }
    let failures = machine.failures(&machine.options());
    let [failure] = &failures[..] else { panic!("{failures:?}") };
    assert!(failure.contains("32.yaml: this file can't be loaded: the hooks files of this layer"));
}

#[test]
fn a_layer_that_is_too_large_takes_no_room_from_another() {
    let machine = Machine::new();
    machine.hook("home/.config/hookexec/hooks.d/z.yaml", "user");
    let large = |letter: &str| format!("hooks: {{}}\n#{}", letter.repeat(600_000));
    machine.file("home/code/repo/.hookexec/hooks.d/a.yaml", &large("x"));
    machine.file("home/code/repo/.hookexec/hooks.d/b.yaml", &large("y"));
    for number in 0..5 {
        machine.file(&format!("home/.config/hookexec/hooks.d/{number}.yaml"), &large("x"));
    }
    let failures = machine.failures(&machine.options());
    let [failure] = &failures[..] else { panic!("{failures:?}") };
    assert!(failure.contains("b.yaml: this file can't be loaded: the hooks files of this layer"));
    assert_eq!(Machine::commands(&machine.options()), ["User user"]);
}

#[tokio::test]
async fn a_failed_file_fails_at_every_event_and_the_hooks_of_others_run() {
    for path in ["etc/hooks.yaml", "home/.config/hookexec/hooks.yaml", "home/code/repo/hooks.yaml"]
    {
        // The second breaks only when its handlers are built.
        for text in ["x: [", "session_start: { type: builtin, command: protect_pahts }\n"] {
            let machine = Machine::new();
            let hooks = "session_start: { type: command, command: \"echo '{\\\"system_message\\\": \\\"HEARD\\\"}'\" }\n";
            machine.file("one.yaml", hooks);
            machine.file(path, text);
            let mut options = machine.options();
            options.files = vec![machine.path("one.yaml")];
            let registry = everything();
            let config = hookexec_project::load(&options).unwrap().config;
            let executor = Executor::builder(config).registry(registry).build().unwrap();
            let verdict = executor
                .dispatch(Event::PreToolUse, &Input::for_tool("any", serde_json::Map::default()))
                .await;
            let message = verdict.message.unwrap();
            assert!(!verdict.allowed && message.contains(path), "{message}");
            assert!(message.contains(" can't be loaded: "), "{message}");
            assert!(verdict.system_message.unwrap().contains("hookexec check"));
            let verdict = executor.dispatch(Event::SessionStart, &Input::default()).await;
            let said = verdict.system_message.unwrap();
            assert!(verdict.allowed && said.contains("HEARD") && said.contains(path), "{said}");
            assert_eq!(verdict.failed_open, ["hooks.yaml"]);
        }
    }
}

#[test]
fn the_problems_of_all_files_come_in_the_order_of_the_files() {
    let machine = Machine::new();
    machine.file("etc/hooks.yaml", "stop: { typ: command }\nbanana: 1\n");
    machine.file("z.yaml", "x: 1\n");
    machine.file("a.yaml", "y: 1\n");
    let mut options = machine.options();
    options.files = vec![machine.path("z.yaml"), machine.path("a.yaml"), machine.path("none.yaml")];
    let problems = hookexec_project::load(&options).unwrap_err();
    let places: Vec<String> = problems
        .iter()
        .map(|problem| problem.location.as_ref().unwrap().to_string())
        .map(|place| place.rsplit('/').next().unwrap().to_owned())
        .collect();
    assert_eq!(places, ["hooks.yaml:1", "hooks.yaml:2", "z.yaml:1", "a.yaml:1", "none.yaml"]);
}

#[test]
fn a_file_is_read_once_and_one_that_was_named_counts_as_named() {
    let machine = Machine::new();
    machine.hook("home/code/repo/hooks.yaml", "project");
    let mut options = machine.options();
    let odd = machine.path("home/code/repo/src/../hooks.yaml");
    options.files = vec![odd.clone(), machine.path("home/code/repo/hooks.yaml")];
    assert_eq!(Machine::commands(&options), ["CommandLine project"]);
    let config = hookexec_project::load(&options).unwrap().config;
    assert_eq!(config.files, [odd]);
}

#[test]
fn a_process_has_one_definition_and_the_layer_above_keeps_its_own() {
    let text = "processes: { gate: { command: [x], intercept: [before_tool] } }\n";
    for above in ["etc/hooks.yaml", "home/.config/hookexec/hooks.d/x.yaml", "one.yaml"] {
        let machine = Machine::new();
        machine.file(above, text);
        machine.file("home/code/repo/hooks.yaml", text);
        let mut options = machine.options();
        options.files.extend(Some(machine.path("one.yaml")).filter(|path| path.exists()));
        let failures = machine.failures(&options);
        let [failure] = &failures[..] else { panic!("{above}: {failures:?}") };
        assert!(failure.starts_with("Project "), "{failure}");
        assert!(failure.contains("the process `gate` is configured twice"), "{failure}");
        let config = hookexec_project::load(&options).unwrap().config;
        assert_eq!(config.hooks.len(), 1, "{above}");
        assert!(config.hooks[0].location.path().ends_with(Path::new(above).file_name().unwrap()));
    }
}

#[test]
fn a_hook_calls_no_process_of_another_layer() {
    let (user, project) = ("home/.config/hookexec/hooks.yaml", "home/code/repo/hooks.yaml");
    for (caller, owner, layer) in [(user, project, "User "), (project, user, "Project ")] {
        let machine = Machine::new();
        machine.file(caller, "stop: { type: process, command: gate }\n");
        machine.file(owner, "processes: { gate: { command: [x] } }\n");
        let failures = machine.failures(&machine.options());
        let [failure] = &failures[..] else { panic!("{failures:?}") };
        assert!(failure.starts_with(layer), "{failure}");
        assert!(failure.contains("a process of another layer"), "{failure}");
    }
}

#[test]
fn defaults_stay_in_their_file() {
    let machine = Machine::new();
    machine
        .file("etc/hooks.yaml", "defaults: { timeout: 5 }\nstop: { type: command, command: a }\n");
    machine.file(
        "home/code/repo/hooks.yaml",
        "defaults: { shell: zsh }\nstop: { type: command, command: b }\n",
    );
    let config = hookexec_project::load(&machine.options()).unwrap().config;
    assert_eq!(config.hooks[0].timeout.as_secs(), 5);
    assert_eq!(config.hooks[1].timeout.as_secs(), 60);
    assert_eq!(
        (config.hooks[0].shell.as_deref(), config.hooks[1].shell.as_deref()),
        (None, Some("zsh"))
    );
}

#[test]
fn a_limit_counts_for_its_layer_and_those_below() {
    let machine = Machine::new();
    let limited = |deadline: u32, most: u32| {
        format!(
            "defaults: {{ max_parallel: {most}, deadline: {deadline} }}\nstop: {{ type: command, command: a{most} }}\n"
        )
    };
    machine.file("etc/hooks.yaml", &limited(30, 8));
    machine.file("home/.config/hookexec/hooks.yaml", &limited(10, 80));
    machine.file("home/code/repo/hooks.yaml", &limited(1, 1));
    machine.file("one.yaml", &limited(20, 6));
    let mut options = machine.options();
    options.files = vec![machine.path("one.yaml")];
    let limits = |options: &LoadOptions| -> Vec<(Layer, u64, usize)> {
        let config = hookexec_project::load(options).unwrap().config;
        let limit = |hook: &hookexec::config::Hook| {
            let deadline = hook.layer_deadline().map_or(0, |deadline| deadline.as_secs());
            (hook.layer(), deadline, hook.layer_max_parallel().unwrap_or_default())
        };
        config.hooks.iter().map(limit).collect()
    };
    assert_eq!(
        limits(&options),
        [
            (Layer::Managed, 30, 8),
            (Layer::User, 10, 6),
            (Layer::Project, 1, 1),
            (Layer::CommandLine, 10, 6),
        ]
    );
    // A project that says nothing still leaves room for the others.
    machine.hook("home/code/repo/hooks.yaml", "b");
    fs::remove_dir_all(machine.path("etc")).unwrap();
    fs::remove_file(machine.path("home/.config/hookexec/hooks.yaml")).unwrap();
    options.files.clear();
    assert_eq!(limits(&options), [(Layer::Project, 0, 32)]);
}

#[test]
fn a_hook_knows_the_directory_of_its_file() {
    let machine = Machine::new();
    machine.hook("home/code/repo/.hookexec/hooks.yaml", "a");
    let config = hookexec_project::load(&machine.options()).unwrap().config;
    let directory = config.hooks[0].location.directory();
    assert_eq!(directory, machine.path("home/code/repo/.hookexec"));
    let relative = Config::from_yaml("stop: { type: command, command: a }", "sub/x.yaml").unwrap();
    let expected = std::env::current_dir().unwrap().join("sub");
    assert_eq!(relative.hooks[0].location.directory(), Path::new(&expected));
    assert_eq!(relative.hooks[0].layer(), Layer::Program);
}

#[test]
fn without_a_repository_only_the_working_directory_is_the_project() {
    let machine = Machine::new();
    machine.hook("elsewhere/hooks.yaml", "above");
    machine.file("elsewhere/below/empty", "");
    let mut options = machine.options();
    options.working_dir = Some(machine.path("elsewhere/below"));
    assert_eq!(Machine::commands(&options), Vec::<String>::new());
    machine.hook("elsewhere/below/hooks.yaml", "own");
    assert_eq!(Machine::commands(&options), ["Project own"]);
}

#[test]
fn naming_a_file_that_may_not_be_named_takes_nothing_away() {
    let machine = Machine::new();
    machine.file("etc/hooks.yaml", "layers: [user, project]\n");
    machine.hook("home/code/repo/hooks.yaml", "guard");
    let mut options = machine.options();
    let found = Machine::commands(&options);
    assert_eq!(found, ["Project guard"]);
    options.files = vec![machine.path("home/code/repo/hooks.yaml")];
    assert_eq!(Machine::commands(&options), found);
}

#[test]
fn an_administrator_may_forbid_the_layers_below() {
    let machine = Machine::new();
    machine.file(
        "etc/hooks.yaml",
        "layers: [user]\nhooks: { stop: { type: command, command: managed } }\n",
    );
    machine.hook("home/.config/hookexec/hooks.yaml", "user");
    machine.hook("home/code/repo/hooks.yaml", "project");
    let mut options = machine.options();
    machine.hook("one.yaml", "named");
    options.files = vec![machine.path("one.yaml")];
    assert_eq!(Machine::commands(&options), ["Managed managed", "User user"]);
    let config = hookexec_project::load(&options).unwrap().config;
    let check = hookexec_project::check(&options, Registry::new());
    for told in [config.warnings, config.left_out, check.left_out] {
        let told = told.to_string();
        assert!(told.contains("repo/hooks.yaml") && told.contains("one.yaml"), "{told}");
    }

    // Nobody else says which layers count.
    machine.file("home/.config/hookexec/hooks.yaml", "layers: []\n");
    assert!(machine.failures(&options)[0].contains("only the administrator"));
    // A drop-in is read after the files that it would have to keep out.
    machine.file("home/.config/hookexec/hooks.yaml", "hooks: {}\n");
    machine.file("etc/hooks.d/late.yaml", "layers: []\n");
    assert!(machine.failures(&options)[0].contains("late.yaml:1: this file can't be loaded: only"));
}

#[test]
fn the_whole_configuration_of_another_program_is_refused_in_every_layer() {
    let machine = Machine::new();
    let docker = "agents: { root: { hooks: { stop: [] } } }\n";
    let picoclaw = "session: { x: 1 }\nmodel_list: []\nhooks: { enabled: true }\n";
    for (text, key) in [(docker, "agents"), (picoclaw, "model_list")] {
        machine.file("etc/hooks.yaml", text);
        let failures = machine.failures(&machine.options());
        let said = format!("`{key}` is not a key here");
        assert!(
            failures[0].contains(&said) && failures[0].contains("hookexec init --from"),
            "{failures:?}"
        );
    }
}

#[test]
fn a_name_that_is_nearly_right_is_told() {
    let machine = Machine::new();
    machine.hook("home/code/repo/hooks.yml", "project");
    machine.hook("home/code/repo/src/.hookexec/Hooks.yaml", "project");
    machine.hook("home/.config/hookexec/hooks.yml", "user");
    let drop_ins = "home/.config/hookexec/hooks.d";
    for name in ["a.YAML", "b.json", "c", "d/e.yaml"] {
        machine.hook(&format!("{drop_ins}/{name}"), "user");
    }
    for name in ["f~", "g.yaml.bak", ".h", "README", "README.md"] {
        machine.hook(&format!("{drop_ins}/{name}"), "no");
    }
    let config = hookexec_project::load(&machine.options()).unwrap().config;
    assert!(config.hooks.is_empty());
    let mut told: Vec<PathBuf> = config
        .left_out
        .iter()
        .map(|problem| problem.location.as_ref().unwrap().path().to_owned())
        .collect();
    told.sort();
    let root = machine.path("").canonicalize().unwrap();
    let mut expected: Vec<PathBuf> = ["hooks.yml", "src/.hookexec/Hooks.yaml"]
        .iter()
        .map(|name| root.join("home/code/repo").join(name))
        .collect();
    expected.extend(["a.YAML", "b.json", "c", "d"].map(|name| machine.path(drop_ins).join(name)));
    expected.push(machine.path("home/.config/hookexec/hooks.yml"));
    expected.sort();
    assert_eq!(told, expected);

    // Beside the right one it is somebody else's file; at the administrator's it is never a warning.
    machine.hook("home/code/repo/hooks.yaml", "project");
    let told = hookexec_project::load(&machine.options()).unwrap().config.left_out.to_string();
    assert!(!told.contains("repo/hooks.yml"), "{told}");
    for name in ["hooks.yml", "hooks.d/a.json"] {
        machine.hook(&format!("etc/{name}"), "managed");
        let failures = machine.failures(&machine.options());
        assert!(failures[0].starts_with(&format!("Managed etc/{name}")), "{failures:?}");
        assert!(failures[0].contains("a file of this name is not read"), "{failures:?}");
        fs::remove_file(machine.path("etc").join(name)).unwrap();
    }
}

#[test]
fn no_merge_hides_an_event() {
    let hook = |name: &str| format!("{{ stop: {{ type: command, command: {name} }} }}");
    let (one, two) = (hook("one"), hook("two"));
    for merges in [
        format!("{{ <<: {two}, stop: {{ type: command, command: one }} }}"),
        format!("{{ stop: {{ type: command, command: one }}, <<: {two} }}"),
        format!("{{ <<: [{one}, {two}] }}"),
        format!("{{ <<: [{one}, {{ <<: {two} }}] }}"),
        format!("{{ <<: {one}, <<: {two} }}"),
    ] {
        let text = format!("hooks: {merges}\n");
        let problems = Config::from_yaml(&text, "x.yaml").expect_err(&text).to_string();
        assert!(problems.contains("appears twice") || problems.contains("a second `<<`"), "{text}");
    }
    let text = "hooks: { <<: { stop: { <<: { type: command, command: a }, command: b } }, turn_end: [] }\n";
    let config = Config::from_yaml(text, "x.yaml").unwrap();
    assert_eq!(config.hooks[0].label(), "b");
}

#[test]
fn a_project_that_takes_too_long_is_one_failed_file() {
    let machine = Machine::new();
    machine.hook("home/.config/hookexec/hooks.yaml", "user");
    machine.hook("home/code/repo/hooks.yaml", "project");
    let mut options = machine.options();
    options.without_project = true;
    assert_eq!(Machine::commands(&options), ["User user"]);
    let failures = machine.failures(&options);
    assert!(failures[0].starts_with("Project ") && failures.len() == 1, "{failures:?}");
    assert!(failures[0].contains("could not be read in time"), "{failures:?}");
}
