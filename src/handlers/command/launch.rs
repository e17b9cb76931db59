//! How the child of a command or of a process is started, and which variables it gets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use hookexec_files::depth;
use hookexec_files::expand::{self, Variables};
use hookexec_files::group::{Group, add_raw};
use tokio::process::Command;

use crate::config::InheritEnv;
use crate::files;
use crate::handler::{BuildError, Call, Failure, HandlerError};
use crate::platform::start_error::start_error;
use crate::platform::system::{DEFAULT_PATH, NEEDED_VARIABLES, user_may_execute};
use crate::platform::{Platform, same_name};

/// The event, such as `pre_tool_use`.
const EVENT: &str = "HOOKEXEC_EVENT";
/// The tool, where the input names one.
const TOOL_NAME: &str = "HOOKEXEC_TOOL_NAME";
/// The session.
const SESSION_ID: &str = "HOOKEXEC_SESSION_ID";
/// `true` where the hook is asked about the same event a second time.
const REPEATED: &str = "HOOKEXEC_REPEATED";
/// The file of the tool call, where there is exactly one.
const FILE: &str = "HOOKEXEC_FILE";
/// The files of the tool call, one a line.
const FILES: &str = "HOOKEXEC_FILES";
/// The text of the command of the tool call.
const COMMAND: &str = "HOOKEXEC_COMMAND";
/// The directory of the file that the hook is configured in.
pub(super) const CONFIG_DIR: &str = "HOOKEXEC_CONFIG_DIR";
/// The project.
const PROJECT_DIR: &str = "HOOKEXEC_PROJECT_DIR";
/// How many hooks called hookexec again, one in another.
const DEPTH: &str = depth::VARIABLE;

/// The variables that say what the hook runs for. They are never inherited: those of a `hookexec`
/// further up would speak of another event.
const RESERVED: [&str; 10] =
    [EVENT, TOOL_NAME, SESSION_ID, REPEATED, FILE, FILES, COMMAND, CONFIG_DIR, PROJECT_DIR, DEPTH];

/// The environment of one hook: all that is known before an event comes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Environment {
    variables: Arc<Variables>,
    inherit: InheritEnv,
    /// The hook's own, which win over the inherited ones.
    own: Vec<(OsString, OsString)>,
    /// Variables that hold directories.
    pub(super) directories: Vec<(&'static str, Arc<Path>)>,
}

impl Environment {
    /// Resolves `own`, in which `${env.NAME}` stands for a variable of `variables`, inherited or
    /// not. Both directories are absolute.
    ///
    /// # Errors
    /// When a variable can't be set, or is reserved.
    pub(crate) fn new(
        variables: &Arc<Variables>,
        inherit: &InheritEnv,
        own: &BTreeMap<String, String>,
        config_dir: Arc<Path>,
        project: &Arc<Path>,
    ) -> Result<Self, BuildError> {
        let mut resolved = Vec::new();
        for (name, value) in own {
            if RESERVED.contains(&name.as_str()) {
                return Err(BuildError::new(format!("`{name}` is set for every hook"))
                    .at("env")
                    .hint("give your variable another name"));
            }
            let name = OsString::from(name);
            let value = expand::env_references(value, variables);
            if !is_name(&name) || !fits(&name, &value) {
                return Err(BuildError::new(format!("the variable `{}` can't be set", name.display()))
                    .at("env")
                    .hint("a name is not empty and has no `=`; neither name nor value has a zero byte, and together they take less than 128 KiB"));
            }
            resolved.push((name, value));
        }
        Ok(Self {
            variables: Arc::clone(variables),
            inherit: inherit.clone(),
            own: resolved,
            directories: vec![(CONFIG_DIR, config_dir), (PROJECT_DIR, Arc::clone(project))],
        })
    }

    /// Returns the value that the child sees.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        for (own, value) in &self.own {
            if is_variable(own, name) {
                return Some(value);
            }
        }
        let (name, value) = Platform::HERE.variable(&self.variables, OsStr::new(name))?;
        if self.inherits(name, value) { Some(value) } else { None }
    }

    /// Returns the directory that the child sees in a variable.
    pub(crate) fn value(&self, name: &str) -> Option<PathBuf> {
        for (known, directory) in &self.directories {
            if *known == name {
                return Some(directory.to_path_buf());
            }
        }
        self.get(name).map(PathBuf::from)
    }

    /// Makes this the environment of `command`, and nothing else.
    pub(crate) fn apply(&self, command: &mut Command) {
        command.env_clear();
        for (name, value) in &*self.variables {
            if self.inherits(name, value) {
                command.env(name, value);
            }
        }
        for (name, value) in &self.own {
            command.env(name, value);
        }
        let depth = self.variables.get(OsStr::new(DEPTH));
        command.env(DEPTH, depth::below(depth.map(OsString::as_os_str)));
        for (name, directory) in &self.directories {
            if fits(OsStr::new(name), directory.as_os_str()) {
                command.env(name, &**directory);
            }
        }
    }

    fn inherits(&self, name: &OsStr, value: &OsStr) -> bool {
        let is_wanted = match &self.inherit {
            InheritEnv::All => true,
            InheritEnv::None => false,
            InheritEnv::Only(names) => names.iter().any(|known| is_variable(name, known)),
        };
        let is_needed = NEEDED_VARIABLES.iter().any(|known| is_variable(name, known));
        let is_reserved = RESERVED.iter().any(|reserved| name == *reserved);
        (is_wanted || is_needed) && is_name(name) && !is_reserved && fits(name, value)
    }
}

