"""The real clients: where they come from, and how one turn of each is run offline, against a mock model and without a login."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

CLIENTS = Path(os.environ.get("HOOKEXEC_CLIENTS", Path.home() / ".cache/hookexec-clients"))
REPOSITORY = Path(__file__).resolve().parents[3]
PLUGINS = REPOSITORY / "plugins"
#: A directory that `just packages` filled.
PACKAGES = os.environ.get("HOOKEXEC_PACKAGES")
REGISTRY = REPOSITORY / "release/registry.py"


#: For clients that take a hook that never answers for permission.
HANGS = {"hangs": "it takes a hook that never answers for permission"}


#: For clients that ask their user for no approval of hooks.
NO_APPROVAL = {name: "its hooks need no approval" for name in ["approved", "unapproved"]}


#: For clients that load no settings of Claude Code.
NOT_FOREIGN = {name: "it loads no settings of Claude Code" for name in ["foreign", "doubled"]}


#: For clients without a package in `plugins/`.
NO_PACKAGE = {name: "it has no package" for name in ["package", "package_missing"]}


#: For clients whose plugin is not put into a project.
PLUGIN = {name: "it has a plugin, and no entry of a project" for name in ["project", "project_missing"]}


#: A hook, and entries of which some clients can't read one.
HOOK = {"type": "command", "command": "true"}
MATCHED = {"matcher": {"type": "always"}, "hooks": [HOOK]}
UNREADABLE = [
    "true", HOOK, MATCHED, {"hooks": [{"type": "command"}]}, {"hooks": [{"command": "true"}]}, {"hooks": [{**HOOK, "timeout": "30"}]},
]


def merged(old, new):
    """Returns `old` with `new` in it. Of two lists the new one comes first."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
    return new + old if isinstance(old, list) and isinstance(new, list) else new


