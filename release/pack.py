#!/usr/bin/env python3
"""Packs built programs into archives, npm packages and wheels, and writes the checksums of all.

usage: pack.py DIST SHARED TARGET=PROGRAM...

SHARED holds the directories `man` and `completions`. Equal input gives equal bytes.
HOOKEXEC_ADDRESS is where the files of this release will lie, for the installer; it may be missing.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shlex
import sys
import tarfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# For each target: npm's name of the platform, and pip's tags. A program that is linked statically
# needs neither glibc nor musl, so its wheel has the tags of both.
PLATFORMS = {
    "x86_64-unknown-linux-musl": ("linux-x64", "manylinux2014_x86_64.musllinux_1_1_x86_64"),
    "aarch64-unknown-linux-musl": ("linux-arm64", "manylinux2014_aarch64.musllinux_1_1_aarch64"),
    "x86_64-apple-darwin": ("darwin-x64", "macosx_10_12_x86_64"),
    "aarch64-apple-darwin": ("darwin-arm64", "macosx_11_0_arm64"),
    "x86_64-pc-windows-gnu": ("win32-x64", "win_amd64"),
}

LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]


def text_of(name):
    return (ROOT / name).read_bytes()


def tar(path, files):
    """Writes a .tar.gz of (name, bytes, mode)."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data, mode in files:
            entry = tarfile.TarInfo(name)
            # npm refuses files from before 1980.
            entry.size, entry.mode, entry.mtime = len(data), mode, 499162500
            archive.addfile(entry, io.BytesIO(data))
    path.write_bytes(gzip.compress(plain.getvalue(), mtime=0))


def pack_archive(dist, shared, version, target, program):
    stem = f"hookexec-{version}-{target}"
    files = [(f"{stem}/{program.name}", program.read_bytes(), 0o755)]
    for name in ["README.md", "CHANGELOG.md", *LICENSES]:
        files.append((f"{stem}/{name}", text_of(name), 0o644))
    for file in sorted(path for path in shared.rglob("*") if path.is_file()):
        files.append((f"{stem}/{file.relative_to(shared)}", file.read_bytes(), 0o644))
    tar(dist / f"{stem}.tar.gz", files)


def pack_npm(path, manifest, files):
    described = json.dumps(manifest, indent=2).encode() + b"\n"
    licenses = [(name, text_of(name), 0o644) for name in LICENSES]
    everything = [("package.json", described, 0o644), *files, *licenses]
    tar(path, [(f"package/{name}", data, mode) for name, data, mode in everything])


def pack_npm_platform(dist, facts, target, program):
    platform = PLATFORMS[target][0]
    system, processor = platform.split("-")
    name = f"@hookexec/{platform}"
    manifest = {
        "name": name,
        **facts,
        "description": f"The native program of hookexec for {system} on {processor}",
        "os": [system],
        "cpu": [processor],
        "preferUnplugged": True,
    }
    readme = f"The native program of the package `hookexec`: {target}.\n"
    path = dist / f"hookexec-{platform}-{facts['version']}.tgz"
    files = [("README.md", readme.encode(), 0o644)]
    pack_npm(path, manifest, [*files, (f"bin/{program.name}", program.read_bytes(), 0o755)])
    return name


def pack_npm_launcher(dist, facts, description, platforms):
    manifest = {
        "name": "hookexec",
        **facts,
        "description": description,
        "bin": {"hookexec": "bin/hookexec.js"},
        "exports": {
            ".": {"types": "./lib/index.d.mts", "default": "./lib/index.mjs"},
            "./ai": {"types": "./lib/ai.d.mts", "default": "./lib/ai.mjs"},
            "./mcp": {"types": "./lib/mcp.d.mts", "default": "./lib/mcp.mjs"},
            "./package.json": "./package.json",
        },
        "engines": {"node": ">=20"},
        "preferUnplugged": True,
        "optionalDependencies": {name: facts["version"] for name in platforms},
    }
    launcher = text_of("hosts/node/hookexec.js")
    files = [("README.md", text_of("README.md"), 0o644), ("bin/hookexec.js", launcher, 0o755)]
    library = sorted((ROOT / "hosts/node/lib").iterdir())
    files += [(f"lib/{it.name}", it.read_bytes(), 0o644) for it in library]
    pack_npm(dist / f"hookexec-{facts['version']}.tgz", manifest, files)


