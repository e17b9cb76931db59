"""Runs the code of docs/hosts.md, with the packages installed as pip and npm install them.

`HOOKEXEC=target/debug/hookexec python3 tests/hosts/test_page.py`. Blocks that import a framework
belong to tests/hosts/frameworks.py.
"""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.abspath(os.environ["HOOKEXEC"])
#: What each block prints, by a line that is only in it.
EXPECTED = {
    "def approve(request)": [
        "(the output of ls)",
        "Tool call denied: directories are removed by people: `rm -r build` fits `rm -r`",
        "may it run? shell {'cmd': 'git push'}",
        "Tool call denied: ",
    ],
    "office_hours(input, args)": ["Tool call denied: not before nine"],
    "const approve =": [
        "(the output of ls)",
        "Tool call denied: directories are removed by people: `rm -r build` fits `rm -r`",
        "may it run? shell { cmd: 'git push' }",
        "Tool call denied: ",
    ],
    'hooks.builtin("office_hours"': ["Tool call denied: not before nine"],
}


def blocks():
    """Returns the language and the text of each block of the page."""
    page = (ROOT / "docs/hosts.md").read_text()
    return re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", page)


def install(place):
    """Installs both packages in a directory, from the source tree."""
    shutil.copytree(ROOT / "hosts/python/hookexec", place / "site/hookexec",
                    ignore=shutil.ignore_patterns("__pycache__"))
    (place / "site/bin").mkdir()
    (place / "site/bin/hookexec").symlink_to(PROGRAM)
    package = place / "node_modules/hookexec"
    shutil.copytree(ROOT / "hosts/node/lib", package / "lib")
    exports = '{".": "./lib/index.mjs", "./*": "./lib/*.mjs"}'
    (package / "package.json").write_text(f'{{"name": "hookexec", "exports": {exports}}}')
    processor = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    native = place / f"node_modules/@hookexec/{sys.platform}-{processor}/bin"
    native.mkdir(parents=True)
    (native / "hookexec").symlink_to(PROGRAM)


class Page(unittest.TestCase):
    def test_every_block_runs_as_it_stands(self):
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory).resolve()
            (place / "home").mkdir()
            project = place / "project"
            project.mkdir()
            install(place)
            found = set()
            for language, text in blocks():
                if language == "yaml":
                    name = text.split("\n")[0].removeprefix("# ")
                    (project / name).write_text(text)
            for language, text in blocks():
                if language not in ("python", "js"):
                    continue
                known = [it for it in EXPECTED if it in text]
                if not known:
                    self.assertIn("hookexec.", text.replace("/", "."), "a block without a test")
                    continue
                found.update(known)
                said = self.run_block(place, project, language, text)
                for line, expected in zip(said, EXPECTED[known[0]], strict=True):
                    self.assertTrue(line.startswith(expected), f"{line!r}, not {expected!r}")
            self.assertEqual(found, set(EXPECTED))

    def run_block(self, place, project, language, text):
        file = project / f"block.{'py' if language == 'python' else 'mjs'}"
        file.write_text(text)
        env = {"PATH": os.environ["PATH"], "HOME": str(place / "home"),
               "PYTHONPATH": str(place / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable if language == "python" else "node", file]
        done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout.splitlines()


if __name__ == "__main__":
    unittest.main()
