#include "stages/ingest/formats/files/graphml_keys.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/settings/named_entries.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *graphml_attribute(const char *const *attribute, const char *name)
{
    for (; *attribute; attribute += 2)
        if (strcmp(attribute[0], name) == 0)
            return attribute[1];
    return NULL;
}

/* Returns whether a key has a name of features: feat, feat_7, feat7; features likewise, and x with
 * a number. */
static bool is_feature(const char *name)
{
    static const char *const words[] = {"features", "feature", "feat", "x"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = name + strlen(words[i]);
        if (strncmp(name, words[i], strlen(words[i])) != 0)
            continue;
        const bool is_plain = !*at;
        at += *at == '_';
        while (isdigit((unsigned char)*at))
            at++;
        if (!*at)
            return !is_plain || strcmp(name, "x") != 0;
    }
    return false;
}

static enum graphml_use use_of(const struct graphml_key *key, bool has_x)
{
    static const struct {
        const char *name;
        enum graphml_use use;
    } of_node[] = {{"label", GRAPHML_LABEL},    {"class", GRAPHML_LABEL},
                   {"y", GRAPHML_LABEL},        {"train_mask", GRAPHML_TRAIN},
                   {"val_mask", GRAPHML_VALID}, {"valid_mask", GRAPHML_VALID},
                   {"test_mask", GRAPHML_TEST}};
    if (key->of_edges && strcmp(key->name, "weight") == 0)
        return GRAPHML_WEIGHT;
    for (size_t i = 0; key->of_nodes && i < sizeof of_node / sizeof *of_node; i++)
        if (strcmp(key->name, of_node[i].name) == 0) {
            const bool is_coordinate = strcmp(key->name, "y") == 0 && has_x;
            return of_node[i].use == GRAPHML_LABEL && (key->is_real || is_coordinate)
                       ? GRAPHML_NOTHING
                       : of_node[i].use;
        }
    return key->of_nodes && is_feature(key->name) ? GRAPHML_FEATURE : GRAPHML_NOTHING;
}

enum error_code graphml_keys_add(struct graphml_keys *keys, const char *const *attribute,
                                 const char **expected, struct error *err)
{
    const char *id = graphml_attribute(attribute, "id");
    const char *name = graphml_attribute(attribute, "attr.name");
    const char *of = graphml_attribute(attribute, "for");
    const char *type = graphml_attribute(attribute, "attr.type");
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
    /* yEd stores drawings in such keys */
    if (!name || !text_copy(key->name, sizeof key->name, name))
        return ERROR_NONE;
    key->of_nodes = of_all || strcmp(of, "node") == 0;
    key->of_edges = of_all || strcmp(of, "edge") == 0;
    key->is_real = type && (strcmp(type, "float") == 0 || strcmp(type, "double") == 0);
    return ERROR_NONE;
}

/* --- what they are used for --- */

static struct graphml_key *node_key_named(struct graphml_keys *keys, const char *name, size_t size)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->key[i].of_nodes && strlen(keys->key[i].name) == size &&
            memcmp(keys->key[i].name, name, size) == 0)
            return &keys->key[i];
    return NULL;
}

/* Uses the keys that a setting names, in its order. */
static enum error_code take_named(struct graphml_keys *keys, const char *setting, const char *name,
                                  size_t size, enum graphml_use use, uint32_t *count,
                                  const char *where, struct error *err)
{
    struct graphml_key *key = node_key_named(keys, name, size);
    if (!key)
        return error_set(err, ERROR_INPUT,
                         "%s: expected a key of nodes with attr.name=\"%.*s\", as ingest.%s says, "
                         "found none",
                         where, named_entry_shown(size), name, setting);
    if (key->use == GRAPHML_LABEL || key->use == GRAPHML_FEATURE)
        return error_set(err, ERROR_INPUT,
                         "%s: expected the key %s for one thing, found it again in ingest.%s",
                         where, key->name, setting);
    key->use = use;
    key->column = (*count)++;
    return ERROR_NONE;
}

