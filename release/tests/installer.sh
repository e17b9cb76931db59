# The installer, against a server on the loopback.

step "installer"
! command -v shellcheck > /dev/null || shellcheck "$dist/install.sh"
mkdir "$place/served"
cp "$dist/$stem.tar.gz" "$dist/SHA256SUMS" "$place/served/"
serve "$place/served"
installer() { "${clean[@]}" sh "$dist/install.sh" "$@" > "$place/messages" 2>&1; }
# What must not work leaves the program that is there, and no drafts beside it.
refuses() {
    local expected=$1
    shift
    ! installer "$@" || fail "the installer took: $*"
    grep -qF -- "$expected" "$place/messages" ||
        fail "$* gave no message \`$expected\`: $(cat "$place/messages")"
    [ "$(cat "$home/.local/bin/hookexec")" = older ] || fail "$* changed the program"
    [ "$(ls -A "$home/.local/bin")" = hookexec ] || fail "$* left $(ls -A "$home/.local/bin")"
    [ -z "$(ls -A "$place/tmp")" ] || fail "$* left $(ls -A "$place/tmp")"
}
fresh installer
older() { rm -f "$home/.local/bin/hookexec" && echo older > "$home/.local/bin/hookexec"; }

installer --from "$address/-" || fail "$(cat "$place/messages")"
grep -q "is not on your PATH" "$place/messages" || fail "no word about the PATH"
decides_all "$home/.local/bin/hookexec"
[ "$(stat -c %a "$home/.local/bin/hookexec")" = 755 ] || fail "the program has another mode"
older
installer --from "$address/moved/-/" || fail "after a redirect: $(cat "$place/messages")"
decides_all "$home/.local/bin/hookexec"
installer --from "$address/-" --to "$home/with space" || fail "$(cat "$place/messages")"
decides_all "$home/with space/hookexec"

older
refuses "no address" --version "$version"
refuses "must start with https://" --from "http://example.com/-"
refuses "unknown argument" --now
refuses "needs a value" --from
refuses "is not a valid version" --from "$address/-" --version "../$version"
refuses "can't get" --from "$address/-" --version 99.0.0
refuses "can't get" --from "$address/cut/-"
refuses "can't get" --from "http://127.0.0.1:9/-"
head -c 100000 "$dist/$stem.tar.gz" > "$place/served/$stem.tar.gz"
refuses "nothing was installed" --from "$address/-"
grep -q "SHA256SUMS says" "$place/messages" || fail "$(cat "$place/messages")"
cp "$dist/$stem.tar.gz" "$place/served/"
sed -i "/  $stem.tar.gz\$/d" "$place/served/SHA256SUMS"
refuses "SHA256SUMS does not name $stem.tar.gz" --from "$address/-"
rm "$place/served/SHA256SUMS"
refuses "can't get $address/-/SHA256SUMS" --from "$address/-"
cp "$dist/SHA256SUMS" "$place/served/"

# An archive whose checksum is right, and whose program is of another version.
mkdir -p "$place/other/hookexec-9.9.9-$here"
printf '#!/bin/sh\necho "hookexec 9.9.8"\n' > "$place/other/hookexec-9.9.9-$here/hookexec"
chmod 755 "$place/other/hookexec-9.9.9-$here/hookexec"
tar -czf "$place/served/hookexec-9.9.9-$here.tar.gz" -C "$place/other" "hookexec-9.9.9-$here"
(cd "$place/served" && sha256sum "hookexec-9.9.9-$here.tar.gz" >> SHA256SUMS)
refuses "holds \`hookexec 9.9.8\`, not version 9.9.9" --from "$address/-" --version 9.9.9

# Systems that have no archive, and one whose archive is not in this release.
mkdir "$place/systems"
for known in "FreeBSD x86_64:the system FreeBSD" "Linux riscv64:the processor riscv64" \
    "Darwin arm64:can't get $address/-/hookexec-$version-aarch64-apple-darwin.tar.gz"; do
    words=${known%%:*}
    printf '#!/bin/sh\ncase $1 in -s) echo %s ;; -m) echo %s ;; esac\n' \
        "${words% *}" "${words#* }" > "$place/systems/uname"
    chmod 755 "$place/systems/uname"
    clean+=("PATH=$place/systems:/usr/bin:/bin")
    refuses "${known#*:}" --from "$address/-"
done
clean+=("PATH=/usr/local/bin:/usr/bin:/bin")

# Half a script installs nothing: curl may lose the connection in a pipe.
size=$(wc -c < "$dist/install.sh")
head -c "$((size - 12))" "$dist/install.sh" > "$place/half.sh"
"${clean[@]}" sh "$place/half.sh" --from "$address/-" > "$place/messages" 2>&1 || true
[ "$(cat "$home/.local/bin/hookexec")" = older ] || fail "half an installer installed"