class Client:
    """One client. `agent` is its name for `hookexec install`; a client without one has a plugin."""

    agent = None
    #: The package on the npm registry; the version is named, since npm picks old ones on an old Node.
    package = None
    binary = None
    #: What to run in the package after `npm install`, which runs no scripts.
    finish = None
    #: What the client cannot do, by scenario, each with the reason that is printed.
    cannot = {"advice": "it takes changed arguments", **NO_APPROVAL, **NOT_FOREIGN}
    #: Whether `doctor` sees that its own package is installed.
    shows_package = True
    #: Whether it keeps to itself what a hook with exit code 2 says on stderr.
    hides_stderr = False
    #: Whether it keeps to itself why the tool of an MCP server was denied.
    hides_mcp_reason = False
    #: Whether it runs hooks that its user did not approve, for this run.
    bypasses_approval = True
    #: Whether its user allows every command, so that only hooks stand in the way.
    allows_shell = True
    #: What turns its hooks off: a file, from the directory of the run, what is merged into it or, as a text, added to it, and
    #: where in the project the client starts, if that is below it.
    off = []
    #: Such changes that make it read no hook of the file.
    refused = []
    #: What it says when it refuses the whole prompt, before any request to the model, since hookexec can't be asked.
    refusal = None

    def __init__(self, root):
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        #: Where it starts.
        self.directory = self.project
        #: The MCP servers that `prepare` writes into the settings: by name, the `command` and its `args`.
        self.servers = {}

    @classmethod
    def program(cls):
        return CLIENTS / cls.__name__.lower() / "node_modules/.bin" / cls.binary

    @classmethod
    def missing(cls):
        """Returns why the client cannot be run here, or None."""
        if not cls.program().exists():
            return f"{cls.program()} is not there (run.py --install gets it)"
        return None

    def environment(self, port):
        node = CLIENTS / "node/node_modules/node/bin"
        path = [str(self.root / "bin"), str(node), "/usr/local/bin", "/usr/bin", "/bin"]
        return {
            "HOME": str(self.home), "PATH": os.pathsep.join(path), "TERM": "dumb", "LANG": "C.UTF-8", "NO_COLOR": "1", "CI": "1",
            "TMPDIR": str(self.root / "tmp"), **self.variables(port),
        }

    def variables(self, port):
        return {}

    def prepare(self, port):
        """Writes the settings the client needs to start."""

    def without_plugin(self):
        """Takes out the plugin, where `prepare` put one in."""

    def install_package(self):
        """Returns the client's own commands that install its package from `plugins/`."""
        return []

    def pack(self, name):
        """Packs a plugin as npm publishes it, and returns the file; or takes that of HOOKEXEC_PACKAGES."""
        if PACKAGES:
            return next(Path(PACKAGES).glob(f"hookexec-{name}-*.tgz")).resolve()
        dist = self.root / "dist"
        dist.mkdir()
        pack = ["npm", "pack", "--silent", "--pack-destination", dist, PLUGINS / name]
        return dist / subprocess.run(pack, check=True, capture_output=True, text=True).stdout.strip()

    def close(self):
        """Ends what `install_package` started."""

    def command(self, prompt):
        raise NotImplementedError

    @classmethod
    def name(cls):
        """Returns its name in the commands of hookexec."""
        return cls.agent or cls.__name__.lower()

    def change(self, path, change, start="."):
        """Changes one of its files, as in `off`."""
        self.directory = self.project / start
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text() if path.exists() else ""
        path.write_text(text + change if isinstance(change, str) else json.dumps(merged(json.loads(text or "{}"), change)))

    def write(self, path, text):
        path = self.home / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Claude(Client):
    agent = "claude-code"
    package = "@anthropic-ai/claude-code@2.1.332"
    binary = "claude"
    finish = "@anthropic-ai/claude-code/install.cjs"
    off = [
        *((path, {"disableAllHooks": True}) for path in ["home/.claude/settings.json", "project/.claude/settings.json", "project/.claude/settings.local.json"]),
        ("home/.claude/settings.json", {"env": {"CLAUDE_CODE_SIMPLE": "1"}}),
        ("project/.claude/settings.local.json", {"disableAllHooks": True}, "sub/deep"),
    ]
    refused = [
        ("home/.claude/settings.json", change)
        for change in [*({"hooks": {"PreToolUse": [entry]}} for entry in UNREADABLE), {"permissions": {"allow": "Bash"}}, {"model": 5}]
    ]

    def variables(self, port):
        return {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "dummy", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
        }

    def prepare(self, port):
        # Settings of the user's own, which must survive.
        self.write(".claude/settings.json", '{\n  "includeCoAuthoredBy": false\n}\n')
        self.write(".claude.json", json.dumps({"mcpServers": self.servers}))

    def install_package(self):
        return [["plugin", "marketplace", "add", str(PLUGINS)], ["plugin", "install", "hookexec@hookexec"]]

    def command(self, prompt):
        return ["-p", prompt, "--permission-mode", "default", "--allowedTools", ",".join(["mcp__my-kit__do-it", *(["Bash"] if self.allows_shell else [])])]


class Codex(Client):
    agent = "codex"
    package = "@openai/codex@0.171.0"
    binary = "codex"
    cannot = {"advice": Client.cannot["advice"], **HANGS, **NOT_FOREIGN}
    off = [
        ("home/.codex/config.toml", "\n[features]\nhooks = false\n"), ("project/.codex/config.toml", "[features]\ncodex_hooks = false\n"),
        ("project/.codex/config.toml", "[features]\nhooks = false\n", "sub/deep"),
    ]
    refused = [("home/.codex/hooks.json", {"hooks": {"PreToolUse": [entry]}}) for entry in UNREADABLE if entry != HOOK]

    def variables(self, port):
        return {"CODEX_HOME": str(self.home / ".codex"), "MOCK_KEY": "dummy"}

    def prepare(self, port):
        self.write(".codex/config.toml", f"""
model = "mock-model"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
[analytics]
enabled = false
[projects."{self.project}"]
trust_level = "trusted"
""" + "".join(
            # A string or a list of strings is written in TOML as in JSON.
            f"[mcp_servers.{name}]\ncommand = {json.dumps(server['command'])}\nargs = {json.dumps(server['args'])}\n"
            for name, server in self.servers.items()
        ))

    def install_package(self):
        return [["plugin", "marketplace", "add", str(PLUGINS)], ["plugin", "add", "hookexec@hookexec"]]

    def command(self, prompt):
        flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        if self.bypasses_approval:
            flags.append("--dangerously-bypass-hook-trust")
        return ["exec", *flags, prompt]


