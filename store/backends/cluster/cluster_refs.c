/*
 * Refs and notes in a Redis Cluster. Declared in cluster_place.h.
 *
 * All refs are fields of one hash, which a script exchanges. Each text is stored with a random word
 * of the call that put it. If the answer of a call is lost and the call is repeated, the word shows
 * that the first try succeeded.
 */
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/backends/cluster/cluster_batch.h"
#include "store/backends/name_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORD_SIZE = 17, REF_SIZE = 8192 };

static int refs_tag(void)
{
    return cluster_tag("refs");
}

/* Draws the word: the time in seconds, 8 digits, from which the age of a ref is computed, and 8
 * random digits. */
static void draw_word(char word[WORD_SIZE])
{
    (void)snprintf(word, WORD_SIZE, "%08" PRIx32 "%08" PRIx32, (uint32_t)time(NULL),
                   (uint32_t)host_random_64());
}

/* Begins a batch of one command, or script, on the hash of refs. */
static enum error_code begin(struct cluster_batch *batch, const struct cluster_place *place,
                             const char *command, const char *name, struct error *err)
{
    const enum error_code rc = cluster_batch_init(batch, place, 1, err);
    if (rc != ERROR_NONE)
        return rc;
    cluster_batch_add(batch, refs_tag(), command, "", "refs");
    if (name)
        cluster_words_add(cluster_batch_last(batch), name);
    return ERROR_NONE;
}

/* Copies the text of "<word> <text>". */
static enum error_code take_ref(const char *name, const char *value, size_t value_size, char *text,
                                size_t size, struct error *err)
{
    const size_t length = value_size - WORD_SIZE;
    if (value_size < WORD_SIZE || length >= size || memchr(value, '\0', value_size))
        return error_set(err, ERROR_CORRUPT, "%s: expected text of at most %zu bytes, found %zu",
                         name, size - 1, value_size);
    memcpy(text, value + WORD_SIZE, length);
    text[length] = '\0';
    return ERROR_NONE;
}

enum error_code cluster_ref_get(void *state, const char *name, char *text, size_t size,
                                struct error *err)
{
    struct cluster_batch batch;
    size_t value_size = 0;
    enum error_code rc = begin(&batch, state, "HGET", name, err);
    if (rc == ERROR_NONE)
        rc = cluster_batch_perform(&batch, err);
    if (rc == ERROR_NONE) {
        const char *value = redis_reply_bytes(cluster_batch_reply(&batch, 0), &value_size);
        rc = value ? take_ref(name, value, value_size, text, size, err)
                   : error_set(err, ERROR_NOT_FOUND, "%s", name);
    }
    cluster_batch_release(&batch);
    return rc;
}

/* Older programs drew the whole word at random. The age of such a ref may be any number, and one
 * that seems to be from the future counts as new. */
enum error_code cluster_ref_age(void *state, const char *name, int64_t *seconds, struct error *err)
{
    struct cluster_batch batch;
    size_t value_size = 0;
    char digits[9] = "";
    enum error_code rc = begin(&batch, state, "HGET", name, err);
    if (rc == ERROR_NONE)
        rc = cluster_batch_perform(&batch, err);
    const char *value =
        rc == ERROR_NONE ? redis_reply_bytes(cluster_batch_reply(&batch, 0), &value_size) : NULL;
    if (rc == ERROR_NONE && !value)
        rc = error_set(err, ERROR_NOT_FOUND, "%s", name);
    if (value && value_size >= WORD_SIZE)
        memcpy(digits, value, sizeof digits - 1);
    *seconds = (int64_t)time(NULL) - (int64_t)strtoull(digits, NULL, 16);
    cluster_batch_release(&batch);
    return rc;
}

enum error_code cluster_ref_set(void *state, const char *name, const char *text, struct error *err)
{
    struct cluster_batch batch;
    char value[WORD_SIZE + REF_SIZE], word[WORD_SIZE];
    draw_word(word);
    const int size = snprintf(value, sizeof value, "%s %s", word, text ? text : "");
    must(size > 0 && (size_t)size < sizeof value);
    enum error_code rc = begin(&batch, state, text ? "HSET" : "HDEL", name, err);
    if (rc != ERROR_NONE)
        return rc;
    if (text)
        cluster_words_add(cluster_batch_last(&batch), value);
    cluster_batch_wait_for_replica(&batch);
    rc = cluster_batch_perform(&batch, err);
    cluster_batch_release(&batch);
    return rc;
}

