//! The logins of registries that `docker login` wrote down.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hookexec::internal::files;
use hookexec::wire::parse_strict;

/// The largest configuration of docker that is read, in bytes.
const MAX_CONFIG: u64 = 1 << 20;

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
    let Some(auth) = config["auths"][host]["auth"].as_str() else {
        let helped = config["credHelpers"][host].is_string() || config["credsStore"].is_string();
        return if helped && config["auths"][host].is_object() {
            let hint =
                "store the login in the file itself, as `docker login` does without `credsStore`";
            Err(format!("{} names a program that knows the login: {hint}", path.display()))
        } else {
            Ok(None)
        };
    };
    let login = BASE64_STANDARD.decode(auth).ok().and_then(|login| String::from_utf8(login).ok());
    login.map(Some).ok_or_else(|| unreadable(&format!("the login of {host} is not base64")))
}
