//! Packs: where their hooks stand, and which mistakes are found.

use std::fs;
use std::path::Path;

use hookexec::Config;
use hookexec::config::Layer;
use hookexec::internal::policy::{MANIFEST, Manifest, Store};
use hookexec::internal::{Loaded, files};

use crate::policy::{options, write};

/// Puts a pack into the store in `directory`, and returns the entry of `use` that pins it.
fn put(directory: &Path, content: &[(&str, &str)]) -> String {
    let mut manifest = Manifest::new(4, "", "");
    for (name, text) in content {
        manifest.files.insert((*name).to_owned(), files::digest(text.as_bytes()));
    }
    let manifest = serde_json::to_string(&manifest).unwrap();
    let archive = format!("{}{manifest}\0", "-".repeat(512));
    let digest = files::digest(archive.as_bytes());
    let store = Store::of_packs(directory);
    for (name, text) in content.iter().chain([&(MANIFEST, manifest.as_str())]) {
        write(&store.bundle(&digest).join(name), text);
    }
    write(&store.archive(&digest), &archive);
    format!("{{ bundle: 'file:///x', digest: sha256:{digest} }}")
}

fn hook(name: &str) -> String {
    format!("stop: {{ type: command, command: {name} }}\n")
}

#[test]
fn its_hooks_stand_before_those_of_the_file_that_uses_it() {
    for (file, store, layer) in [
        ("etc/hooks.yaml", "etc", Layer::Managed),
        ("etc/hooks.d/a.yaml", "etc", Layer::Managed),
        ("home/.config/hookexec/hooks.yaml", "state", Layer::User),
        ("project/.hookexec/hooks.d/a.yaml", "state", Layer::Project),
    ] {
        let root = tempfile::tempdir().unwrap();
        let store = root.path().join(store);
        let one = put(&store, &[("hooks.d/b.yaml", &hook("two")), ("hooks.yaml", &hook("one"))]);
        let other = put(&store, &[("hooks.yaml", &hook("three")), ("x.yaml", "5")]);
        write(&root.path().join(file), &format!("{}use: [{one}, {other}]\n", hook("own")));
        write(&root.path().join("etc/hooks.d/z.yaml"), &hook("last"));
        let mut options = options(root.path());
        options.trust_projects = true;
        let config = Config::load(&options).unwrap();
        assert!(config.failed.is_empty(), "{file}: {:?}", config.failed);
        let mut hooks: Vec<_> = config.hooks.iter().map(|it| (it.label(), it.layer())).collect();
        hooks.retain(|(name, _)| name != "last");
        assert_eq!(hooks, ["one", "two", "three", "own"].map(|name| (name.to_owned(), layer)));
    }
}

#[test]
fn a_pack_brings_in_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let state = root.path().join("state");
    let inner = put(&state, &[("hooks.yaml", &hook("inner"))]);
    let outer = put(&state, &[("hooks.yaml", &format!("use: [{inner}]\n{}", hook("outer")))]);
    let key = "RWTG8/ksjOUgdMATAC/dAdYAy0VzS61KZy5SloHuwlZHpsIWMZCBjDq1";
    let policy = format!("policy: {{ from: 'file:///policy.tar', key: {key} }}\n");
    let policy = put(&state, &[("hooks.yaml", &policy)]);
    for (pack, wanted) in [(outer, "can't use another one"), (policy, "can't name another one")] {
        let user = root.path().join("home/.config/hookexec/hooks.yaml");
        write(&user, &format!("use: [{pack}]\n"));
        let config = Config::load(&options(root.path())).unwrap();
        assert!(config.hooks.iter().all(|hook| hook.label() != "inner"));
        assert!(config.failed[0].cause.contains(wanted), "{:?}", config.failed);
        assert_eq!(config.failed[0].events, None);
    }
}

#[test]
fn a_pack_that_is_not_here_fails_with_its_file() {
    let root = tempfile::tempdir().unwrap();
    let pack = format!("use: [{{ bundle: 'file:///x', digest: 'sha256:{}' }}]\n", "0".repeat(64));
    let file = root.path().join("home/.config/hookexec/hooks.yaml");
    write(&file, &format!("{pack}{}", hook("own")));
    let config = Config::load(&options(root.path())).unwrap();
    let failed = &config.failed[0];
    assert_eq!(&*failed.cause, "the pack file:///x can't be used: it is not on this machine");
    assert!(failed.remedy.contains("hookexec bundle refresh"), "{}", failed.remedy);
    assert_eq!((failed.location.line(), failed.on_error), (1, None));
    // What is wrong with its file is said once.
    let unpinned = root.path().join("etc/hooks.yaml");
    write(&unpinned, "use: [{ bundle: 'file:///x' }]\n");
    let config = Config::load(&options(root.path())).unwrap();
    let causes: Vec<&str> = config.failed.iter().map(|failed| &*failed.cause).collect();
    assert!(causes[0].contains("the pack file:///x is not pinned"), "{causes:?}");
    assert_eq!(causes.len(), 2);
    fs::remove_file(unpinned).unwrap();
    // A server sees when it is fetched.
    let places = Loaded::load(&options(root.path())).unwrap().places(&options(root.path()));
    let archive = root.path().join("state/packs").join("0".repeat(16)).with_extension("tar");
    assert!(places.iter().any(|place| place.path() == archive), "{places:#?}");
    // A file that a person or a program names is refused as a whole.
    let mut named = options(root.path());
    named.isolated = true;
    named.files.push(file.clone());
    for problems in [Config::load(&named).unwrap_err(), Config::load_file(&file).unwrap_err()] {
        assert!(problems.to_string().contains("can't be used"), "{problems}");
    }
}

#[test]
fn mistakes_are_found() {
    let digest = format!("sha256:{}", "0".repeat(64));
    for (pack, wanted) in [
        ("{ digest: DIGEST }".to_owned(), "a pack needs `bundle`"),
        ("{ bundle: 'file:///x' }".to_owned(), "the pack file:///x is not pinned"),
        ("{ bundle: 'file:///x', digest: abc }".to_owned(), "`abc` is not a digest"),
        (
            format!("{{ bundle: 'file:///x', digest: {} }}", digest.to_uppercase()),
            "is not a digest",
        ),
        ("{ bundle: 'ftp://x', digest: DIGEST }".to_owned(), "is not a valid source"),
        ("{ bundle: 'file:///x', digest: DIGEST, key: a }".to_owned(), "`a` is not a public key"),
        ("{ bundle: 'file:///x', digest: DIGEST, from: a }".to_owned(), "unknown key `from`"),
        ("x".to_owned(), "a pack must be a mapping"),
        // Nobody would read the packs of a text.
        ("{ bundle: 'file:///x', digest: DIGEST }".to_owned(), "can't use packs"),
    ] {
        let text = format!("use: [{}]\n{}", pack.replace("DIGEST", &digest), hook("own"));
        let problems = Config::from_yaml(&text, "hooks.yaml").unwrap_err();
        assert!(problems.to_string().contains(wanted), "{pack}: {problems}");
    }
    let problems = Config::from_yaml("use: { a: 1 }", "hooks.yaml").unwrap_err();
    assert!(problems.to_string().contains("`use` must be a list"), "{problems}");
}