class Gemini(Client):
    agent = "gemini"
    package = "@google/gemini-cli@0.61.0"
    binary = "gemini"
    refusal = "Agent execution blocked"
    cannot = {**Client.cannot, **HANGS}
    off = [
        *(("project/.gemini/settings.json", {"hooksConfig": change}) for change in [{"enabled": False}, {"enabled": 0}, {"disabled": ["hookexec"]}]),
        *(("project/.gemini/settings.json", {"hooks": hooks}) for hooks in [None, [], "x"]),
    ]
    refused = [("project/.gemini/settings.json", {"hooks": {"BeforeTool": [MATCHED]}})]

    def variables(self, port):
        return {
            "GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
            "GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_TELEMETRY_ENABLED": "false",
        }

    def prepare(self, port):
        servers = json.dumps(self.servers)
        self.write(".gemini/settings.json", """{
  // how to log in
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "mcpServers": %s
}
""" % servers)

    def install_package(self):
        return [["extensions", "install", str(PLUGINS / "gemini"), "--consent"]]

    def command(self, prompt):
        return ["-m", "gemini-2.5-flash", "-y", "-p", prompt]


class Qwen(Client):
    agent = "qwen"
    package = "@qwen-code/qwen-code@0.24.4"
    binary = "qwen"
    cannot = {
        **HANGS,
        **NO_APPROVAL,
        **NO_PACKAGE,
        **NOT_FOREIGN,
        "rewrite": "it takes no changed arguments; see `advice`",
        "redact": "it has no way to change a response",
    }
    off = [(f"{place}/.qwen/settings.json", {"disableAllHooks": value}) for place, value in [("home", True), ("home", 1), ("project", True)]]
    refused = [("home/.qwen/settings.json", {"hooks": {"PreToolUse": [MATCHED]}})]

    def variables(self, port):
        return {
            "OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_MODEL": "mock-model",
            "QWEN_TELEMETRY_ENABLED": "false",
        }

    def prepare(self, port):
        self.write(".qwen/settings.json", json.dumps({
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}, "mcpServers": self.servers,
        }))

    def command(self, prompt):
        return ["--auth-type", "openai", "-m", "mock-model", "-y", "-p", prompt]


class Copilot(Client):
    agent = "copilot"
    package = "@github/copilot@1.0.102"
    binary = "copilot"
    hides_stderr = True
    cannot = {"advice": Client.cannot["advice"], **HANGS, **NO_APPROVAL, **NO_PACKAGE}
    off = [
        (f"project/{path}", {"disableAllHooks": True})
        for path in [".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json"]
    ] + [(f"project/{path}", {"disableAllHooks": True}, "sub/deep") for path in [".github/copilot/settings.json", ".claude/settings.json"]]
    refused = [("home/.copilot/hooks/hookexec.json", {"version": version}) for version in [2, "1"]]

    def variables(self, port):
        # It unpacks itself into the cache: once for all runs.
        return {
            "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{port}/v1", "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_MODEL": "mock-model", "COPILOT_AUTO_UPDATE": "false", "XDG_CACHE_HOME": str(CLIENTS / "copilot/cache"),
            # Without it, `-p` loads no hooks of a project that is not in `trusted_folders`.
            "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS": "true",
        }

    def prepare(self, port):
        servers = {name: {"type": "local", "tools": ["*"], **server} for name, server in self.servers.items()}
        self.write(".copilot/mcp-config.json", json.dumps({"mcpServers": servers}))

    def command(self, prompt):
        return ["-p", prompt, "--allow-all-tools"]


