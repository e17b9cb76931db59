//! Names that the reader of shell texts knows.

/// Shells whose text is read, without a version behind the name: `bash-5.2`.
pub(super) const SHELLS: [&str; 13] = [
    "sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "lksh", "pdksh", "yash", "rbash", "rksh",
    "posh",
];
/// Programs that run the code in a file, in an argument behind an option, or from their input.
pub(super) const INTERPRETERS: [&str; 20] = [
    "python", "node", "nodejs", "ruby", "perl", "php", "lua", "deno", "bun", "osascript", "tclsh",
    "rscript", "pypy", "ts-node", "tsx", "java", "julia", "wscript", "cscript", "luajit",
];
/// Options of interpreters that code, or the name of a module, stands behind.
pub(super) const CODE_OPTIONS: [&str; 9] =
    ["-c", "-e", "-E", "-r", "-p", "-m", "--eval", "--print", "-pe"];
/// Programs that get files from the network.
pub(super) const FETCHERS: [&str; 7] = ["curl", "wget", "wget2", "aria2c", "fetch", "scp", "http"];
/// Programs whose output a shell may run: they print settings for it.
pub(super) const PRINTERS: [&str; 19] = [
    "ssh-agent",
    "direnv",
    "dircolors",
    "brew",
    "pyenv",
    "rbenv",
    "nodenv",
    "fnm",
    "mise",
    "asdf",
    "starship",
    "zoxide",
    "conda",
    "opam",
    "luarocks",
    "docker-machine",
    "minikube",
    "keychain",
    "register-python-argcomplete",
];
/// Builtins of shells that evaluate the name of a variable: `test -v 'a[$(x)]'` runs `x`.
pub(super) const EVALUATORS: [&str; 28] = [
    "test", "[", "printf", "read", "unset", "declare", "typeset", "local", "export", "readonly",
    "let", "mapfile", "readarray", "wait", "exit", "return", "shift", "break", "continue",
    "integer", "float", "print", "set", "vared", "getln", "strftime", "sysread", "zstat",
];
/// Builtins among them that evaluate each argument as arithmetic.
pub(super) const COUNTERS: [&str; 8] =
    ["let", "exit", "return", "shift", "break", "continue", "integer", "float"];
/// Builtins whose arguments are variables that they set.
pub(super) const SETTERS: [&str; 12] = [
    "export", "declare", "typeset", "local", "readonly", "read", "mapfile", "readarray", "getopts",
    "unset", "integer", "float",
];
/// Variables that may be set before a command that is allowed.
pub(super) const HARMLESS_VARIABLES: [&str; 22] = [
    "CI",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "DEBUG",
    "VERBOSE",
    "NODE_ENV",
    "RAILS_ENV",
    "RACK_ENV",
    "APP_ENV",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "CARGO_TERM_COLOR",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "GOOS",
    "GOARCH",
];
/// Variables in small letters that change what runs: those of zsh, and those of downloads.
pub(super) const SPECIAL_VARIABLES: [&str; 22] = [
    "path", "cdpath", "fpath", "manpath", "mailpath", "module_path", "psvar", "argv", "status",
    "prompt", "options", "commands", "functions", "aliases", "galiases", "saliases", "builtins",
    "parameters", "http_proxy", "https_proxy", "all_proxy", "precmd",
];