enum error_code cluster_ref_exchange(void *state, const char *name, const char *expected,
                                     const char *text, bool *matched, struct error *err)
{
    const struct cluster_place *place = state;
    const struct cluster_name refs = cluster_name(place, refs_tag(), "", "refs");
    struct cluster_batch batch;
    char word[WORD_SIZE];
    int64_t number = 0;
    *matched = false;
    enum error_code rc = cluster_batch_init(&batch, place, 1, err);
    if (rc != ERROR_NONE)
        return rc;
    draw_word(word);
    cluster_batch_add_script(&batch, refs_tag(), CLUSTER_SCRIPT_EXCHANGE, 1);
    struct cluster_words *words = cluster_batch_last(&batch);
    cluster_words_add(words, refs.text);
    cluster_words_add(words, name);
    cluster_words_add(words, word);
    cluster_words_add(words, expected ? "1" : "0");
    cluster_words_add(words, expected ? expected : "");
    cluster_words_add(words, text ? "1" : "0");
    cluster_words_add(words, text ? text : "");
    cluster_batch_wait_for_replica(&batch);
    rc = cluster_batch_perform(&batch, err);
    if (rc == ERROR_NONE && !redis_reply_is_integer(cluster_batch_reply(&batch, 0), &number))
        rc = error_set(err, ERROR_IO, "switch %s: the cluster sent an unexpected answer", name);
    const bool was_repeated = batch.command[0].was_repeated;
    cluster_batch_release(&batch);
    *matched = number == 1;
    if (rc != ERROR_NONE || *matched || text || !was_repeated)
        return rc;
    /* A removed ref has no word. If it is gone, the first try may have removed it, which counts as
     * success. */
    char now[REF_SIZE];
    rc = cluster_ref_get(state, name, now, sizeof now, err);
    *matched = rc == ERROR_NOT_FOUND;
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

struct ref_list {
    store_visitor visit;
    void *context;
};

static enum error_code visit_ref(void *context, const char *name, struct error *err)
{
    const struct ref_list *list = context;
    return list->visit(list->context, name, false, err);
}

enum error_code cluster_ref_list(void *state, store_visitor visit, void *context, struct error *err)
{
    struct cluster_batch batch;
    struct name_list names = {0};
    struct ref_list list = {visit, context};
    enum error_code rc = begin(&batch, state, "HKEYS", NULL, err);
    if (rc == ERROR_NONE)
        rc = cluster_batch_perform(&batch, err);
    const int64_t count = rc == ERROR_NONE ? redis_reply_count(cluster_batch_reply(&batch, 0)) : 0;
    for (int64_t i = 0; rc == ERROR_NONE && i < count; i++) {
        const char *name = redis_reply_text(redis_reply_item(cluster_batch_reply(&batch, 0), i));
        rc = name_list_add(&names, name, strlen(name), err);
    }
    cluster_batch_release(&batch);
    if (rc == ERROR_NONE)
        rc = name_list_sort(&names, err);
    if (rc == ERROR_NONE)
        rc = name_list_visit(&names, visit_ref, &list, err);
    name_list_release(&names);
    return rc;
}

/* --- notes --- */

enum error_code cluster_note_put(void *state, const char *name, const char *text, size_t size,
                                 struct error *err)
{
    struct cluster_batch batch;
    enum error_code rc = cluster_batch_init(&batch, state, 1, err);
    if (rc != ERROR_NONE)
        return rc;
    cluster_batch_add(&batch, cluster_tag(name), "SET", name, "note");
    cluster_words_add_bytes(cluster_batch_last(&batch), text, size);
    rc = cluster_batch_perform(&batch, err);
    cluster_batch_release(&batch);
    return rc;
}

enum error_code cluster_note_get(void *state, const char *name, char **text, size_t *size,
                                 struct error *err)
{
    const struct cluster_place *place = state;
    const int tag = cluster_tag(name);
    const struct cluster_name note = cluster_name(place, tag, name, "note");
    bool found = false;
    const enum error_code rc = cluster_get_value(place, tag, &note, text, size, &found, err);
    return rc == ERROR_NONE && !found ? error_set(err, ERROR_NOT_FOUND, "%s", name) : rc;
}
