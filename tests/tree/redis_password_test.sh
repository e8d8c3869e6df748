#!/usr/bin/env bash
# The script of k8s/base/lasting/password.yaml against an API server of this test: it makes a Secret once, leaves one that is there, and
# fails with the server's words when it may not, when the server is another than it says, and when there is none.
set -euo pipefail
cd "$GRAPHMILL_SOURCE"
for program in curl openssl; do command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }; done
python3 -c 'import yaml' 2>/dev/null || { echo "skipped: no python3-yaml"; exit 77; }
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill $server 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/account" "$work/tmp"
for name in ca other; do
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout "$work/$name.key" \
        -out "$work/$name.crt" 2>"$work/openssl" || { cat "$work/openssl"; exit 1; }
done
cp "$work/ca.crt" "$work/account/ca.crt"
printf 'token-of-this-test' >"$work/account/token"
printf 'my-space' >"$work/account/namespace"

cat >"$work/server.py" <<'PYTHON'
import http.server, json, os, ssl, sys

work, made = sys.argv[1], {}


class Api(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        secret = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name, status = secret["metadata"]["name"], 201
        if self.headers["Authorization"] != "Bearer token-of-this-test" or self.path != "/api/v1/namespaces/my-space/secrets":
            status = 403
        elif name in made:
            status = 409
        else:
            made[name] = secret
            json.dump(secret, open(f"{work}/made.json", "w"))
        text = json.dumps({"kind": "Status", "message": f"secrets: {status}"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Api)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{work}/ca.crt", f"{work}/ca.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
open(f"{work}/port.new", "w").write(str(server.server_port))
os.rename(f"{work}/port.new", f"{work}/port")
server.serve_forever()
PYTHON
python3 "$work/server.py" "$work" &
server=$!
for _ in $(seq 200); do [ -e "$work/port" ] && break || sleep 0.05; done

python3 - "$work" "$(cat "$work/port")" <<'PYTHON'
import sys, yaml

work, port = sys.argv[1:]
job = next(d for d in yaml.safe_load_all(open("k8s/base/lasting/password.yaml")) if d["kind"] == "Job")
script = job["spec"]["template"]["spec"]["containers"][0]["args"][0]
for inside, here in (("account=/var/run/secrets/kubernetes.io/serviceaccount", f"account={work}/account"), ("cd /tmp\n", f"cd {work}/tmp\n"),
                     ("https://kubernetes.default.svc", f"https://localhost:{port}"), ("--retry 5", "--retry 1")):
    assert inside in script, inside
    script = script.replace(inside, here)
open(f"{work}/script", "w").write(script)
PYTHON
make() { # status, what it says
    local found=0
    sh -euc "$(cat "$work/script")" >"$work/said" 2>&1 || found=$?
    [ $found -eq "$1" ] && grep -q "$2" "$work/said" || { echo "ended with $found, expected $1 and '$2': $(cat "$work/said")"; exit 1; }
}
make 0 'made the Secret'
made=$(cat "$work/made.json")
[[ $made =~ \"stringData\":\ \{\"password\":\ \"[0-9a-f]{32}\"\} ]] || { echo "made $made"; exit 1; }
[[ $made == *'"kind": "Secret"'* ]] || { echo "made $made"; exit 1; }
! grep -rqF "$(sed 's/.*"password": "\([^"]*\).*/\1/' <<<"$made")" "$work/said" || { echo "it says the password"; exit 1; }
make 0 'is there and stays'
[ "$(cat "$work/made.json")" = "$made" ] || { echo "the Secret changed"; exit 1; }
printf 'of-another' >"$work/account/token"
make 1 'the API server said 403: .*secrets: 403'
cp "$work/other.crt" "$work/account/ca.crt"
make 60 'certificate'
kill $server
wait $server 2>/dev/null || true
server=
make 7 'onnect'
