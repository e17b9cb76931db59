#!/usr/bin/env python3
"""Builds the site of the documentation into target/site/html with mdBook, and checks every link.

The pages lie in the book as in the repository, so that their links stay as they are. The one list of
pages is docs/SUMMARY.md: `llms.txt`, for language models, is made from it too.
"""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = ROOT / "target/site"
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def pages():
    """Returns the title and the path of each page, in the order of the list."""
    listed = []
    for title, link in LINK.findall((ROOT / "docs/SUMMARY.md").read_text()):
        listed.append((title, (ROOT / "docs" / link).resolve().relative_to(ROOT)))
    missing = set((ROOT / "docs").rglob("*.md")) - {ROOT / path for _, path in listed}
    missing.discard(ROOT / "docs/SUMMARY.md")
    if missing:
        names = ", ".join(sorted(path.name for path in missing))
        sys.exit(f"docs/SUMMARY.md does not list {names}")
    return listed


def stage(listed):
    """Copies the pages, and the files of the repository that they link to."""
    shutil.rmtree(SITE, ignore_errors=True)
    for _, path in listed:
        copy(path)
        for _, link in LINK.findall((ROOT / path).read_text()):
            target = ROOT / path.parent / link.partition("#")[0]
            if "://" not in link and target.is_file():
                copy(target.resolve().relative_to(ROOT))
    for image in (ROOT / "docs/images").iterdir():
        copy(image.relative_to(ROOT))
    summary = (ROOT / "docs/SUMMARY.md").read_text()
    from_root = iter(path for _, path in listed)
    (SITE / "src/SUMMARY.md").write_text(LINK.sub(lambda it: f"[{it[1]}]({next(from_root)})", summary))
    shutil.copy(ROOT / "docs/book.toml", SITE / "book.toml")


def copy(path):
    target = SITE / "src" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / path, target)


def write_list_for_models(listed):
    """Writes llms.txt (llmstxt.org), and the Markdown of each page that it names."""
    cargo = (ROOT / "Cargo.toml").read_text()
    description = re.search(r'(?m)^description = "(.*)"$', cargo)[1]
    for _, path in listed:
        target = SITE / "html" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, target)
    # The same headings and links as in the book, one level lower.
    _, parts = (SITE / "src/SUMMARY.md").read_text().split("\n", 1)
    parts = parts.replace("\n# ", "\n## ").replace("\n[", "\n## Start here\n\n- [", 1)
    (SITE / "html/llms.txt").write_text(f"# hookexec\n\n> {description}\n{parts}")


class Page(html.parser.HTMLParser):
    """The links of a page, and the places in it that links can name."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places |= {attributes.get("id"), attributes.get("name")} - {None}
        self.links += [attributes[it] for it in ["href", "src"] if attributes.get(it)]


def broken_links():
    """Returns every link between files of the site that leads nowhere."""
    site = SITE / "html"
    read = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    for path, page in sorted(read.items()):
        if path.name in ["print.html", "toc.html", "404.html"]:
            continue
        for link in page.links:
            address = urllib.parse.urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(address.path)) if address.path else path
            target = target.resolve()
            place = urllib.parse.unquote(address.fragment)
            if not target.is_file():
                yield f"{path.relative_to(site)}: {link} is not a file of the site"
            elif place and target in read and place not in read[target].places:
                yield f"{path.relative_to(site)}: {link} names a heading that is not there"


def main():
    listed = pages()
    stage(listed)
    subprocess.run(["mdbook", "build", SITE], check=True)
    write_list_for_models(listed)
    broken = sorted(set(broken_links()))
    if broken:
        sys.exit("\n".join(broken))
    print(f"{len(listed)} pages and llms.txt in {(SITE / 'html').relative_to(ROOT)}, every link leads somewhere")


if __name__ == "__main__":
    main()
