#include "store/redis/redis_tls.h"

#include "common/base/memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

struct redis_tls {
    SSL_CTX *context;
    SSL *session;
};

/* Returns OpenSSL's text for its last failure. */
static const char *reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text ? text : "no reason is given";
}

static enum error_code refuse_file(const char *file, const char *what, struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s: expected %s in PEM, found: %s", file, what, reason());
}

static enum error_code load_files(SSL_CTX *context, const struct redis_address *address,
                                  struct error *err)
{
    const char *key = *address->key ? address->key : address->certificate;
    if (*address->ca ? SSL_CTX_load_verify_locations(context, address->ca, NULL) != 1
                     : SSL_CTX_set_default_verify_paths(context) != 1)
        return refuse_file(*address->ca ? address->ca : "the system's certificates",
                           "certificates of authorities", err);
    if (!*address->certificate)
        return ERROR_NONE;
    if (SSL_CTX_use_certificate_chain_file(context, address->certificate) != 1)
        return refuse_file(address->certificate, "a certificate", err);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return refuse_file(key, "the certificate's private key", err);
    return ERROR_NONE;
}

/* Sets the name or address that the certificate must have. */
static bool expect_name(SSL *session, const char *host)
{
    struct in6_addr any;
    if (inet_pton(AF_INET, host, &any) == 1 || inet_pton(AF_INET6, host, &any) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) == 1;
    return SSL_set_tlsext_host_name(session, host) == 1 && SSL_set1_host(session, host) == 1;
}

/* Returns whether OpenSSL's last failure is one that a person must cure: a refusal, or a peer
 * without TLS. A connection that was closed is not. */
static bool is_refusal(void)
{
    const unsigned long last = ERR_peek_last_error();
    return ERR_GET_LIB(last) == ERR_LIB_SSL &&
           ERR_GET_REASON(last) != SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

static enum error_code shake_hands(struct redis_tls *tls, struct error *err)
{
    errno = 0;
    if (SSL_connect(tls->session) == 1)
        return ERROR_NONE;
    const long verified = SSL_get_verify_result(tls->session);
    if (verified != X509_V_OK)
        return error_set(err, ERROR_DENIED, "the server's certificate is refused: %s",
                         X509_verify_cert_error_string(verified));
    if (is_refusal())
        return error_set(err, ERROR_DENIED, "no TLS with the server: %s", reason());
    return error_set(err, ERROR_UNAVAILABLE, "no TLS with the server: %s",
                     errno ? strerror(errno) : "it closed the connection");
}

enum error_code redis_tls_open(int fd, const struct redis_address *address, struct redis_tls **out,
                               struct error *err)
{
    struct redis_tls *tls = NULL;
    enum error_code rc = memory_new(&tls, 1, "a TLS session", err);
    *out = NULL;
    if (rc != ERROR_NONE)
        return rc;
    ERR_clear_error();
    tls->context = SSL_CTX_new(TLS_client_method());
    if (!tls->context || SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) != 1)
        rc = error_set(err, ERROR_NO_MEMORY, "OpenSSL cannot begin: %s", reason());
    if (rc == ERROR_NONE)
        rc = load_files(tls->context, address, err);
    if (rc == ERROR_NONE) {
        SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
        tls->session = SSL_new(tls->context);
        if (!tls->session || SSL_set_fd(tls->session, fd) != 1 ||
            !expect_name(tls->session, address->host))
            rc = error_set(err, ERROR_NO_MEMORY, "OpenSSL cannot begin: %s", reason());
    }
    if (rc == ERROR_NONE)
        rc = shake_hands(tls, err);
    ERR_clear_error();
    if (rc == ERROR_NONE)
        *out = tls;
    else
        redis_tls_close(tls);
    return rc;
}

void redis_tls_close(struct redis_tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->session);
    SSL_CTX_free(tls->context);
    memory_free(tls);
}

static enum error_code lost(struct redis_tls *tls, int result, struct error *err)
{
    const int number = errno;
    const int what = SSL_get_error(tls->session, result);
    const char *why = what == SSL_ERROR_ZERO_RETURN ? "Server closed the connection"
                      : what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE
                          ? strerror(EAGAIN)
                      : what == SSL_ERROR_SYSCALL && number ? strerror(number)
                                                            : reason();
    /* A server that requires a certificate says so only after the handshake. */
    const enum error_code rc = error_set(
        err, what == SSL_ERROR_SSL && is_refusal() ? ERROR_DENIED : ERROR_UNAVAILABLE, "%s", why);
    ERR_clear_error();
    return rc;
}

enum error_code redis_tls_write(struct redis_tls *tls, const char *bytes, size_t size,
                                struct error *err)
{
    while (size) {
        const int some = size < INT_MAX ? (int)size : INT_MAX;
        errno = 0;
        const int result = SSL_write(tls->session, bytes, some);
        if (result <= 0)
            return lost(tls, result, err);
        bytes += result;
        size -= (size_t)result;
    }
    return ERROR_NONE;
}

enum error_code redis_tls_read(struct redis_tls *tls, char *bytes, size_t size, size_t *got,
                               struct error *err)
{
    errno = 0;
    const int result = SSL_read(tls->session, bytes, size < INT_MAX ? (int)size : INT_MAX);
    *got = result > 0 ? (size_t)result : 0;
    return result > 0 ? ERROR_NONE : lost(tls, result, err);
}

bool redis_tls_has_bytes(const struct redis_tls *tls)
{
    return SSL_pending(tls->session) > 0;
}