/// Tells the child what it runs for. A value that an environment can't carry is left out: the hook
/// finds all of it on stdin.
pub(super) fn set_call_variables(call: &Call<'_>, command: &mut Command) {
    let tool = call.input.tool_name.as_deref().filter(|name| !name.is_empty());
    let files = call.description().certain_files();
    let one = files.as_ref().filter(|files| !files.contains('\n'));
    let repeated = if call.input.repeated { Some("true") } else { None };
    for (name, value) in [
        (EVENT, Some(call.event.name())),
        (TOOL_NAME, tool),
        (SESSION_ID, Some(call.input.session_id.as_str())),
        (REPEATED, repeated),
        (FILE, one.map(String::as_str)),
        (FILES, files.as_deref()),
        (COMMAND, call.description().text.as_deref()),
    ] {
        if let Some(value) = value
            && fits(OsStr::new(name), OsStr::new(value))
        {
            command.env(name, value);
        }
    }
}

/// Returns whether the variable `name` is the one that is called `known` on this system.
fn is_variable(name: &OsStr, known: &str) -> bool {
    same_name(name, OsStr::new(known), Platform::HERE.variable_case_counts)
}

/// Returns whether a variable may have this name.
fn is_name(name: &OsStr) -> bool {
    !name.is_empty() && !name.as_encoded_bytes().contains(&b'=')
}

/// Returns whether an environment can carry the variable.
fn fits(name: &OsStr, value: &OsStr) -> bool {
    let has_zero = name.as_encoded_bytes().contains(&0) || value.as_encoded_bytes().contains(&0);
    // The longest `NAME=value` that Linux hands to a program, with the zero byte at its end.
    name.len() + value.len() + 2 <= (128 * 1024) && !has_zero
}

/// All of a child that is known before it is started.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) program: Program,
    pub(crate) arguments: Vec<String>,
    /// Text that follows them on the command line, not quoted.
    pub(crate) raw: Option<String>,
    pub(crate) environment: Environment,
    pub(crate) directory: Arc<Path>,
}

impl Launch {
    /// Starts the child, with pipes; `prepare` adds what is known only now.
    ///
    /// # Errors
    /// When the system can't start it.
    pub(crate) async fn start(
        &self,
        deadline: Instant,
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Group, HandlerError> {
        let program = self.program.file()?;
        // An absolute path and no `pre_exec`: see `program`.
        let mut command = Command::new(program);
        command.args(&self.arguments).current_dir(&*self.directory);
        if let Some(raw) = &self.raw {
            add_raw(&mut command, raw);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.environment.apply(&mut command);
        prepare(&mut command);
        match Group::spawn_patiently(&mut command, deadline).await {
            Ok(group) => Ok(group),
            Err(error) => Err(not_started(start_error(&error, program, &self.directory))),
        }
    }
}

fn not_started(cause: String) -> HandlerError {
    HandlerError::new(Failure::Start, cause)
}

/// A program as it was written, and the file it stands for once that is known.
#[derive(Debug)]
pub(crate) struct Program {
    /// As it was written, unless that is a path: then the file is known.
    name: String,
    /// Where it is looked for.
    path: OsString,
    file: OnceLock<PathBuf>,
}

impl Program {
    /// Returns the program called `name`, to be looked for in `path`, the `PATH` of the child.
    ///
    /// A name with a slash is a path, relative to `directory`. Directories in `path` that are not
    /// absolute are passed over: otherwise a program that an agent wrote could take the place of a
    /// guard's.
    pub(crate) fn new(name: &str, path: Option<&OsStr>, directory: &Path) -> Self {
        if Platform::HERE.is_path(name) {
            let file = OnceLock::from(directory.join(name));
            return Self { name: String::new(), path: OsString::new(), file };
        }
        let path = path.unwrap_or(OsStr::new(DEFAULT_PATH)).to_owned();
        let program = Self { name: name.to_owned(), path, file: OnceLock::new() };
        // What is missing now may be there when the hook runs, and is looked for again then.
        let _ = program.file();
        program
    }

    /// Returns the absolute path of its file; an error when there is none.
    pub(crate) fn file(&self) -> Result<&Path, HandlerError> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let found = self.find()?;
        Ok(self.file.get_or_init(|| found))
    }

    fn find(&self) -> Result<PathBuf, HandlerError> {
        let mut barred = None;
        let files = files::programs(OsStr::new(&self.name), &self.path);
        for file in files.filter(|file| file.is_file()) {
            if user_may_execute(&file) {
                return Ok(file);
            }
            barred.get_or_insert(file);
        }
        let remedy = match barred {
            Some(file) => {
                let file = file.display();
                format!("; `{file}` may not be executed: run `chmod +x {file}`")
            }
            None => ": install it, or give its absolute path".to_owned(),
        };
        let (name, path) = (&self.name, self.path.display());
        Err(not_started(format!("the program `{name}` was not found in PATH ({path}){remedy}")))
    }
}
