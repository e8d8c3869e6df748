#include "store/records/shard_seal.h"

#include <inttypes.h>
#include <string.h>

enum { SHARD_SEAL_VERSION = 4 };

enum error_code shard_seal_put(struct store *store, const char *key, const char *owner_id,
                               const struct shard_seal *seal, struct error *err)
{
    char name[SHARD_TENSOR_COUNT_MAX][TENSOR_NAME_SIZE] = {{0}};
    uint8_t type[SHARD_TENSOR_COUNT_MAX];
    uint32_t dim[SHARD_TENSOR_COUNT_MAX];
    uint64_t row_count[SHARD_TENSOR_COUNT_MAX];
    const uint64_t count = (uint64_t)seal->tensor_count;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(name[i], seal->tensor[i].name, strlen(seal->tensor[i].name));
        type[i] = (uint8_t)seal->tensor[i].type;
        dim[i] = seal->tensor[i].dim;
        row_count[i] = seal->tensor[i].row_count;
    }
    struct record record = {.kind = RECORD_SHARD_SEAL, .version = SHARD_SEAL_VERSION};
    record_add(&record, "name", ELEMENT_U8, name, count * TENSOR_NAME_SIZE);
    record_add(&record, "type", ELEMENT_U8, type, count);
    record_add(&record, "dim", ELEMENT_U32, dim, count);
    record_add(&record, "row_count", ELEMENT_U64, row_count, count);
    record_add(&record, "content", ELEMENT_U8, seal->content, count * sizeof seal->content[0]);
    if (seal->has_weights)
        weights_identity_add(&record, &seal->weights);
    return store_put(store, key, owner_id, &record, STORE_DURABLE, err);
}

enum error_code shard_seal_check_weights(const struct shard_seal *seal, const char *what,
                                         const struct weights_identity *expected, struct error *err)
{
    if (!seal->has_weights)
        return error_set(err, ERROR_CORRUPT,
                         "%s: expected a seal that names the weights used, found none", what);
    return weights_identity_check(expected, &seal->weights, what, err);
}

bool shard_seal_equal(const struct shard_seal *a, const struct shard_seal *b)
{
    bool equal = a->tensor_count == b->tensor_count;
    for (int i = 0; equal && i < a->tensor_count; i++)
        equal = strcmp(a->tensor[i].name, b->tensor[i].name) == 0 &&
                a->tensor[i].type == b->tensor[i].type && a->tensor[i].dim == b->tensor[i].dim &&
                a->tensor[i].row_count == b->tensor[i].row_count &&
                checksum_equal(&a->content[i], &b->content[i]);
    return equal;
}

int shard_seal_find(const struct shard_seal *seal, const char *name)
{
    for (int i = 0; i < seal->tensor_count; i++)
        if (strcmp(seal->tensor[i].name, name) == 0)
            return i;
    return -1;
}

/* The next tensor of the table, checked. */
static enum error_code add_tensor(const struct record_view *view, struct shard_seal *out,
                                  const char *name, struct tensor_spec found, struct error *err)
{
    struct tensor_spec *tensor = &out->tensor[out->tensor_count];
    if (!*name || !memchr(name, '\0', TENSOR_NAME_SIZE) || shard_seal_find(out, name) >= 0)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section name: expected a new name for tensor %d, found '%.*s'",
                         view->key, out->tensor_count, TENSOR_NAME_SIZE, name);
    if (!tensor_type_bytes(found.type))
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section type: expected 1 to %d for tensor %s, found %d",
                         view->key, TENSOR_TYPE_COUNT - 1, name, (int)found.type);
    if (found.dim == 0 || found.dim > TENSOR_DIM_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section dim: expected 1 to %d for tensor %s, found %" PRIu32,
                         view->key, TENSOR_DIM_MAX, name, found.dim);
    *tensor = found;
    memcpy(tensor->name, name, TENSOR_NAME_SIZE);
    out->tensor_count++;
    return ERROR_NONE;
}

enum error_code shard_seal_decode(const struct record_view *view, struct shard_seal *out,
                                  struct error *err)
{
    const void *name = NULL, *type = NULL, *dim = NULL, *row_count = NULL, *content = NULL;
    uint64_t count = 0;
    enum error_code rc = record_expect(view, RECORD_SHARD_SEAL, SHARD_SEAL_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "dim", ELEMENT_U32, -1, &dim, &count, err);
    if (rc == ERROR_NONE && (count == 0 || count > SHARD_TENSOR_COUNT_MAX))
        rc = error_set(err, ERROR_CORRUPT,
                       "record %s: section dim: expected 1 to %d tensors, found %" PRIu64,
                       view->key, SHARD_TENSOR_COUNT_MAX, count);
    const int64_t tensors = (int64_t)count;
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "name", ELEMENT_U8, tensors * TENSOR_NAME_SIZE, &name, NULL,
                                err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "type", ELEMENT_U8, tensors, &type, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "row_count", ELEMENT_U64, tensors, &row_count, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "content", ELEMENT_U8,
                                tensors * (int64_t)sizeof out->content[0], &content, NULL, err);
    *out = (struct shard_seal){0};
    for (int64_t i = 0; rc == ERROR_NONE && i < tensors; i++)
        rc = add_tensor(view, out, (const char *)name + i * TENSOR_NAME_SIZE,
                        (struct tensor_spec){.type = ((const uint8_t *)type)[i],
                                             .dim = ((const uint32_t *)dim)[i],
                                             .row_count = ((const uint64_t *)row_count)[i]},
                        err);
    if (rc == ERROR_NONE)
        memcpy(out->content, content, (size_t)tensors * sizeof out->content[0]);
    out->has_weights = rc == ERROR_NONE && record_has(view, "weights");
    return out->has_weights ? weights_identity_get(view, &out->weights, err) : rc;
}

enum error_code shard_seal_get(struct store *store, const char *key, const char *owner_id,
                               struct shard_seal *out, struct error *err)
{
    struct record_view view;
    enum error_code rc = store_get(store, key, owner_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = shard_seal_decode(&view, out, err);
    store_release_record(&view);
    return rc;
}
