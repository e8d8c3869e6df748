/*
 * Lists the keys of a store in a Redis Cluster. Declared in cluster_place.h.
 *
 * The names below a prefix are a range of each of the 512 indexes; the names of all ranges are
 * gathered and sorted. '!' is less than any byte of a key, so that the order of names is the order
 * of keys.
 */
#include "common/base/memory.h"
#include "store/backends/cluster/cluster_batch.h"
#include "store/backends/name_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOUND_SIZE = KEY_SIZE + 4, MEMBER_SIZE = KEY_SIZE + 16 };

#define PAGE_SIZE "1000"

/* The state of reading one index. */
struct index_page {
    char from[MEMBER_SIZE]; /* lower bound, as ZRANGEBYLEX takes it */
    bool is_read;
};

struct index_list {
    const struct cluster_place *place;
    char to[BOUND_SIZE];
    struct index_page page[CLUSTER_TAG_COUNT];
    struct name_list names;
};

/* Sets the range: names below `prefix` that come after all names of the key `after`. */
static void set_bounds(struct index_list *list, const char *prefix, const char *after)
{
    char below[BOUND_SIZE], behind[BOUND_SIZE];
    (void)snprintf(below, sizeof below, "%s/", prefix);
    (void)snprintf(behind, sizeof behind, "%s\"", after); /* '"' follows '!' */
    const char *from = !*prefix || (*after && strcmp(behind, below) > 0) ? behind : below;
    for (int i = 0; i < CLUSTER_TAG_COUNT; i++)
        (void)snprintf(list->page[i].from, sizeof list->page[i].from, "%s%s",
                       *prefix || *after ? "[" : "-", *prefix || *after ? from : "");
    (void)snprintf(list->to, sizeof list->to, "%s%s%s", *prefix ? "(" : "+", prefix,
                   *prefix ? "0" : ""); /* '0' follows '/' */
}

static enum error_code take_page(struct index_list *list, struct index_page *page,
                                 const struct redisReply *reply, struct error *err)
{
    const int64_t count = redis_reply_count(reply);
    enum error_code rc = redis_reply_is_array(reply)
                             ? ERROR_NONE
                             : error_set(err, ERROR_IO, "the cluster sent no list of names");
    for (int64_t i = 0; rc == ERROR_NONE && i < count; i++) {
        const char *name = redis_reply_text(redis_reply_item(reply, i));
        rc = name_list_add(&list->names, name, strlen(name), err);
        if (i == count - 1)
            (void)snprintf(page->from, sizeof page->from, "(%.*s", MEMBER_SIZE - 2, name);
    }
    page->is_read = count < strtol(PAGE_SIZE, NULL, 10);
    return rc;
}

/* Reads a page of each of `some` indexes from `first` on, except those that were read to the
 * end. */
static enum error_code read_pages(struct index_list *list, struct cluster_batch *batch, int first,
                                  int some, bool *more, struct error *err)
{
    int tag[CLUSTER_COMMANDS_AT_ONCE];
    cluster_batch_clear(batch);
    for (int i = first; i < first + some; i++) {
        if (list->page[i].is_read)
            continue;
        tag[batch->count] = i;
        cluster_batch_add(batch, i, "ZRANGEBYLEX", "", "index");
        struct cluster_words *words = cluster_batch_last(batch);
        cluster_words_add(words, list->page[i].from);
        cluster_words_add(words, list->to);
        cluster_words_add(words, "LIMIT");
        cluster_words_add(words, "0");
        cluster_words_add(words, PAGE_SIZE);
    }
    enum error_code rc = cluster_batch_perform(batch, err);
    for (size_t i = 0; rc == ERROR_NONE && i < batch->count; i++) {
        rc = take_page(list, &list->page[tag[i]], cluster_batch_reply(batch, i), err);
        *more |= !list->page[tag[i]].is_read;
    }
    return rc;
}

static enum error_code read_names(struct index_list *list, struct error *err)
{
    struct cluster_batch batch;
    enum error_code rc = cluster_batch_init(&batch, list->place, CLUSTER_COMMANDS_AT_ONCE, err);
    for (bool more = true; rc == ERROR_NONE && more;) {
        more = false;
        for (int tag = 0; rc == ERROR_NONE && tag < CLUSTER_TAG_COUNT;
             tag += CLUSTER_COMMANDS_AT_ONCE)
            rc = read_pages(list, &batch, tag, CLUSTER_COMMANDS_AT_ONCE, &more, err);
    }
    cluster_batch_release(&batch);
    return rc == ERROR_NONE ? name_list_sort(&list->names, err) : rc;
}

struct key_list {
    store_visitor visit;
    void *context;
};

static enum error_code visit_key(void *context, const char *name, struct error *err)
{
    const struct key_list *list = context;
    char key[KEY_SIZE];
    const size_t size = strcspn(name, "!");
    if (size >= sizeof key)
        return ERROR_NONE;
    (void)snprintf(key, sizeof key, "%.*s", (int)size, name);
    return list->visit(list->context, key, strcmp(name + size, "!artifact") == 0, err);
}

enum error_code cluster_list_keys(void *state, const char *prefix, const char *after,
                                  store_visitor visit, void *context, struct error *err)
{
    struct index_list *list = NULL;
    struct key_list keys = {visit, context};
    enum error_code rc = memory_new(&list, 1, "a list of keys", err);
    if (rc != ERROR_NONE)
        return rc;
    list->place = state;
    set_bounds(list, prefix, after);
    rc = read_names(list, err);
    if (rc == ERROR_NONE)
        rc = name_list_visit(&list->names, visit_key, &keys, err);
    name_list_release(&list->names);
    memory_free(list);
    return rc;
}
