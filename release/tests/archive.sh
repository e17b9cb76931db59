# Checksums, and the archive of this machine.

step "checksums"
(cd "$dist" && sha256sum --check --quiet SHA256SUMS)
for file in "$dist"/*; do
    name=$(basename "$file")
    [ "$name" = SHA256SUMS ] || grep -qF "  $name" "$dist/SHA256SUMS" ||
        fail "$name has no checksum"
done

step "tag"
bash "$release/check-tag.sh" "v$version"
! bash "$release/check-tag.sh" v99.0.0 2> "$place/messages" ||
    fail "a tag of another version passed"
grep -q "does not name the version $version" "$place/messages" || fail "$(cat "$place/messages")"

step "archive"
fresh archive
tar -xzf "$dist/$stem.tar.gz"
decides_all "$PWD/$stem/hookexec"
[ "$("$stem/hookexec" --version)" = "hookexec $version" ] || fail "it is not version $version"
for file in README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT man/man1/hookexec.1 \
    man/man1/hookexec-run.1 completions/hookexec.bash completions/_hookexec \
    completions/hookexec.fish; do
    [ -s "$stem/$file" ] || fail "$file is missing in the archive"
done
bash -n "$stem/completions/hookexec.bash"
if command -v ldd >/dev/null && ldd "$stem/hookexec" 2>&1 | grep '=>'; then
    fail "the program needs libraries"
fi

step "list of components"
# Every dependency of the command is in it, and no path of the machine that wrote it.
for list in "$dist"/*.cdx.json; do
    python3 - "$list" "$version" <<'PYTHON'
import json, sys
text = open(sys.argv[1]).read()
document = json.loads(text)
assert document["bomFormat"] == "CycloneDX", document["bomFormat"]
root = document["metadata"]["component"]
assert (root["name"], root["version"]) == ("hookexec-cli", sys.argv[2]), root
names = {component["name"] for component in document["components"]}
assert {"hookexec", "hookexec-files", "hookexec-agents", "hookexec-serve", "tokio", "granit-parser", "regex"} <= names, names
assert "file://" not in text, "it names a path"
PYTHON
done
