//! What a release is laid out by: `release/practise.sh` has to do what it says.

use std::process::Command;

#[test]
fn what_the_release_practises_ends_as_it_should() {
    let done = Command::new("bash")
        .args(["release/practise.sh", env!("CARGO_BIN_EXE_hookexec")])
        .current_dir(crate::support::ROOT)
        // Nothing of the user who builds may count.
        .envs(["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"].map(|name| (name, "/nowhere")))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.is_empty(), "{}: {said}", done.status);
}
