# Real coding agents, from an empty home and one package: the first guard denies what ran before.

# `denied_by_first_guard CLIENT AGENT HOOKEXEC...`: does what the first page says, with the words
# after AGENT as the command, and has CLIENT break the first rule. `take_away` then deletes the
# package.
denied_by_first_guard() {
    local client=$1 agent=$2 before after
    shift 2
    before=$(python3 "$release/tests/client.py" "$client" "$home")
    if [ "$before" != ran ]; then
        echo "$client: $before"
        return
    fi
    for words in init test "trust add --yes hooks.yaml" "install $agent"; do
        # shellcheck disable=SC2086 # several words each
        "${clean[@]}" "$@" $words > "$place/messages" 2>&1 ||
            fail "$* $words: $(cat "$place/messages")"
    done
    take_away
    after=$(python3 "$release/tests/client.py" "$client" "$home")
    [ "$after" = denied ] || fail "$client: $after"
    echo "$client: ran without hookexec, denied with it"
}

step "a real Claude Code, and nothing but the npm package"
mkdir -p "$place/claude/tmp" && bare claude/home && git init -q
serve "$dist" && use_registry
take_away() { rm -rf "$home/.npm"; }
denied_by_first_guard claude claude-code npx --yes hookexec

step "a real Codex, and nothing but the wheel"
mkdir -p "$place/codex/tmp" && bare codex/home && git init -q
install_wheel
take_away() { rm -rf venv; }
denied_by_first_guard codex codex venv/bin/hookexec
