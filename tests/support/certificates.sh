# Makes certificates of a throw-away authority: `source` it after tests/pipeline/library.sh, if
# there is a program openssl. They are in $work, which others may not read: ca.pem and ca.key,
# NAME.pem and NAME.key.
# shellcheck shell=bash disable=SC2154 # $work is of library.sh
umask 077
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout "$work/ca.key" \
    -out "$work/ca.pem" 2>"$work/openssl.txt"

# Makes one that the authority has signed: certificate NAME SUBJECT_ALT_NAME
certificate() {
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$work/$1.key" -out "$work/$1.csr" \
        2>>"$work/openssl.txt"
    openssl x509 -req -in "$work/$1.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" \
        -CAcreateserial -days 2 \
        -extfile <(echo "subjectAltName=$2") -out "$work/$1.pem" 2>>"$work/openssl.txt"
}
