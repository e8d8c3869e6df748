#include "store/features/feature_parts.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/records/round/shard_seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct key key_of(const struct feature_parts *parts, int part, const char *name)
{
    return parts->origin == FEATURES_OF_INFER_LAYER
               ? key_infer(parts->id, parts->version, parts->layer, part, name)
               : key_part_type(parts->id, part, parts->node_type, name);
}

static enum error_code check_weights(const struct shard_seal *seal, const char *key,
                                     const struct weights_identity *expected, struct error *err)
{
    char what[KEY_SIZE + 16];
    (void)snprintf(what, sizeof what, "artifact %s", key);
    return shard_seal_check_weights(seal, what, expected, err);
}

/* Compares a property of the tensor with that of part 0; all parts must agree. */
static enum error_code check_tensor(struct feature_parts *parts, const struct tensor_spec *tensor,
                                    int part, struct error *err)
{
    if (part == 0) {
        parts->dim = tensor->dim;
        parts->type = tensor->type;
    }
    if (tensor->dim != parts->dim)
        return error_set(err, ERROR_CORRUPT,
                         "tensor %s of part %d: expected a dim of %" PRIu32 ", found %" PRIu32,
                         parts->tensor, part, parts->dim, tensor->dim);
    if (tensor->type == parts->type)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT, "tensor %s of part %d: expected elements of %s, found %s",
                     parts->tensor, part, tensor_type_name(parts->type),
                     tensor_type_name(tensor->type));
}

/* Checks that a seal describes the rows that `config` asks for. */
static enum error_code check_seal(struct feature_parts *parts,
                                  const struct feature_source_config *config, int part,
                                  const char *key, const struct shard_seal *seal, struct error *err)
{
    const int index = shard_seal_find(seal, config->tensor);
    const uint32_t rows = config->book[part + 1] - config->book[part];
    if (config->origin == FEATURES_OF_INFER_LAYER) {
        const enum error_code rc = check_weights(seal, key, config->weights, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    if (index < 0)
        return error_set(err, ERROR_NOT_FOUND, "artifact %s has no tensor %s", key, config->tensor);
    const struct tensor_spec *tensor = &seal->tensor[index];
    if (tensor->row_count != rows)
        return error_set(err, ERROR_CORRUPT,
                         "artifact %s: tensor %s: expected %" PRIu32 " rows, found %" PRIu64, key,
                         config->tensor, rows, tensor->row_count);
    return check_tensor(parts, tensor, part, err);
}

struct sealed {
    struct feature_parts *parts;
    const struct feature_source_config *config;
    struct checksum_stream *sums;
};

static struct key seal_key(const void *context, size_t part)
{
    const struct sealed *sealed = context;
    return key_of(sealed->parts, (int)part, "shard_seal");
}

static enum error_code take_seal(void *context, size_t part, struct record_view *view,
                                 struct error *err)
{
    const struct sealed *sealed = context;
    const struct key key = key_of(sealed->parts, (int)part, "shard");
    struct shard_seal seal;
    enum error_code rc = shard_seal_decode(view, &seal, err);
    if (rc == ERROR_NONE)
        rc = check_seal(sealed->parts, sealed->config, (int)part, key.text, &seal, err);
    if (rc != ERROR_NONE)
        return rc;
    const int index = shard_seal_find(&seal, sealed->config->tensor);
    checksum_stream_add(sealed->sums, seal.content[index].bytes, sizeof seal.content[index].bytes);
    return ERROR_NONE;
}

static enum error_code read_seals(struct feature_parts *parts,
                                  const struct feature_source_config *config,
                                  struct checksum_stream *sums, struct error *err)
{
    struct sealed sealed = {.parts = parts, .config = config, .sums = sums};
    const struct store_series seals = {.owner_id = parts->id,
                                       .count = (size_t)parts->part_count,
                                       .key = seal_key,
                                       .visit = take_seal,
                                       .context = &sealed};
    const enum error_code rc = store_get_each(parts->store, &seals, err);
    parts->content = checksum_stream_sum(sums);
    return rc;
}

enum error_code feature_parts_open(const struct feature_source_config *config,
                                   struct feature_parts *out, struct error *err)
{
    const bool is_layer = config->origin == FEATURES_OF_INFER_LAYER;
    struct feature_parts parts = {.store = config->store,
                                  .origin = config->origin,
                                  .layer = config->layer,
                                  .node_type = config->node_type,
                                  .version = is_layer ? config->weights->version : 0,
                                  .part_count = config->part_count};
    struct checksum_stream *sums = NULL;
    must(config->part_count > 0 && text_copy(parts.tensor, TENSOR_NAME_SIZE, config->tensor) &&
         text_copy(parts.id, KEY_SIZE, config->id));
    enum error_code rc = checksum_stream_new(&sums, err);
    if (rc == ERROR_NONE)
        rc = read_seals(&parts, config, sums, err);
    checksum_stream_free(sums);
    if (rc == ERROR_NONE)
        rc = memory_new(&parts.part, (size_t)parts.part_count, "the shards of a tensor", err);
    if (rc != ERROR_NONE)
        return rc;
    for (int p = 0; p < parts.part_count; p++)
        must(pthread_mutex_init(&parts.part[p].lock, NULL) == 0);
    *out = parts;
    return ERROR_NONE;
}

void feature_parts_close(struct feature_parts *parts)
{
    if (!parts->part)
        return;
    for (int p = 0; p < parts->part_count; p++) {
        feature_shard_close(parts->part[p].shard);
        (void)pthread_mutex_destroy(&parts->part[p].lock);
    }
    memory_free(parts->part);
    *parts = (struct feature_parts){0};
}

enum error_code feature_parts_open_shard(const struct feature_parts *parts, int part,
                                         struct feature_shard **out, struct error *err)
{
    return feature_shard_open(parts->store, key_of(parts, part, "shard").text,
                              key_of(parts, part, "shard_seal").text, parts->id, out, err);
}

enum error_code feature_parts_shard(struct feature_parts *parts, int part,
                                    struct feature_shard **out, struct error *err)
{
    struct feature_part *wanted = &parts->part[part];
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&wanted->lock);
    if (!wanted->shard)
        rc = feature_parts_open_shard(parts, part, &wanted->shard, err);
    *out = wanted->shard;
    (void)pthread_mutex_unlock(&wanted->lock);
    return rc;
}

bool feature_parts_is_open(struct feature_parts *parts, int part)
{
    struct feature_part *looked_at = &parts->part[part];
    (void)pthread_mutex_lock(&looked_at->lock);
    const bool is_open = looked_at->shard != NULL;
    (void)pthread_mutex_unlock(&looked_at->lock);
    return is_open;
}
