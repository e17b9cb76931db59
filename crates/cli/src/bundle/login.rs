//! The logins of registries that `docker login` knows.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hookexec::internal::files;
use hookexec::wire::parse_strict;

use crate::program::candidates;

/// The largest configuration of docker that is read, in bytes.
const MAX_CONFIG: u64 = 1 << 20;
/// How long a program that knows a login may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns user and password for a registry, as `user:password`, if there are some.
pub(super) fn of(host: &str) -> Result<Option<String>, String> {
    let directory = std::env::var_os("DOCKER_CONFIG").map(PathBuf::from);
    let directory = directory.or_else(|| Some(hookexec::home_directory()?.join(".docker")));
    let Some(path) = directory.map(|directory| directory.join("config.json")) else {
        return Ok(None);
    };
    let bytes = match files::read_regular(&path, MAX_CONFIG) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("can't read {}: {error}", path.display())),
    };
    let unreadable = |problem: &str| format!("{} is not readable: {problem}", path.display());
    let config = parse_strict(&String::from_utf8_lossy(&bytes));
    let config = config.map_err(|error| unreadable(&error.to_string()))?;
    let Some(auth) = config["auths"][host]["auth"].as_str().filter(|auth| !auth.is_empty()) else {
        let helper = config["credHelpers"][host].as_str().or(config["credsStore"].as_str());
        return helper.map_or(Ok(None), |helper| ask(helper, host));
    };
    let login = BASE64_STANDARD.decode(auth).ok().and_then(|login| String::from_utf8(login).ok());
    login.map(Some).ok_or_else(|| unreadable(&format!("the login of {host} is not base64")))
}

/// Asks a credential helper, as docker does: <https://github.com/docker/docker-credential-helpers>.
fn ask(helper: &str, host: &str) -> Result<Option<String>, String> {
    let program = format!("docker-credential-{helper}");
    let failed = |problem: &str| format!("`{program}`, which knows the logins, failed: {problem}");
    if helper.contains(['/', '\\']) {
        return Err(failed("its name has a slash"));
    }
    // Never one of the project, which may be the current directory.
    let Some(found) = candidates(&program).find(|file| files::is_program(file)) else {
        return Err(failed("it is not on the PATH"));
    };
    let command = duct::cmd!(found, "get").stdin_bytes(host).stdout_capture().stderr_null();
    let started = command.unchecked().start().map_err(|error| failed(&error.to_string()))?;
    let ended = started.wait_timeout(PATIENCE).map_err(|error| failed(&error.to_string()))?;
    let Some(output) = ended else {
        let _ = started.kill();
        return Err(failed(&format!("it did not answer in {PATIENCE:?}")));
    };
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        // So a helper says that it has none.
        let has_none = said.contains("credentials not found");
        return if has_none { Ok(None) } else { Err(failed(said.trim())) };
    }
    let answer = parse_strict(&said).map_err(|error| failed(&error.to_string()))?;
    let text = |key: &str| answer[key].as_str().map(str::to_owned);
    match (text("Username"), text("Secret")) {
        (Some(user), _) if user == "<token>" => Err(failed("it has a token instead of a password")),
        (Some(user), Some(secret)) => Ok(Some(format!("{user}:{secret}"))),
        _ => Err(failed("its answer has no `Username` and `Secret`")),
    }
}
