#include "stages/ingest/formats/graphml_keys.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <ctype.h>
#include <string.h>

const char *graphml_attribute(const char *const *attribute, const char *name)
{
    for (; *attribute; attribute += 2)
        if (strcmp(attribute[0], name) == 0)
            return attribute[1];
    return NULL;
}

/* feat, feat_7, feat7; likewise features and x. */
static bool is_feature(const char *name)
{
    static const char *const words[] = {"features", "feature", "feat", "x"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = name + strlen(words[i]);
        if (strncmp(name, words[i], strlen(words[i])) != 0)
            continue;
        at += *at == '_';
        while (isdigit((unsigned char)*at))
            at++;
        if (!*at)
            return true;
    }
    return false;
}

static enum graphml_use use_of(const char *name, bool of_nodes, bool of_edges)
{
    static const struct {
        const char *name;
        enum graphml_use use;
    } of_node[] = {{"label", GRAPHML_LABEL},    {"class", GRAPHML_LABEL},
                   {"y", GRAPHML_LABEL},        {"train_mask", GRAPHML_TRAIN},
                   {"val_mask", GRAPHML_VALID}, {"valid_mask", GRAPHML_VALID},
                   {"test_mask", GRAPHML_TEST}};
    if (of_edges && strcmp(name, "weight") == 0)
        return GRAPHML_WEIGHT;
    for (size_t i = 0; of_nodes && i < sizeof of_node / sizeof *of_node; i++)
        if (strcmp(name, of_node[i].name) == 0)
            return of_node[i].use;
    return of_nodes && is_feature(name) ? GRAPHML_FEATURE : GRAPHML_NOTHING;
}

static void count_use(struct graphml_keys *keys, struct graphml_key *key)
{
    if (key->use == GRAPHML_FEATURE)
        key->column = keys->feature_count++;
    keys->has_label |= key->use == GRAPHML_LABEL;
    keys->has_weight |= key->use == GRAPHML_WEIGHT;
}

enum error_code graphml_keys_add(struct graphml_keys *keys, const char *const *attribute,
                                 const char **expected, struct error *err)
{
    const char *id = graphml_attribute(attribute, "id");
    const char *name = graphml_attribute(attribute, "attr.name");
    const char *of = graphml_attribute(attribute, "for");
    const bool of_all = !of || strcmp(of, "all") == 0;
    *expected = NULL;
    if (!id || !id[0] || strlen(id) >= GRAPHML_ID_SIZE)
        *expected = "a key with an id of 1 to 127 bytes";
    else if (graphml_keys_find(keys, id))
        *expected = "each id of a key once";
    else if (keys->count == GRAPHML_KEYS_MAX)
        *expected = "at most 65536 keys";
    if (*expected)
        return ERROR_NONE;
    const enum error_code rc =
        memory_grow(&keys->key, &keys->capacity, keys->count + 1, "keys of GraphML", err);
    if (rc != ERROR_NONE)
        return rc;
    struct graphml_key *key = &keys->key[keys->count++];
    *key = (struct graphml_key){.use = GRAPHML_NOTHING};
    (void)text_copy(key->id, sizeof key->id, id);
    if (!name || !text_copy(key->name, sizeof key->name, name))
        return ERROR_NONE; /* yEd keeps drawings so */
    key->use = use_of(name, of_all || strcmp(of, "node") == 0, of_all || strcmp(of, "edge") == 0);
    if (key->use == GRAPHML_LABEL && keys->has_label)
        *expected = "one key of nodes called label, class or y";
    count_use(keys, key);
    return ERROR_NONE;
}

const struct graphml_key *graphml_keys_find(const struct graphml_keys *keys, const char *id)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->key[i].id, id) == 0)
            return &keys->key[i];
    return NULL;
}

void graphml_keys_release(struct graphml_keys *keys)
{
    memory_free(keys->key);
    *keys = (struct graphml_keys){0};
}
