/*
 * graphml_keys - the keys of a GraphML file: which of them say what of a node or an edge, and what stands where a value lacks.
 */
#ifndef STAGES_INGEST_FORMATS_GRAPHML_KEYS_H
#define STAGES_INGEST_FORMATS_GRAPHML_KEYS_H

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
    enum graphml_use use;
    uint32_t column;                    /* of a feature */
    char initial[GRAPHML_DEFAULT_SIZE]; /* of <default> */
    bool has_initial;
};

struct graphml_keys {        /* {0} is releasable */
    struct graphml_key *key; /* [count] */
    size_t count, capacity;
    uint32_t feature_count;
    bool has_label, has_weight;
};

/* A <key> with its attributes, names and values by turns. *expected: what is wrong with it, NULL: nothing.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graphml_keys_add(struct graphml_keys *keys, const char *const *attribute,
                                            const char **expected, struct error *err);
/* NULL: no key has the id. */
const struct graphml_key *graphml_keys_find(const struct graphml_keys *keys, const char *id);
/* The value of an attribute; NULL: it is not there. */
const char *graphml_attribute(const char *const *attribute, const char *name);
void graphml_keys_release(struct graphml_keys *keys);

#endif