static enum error_code take_labels(struct graphml_keys *keys, const char *labels, const char *where,
                                   struct error *err)
{
    size_t left = strlen(labels), size = 0;
    const char *name = NULL;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && named_entry_word(&labels, &left, ';', &name, &size))
        rc = take_named(keys, "label_columns", name, size, GRAPHML_LABEL, &keys->label_count, where,
                        err);
    return rc;
}

/* Uses the keys that feature_columns names. Their values must be numbers; the encodings that the
 * setting allows for a table are refused. */
static enum error_code take_features(struct graphml_keys *keys, const char *features,
                                     const char *where, struct error *err)
{
    struct named_entry entry;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && named_entry_next(&features, &entry)) {
        const bool is_name = entry.name_size == 0;
        const char *name = is_name ? entry.value : entry.name;
        const size_t size = is_name ? entry.value_size : entry.name_size;
        if (!is_name && (entry.value_size != 6 || memcmp(entry.value, "number", 6) != 0))
            return error_set(err, ERROR_INVALID,
                             "ingest.feature_columns: '%.*s': expected only names of keys with "
                             "`format: graphml`, which reads plain numbers",
                             named_entry_shown(entry.size), entry.text);
        rc = take_named(keys, "feature_columns", name, size, GRAPHML_FEATURE, &keys->feature_count,
                        where, err);
    }
    return rc;
}

enum error_code graphml_keys_settle(struct graphml_keys *keys, const char *labels,
                                    const char *features, const char *where, struct error *err)
{
    const bool has_x = node_key_named(keys, "x", 1) != NULL;
    enum error_code rc = take_labels(keys, labels, where, err);
    if (rc == ERROR_NONE)
        rc = take_features(keys, features, where, err);
    for (size_t i = 0; rc == ERROR_NONE && i < keys->count; i++) {
        struct graphml_key *key = &keys->key[i];
        const enum graphml_use use =
            key->use == GRAPHML_NOTHING ? use_of(key, has_x) : GRAPHML_NOTHING;
        if (use == GRAPHML_NOTHING || (use == GRAPHML_LABEL && labels[0]) ||
            (use == GRAPHML_FEATURE && features[0]))
            continue;
        if (use == GRAPHML_LABEL && keys->label_count)
            return error_set(err, ERROR_INPUT,
                             "%s: expected one key of nodes called label, class or y, found "
                             "several: " ADVICE
                             "name the one of the classes by `label_columns: NAME` below "
                             "`ingest:`",
                             where);
        key->use = use;
        if (use == GRAPHML_LABEL)
            key->column = keys->label_count++;
        if (use == GRAPHML_FEATURE)
            key->column = keys->feature_count++;
        keys->has_weight |= use == GRAPHML_WEIGHT;
    }
    return rc;
}

void graphml_keys_describe(const struct graphml_keys *keys, char *text, size_t size)
{
    static const char *const roles[] = {
        [GRAPHML_NOTHING] = "not used",         [GRAPHML_LABEL] = "the class",
        [GRAPHML_TRAIN] = "the training split", [GRAPHML_VALID] = "the validation split",
        [GRAPHML_TEST] = "the test split",      [GRAPHML_FEATURE] = "features",
        [GRAPHML_WEIGHT] = "the weight"};
    enum { NAMES_MAX = 4 };
    size_t at = 0;
    text[0] = '\0';
    for (size_t role = 0; role < sizeof roles / sizeof *roles; role++) {
        /* unused keys come last */
        const size_t use = (role + 1) % (sizeof roles / sizeof *roles);
        size_t count = 0;
        for (size_t i = 0; i < keys->count && at < size; i++) {
            const struct graphml_key *key = &keys->key[i];
            if (key->use != use || !key->name[0] || count++ >= NAMES_MAX)
                continue;
            at += (size_t)snprintf(text + at, size - at, "%s%s",
                                   count > 1 ? ", "
                                   : at      ? "; "
                                             : "",
                                   key->name);
        }
        if (count > NAMES_MAX && at < size)
            at += (size_t)snprintf(text + at, size - at, " and %zu more", count - NAMES_MAX);
        if (count && at < size)
            at += (size_t)snprintf(text + at, size - at, " %s %s", count > 1 ? "are" : "is",
                                   roles[use]);
    }
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
