# A hook that has no opinion: it reads a line as JSON and answers with its id. With an argument, it
# writes what it is called with into that file.
import sys, json
record = open(sys.argv[1], "w") if sys.argv[1:] else None
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        hello = request["method"] == "hook.hello"
        if record and not hello:
            record.write(line)
            record.flush()
        result = '{"ok":true}' if hello else "{}"
        sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":%s}\n' % (request["id"], result))
        sys.stdout.flush()
