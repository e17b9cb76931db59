# The Debian packages: their form, and the one of this machine installed and removed.

step "Debian packages"
for package in "$dist"/*.deb; do
    if command -v lintian >/dev/null; then
        # As root it warns on stderr, also with a password database that does not know the user.
        lintian --no-cfg --fail-on error,warning "$package" > "$place/messages" 2>&1 ||
            fail "lintian on $(basename "$package"): $(cat "$place/messages")"
    else
        echo "lintian is not installed: $(basename "$package") was not checked"
    fi
done
if ! command -v dpkg >/dev/null; then
    echo "dpkg is not installed: no Debian package was installed"
    return
fi
package=$dist/hookexec_${version}_$(dpkg --print-architecture).deb
root=$place/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
touch "$root/var/lib/dpkg/status"
in_root() {
    # Without root, files belong to the user who runs the test.
    dpkg --root="$root" --log=/dev/null --force-not-root --force-bad-path "$@" > "$place/messages" 2>&1 ||
        fail "dpkg $*: $(cat "$place/messages")"
}
fresh deb
in_root --install "$package"
decides_all "$root/usr/bin/hookexec"
[ "$("$root/usr/bin/hookexec" --version)" = "hookexec $version" ] || fail "another version"
[ "$(stat -c %a "$root/usr/bin/hookexec")" = 755 ] || fail "the program has another mode"
in_root --verify hookexec
gzip -dc "$root/usr/share/man/man1/hookexec-run.1.gz" | grep -q "^.SH SYNOPSIS" || fail "no manual"
if command -v man >/dev/null; then
    man --warnings --local-file "$root/usr/share/man/man1/hookexec.1.gz" > "$place/page" 2> "$place/messages" ||
        fail "man: $(cat "$place/messages")"
    [ ! -s "$place/messages" ] || fail "man: $(cat "$place/messages")"
    grep -q "hookexec-install" "$place/page" || fail "the manual names no commands"
fi
for completion in bash-completion/completions/hookexec zsh/vendor-completions/_hookexec \
    fish/vendor_completions.d/hookexec.fish; do
    [ -s "$root/usr/share/$completion" ] || fail "$completion is missing"
done
bash -c 'source "$1"; complete -p hookexec' - "$root/usr/share/bash-completion/completions/hookexec" \
    > /dev/null || fail "bash does not complete"

in_root --purge hookexec
[ ! -e "$root/usr/bin/hookexec" ] || fail "the program is still there"
left=$(find "$root" -path "$root/var" -prune -o -type f -print)
[ -z "$left" ] || fail "left after the removal: $left"
