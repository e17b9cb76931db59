//! A policy that comes from elsewhere: what its hooks count as.

use std::fs;
use std::path::Path;

use hookexec::config::Layer;
use hookexec_files::files;
use hookexec_project::LoadOptions;
use hookexec_project::policy::{InForce, State, Store};

const KEY: &str = "RWTG8/ksjOUgdMATAC/dAdYAy0VzS61KZy5SloHuwlZHpsIWMZCBjDq1";

pub(crate) fn options(root: &Path) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.working_dir = Some(root.join("project"));
    options.home = Some(root.join("home"));
    options.managed_dir = Some(root.join("etc"));
    options.trust_dir = Some(root.join("state/trust"));
    options
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Puts a version in force in the policy of the hooks file in `directory`.
fn put(directory: &Path, content: &[(&str, &str)]) {
    let store = Store::beside(directory);
    let digest = "ab".repeat(32);
    for (name, text) in content {
        write(&store.version(&digest).join(name), text);
    }
    let digest_of =
        |(name, text): &(&str, &str)| ((*name).to_owned(), files::digest(text.as_bytes()));
    let in_force = InForce {
        source: "file:///policy.tar".to_owned(),
        key: KEY.to_owned(),
        name: "guards".to_owned(),
        version: 4,
        digest,
        files: content.iter().map(digest_of).collect(),
        tag: String::new(),
        confirmed: 0,
    };
    let state = State { in_force: Some(in_force), ..State::default() };
    store.write(&state).unwrap();
}

#[test]
fn a_file_that_the_state_does_not_list_is_not_read() {
    let root = tempfile::tempdir().unwrap();
    let own = root.path().join("etc");
    let hook = |name: &str| format!("stop: {{ type: command, command: {name} }}\n");
    let policy = format!("policy: {{ from: 'file:///policy.tar', key: {KEY} }}\n");
    write(&own.join("hooks.yaml"), &policy);
    put(&own, &[("hooks.yaml", &hook("listed"))]);
    let version = Store::beside(&own).version(&"ab".repeat(32));
    write(&version.join("hooks.d/extra.yaml"), &hook("extra"));
    let config = hookexec_project::load(&options(root.path())).unwrap().config;
    assert!(config.failed.is_empty(), "{:?}", config.failed);
    let hooks: Vec<_> = config.hooks.iter().map(hookexec::config::Hook::label).collect();
    assert_eq!(hooks, ["listed"]);

    // A listed file that is not read for its name is a failure: its guards would seem to be there.
    for name in ["hooks.d/more.YAML", "hooks.d/more", "hooks.yml"] {
        put(&own, &[(name, &hook("misnamed"))]);
        let config = hookexec_project::load(&options(root.path())).unwrap().config;
        assert!(config.failed[0].cause.contains(name), "{:?}", config.failed);
    }
}

#[test]
fn its_hooks_belong_to_the_layer_that_names_it() {
    for (directory, layer) in [("etc", Layer::Managed), ("home/.config/hookexec", Layer::User)] {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join(directory);
        let hook = |name: &str| format!("stop: {{ type: command, command: {name} }}\n");
        write(
            &own.join("hooks.yaml"),
            &format!("policy: {{ from: 'file:///policy.tar', key: {KEY} }}\n{}", hook("own")),
        );
        write(&own.join("hooks.d/z.yaml"), &hook("last"));
        let hooks = [("hooks.yaml", hook("one")), ("hooks.d/a.yaml", hook("two"))];
        let hooks = hooks.each_ref().map(|(name, text)| (*name, text.as_str()));
        put(&own, &[&hooks[..], &[("guard.sh", "")]].concat());
        let config = hookexec_project::load(&options(root.path())).unwrap().config;
        assert!(config.failed.is_empty(), "{:?}", config.failed);
        let hooks: Vec<_> = config.hooks.iter().map(|it| (it.label(), it.layer())).collect();
        let names = ["own", "one", "two", "last"].map(|name| (name.to_owned(), layer));
        assert_eq!(hooks, names);

        // A policy names no other one, even if a key signed it.
        let policy = format!("policy: {{ from: 'file:///other.tar', key: {KEY} }}\n");
        put(&own, &[("hooks.yaml", &policy)]);
        let config = hookexec_project::load(&options(root.path())).unwrap().config;
        let cause = &config.failed[0].cause;
        assert_eq!(&**cause, "a policy can't name another one");
    }
}

#[test]
fn mistakes_are_found() {
    for (policy, wanted) in [
        ("from: ftp://x, key: KEY", "is not a valid source"),
        ("from: 'http://registry.example/x', key: KEY", "is not a valid source"),
        ("from: 'oci://registry.example/x:v', key: KEY", "is not a valid source"),
        ("from: 'file:///x', key: KEY, refresh: 10m", "unknown key `refresh`"),
        ("from: 'file:///x', key: abc", "`abc` is not a public key"),
        ("from: 'file:///x', key: []", "`key` is empty"),
        ("from: 'file:///x'", "`policy` needs `key`"),
        ("key: KEY", "`policy` needs `from`"),
        ("from: 'file:///x', key: KEY, expires: 999d", "`expires` is not a valid duration"),
        ("from: 'file:///x', key: KEY, pin: x", "unknown key `pin`"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let text = format!("policy: {{ {} }}\n", policy.replace("KEY", KEY));
        write(&root.path().join("etc/hooks.yaml"), &text);
        let config = hookexec_project::load(&options(root.path())).unwrap().config;
        assert_eq!(config.failed.len(), 1, "{policy}");
        let cause = &config.failed[0].cause;
        assert!(cause.contains(wanted), "{policy}: {cause}");
    }
}
