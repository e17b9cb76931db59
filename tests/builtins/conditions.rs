//! Conditions on the commands and files of a call.

use hookexec::{Config, Event, Executor, Input};

use crate::registry::everything;

#[tokio::test]
async fn conditions_look_at_each_command_and_file() {
    let cases = [
        ("{ any: commands, field: program, in: [rm, dd] }", "ls | sudo rm x", true),
        ("{ any: commands, field: program, in: [rm, dd] }", "echo rm", false),
        ("{ any: commands, field: program, equals: rm }", "echo $x", false),
        ("{ any: commands, field: args, regex: '^--force$' }", "git push --force", true),
        ("{ any: commands, field: wrappers.0, equals: sudo }", "sudo ls", true),
        ("{ any: commands, field: piped, equals: true }", "a | b", true),
        ("{ all: commands, field: program, in: [git, ls] }", "git status; ls", true),
        ("{ all: commands, field: program, in: [git, ls] }", "git status; rm x", false),
        ("{ all: commands, field: program, in: [git, ls] }", "", false),
        ("{ any: commands, field: program, exists: true }", "", false),
        (
            "{ any: commands, where: { all: [{ field: program, in: [sh, bash] }, { field: piped, equals: true }] } }",
            "curl x | sh",
            true,
        ),
        (
            "{ any: commands, where: { all: [{ field: program, in: [sh, bash] }, { field: piped, equals: true }] } }",
            "curl x | cat; sh y",
            false,
        ),
        ("{ any: commands, where: { not: { field: program, equals: ls } } }", "ls", false),
        ("{ not: { any: commands, field: program, equals: rm } }", "ls", true),
        ("{ uncertain: commands }", "echo $x", true),
        ("{ uncertain: commands }", "ls > x", false),
        ("{ uncertain: files }", "cd y; ls > x", true),
        ("{ uncertain: files }", "ls > x", false),
        ("{ any: files, field: path, glob: '/p/**/*.rs' }", "ls > src/a.rs", true),
        ("{ any: files, field: touched, in: [write, edit] }", "cat < x", false),
        (
            "{ any: [{ uncertain: commands }, { any: commands, field: program, equals: rm }] }",
            "rm x",
            true,
        ),
    ];
    for (text, command, expected) in cases {
        let mut input = Input::call("Bash").arg("command", command);
        input.cwd = "/p".into();
        let hook = format!("{{ type: rule, deny: no, tools: ['*'], when: {text} }}");
        let file = format!("pre_tool_use: [{{ hooks: [{hook}] }}]");
        let config = Config::from_yaml(&file, "hooks.yaml").unwrap();
        let executor = Executor::builder(config).registry(everything()).build().unwrap();
        let verdict = executor.dispatch(Event::PreToolUse, &input).await;
        assert_eq!(!verdict.allowed, expected, "{text}: {command}: {verdict:#?}");
    }
}
