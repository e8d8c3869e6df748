#include "common/formats/arrays/safetensors.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_SIZE = 8, DATA_ALIGNMENT = 8 };

static const struct {
    const char *name;
    uint64_t size; /* of an element */
} types[SAFETENSORS_TYPE_COUNT] = {[SAFETENSORS_F32] = {"F32", 4}, [SAFETENSORS_I64] = {"I64", 8}};

static const char metadata_key[] = "__metadata__";

/* Computes the bytes of the shape; returns false if they do not fit 63 bits. */
static bool shape_bytes(const struct safetensors_tensor *tensor, uint64_t *bytes)
{
    uint64_t product = types[tensor->type].size;
    bool is_empty = false;
    for (int i = 0; i < tensor->dim_count; i++) {
        is_empty = is_empty || tensor->dim[i] == 0;
        if (tensor->dim[i] && product > (uint64_t)INT64_MAX / tensor->dim[i])
            return false;
        product *= tensor->dim[i] ? tensor->dim[i] : 1;
    }
    *bytes = is_empty ? 0 : product;
    return true;
}

/* --- writing --- */

static int by_width_and_name(const void *a, const void *b)
{
    const struct safetensors_tensor *x = a, *y = b;
    if (types[x->type].size != types[y->type].size)
        return types[x->type].size > types[y->type].size ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct safetensors_text *)a)->key,
                  ((const struct safetensors_text *)b)->key);
}

static enum error_code check_tensor(const struct safetensors_tensor *tensor, uint64_t *bytes,
                                    struct error *err)
{
    if (!*tensor->name || strcmp(tensor->name, metadata_key) == 0)
        return error_set(err, ERROR_INVALID, "a tensor cannot be called '%s'", tensor->name);
    if (tensor->dim_count < 0 || tensor->dim_count > SAFETENSORS_DIMS_MAX)
        return error_set(err, ERROR_INVALID, "tensor %s has %d dimensions, expected at most %d",
                         tensor->name, tensor->dim_count, SAFETENSORS_DIMS_MAX);
    if (!shape_bytes(tensor, bytes))
        return error_set(err, ERROR_INVALID, "tensor %s: the shape is larger than any memory",
                         tensor->name);
    return ERROR_NONE;
}