class Droid(Client):
    agent = "droid"
    package = "@factory/cli-linux-x64@0.225.2"
    binary = "droid"
    cannot = {
        **Client.cannot,
        **HANGS,
        **NO_PACKAGE,
        "redact": "it has no way to change a response",
        **{name: "`droid exec` does not fire its event for a prompt" for name in ["prompt", "context", "events"]},
    }
    off = [
        ("home/.factory/hooks.json", {"hooksDisabled": True}), ("project/.factory/hooks.json", {"hooksDisabled": True}),
        ("project/.factory/settings.json", {"hooks": {"hooksDisabled": True}}),
        *((f"{place}/.factory/hooks.json", {"hooksDisabled": True}, "sub/deep") for place in ["project", "project/sub"]),
    ]
    refused = [("home/.factory/hooks.json", {"PreToolUse": [entry]}) for entry in UNREADABLE]

    @classmethod
    def program(cls):
        return CLIENTS / "droid/node_modules/@factory/cli-linux-x64/bin/droid"

    def variables(self, port):
        return {"FACTORY_API_KEY": "fk-dummy", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false"}

    def prepare(self, port):
        self.write(".factory/settings.json", json.dumps({
            # Otherwise its first request to the model does not wait for MCP servers, and may offer none of their tools.
            "blockOnMcpLoad": True,
            "customModels": [{
                "model": "mock-model", "id": "custom:mock-model-0", "index": 0, "displayName": "mock-model",
                "baseUrl": f"http://127.0.0.1:{port}/v1", "apiKey": "dummy", "provider": "generic-chat-completion-api",
                "maxOutputTokens": 8000,
            }],
        }))
        servers = {name: {"type": "stdio", **server} for name, server in self.servers.items()}
        self.write(".factory/mcp.json", json.dumps({"mcpServers": servers}))

    def command(self, prompt):
        return ["exec", "--skip-permissions-unsafe", "-m", "custom:mock-model-0", prompt]


class OpenCode(Client):
    #: The registry that its package comes from.
    registry = None
    package = "opencode-ai@1.18.33"
    shows_package = False
    binary = "opencode"
    finish = "opencode-ai/postinstall.mjs"
    refusal = "UnknownError"
    cannot = {
        **Client.cannot,
        "goes_on": "its plugins are told that it stops, and not asked",
        **PLUGIN,
    }
    refused = [("home/.config/opencode/plugin/hookexec.js", "\n}{\n")]

    def variables(self, port):
        switches = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE"]
        return {f"OPENCODE_DISABLE_{switch}": "1" for switch in switches}

    def prepare(self, port):
        # It looks for its plugin package at start, and would retry for a minute.
        self.write(".npmrc", "registry=http://127.0.0.1:9/\nfetch-retries=0\n")
        self.write(".config/opencode/opencode.json", json.dumps({
            "autoupdate": False, "share": "disabled", "model": "mock/mock-model", "small_model": "mock/mock-model",
            "enabled_providers": ["mock"],
            "provider": {"mock": {
                "npm": "@ai-sdk/openai-compatible", "name": "mock",
                "options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "dummy"},
                "models": {"mock-model": {"name": "mock", "tool_call": True, "limit": {"context": 100000, "output": 8000}}},
            }},
            "mcp": {
                name: {"type": "local", "command": [server["command"], *server["args"]]} for name, server in self.servers.items()
            },
        }))
        self.write(".config/opencode/plugin/hookexec.js", (PLUGINS / "opencode/hookexec.js").read_text())

    def without_plugin(self):
        (self.home / ".config/opencode/plugin/hookexec.js").unlink()

    def install_package(self):
        # It takes packages from a registry only.
        port = self.root / "registry"
        self.registry = subprocess.Popen([sys.executable, REGISTRY, self.pack("opencode").parent, port])
        while not (port.exists() and port.read_text()):
            time.sleep(0.02)
        self.write(".npmrc", f"registry=http://127.0.0.1:{port.read_text().strip()}/\nfetch-retries=0\n")
        return [["plugin", "--global", "@hookexec/opencode"]]

    def close(self):
        if self.registry:
            self.registry.kill()
            self.registry.wait()

    def command(self, prompt):
        return ["run", prompt]


class OpenClaw(Client):
    package = "openclaw@2026.9.6"
    shows_package = False
    binary = "openclaw"
    cannot = {
        **Client.cannot,
        "redact": "its hook for results may not wait for a program",
        "goes_on": "its plugins are told that it stops, and not asked",
        **PLUGIN,
    }
    refusal = "hookexec"
    off = [
        ("home/openclaw.json", {"plugins": change})
        for change in [{"enabled": False}, {"entries": {"hookexec": {"enabled": False}}}, {"deny": ["hookexec"]}]
    ]

    def variables(self, port):
        return {"OPENCLAW_STATE_DIR": str(self.home / ".openclaw"), "OPENCLAW_CONFIG_PATH": str(self.home / "openclaw.json")}

    def prepare(self, port):
        plugin = self.root / "plugin"
        shutil.copytree(PLUGINS / "openclaw", plugin)
        model = {
            "id": "mock-model", "name": "mock", "reasoning": False, "input": ["text"], "contextWindow": 120000, "maxTokens": 8192,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        }
        provider = {
            "baseUrl": f"http://127.0.0.1:{port}/v1", "apiKey": "dummy", "api": "openai-completions", "timeoutSeconds": 30, "models": [model],
        }
        self.write("openclaw.json", json.dumps({
            "agents": {"defaults": {
                "model": {"primary": "mock/mock-model"}, "models": {"mock/mock-model": {}}, "workspace": str(self.project), "skipBootstrap": True,
            }},
            "models": {"mode": "replace", "providers": {"mock": provider}},
            "mcp": {"servers": self.servers},
            "plugins": {
                "enabled": True, "allow": ["hookexec"], "load": {"paths": [str(plugin)]},
                "entries": {"hookexec": {"enabled": True, "hooks": {"allowConversationAccess": True}}},
            },
            "update": {"checkOnStart": False}, "discovery": {"mdns": {"mode": "off"}},
        }))

    def without_plugin(self):
        path = self.home / "openclaw.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "plugins": {"enabled": False}}))

    def install_package(self):
        grant = "plugins.entries.hookexec.hooks.allowConversationAccess"
        return [
            ["plugins", "install", "--force", "--accept-capabilities", str(self.pack("openclaw"))],
            ["config", "set", "plugins.entries.hookexec.enabled", "true"],
            ["config", "set", grant, "true"],
            ["config", "set", "plugins.enabled", "true"],
        ]

    def command(self, prompt):
        return ["agent", "--local", "--agent", "main", "--timeout", "60", "--json", "-m", prompt]


class Kimi(Client):
    agent = "kimi"
    package = "@moonshot-ai/kimi-code@2.1.0"
    binary = "kimi"
    cannot = {
        **HANGS,
        **NO_APPROVAL,
        **NO_PACKAGE,
        **NOT_FOREIGN,
        **{name: "it reads no hooks of a project" for name in ["project", "project_missing"]},
        "rewrite": "it takes no changed arguments; see `advice`",
        "redact": "it does not wait for its hook after a tool",
        "formats": "it does not wait for its hook after a tool",
        "context": "it takes no context at the start of a session",
        "events": "it stops its hook after a tool when the turn ends",
    }
    refused = [
        ("home/.kimi-code/config.toml", f'\n[[hooks]]\nevent = "Stop"\ncommand = "true"\n{member}\n') for member in ["timeout = 601", "matcher = 5", "foo = 1"]
    ]

    def prepare(self, port):
        self.write(".kimi-code/config.toml", f"""
# Settings of the user's own.
default_model = "mock"
telemetry = false
[providers.mock]
type = "openai"
base_url = "http://127.0.0.1:{port}/v1"
api_key = "dummy"
[models.mock]
provider = "mock"
model = "mock-model"
max_context_size = 120000
capabilities = ["tool_use"]
""")
        self.write(".kimi-code/mcp.json", json.dumps({"mcpServers": self.servers}))

    def command(self, prompt):
        return ["-p", prompt]


class Vibe(Client):
    agent = "vibe"
    #: From PyPI, for Python 3.12 or later.
    package = "mistral-vibe==3.0.3"
    binary = "vibe"
    hides_mcp_reason = True
    cannot = {
        **Client.cannot,
        **NO_PACKAGE,
        **{name: "it has no event for a prompt or a session" for name in ["context", "events", "prompt"]},
    }
    off = [("project/.vibe/hooks.toml", '[[hooks]]\nname = "hookexec pre_tool"\ntype = "pre_tool"\ncommand = "true"\n')]

    @classmethod
    def program(cls):
        return CLIENTS / "vibe/venv/bin/vibe"

    def prepare(self, port):
        servers = "".join(
            f'[[mcp_servers]]\nname = "{name}"\ntransport = "stdio"\ncommand = {json.dumps(server["command"])}\nargs = {json.dumps(server["args"])}\n'
            for name, server in self.servers.items()
        )
        self.write(".vibe/config.toml", f"""
active_model = "mock"
enable_telemetry = false
enable_update_checks = false
{"" if self.servers else "mcp_servers = []"}
[[providers]]
name = "mock"
api_base = "http://127.0.0.1:{port}/v1"
api_key_env_var = ""
[[models]]
name = "mock-model"
provider = "mock"
alias = "mock"
{servers}""")

    def command(self, prompt):
        return ["--trust", "--auto-approve", "-p", prompt]


class Kilo(OpenCode):
    agent = "kilo"
    package = "@kilocode/cli@7.7.7"
    binary = "kilo"
    finish = None
    cannot = {**OpenCode.cannot, **NO_PACKAGE}
    refused = [("home/.config/kilo/plugin/hookexec.js", "\n}{\n")]

    def variables(self, port):
        switches = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE"]
        return {f"KILO_DISABLE_{switch}": "1" for switch in switches}

    def prepare(self, port):
        super().prepare(port)
        (self.home / ".config/opencode").rename(self.home / ".config/kilo")
        (self.home / ".config/kilo/opencode.json").rename(self.home / ".config/kilo/kilo.json")
        self.without_plugin()

    def without_plugin(self):
        (self.home / ".config/kilo/plugin/hookexec.js").unlink(missing_ok=True)

    def command(self, prompt):
        return ["run", "--auto", prompt]


class Pi(Client):
    agent = "pi"
    package = "@earendil-works/pi-coding-agent@0.87.1"
    shows_package = False
    binary = "pi"
    refusal = "hookexec"
    cannot = {
        **Client.cannot,
        "goes_on": "its extensions are told that it stops, and not asked",
        **{name: "it loads no MCP servers" for name in ["mcp", "mcp_proxy"]},
        **{name: "it asks its user to trust the project first" for name in ["project", "project_missing"]},
    }
    off = [
        ("home/.pi/agent/settings.json", {"extensions": [pattern]}) for pattern in ["-extensions/hookexec.ts", "!extensions/hookexec.ts", "!extensions/*"]
    ]

    def variables(self, port):
        return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}

    def prepare(self, port):
        self.write(".pi/agent/models.json", json.dumps({"providers": {"mock": {
            "baseUrl": f"http://127.0.0.1:{port}/v1", "api": "openai-completions", "apiKey": "dummy", "models": [{"id": "mock-model"}],
        }}}))

    def without_plugin(self):
        # `install` puts it in, and not `prepare`.
        pass

    def install_package(self):
        return [["install", str(PLUGINS / "pi")]]

    def command(self, prompt):
        return ["--provider", "mock", "--model", "mock-model", "-p", prompt]


ALL = [Claude, Codex, Gemini, Qwen, Copilot, Droid, OpenCode, OpenClaw, Kimi, Vibe, Kilo, Pi]
