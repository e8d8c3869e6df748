#include "store/open/artifact_kinds.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/features/feature_shard.h"
#include "store/objects/artifact_cache.h"
#include "store/records/partition/topology_seal.h"
#include "store/records/round/outputs_seal.h"
#include "store/records/round/shard_seal.h"

#include <stdio.h>
#include <string.h>

static const char seal_mark[] = "_seal";

/* Copies name `index` of a key, counted from 0: name 2 of partition/<id>/part/<p>/topology is
 * "part". */
static bool name_at(const char *key, int index, char name[ID_SIZE])
{
    for (; index > 0 && key; index--) {
        key = strchr(key, '/');
        key += key != NULL;
    }
    const size_t size = key ? strcspn(key, "/") : 0;
    if (size == 0 || size >= ID_SIZE)
        return false;
    memcpy(name, key, size);
    name[size] = '\0';
    return true;
}

static enum error_code no_such_name(const char *key, struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "%s: no artifact has such a name", key);
}

static enum error_code verify_topology(struct store *store, const char *key, struct error *err)
{
    char id[ID_SIZE], number[ID_SIZE];
    int64_t part = 0;
    if (!name_at(key, 1, id) || !name_at(key, 3, number) ||
        !text_int64(number, strlen(number), &part) || part < 0 || part > INT32_MAX ||
        strcmp(key_part(id, (int)part, "topology").text, key) != 0)
        return no_such_name(key, err);
    return topology_seal_verify(store, id, (int)part, err);
}

static enum error_code verify_shard(struct store *store, const char *key, struct error *err)
{
    struct key seal;
    struct feature_shard *shard = NULL;
    if (!artifact_counterpart(key, &seal))
        return no_such_name(key, err);
    enum error_code rc = feature_shard_open(store, key, seal.text, NULL, &shard, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_verify(shard, err);
    feature_shard_close(shard);
    return rc;
}

/* Checks that the rows of infer belong to the weights that their key names, by comparing with the
 * snapshot. */
static enum error_code verify_weights(struct store *store, const char *key,
                                      const struct weights_identity *weights, struct error *err)
{
    char run_id[ID_SIZE], number[ID_SIZE];
    int64_t version = -1;
    if (!name_at(key, 1, run_id) || !name_at(key, 3, number) ||
        !text_int64(number, strcspn(number, "-"), &version))
        return no_such_name(key, err);
    if (version != weights->version)
        return error_set(err, ERROR_CORRUPT, "%s: expected a seal of weights %lld, found %lld", key,
                         (long long)version, (long long)weights->version);
    return weights_identity_verify(store, run_id, weights, key, err);
}

static enum error_code verify_layer(struct store *store, const char *key, struct error *err)
{
    struct key seal_key;
    struct shard_seal seal;
    if (!artifact_counterpart(key, &seal_key))
        return no_such_name(key, err);
    enum error_code rc = shard_seal_get(store, seal_key.text, NULL, &seal, err);
    if (rc == ERROR_NONE && !seal.has_weights)
        rc = error_set(err, ERROR_CORRUPT, "%s: expected a seal that names the weights used", key);
    if (rc == ERROR_NONE)
        rc = verify_weights(store, key, &seal.weights, err);
    return rc == ERROR_NONE ? verify_shard(store, key, err) : rc;
}

static enum error_code verify_outputs(struct store *store, const char *key, struct error *err)
{
    char run_id[ID_SIZE];
    struct artifact_handle files = {.path = ""};
    struct key seal_key;
    struct outputs_seal *seal = NULL;
    if (!name_at(key, 1, run_id) || !artifact_counterpart(key, &seal_key))
        return no_such_name(key, err);
    enum error_code rc = memory_new(&seal, 1, "a seal", err);
    if (rc == ERROR_NONE)
        rc = outputs_seal_get(store, seal_key.text, run_id, seal, err);
    if (rc == ERROR_NONE)
        rc = outputs_acquire(store, key, seal, &files, err);
    if (rc == ERROR_NONE)
        rc = outputs_seal_check(seal, files.path, err);
    artifact_release(&files);
    if (rc == ERROR_NONE)
        rc = verify_weights(store, key, &seal->weights, err);
    memory_free(seal);
    return rc;
}

static const struct artifact_kind {
    const char *family; /* first name of its key */
    const char *name;   /* ... and the name at `index` */
    int index;
    enum error_code (*verify)(struct store *store, const char *key, struct error *err);
} kinds[] = {
    {"partition", "topology", 4, verify_topology},
    {"partition", "shard", 4, verify_shard},
    {"partition", "shard", 6, verify_shard}, /* of a node type */
    {"run", "shard", 7, verify_layer},
    {"run", "outputs", 2, verify_outputs},
};

/* Returns the kind of an artifact, or of a seal (with `mark` after the name). */
static const struct artifact_kind *kind_of(const char *key)
{
    char family[ID_SIZE], name[ID_SIZE];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (name_at(key, 0, family) && strcmp(family, kinds[i].family) == 0 &&
            name_at(key, kinds[i].index, name) && strcmp(name, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

bool artifact_counterpart(const char *key, struct key *out)
{
    const size_t size = strlen(key), mark = sizeof seal_mark - 1;
    const bool is_seal = size > mark && strcmp(key + size - mark, seal_mark) == 0;
    const int written =
        snprintf(out->text, sizeof out->text, "%.*s%s", (int)(is_seal ? size - mark : size), key,
                 is_seal ? "" : seal_mark);
    return written > 0 && written < (int)sizeof out->text &&
           kind_of(is_seal ? out->text : key) != NULL;
}

enum error_code artifact_verify(struct store *store, const char *key, struct error *err)
{
    const struct artifact_kind *kind = kind_of(key);
    if (!kind)
        return no_such_name(key, err);
    const enum error_code rc = kind->verify(store, key, err);
    /* A downloaded artifact may have been damaged on the way, so it is read again. */
    return rc == ERROR_CORRUPT && !(store_capabilities(store) & STORE_HAS_PATHS)
               ? kind->verify(store, key, err)
               : rc;
}