static enum error_code write_metadata(struct json_writer *json, const struct safetensors *sorted,
                                      struct error *err)
{
    if (sorted->metadata_count == 0)
        return ERROR_NONE;
    json_open_object(json, metadata_key);
    for (size_t i = 0; i < sorted->metadata_count; i++) {
        const char *key = sorted->metadata[i].key;
        if (i && strcmp(sorted->metadata[i - 1].key, key) == 0)
            return error_set(err, ERROR_INVALID, "two texts of the metadata are called '%s'", key);
        json_put_string(json, key, sorted->metadata[i].value);
    }
    json_close_object(json);
    return ERROR_NONE;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum error_code check_names(const struct safetensors *content, struct error *err)
{
    const char **name = NULL;
    enum error_code rc = memory_new(&name, content->tensor_count, "tensor names", err);
    for (size_t i = 0; rc == ERROR_NONE && i < content->tensor_count; i++)
        name[i] = content->tensor[i].name;
    if (rc == ERROR_NONE)
        qsort((void *)name, content->tensor_count, sizeof *name, by_name);
    for (size_t i = 1; rc == ERROR_NONE && i < content->tensor_count; i++)
        if (strcmp(name[i - 1], name[i]) == 0)
            rc = error_set(err, ERROR_INVALID, "two tensors are called '%s'", name[i]);
    memory_free((void *)name);
    return rc;
}

/* Writes the tensors, and sets their sizes. */
static enum error_code write_tensors(struct json_writer *json, const struct safetensors *sorted,
                                     uint64_t *data_bytes, struct error *err)
{
    uint64_t at = 0;
    for (size_t i = 0; i < sorted->tensor_count; i++) {
        struct safetensors_tensor *tensor = &sorted->tensor[i];
        const enum error_code rc = check_tensor(tensor, &tensor->bytes, err);
        if (rc != ERROR_NONE)
            return rc;
        if (tensor->bytes > (uint64_t)INT64_MAX - at)
            return error_set(err, ERROR_INVALID, "the tensors are larger than any memory");
        json_open_object(json, tensor->name);
        json_put_string(json, "dtype", types[tensor->type].name);
        json_open_array(json, "shape");
        for (int k = 0; k < tensor->dim_count; k++)
            json_put_int64(json, NULL, (int64_t)tensor->dim[k]);
        json_close_array(json);
        json_open_array(json, "data_offsets");
        json_put_int64(json, NULL, (int64_t)at);
        at += tensor->bytes;
        json_put_int64(json, NULL, (int64_t)at);
        json_close_array(json);
        json_close_object(json);
    }
    *data_bytes = at;
    return ERROR_NONE;
}

static enum error_code write_header(struct json_writer *json, const struct safetensors *sorted,
                                    uint64_t *data_bytes, struct error *err)
{
    json_open_object(json, NULL);
    enum error_code rc = write_metadata(json, sorted, err);
    if (rc == ERROR_NONE)
        rc = write_tensors(json, sorted, data_bytes, err);
    if (rc != ERROR_NONE)
        return rc;
    json_close_object(json);
    while (json->size % DATA_ALIGNMENT && !json->failed)
        json_put_raw(json, " ");
    rc = json_writer_finish(json, err);
    if (rc == ERROR_NONE && json->size > SAFETENSORS_HEADER_MAX)
        return error_set(err, ERROR_INVALID, "the header has %zu bytes, expected at most %d",
                         json->size, SAFETENSORS_HEADER_MAX);
    return rc;
}

static void put_length(uint8_t out[LENGTH_SIZE], uint64_t length)
{
    for (int i = 0; i < LENGTH_SIZE; i++)
        out[i] = (uint8_t)(length >> 8 * i);
}

static enum error_code assemble(const struct json_writer *json, const struct safetensors *sorted,
                                uint64_t data_bytes, uint8_t **out, size_t *size, struct error *err)
{
    const enum error_code rc =
        memory_new(out, LENGTH_SIZE + json->size + data_bytes, "a safetensors file", err);
    if (rc != ERROR_NONE)
        return rc;
    uint8_t *at = *out;
    put_length(at, json->size);
    at += LENGTH_SIZE;
    memcpy(at, json->text, json->size);
    at += json->size;
    for (size_t i = 0; i < sorted->tensor_count; at += sorted->tensor[i++].bytes)
        if (sorted->tensor[i].bytes)
            memcpy(at, sorted->tensor[i].data, sorted->tensor[i].bytes);
    *size = LENGTH_SIZE + json->size + data_bytes;
    return ERROR_NONE;
}

static enum error_code copy_sorted(const struct safetensors *content, struct safetensors *sorted,
                                   struct error *err)
{
    enum error_code rc = memory_new(&sorted->tensor, content->tensor_count, "tensor names", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&sorted->metadata, content->metadata_count, "metadata", err);
    if (rc != ERROR_NONE)
        return rc;
    sorted->tensor_count = content->tensor_count;
    sorted->metadata_count = content->metadata_count;
    for (size_t i = 0; i < content->tensor_count; i++)
        sorted->tensor[i] = content->tensor[i];
    for (size_t i = 0; i < content->metadata_count; i++)
        sorted->metadata[i] = content->metadata[i];
    qsort(sorted->tensor, sorted->tensor_count, sizeof *sorted->tensor, by_width_and_name);
    qsort(sorted->metadata, sorted->metadata_count, sizeof *sorted->metadata, by_key);
    return ERROR_NONE;
}

enum error_code safetensors_encode(const struct safetensors *content, uint8_t **out, size_t *size,
                                   struct error *err)
{
    struct safetensors sorted = {0};
    struct json_writer json = {0};
    uint64_t data_bytes = 0;
    *out = NULL;
    *size = 0;
    if (content->tensor_count > SAFETENSORS_TENSORS_MAX)
        return error_set(err, ERROR_INVALID, "%zu tensors, expected at most %d",
                         content->tensor_count, SAFETENSORS_TENSORS_MAX);
    enum error_code rc = check_names(content, err);
    if (rc == ERROR_NONE)
        rc = copy_sorted(content, &sorted, err);
    if (rc != ERROR_NONE)
        goto cleanup;
    rc = write_header(&json, &sorted, &data_bytes, err);
    if (rc != ERROR_NONE)
        goto cleanup;
    rc = assemble(&json, &sorted, data_bytes, out, size, err);
cleanup:
    json_writer_release(&json);
    safetensors_release(&sorted);
    return rc;
}

/* --- reading --- */

/* Begin and end of a tensor's data, stored next to it while the order is checked. */
struct extent {
    uint64_t begin, end;
    struct safetensors_tensor tensor;
};

static int by_extent(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return strcmp(x->tensor.name, y->tensor.name);
}

/* Finds the JSON between the length and the data. */
static enum error_code find_header(const uint8_t *data, size_t size, const char *name,
                                   size_t *header_size, struct error *err)
{
    uint64_t length = 0;
    if (size < LENGTH_SIZE)
        return error_set(err, ERROR_INPUT, "%s: %zu bytes, expected a length of %d", name, size,
                         LENGTH_SIZE);
    for (int i = LENGTH_SIZE; i-- > 0;)
        length = length << 8 | data[i];
    if (length < 2 || length > SAFETENSORS_HEADER_MAX)
        return error_set(err, ERROR_INPUT,
                         "%s: offset 0: the header has %" PRIu64 " bytes, expected 2 to %d", name,
                         length, SAFETENSORS_HEADER_MAX);
    if (length > size - LENGTH_SIZE)
        return error_set(err, ERROR_INPUT,
                         "%s: the header has %" PRIu64 " bytes, found the end of file after %zu",
                         name, length, size - LENGTH_SIZE);
    if (data[LENGTH_SIZE] != '{')
        return error_set(err, ERROR_INPUT, "%s: offset %d: expected '{', found byte %d", name,
                         LENGTH_SIZE, data[LENGTH_SIZE]);
    *header_size = (size_t)length;
    return ERROR_NONE;
}

static enum error_code read_metadata(const struct json_node *node, const char *name,
                                     struct safetensors *out, struct error *err)
{
    const size_t count = json_count(node);
    if (!json_node_is_object(node) || count > SAFETENSORS_TENSORS_MAX)
        return error_set(err, ERROR_INPUT, "%s: %s: expected an object of at most %d texts", name,
                         metadata_key, SAFETENSORS_TENSORS_MAX);
    const enum error_code rc = memory_new(&out->metadata, count, "metadata", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < count; i++) {
        const struct json_node *value = NULL;
        const char *key = json_member(node, i, &value);
        if (!key || !json_text(value))
            return error_set(err, ERROR_INPUT, "%s: %s: %s: expected a text, found another type",
                             name, metadata_key, key ? key : "");
        out->metadata[out->metadata_count++] =
            (struct safetensors_text){.key = key, .value = json_text(value)};
    }
    return ERROR_NONE;
}

static enum error_code read_shape(const struct json_node *shape, const char *name,
                                  struct extent *out, struct error *err)
{
    const size_t count = json_count(shape);
    if (!json_node_is_array(shape) || count > SAFETENSORS_DIMS_MAX)
        return error_set(err, ERROR_INPUT,
                         "%s: tensor %s: shape: expected at most %d dimensions, "
                         "found %zu",
                         name, out->tensor.name, SAFETENSORS_DIMS_MAX, count);
    for (size_t i = 0; i < count; i++) {
        int64_t dim = 0;
        if (!json_int64(json_at(shape, i), &dim) || dim < 0)
            return error_set(err, ERROR_INPUT,
                             "%s: tensor %s: shape[%zu]: expected a whole number from 0", name,
                             out->tensor.name, i);
        out->tensor.dim[i] = (uint64_t)dim;
    }
    out->tensor.dim_count = (int)count;
    if (!shape_bytes(&out->tensor, &out->tensor.bytes))
        return error_set(err, ERROR_INPUT, "%s: tensor %s: the shape is larger than any file", name,
                         out->tensor.name);
    return ERROR_NONE;
}

static enum error_code read_extent(const struct json_node *offsets, const char *name,
                                   struct extent *out, struct error *err)
{
    int64_t begin = -1, end = -1;
    if (!json_node_is_array(offsets) || json_count(offsets) != 2 ||
        !json_int64(json_at(offsets, 0), &begin) || !json_int64(json_at(offsets, 1), &end) ||
        begin < 0 || end < begin)
        return error_set(err, ERROR_INPUT,
                         "%s: tensor %s: data_offsets: expected [begin, end], begin from 0 and not "
                         "above end",
                         name, out->tensor.name);
    out->begin = (uint64_t)begin;
    out->end = (uint64_t)end;
    if (out->end - out->begin != out->tensor.bytes)
        return error_set(err, ERROR_INPUT,
                         "%s: tensor %s: data_offsets: expected %" PRIu64
                         " bytes as the shape has, found %" PRIu64,
                         name, out->tensor.name, out->tensor.bytes, out->end - out->begin);
    return ERROR_NONE;
}

static enum error_code read_tensor(const struct json_node *node, const char *name,
                                   struct extent *out, struct error *err)
{
    const char *type = json_text(json_get(node, "dtype"));
    int found = 0;
    while (found < SAFETENSORS_TYPE_COUNT && (!type || strcmp(type, types[found].name) != 0))
        found++;
    if (found == SAFETENSORS_TYPE_COUNT)
        return error_set(err, ERROR_INPUT, "%s: tensor %s: dtype: expected F32 or I64, found %s",
                         name, out->tensor.name, type ? type : "none");
    out->tensor.type = (enum safetensors_type)found;
    if (json_count(node) != 3)
        return error_set(err, ERROR_INPUT,
                         "%s: tensor %s: expected dtype, shape and data_offsets, found %zu members",
                         name, out->tensor.name, json_count(node));
    const enum error_code rc = read_shape(json_get(node, "shape"), name, out, err);
    return rc != ERROR_NONE ? rc : read_extent(json_get(node, "data_offsets"), name, out, err);
}

/* Reads all members of the header: metadata into `out`, tensors into `extent`. */
static enum error_code read_members(const struct json_node *root, const char *name,
                                    struct safetensors *out, struct extent *extent,
                                    struct error *err)
{
    const size_t count = json_count(root);
    for (size_t i = 0; i < count; i++) {
        const struct json_node *value = NULL;
        const char *key = json_member(root, i, &value);
        must(key != NULL);
        enum error_code rc = ERROR_NONE;
        if (strcmp(key, metadata_key) == 0) {
            rc = read_metadata(value, name, out, err);
        } else {
            extent[out->tensor_count].tensor.name = key;
            rc = read_tensor(value, name, &extent[out->tensor_count++], err);
        }
        if (rc != ERROR_NONE)
            return rc;
    }
    return ERROR_NONE;
}

/* Checks that the tensors, in the order of their data, follow one another without a gap to the end
 * of the file. */
static enum error_code place_tensors(struct extent *extent, const uint8_t *data, size_t data_bytes,
                                     const char *name, struct safetensors *out, struct error *err)
{
    uint64_t at = 0;
    if (out->tensor_count)
        qsort(extent, out->tensor_count, sizeof *extent, by_extent);
    for (size_t i = 0; i < out->tensor_count; i++) {
        if (extent[i].begin != at)
            return error_set(err, ERROR_INPUT,
                             "%s: tensor %s: data_offsets: expected to begin at %" PRIu64
                             ", found %" PRIu64,
                             name, extent[i].tensor.name, at, extent[i].begin);
        if (extent[i].end > data_bytes)
            return error_set(err, ERROR_INPUT,
                             "%s: tensor %s: expected data up to %" PRIu64
                             ", found the end of file after %zu",
                             name, extent[i].tensor.name, extent[i].end, data_bytes);
        out->tensor[i] = extent[i].tensor;
        out->tensor[i].data = data + at;
        at = extent[i].end;
    }
    if (at != data_bytes)
        return error_set(err, ERROR_INPUT, "%s: expected %" PRIu64 " bytes of data, found %zu more",
                         name, at, data_bytes - (size_t)at);
    return ERROR_NONE;
}

static enum error_code read_header(const struct json_node *root, const uint8_t *data,
                                   size_t data_bytes, const char *name, struct safetensors *out,
                                   struct error *err)
{
    struct extent *extent = NULL;
    const size_t count = json_count(root);
    if (!json_node_is_object(root) || count > SAFETENSORS_TENSORS_MAX)
        return error_set(err, ERROR_INPUT, "%s: %zu tensors, expected at most %d", name, count,
                         SAFETENSORS_TENSORS_MAX);
    enum error_code rc = memory_new(&extent, count, "tensor offsets", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->tensor, count, "tensor names", err);
    if (rc == ERROR_NONE)
        rc = read_members(root, name, out, extent, err);
    if (rc == ERROR_NONE)
        rc = place_tensors(extent, data, data_bytes, name, out, err);
    memory_free(extent);
    return rc;
}

enum error_code safetensors_decode(const uint8_t *data, size_t size, const char *name,
                                   struct safetensors *out, struct error *err)
{
    size_t header_size = 0;
    *out = (struct safetensors){0};
    enum error_code rc = find_header(data, size, name, &header_size, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = json_parse((const char *)data + LENGTH_SIZE, header_size, name, &out->header, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = read_header(json_root(out->header), data + LENGTH_SIZE + header_size,
                     size - LENGTH_SIZE - header_size, name, out, err);
    if (rc != ERROR_NONE)
        safetensors_release(out);
    return rc;
}

void safetensors_release(struct safetensors *content)
{
    memory_free(content->tensor);
    memory_free(content->metadata);
    json_free(content->header);
    *content = (struct safetensors){0};
}

const struct safetensors_tensor *safetensors_find(const struct safetensors *content,
                                                  const char *name)
{
    for (size_t i = 0; i < content->tensor_count; i++)
        if (strcmp(content->tensor[i].name, name) == 0)
            return &content->tensor[i];
    return NULL;
}

const char *safetensors_metadata(const struct safetensors *content, const char *key)
{
    for (size_t i = 0; i < content->metadata_count; i++)
        if (strcmp(content->metadata[i].key, key) == 0)
            return content->metadata[i].value;
    return NULL;
}
