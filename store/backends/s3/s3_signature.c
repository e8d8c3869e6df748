#include "store/backends/s3/s3_signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SHA256_SIZE = 32, REQUEST_SIZE = 12288, SCOPE_SIZE = 192, NAMES_SIZE = 256 };

static void to_hex(const unsigned char *bytes, size_t size, char *out)
{
    static const char digit[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digit[bytes[i] >> 4];
        out[2 * i + 1] = digit[bytes[i] & 15];
    }
    out[2 * size] = '\0';
}

void s3_sha256_text(const void *bytes, size_t size, char out[S3_SHA256_TEXT_SIZE])
{
    unsigned char sum[SHA256_SIZE];
    must(EVP_Digest(bytes, size, sum, NULL, EVP_sha256(), NULL) == 1);
    to_hex(sum, sizeof sum, out);
}

void s3_date_text(time_t when, char out[S3_DATE_SIZE])
{
    struct tm tm;
    must(gmtime_r(&when, &tm) && strftime(out, S3_DATE_SIZE, "%Y%m%dT%H%M%SZ", &tm) > 0);
}

/* A text that is appended to a buffer. `fits` becomes false, and stays so, when it is full. */
struct line {
    char *text;
    size_t size, used;
    bool fits;
};

static void add(struct line *line, const char *text)
{
    const size_t size = strlen(text);
    line->fits = line->fits && line->used + size < line->size;
    if (line->fits) {
        memcpy(line->text + line->used, text, size + 1);
        line->used += size;
    }
}

static void add_names(struct line *line, const struct s3_signing *s)
{
    for (size_t i = 0; i < s->header_count; i++) {
        add(line, i ? ";" : "");
        add(line, s->header[i].name);
    }
}

/* Appends the canonical request. */
static void add_request(struct line *line, const struct s3_signing *s)
{
    const char *const first[] = {s->method, "\n", s->path, "\n", s->query, "\n"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        add(line, first[i]);
    for (size_t i = 0; i < s->header_count; i++) {
        add(line, s->header[i].name);
        add(line, ":");
        add(line, s->header[i].value);
        add(line, "\n");
    }
    add(line, "\n");
    add_names(line, s);
    add(line, "\n");
    add(line, s->payload);
}

bool s3_md5_update(struct s3_md5 *md5, const void *bytes, size_t size)
{
    EVP_MD_CTX *context = md5->context;
    if (!context) {
        context = EVP_MD_CTX_new();
        md5->context = context;
        if (!context || EVP_DigestInit_ex(context, EVP_md5(), NULL) != 1)
            return false;
    }
    return EVP_DigestUpdate(context, bytes, size) == 1;
}

bool s3_md5_end(struct s3_md5 *md5, char out[S3_MD5_TEXT_SIZE])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    const bool works = md5->context && EVP_DigestFinal_ex(md5->context, sum, &size) == 1 &&
                       2 * size + 1 == S3_MD5_TEXT_SIZE;
    for (unsigned int i = 0; works && i < size; i++)
        (void)snprintf(out + 2 * (size_t)i, 3, "%02x", sum[i]);
    EVP_MD_CTX_free(md5->context);
    md5->context = NULL;
    return works;
}

static void hmac(const void *key, size_t key_size, const char *text, unsigned char out[SHA256_SIZE])
{
    unsigned int size = 0;
    must(HMAC(EVP_sha256(), key, (int)key_size, (const unsigned char *)text, strlen(text), out,
              &size) &&
         size == SHA256_SIZE);
}

static void sign_text(const struct s3_signing *s, const char *text,
                      char signature[S3_SHA256_TEXT_SIZE])
{
    char secret[S3_KEY_SIZE + 8], day[9];
    unsigned char key[SHA256_SIZE], next[SHA256_SIZE];
    (void)snprintf(secret, sizeof secret, "AWS4%s", s->credentials->secret);
    (void)snprintf(day, sizeof day, "%.8s", s->date);
    hmac(secret, strlen(secret), day, key);
    hmac(key, sizeof key, s->region, next);
    hmac(next, sizeof next, "s3", key);
    hmac(key, sizeof key, "aws4_request", next);
    hmac(next, sizeof next, text, key);
    to_hex(key, sizeof key, signature);
}

enum error_code s3_sign(const struct s3_signing *s, char out[S3_AUTHORIZATION_SIZE],
                        struct error *err)
{
    char request[REQUEST_SIZE], scope[SCOPE_SIZE], text[SCOPE_SIZE + 128], names[NAMES_SIZE],
        sum[S3_SHA256_TEXT_SIZE], signature[S3_SHA256_TEXT_SIZE];
    struct line line = {request, sizeof request, 0, true};
    struct line list = {names, sizeof names, 0, true};
    add_request(&line, s);
    add_names(&list, s);
    if (!line.fits || !list.fits)
        return error_set(err, ERROR_INVALID, "a request to S3 is longer than %d bytes",
                         REQUEST_SIZE);
    s3_sha256_text(request, line.used, sum);
    (void)snprintf(scope, sizeof scope, "%.8s/%s/s3/aws4_request", s->date, s->region);
    (void)snprintf(text, sizeof text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", s->date, scope, sum);
    sign_text(s, text, signature);
    const int size = snprintf(out, S3_AUTHORIZATION_SIZE,
                              "AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s",
                              s->credentials->key, scope, names, signature);
    return size < S3_AUTHORIZATION_SIZE
               ? ERROR_NONE
               : error_set(err, ERROR_INVALID, "the access key for S3 is too long");
}
