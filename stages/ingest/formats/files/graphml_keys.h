/*
 * graphml_keys - the keys of a GraphML file: the meaning of each for a node or an edge, and its
 * default value.
 *
 *   label, class, y           the class, unless it is a real number (float, double); y only if
 *                             there is no key x
 *   feat, feat_0, x_0, ...    features
 *   x, y, lat, lon, ...       neither features nor classes: the position of a node in a drawing or
 *                             map
 *   label_columns: club       the key that this setting names is the class, whatever its name;
 *                             feature_columns likewise
 */
#ifndef STAGES_INGEST_FORMATS_FILES_GRAPHML_KEYS_H
#define STAGES_INGEST_FORMATS_FILES_GRAPHML_KEYS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum graphml_use {
    GRAPHML_NOTHING,
    GRAPHML_LABEL,
    GRAPHML_TRAIN, /* these three are in the order of splits */
    GRAPHML_VALID,
    GRAPHML_TEST,
    GRAPHML_FEATURE,
    GRAPHML_WEIGHT
};

enum { GRAPHML_KEYS_MAX = 1 << 16, GRAPHML_ID_SIZE = 128, GRAPHML_DEFAULT_SIZE = 256 };

struct graphml_key {
    char id[GRAPHML_ID_SIZE], name[GRAPHML_ID_SIZE];
    bool of_nodes, of_edges, is_real;
    enum graphml_use use;
    uint32_t column;                    /* for a feature or a label */
    char initial[GRAPHML_DEFAULT_SIZE]; /* the text of <default> */
    bool has_initial;
};

struct graphml_keys {        /* {0} is releasable */
    struct graphml_key *key; /* [count] */
    size_t count, capacity;
    uint32_t feature_count, label_count;
    bool has_weight;
};

/* Adds a <key> with its attributes, an array of names and values in turn. *expected: the error in
 * the key, NULL: none. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graphml_keys_add(struct graphml_keys *keys, const char *const *attribute,
                                            const char **expected, struct error *err);
/* Decides for all keys what they are used for. `labels` and `features`: the settings label_columns
 * and feature_columns; "": the names of the keys decide. Fails: ERROR_INPUT naming `where`, what
 * was expected and found. */
MUST_CHECK enum error_code graphml_keys_settle(struct graphml_keys *keys, const char *labels,
                                               const char *features, const char *where,
                                               struct error *err);
/* Writes "label is the class; feat_0 and 5 more are features; not used: x, y" into text [size]. */
void graphml_keys_describe(const struct graphml_keys *keys, char *text, size_t size);
/* Returns the key with the id, or NULL. */
const struct graphml_key *graphml_keys_find(const struct graphml_keys *keys, const char *id);
/* Returns the value of an attribute, or NULL if it is missing. */
const char *graphml_attribute(const char *const *attribute, const char *name);
void graphml_keys_release(struct graphml_keys *keys);

#endif