def pack_npm_plugin(dist, facts, directory):
    """Packs a plugin for agents that load plugins from npm, with the files that its manifest names."""
    manifest = json.loads((directory / "package.json").read_text())
    if manifest["version"] != facts["version"]:
        sys.exit(f"{directory}/package.json has not the version {facts['version']}: run `just generate`")
    files = [(name, (directory / name).read_bytes(), 0o644) for name in ["README.md", *manifest["files"]]]
    pack_npm(dist / f"hookexec-{directory.name}-{facts['version']}.tgz", {**manifest, **facts}, files)


def pack_wheel(dist, facts, description, target, program):
    version, tags = facts["version"], PLATFORMS[target][1]
    info = f"hookexec-{version}.dist-info"
    tag_lines = "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    wheel = f"Wheel-Version: 1.0\nGenerator: hookexec\nRoot-Is-Purelib: false\n{tag_lines}"
    license_lines = "".join(f"License-File: {name}\n" for name in LICENSES)
    if "repository" in facts:
        license_lines += f"Project-URL: Repository, {facts['repository']}\n"
    metadata = (
        f"Metadata-Version: 2.4\nName: hookexec\nVersion: {version}\nSummary: {description}\n"
        f"License-Expression: {facts['license']}\n{license_lines}Requires-Python: >=3.10\n"
        "Description-Content-Type: text/markdown; charset=UTF-8\n\n"
    ).encode() + text_of("README.md")
    package = ROOT / "hosts/python/hookexec"
    files = [(f"hookexec/{it.name}", it.read_bytes(), 0o644) for it in sorted(package.glob("*py*"))
             if it.is_file()]
    files += [
        (f"hookexec-{version}.data/scripts/{program.name}", program.read_bytes(), 0o755),
        *((f"{info}/licenses/{name}", text_of(name), 0o644) for name in LICENSES),
        (f"{info}/WHEEL", wheel.encode(), 0o644),
        (f"{info}/METADATA", metadata, 0o644),
    ]
    record = "".join(f"{name},sha256={url_digest(data)},{len(data)}\n" for name, data, _ in files)
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    path = dist / f"hookexec-{version}-py3-none-{tags}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in files:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)


def pack_installer(dist, version, address):
    """Writes the installer of this release, which knows the version and the address."""
    if address and not re.fullmatch(r"https://[\w.-]+(/[\w.~+-]+)*", address):
        sys.exit(f"HOOKEXEC_ADDRESS `{address}` is not an https address")
    text = text_of("release/install.sh").decode()
    for name, value in [("version", version), ("address", address)]:
        text, count = re.subn(rf"(?m)^{name}=$", f"{name}={shlex.quote(value)}", text)
        if count != 1:
            sys.exit(f"install.sh: expected one line `{name}=`, found {count}")
    (dist / "install.sh").write_text(text)


def url_digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    dist, shared = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    workspace = tomllib.loads(text_of("Cargo.toml").decode())["workspace"]["package"]
    description = tomllib.loads(text_of("Cargo.toml").decode())["package"]["description"]
    facts = {"version": workspace["version"], "license": workspace["license"]}
    # npm proves by it which workflow made a package.
    if "repository" in workspace:
        facts["repository"] = workspace["repository"]
    if "-" in facts["version"]:
        sys.exit(f"{facts['version']}: a wheel spells a pre-release in another way; not supported")
    platforms = []
    for pair in sys.argv[3:]:
        target, _, program = pair.partition("=")
        if target not in PLATFORMS:
            sys.exit(f"unknown target `{target}`: known are {', '.join(PLATFORMS)}")
        program = pathlib.Path(program)
        pack_archive(dist, shared, facts["version"], target, program)
        platforms.append(pack_npm_platform(dist, facts, target, program))
        pack_wheel(dist, facts, description, target, program)
    pack_npm_launcher(dist, facts, description, platforms)
    for manifest in sorted(ROOT.glob("plugins/*/package.json")):
        pack_npm_plugin(dist, facts, manifest.parent)
    pack_installer(dist, facts["version"], os.environ.get("HOOKEXEC_ADDRESS", ""))
    packages = sorted(path for path in dist.iterdir() if path.name != "SHA256SUMS")
    digests = [f"{hashlib.sha256(it.read_bytes()).hexdigest()}  {it.name}\n" for it in packages]
    (dist / "SHA256SUMS").write_text("".join(digests))


if __name__ == "__main__":
    main()
