#include "store/records/round/shard_seal.h"

#include "common/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHARD_SEAL_VERSION = 4, DELTA_VERSION = 5 };

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
    uint64_t own_rows[DELTA_TENSOR_COUNT_MAX + 1];
    if (seal->is_delta) {
        memcpy(own_rows, seal->own.rows, count * sizeof *own_rows);
        own_rows[count] = seal->own.gone;
        record.version = DELTA_VERSION;
        record_add_text(&record, "base", seal->own.base);
        record_add(&record, "own_rows", ELEMENT_U64, own_rows, count + 1);
        record_add(&record, "own_content", ELEMENT_U8, seal->own.content,
                   (2 * count + 1) * sizeof *seal->own.content);
    }
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
    bool equal = a->tensor_count == b->tensor_count && a->is_delta == b->is_delta;
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

static enum error_code read_delta(const struct record_view *view, struct shard_seal *out,
                                  struct error *err)
{
    const void *rows = NULL, *content = NULL;
    const int count = out->tensor_count;
    if (count > DELTA_TENSOR_COUNT_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: %d tensors of a delta, expected at most %d", view->key, count,
                         DELTA_TENSOR_COUNT_MAX);
    enum error_code rc = record_text_get(view, "base", out->own.base, sizeof out->own.base, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "own_rows", ELEMENT_U64, count + 1, &rows, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "own_content", ELEMENT_U8,
                                (2 * count + 1) * (int64_t)sizeof *out->own.content, &content, NULL,
                                err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(out->own.rows, rows, (size_t)count * sizeof *out->own.rows);
    memcpy(&out->own.gone, (const uint64_t *)rows + count, sizeof out->own.gone);
    memcpy(out->own.content, content, (2 * (size_t)count + 1) * sizeof *out->own.content);
    for (int i = 0; i < count; i++)
        if (out->own.rows[i] > out->tensor[i].row_count)
            return error_set(
                err, ERROR_CORRUPT,
                "record %s: section own_rows: %" PRIu64 " of tensor %s, expected at most %" PRIu64,
                view->key, out->own.rows[i], out->tensor[i].name, out->tensor[i].row_count);
    out->is_delta = true;
    return ERROR_NONE;
}

enum error_code shard_seal_decode(const struct record_view *view, struct shard_seal *out,
                                  struct error *err)
{
    const void *name = NULL, *type = NULL, *dim = NULL, *row_count = NULL, *content = NULL;
    uint64_t count = 0;
    enum error_code rc =
        record_expect_among(view, RECORD_SHARD_SEAL, SHARD_SEAL_VERSION, DELTA_VERSION, err);
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
    if (rc == ERROR_NONE && view->version == DELTA_VERSION)
        rc = read_delta(view, out, err);
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

static void numbers_name(const char *tensor, char name[TENSOR_NAME_SIZE])
{
    (void)snprintf(name, TENSOR_NAME_SIZE, "%.26s_rows", tensor);
}

static void add_own(struct shard_seal *own, const struct tensor_spec *tensor,
                    const struct checksum *content)
{
    own->content[own->tensor_count] = *content;
    own->tensor[own->tensor_count++] = *tensor;
}

static struct tensor_spec numbers_of(const char *name, uint64_t row_count)
{
    struct tensor_spec tensor = {.type = TENSOR_I32, .dim = 1, .row_count = row_count};
    memcpy(tensor.name, name, strlen(name) + 1); /* of TENSOR_NAME_SIZE */
    return tensor;
}

void shard_seal_own(const struct shard_seal *delta, struct shard_seal *own)
{
    *own = (struct shard_seal){.tensor_count = 0};
    for (int i = 0; i < delta->tensor_count; i++) {
        char name[TENSOR_NAME_SIZE];
        struct tensor_spec rows = delta->tensor[i];
        rows.row_count = delta->own.rows[i];
        numbers_name(rows.name, name);
        const struct tensor_spec numbers = numbers_of(name, rows.row_count);
        add_own(own, &rows, &delta->own.content[own->tensor_count]);
        add_own(own, &numbers, &delta->own.content[own->tensor_count]);
    }
    const struct tensor_spec gone = numbers_of("gone", delta->own.gone);
    add_own(own, &gone, &delta->own.content[own->tensor_count]);
}

/* Returns the content of a tensor of a delta over a base tensor of content `base`. */
static struct checksum content_over(const struct shard_seal *delta, int tensor,
                                    const struct checksum *base)
{
    const struct checksum *own = delta->own.content;
    const size_t i = (size_t)tensor, count = (size_t)delta->tensor_count;
    const struct checksum_part sums[] = {
        {base, sizeof *base}, {&own[2 * i], 2 * sizeof *own}, {&own[2 * count], sizeof *own}};
    return checksum_of_parts(sums, 3);
}

enum error_code shard_seal_over(const struct shard_seal *own, const char *base_key,
                                const struct shard_seal *base, uint64_t row_count,
                                struct shard_seal *out, struct error *err)
{
    struct shard_seal expected;
    *out = (struct shard_seal){.tensor_count = base->tensor_count, .is_delta = true};
    if (base->tensor_count > DELTA_TENSOR_COUNT_MAX ||
        own->tensor_count != 2 * base->tensor_count + 1)
        return error_set(err, ERROR_INVALID,
                         "a delta of %d tensors over a shard of %d: expected two for each and one",
                         own->tensor_count, base->tensor_count);
    must(text_copy(out->own.base, sizeof out->own.base, base_key));
    memcpy(out->own.content, own->content, (size_t)own->tensor_count * sizeof *own->content);
    out->own.gone = own->tensor[own->tensor_count - 1].row_count;
    for (int i = 0; i < out->tensor_count; i++) {
        out->own.rows[i] = own->tensor[2 * (size_t)i].row_count;
        out->tensor[i] = base->tensor[i];
        out->tensor[i].row_count = row_count;
        out->content[i] = content_over(out, i, &base->content[i]);
    }
    shard_seal_own(out, &expected);
    return shard_seal_equal(own, &expected)
               ? ERROR_NONE
               : error_set(err, ERROR_INVALID, "the tensors of a delta are not those of its base");
}

enum error_code shard_seal_check_base(const struct shard_seal *delta, const struct shard_seal *base,
                                      struct error *err)
{
    if (base->is_delta)
        return error_set(err, ERROR_CORRUPT, "the base %s is a delta itself", delta->own.base);
    bool equal = base->tensor_count == delta->tensor_count;
    for (int i = 0; equal && i < base->tensor_count; i++) {
        const struct checksum expected = content_over(delta, i, &base->content[i]);
        equal = strcmp(base->tensor[i].name, delta->tensor[i].name) == 0 &&
                base->tensor[i].type == delta->tensor[i].type &&
                base->tensor[i].dim == delta->tensor[i].dim &&
                checksum_equal(&expected, &delta->content[i]);
    }
    return equal ? ERROR_NONE
                 : error_set(err, ERROR_CORRUPT,
                             "the base %s holds other rows than the delta was made over",
                             delta->own.base);
}
