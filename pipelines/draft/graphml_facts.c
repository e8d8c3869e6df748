#include "pipelines/draft/graphml_facts.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/xml_stream.h"
#include "common/formats/bytes/byte_source.h"

#include <stdio.h>
#include <string.h>

enum { KEYS_MAX = 256, WORDS_MAX = 101, WORD_SIZE = 64, PIECE_BYTES = 1 << 16, NONE = -1 };

struct scanned_key {
    char id[64], name[64];
    bool may_be_class;
    char word[WORDS_MAX][WORD_SIZE];
    size_t word_count; /* WORDS_MAX: that many or more */
    uint64_t values;
};

struct scan { /* state of one pass over the file */
    struct input_facts *facts;
    struct scanned_key *key; /* [KEYS_MAX] */
    size_t count;
    int data; /* key of the current <data>, or NONE */
    bool in_node;
};

static const char *attribute_of(const char *const *attribute, const char *name)
{
    for (; *attribute; attribute += 2)
        if (strcmp(attribute[0], name) == 0)
            return attribute[1];
    return "";
}

static void take_key(struct scan *scan, const char *const *attribute)
{
    const char *of = attribute_of(attribute, "for"), *type = attribute_of(attribute, "attr.type");
    const char *name = attribute_of(attribute, "attr.name");
    if (strcmp(name, "train_mask") == 0)
        scan->facts->has_split = true;
    if (scan->count == KEYS_MAX || (of[0] && strcmp(of, "node") != 0 && strcmp(of, "all") != 0))
        return;
    struct scanned_key *key = &scan->key[scan->count];
    if (!text_copy(key->id, sizeof key->id, attribute_of(attribute, "id")) ||
        !text_copy(key->name, sizeof key->name, name) || strpbrk(name, ":;\"\\"))
        return;
    key->may_be_class =
        strcmp(type, "float") != 0 && strcmp(type, "double") != 0 && strcmp(type, "boolean") != 0;
    scan->count++;
}

static int find_key(const struct scan *scan, const char *id)
{
    for (size_t i = 0; i < scan->count; i++)
        if (strcmp(scan->key[i].id, id) == 0)
            return (int)i;
    return NONE;
}

static enum error_code begin_element(void *context, const char *element,
                                     const char *const *attribute, struct error *err)
{
    struct scan *scan = context;
    (void)err;
    if (strcmp(element, "key") == 0)
        take_key(scan, attribute);
    else if (strcmp(element, "graph") == 0)
        (void)snprintf(scan->facts->direction, FACT_SIZE, "edgedefault is %.40s",
                       attribute_of(attribute, "edgedefault"));
    else if (strcmp(element, "node") == 0)
        scan->in_node = true;
    else if (strcmp(element, "data") == 0)
        scan->data = scan->in_node ? find_key(scan, attribute_of(attribute, "key")) : NONE;
    return ERROR_NONE;
}

static enum error_code end_element(void *context, const char *element, const char *text,
                                   bool is_cut, struct error *err)
{
    struct scan *scan = context;
    (void)err;
    if (strcmp(element, "node") == 0)
        scan->in_node = false;
    if (strcmp(element, "data") != 0 || scan->data == NONE)
        return ERROR_NONE;
    struct scanned_key *key = &scan->key[scan->data];
    double value = 0.0;
    int64_t whole = 0;
    const size_t size = strlen(text);
    scan->data = NONE;
    key->values++;
    if (is_cut || size >= WORD_SIZE ||
        (text_double(text, size, &value) && !text_int64(text, size, &whole)))
        key->may_be_class = false; /* free text, or a number with a fraction */
    for (size_t i = 0; i < key->word_count; i++)
        if (strcmp(key->word[i], text) == 0)
            return ERROR_NONE;
    if (key->may_be_class && key->word_count < WORDS_MAX)
        (void)text_copy(key->word[key->word_count++], WORD_SIZE, text);
    return ERROR_NONE;
}

static bool has_classes(const struct scanned_key *key)
{
    return key->may_be_class && key->word_count >= 2 && key->word_count < WORDS_MAX &&
           key->word_count * 2 <= key->values;
}

static const struct scanned_key *choose_class(const struct scan *scan)
{
    static const char *const names[] = {"class",     "label", "category",         "group",
                                        "community", "topic", "Modularity Class", "type"};
    const struct scanned_key *best = NULL;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t i = 0; i < scan->count; i++)
            if (strcmp(scan->key[i].name, names[n]) == 0 && has_classes(&scan->key[i]))
                return &scan->key[i];
    for (size_t i = 0; i < scan->count; i++) {
        const struct scanned_key *key = &scan->key[i];
        const bool is_place = strcmp(key->name, "x") == 0 || strcmp(key->name, "y") == 0;
        if (has_classes(key) && !is_place && (!best || key->word_count < best->word_count))
            best = key;
    }
    return best;
}

static enum error_code feed_all(struct scan *scan, struct xml_stream *stream, struct error *err)
{
    struct byte_source *source = NULL;
    char *piece = NULL;
    size_t got = 1;
    enum error_code rc = memory_new(&piece, PIECE_BYTES, "a piece of a file", err);
    if (rc == ERROR_NONE)
        rc = byte_source_open(scan->facts->path, &source, err);
    while (rc == ERROR_NONE && got) {
        rc = byte_source_read(source, piece, PIECE_BYTES, &got, err);
        if (rc == ERROR_NONE)
            rc = xml_stream_feed(stream, piece, got, got == 0, err);
    }
    byte_source_close(source);
    memory_free(piece);
    return rc;
}

enum error_code graphml_facts_find(struct input_facts *facts, struct error *err)
{
    struct scan scan = {.facts = facts, .data = NONE};
    const struct xml_visitor visitor = {.context = &scan,
                                        .begin = begin_element,
                                        .end = end_element,
                                        .text_max = 4096,
                                        .name = facts->path,
                                        .malformed = ERROR_INPUT};
    struct xml_stream *stream = NULL;
    enum error_code rc = memory_new(&scan.key, KEYS_MAX, "keys of GraphML", err);
    if (rc == ERROR_NONE)
        rc = xml_stream_new(&visitor, &stream, err);
    if (rc == ERROR_NONE)
        rc = feed_all(&scan, stream, err);
    const struct scanned_key *class = rc == ERROR_NONE ? choose_class(&scan) : NULL;
    if (class) {
        facts->targets = TARGETS_NODES;
        (void)text_copy(facts->label_columns, FACT_SIZE, class->name);
    }
    xml_stream_free(stream);
    memory_free(scan.key);
    return rc;
}
