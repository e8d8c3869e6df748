/* The identity of a store: one small record, made by the first process that asks for it. Declared
 * in store.h. */
#include "common/base/text.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { IDENTITY_FORMAT = 1, ATTEMPTS = 10 };

static const char identity_key[] = "identity", owner[] = "store";

static bool is_identity(const char *text)
{
    return strlen(text) == STORE_IDENTITY_SIZE - 1 &&
           strspn(text, "0123456789abcdef") == STORE_IDENTITY_SIZE - 1;
}

static enum error_code read_identity(struct store *store, char out[STORE_IDENTITY_SIZE],
                                     struct error *err)
{
    struct record_view view = {0};
    enum error_code rc = store_get(store, identity_key, owner, &view, err);
    if (rc == ERROR_NONE)
        rc = record_expect(&view, RECORD_STORE_IDENTITY, IDENTITY_FORMAT, err);
    if (rc == ERROR_NONE)
        rc = record_text_get(&view, "identity", out, STORE_IDENTITY_SIZE, err);
    if (rc == ERROR_NONE && !is_identity(out))
        rc = error_set(err, ERROR_CORRUPT,
                       "record %s: section identity is '%s', expected %d hexadecimal digits",
                       identity_key, out, STORE_IDENTITY_SIZE - 1);
    store_release_record(&view);
    return rc;
}

static enum error_code draw(char out[STORE_IDENTITY_SIZE], struct error *err)
{
    uint64_t word[2];
    if (getentropy(word, sizeof word) != 0)
        return error_set_errno(err, ERROR_IO, "drawing the identity of a store");
    (void)snprintf(out, STORE_IDENTITY_SIZE, "%016llx%016llx", (unsigned long long)word[0],
                   (unsigned long long)word[1]);
    return ERROR_NONE;
}

/* Puts an identity. Another process may be first, so the caller reads it afterwards. A damaged one
 * is replaced, because nothing can be found with it. */
static enum error_code put_identity(struct store *store, struct error *err)
{
    char identity[STORE_IDENTITY_SIZE];
    struct record record = {.kind = RECORD_STORE_IDENTITY, .version = IDENTITY_FORMAT};
    enum error_code rc = draw(identity, err);
    if (rc != ERROR_NONE)
        return rc;
    record_add_text(&record, "identity", identity);
    rc = store_put(store, identity_key, owner, &record, STORE_RECOMPUTABLE, err);
    if (rc == ERROR_NONE)
        rc = store_flush(store, identity_key, err);
    return rc == ERROR_CORRUPT ? ERROR_NONE : rc; /* other content: another process was first */
}

enum error_code store_identity(struct store *store, char out[STORE_IDENTITY_SIZE],
                               struct error *err)
{
    enum error_code rc = read_identity(store, out, err);
    for (int i = 0; i < ATTEMPTS && (rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT); i++) {
        if (!store_may_write(store))
            return rc;
        rc = put_identity(store, err);
        if (rc == ERROR_NONE)
            rc = read_identity(store, out, err);
    }
    return rc == ERROR_NONE ? rc : error_context(err, rc, "the identity of the store");
}

enum error_code store_identity_renew(struct store *store, char out[STORE_IDENTITY_SIZE],
                                     struct error *err)
{
    const enum error_code rc = store_remove(store, identity_key, err);
    return rc == ERROR_NONE ? store_identity(store, out, err) : rc;
}
