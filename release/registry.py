#!/usr/bin/env python3
"""Serves the npm packages of a directory on the loopback, as a registry does, and each file at /-/NAME.

usage: registry.py DIST PORT_FILE; it writes the port that it listens on to PORT_FILE.
"""

import base64
import hashlib
import http.server
import json
import os
import pathlib
import sys
import tarfile
import urllib.parse


def packages_of(dist):
    """Returns the manifest and the file of each package, by its name."""
    found = {}
    for path in dist.glob("*.tgz"):
        with tarfile.open(path) as archive:
            manifest = json.load(archive.extractfile("package/package.json"))
        found[manifest["name"]] = (manifest, path)
    return found


class Registry(http.server.BaseHTTPRequestHandler):
    dist = None
    packages = {}

    def do_GET(self):
        path = urllib.parse.unquote(self.path)
        files = {f"/-/{file.name}": file for file in self.dist.iterdir()}
        if path in files:
            return self.answer(200, files[path].read_bytes(), "application/octet-stream")
        if path.removeprefix("/moved") in files:
            self.send_response(302)
            self.send_header("Location", path.removeprefix("/moved"))
            return self.end_headers()
        if path.removeprefix("/cut") in files:
            # Promises more than it sends.
            return self.answer(200, b"cut off", "application/octet-stream", 1000)
        if path[1:] in self.packages:
            described = json.dumps(self.describe(path[1:])).encode()
            return self.answer(200, described, "application/json")
        return self.answer(404, b"{}", "application/json")

    def describe(self, name):
        manifest, path = self.packages[name]
        version = manifest["version"]
        digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        tarball = f"http://{self.headers['Host']}/-/{path.name}"
        dist = {"tarball": tarball, "integrity": f"sha512-{digest}"}
        versions = {version: {**manifest, "dist": dist}}
        return {"name": name, "dist-tags": {"latest": version}, "versions": versions}

    def answer(self, status, data, kind, length=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length or len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Registry.dist = pathlib.Path(sys.argv[1])
    Registry.packages = packages_of(Registry.dist)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    port_file = pathlib.Path(sys.argv[2])
    draft = port_file.with_suffix(".draft")
    draft.write_text(str(server.server_port))
    os.replace(draft, port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
