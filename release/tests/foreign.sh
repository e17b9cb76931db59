# The packages of other targets: each holds the program of the archive, and qemu runs those for Linux.

# `same_program TARGET SYSTEM PROCESSOR PLATFORM`: as npm and pip name them.
same_program() {
    local target=$1 program deb
    bare "foreign/$target"
    use_registry
    tar -xzf "$dist/hookexec-$version-$target.tar.gz"
    program=$(echo "$PWD/hookexec-$version-$target"/hookexec*)
    if [[ $target == *-linux-* ]] && command -v "qemu-${target%%-*}-static" > /dev/null; then
        bash "$release/smoke.sh" "qemu-${target%%-*}-static" "$program"
    else
        echo "nothing was run"
    fi
    "${clean[@]}" npm install "${quiet[@]}" --os="$2" --cpu="$3" hookexec > /dev/null
    cmp "$program" "node_modules/@hookexec/$2-$3/bin/${program##*/}"
    "${clean[@]}" "$(command -v python3)" -m pip install --quiet --no-index --find-links "$dist" \
        --disable-pip-version-check --root-user-action=ignore \
        --only-binary=:all: --platform "$4" --target wheel hookexec
    cmp "$program" "wheel/bin/${program##*/}"
    if [[ $target == *-linux-* ]] && command -v dpkg-deb > /dev/null; then
        deb=$dist/hookexec_${version}_${3/x64/amd64}.deb
        dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/bin/hookexec | cmp - "$program"
    fi
}

serve "$dist"
while read -r -u 3 target words; do
    if [ "$target" != "$here" ] && [ -e "$dist/hookexec-$version-$target.tar.gz" ]; then
        step "$target"
        # shellcheck disable=SC2086 # several words
        same_program "$target" $words
    fi
done 3<<'TARGETS'
x86_64-unknown-linux-musl linux x64 manylinux2014_x86_64
aarch64-unknown-linux-musl linux arm64 manylinux2014_aarch64
x86_64-apple-darwin darwin x64 macosx_10_12_x86_64
aarch64-apple-darwin darwin arm64 macosx_11_0_arm64
x86_64-pc-windows-gnu win32 x64 win_amd64
TARGETS
