/*
 * safetensors - named tensors in one file, in the exchange format of the PyTorch community.
 *
 *   offset size
 *      0    8   length N of the header, little-endian; here at most 1 MiB
 *      8    N   JSON: {"__metadata__":{text:text},
 *                      "<name>":{"dtype":"F32","shape":[..],"data_offsets":[begin,end]}, ..}
 *               (dtype F32 or I64), padded with spaces, so that the data starts at a multiple of 8
 *    8 + N      the tensors, in C order, little-endian; offsets count from here
 *
 * The writer orders tensors like the reference implementation: by alignment, widest elements first,
 * then by name. Metadata is in the order of its keys. So equal content gives equal bytes, and a
 * file can be identified by its hash. The reader is strict: no repeated name, no gap, no overlap,
 * nothing after the last tensor.
 */
#ifndef COMMON_FORMATS_ARRAYS_SAFETENSORS_H
#define COMMON_FORMATS_ARRAYS_SAFETENSORS_H

#include "common/base/error.h"
#include "common/base/json.h"

#include <stddef.h>
#include <stdint.h>

enum {
    SAFETENSORS_DIMS_MAX = 8,
    SAFETENSORS_TENSORS_MAX = 4096,
    SAFETENSORS_HEADER_MAX = 1 << 20,
};

enum safetensors_type { SAFETENSORS_F32, SAFETENSORS_I64, SAFETENSORS_TYPE_COUNT };

struct safetensors_tensor {
    const char *name;
    enum safetensors_type type;
    int dim_count; /* 0: a scalar */
    uint64_t dim[SAFETENSORS_DIMS_MAX];
    const void *data; /* data that was read may be unaligned: use memcpy() */
    uint64_t bytes;   /* set by the reader; the writer computes it from the shape */
};

struct safetensors_text {
    const char *key, *value;
};

struct safetensors { /* {0} is empty */
    struct safetensors_tensor *tensor;
    size_t tensor_count;
    struct safetensors_text *metadata;
    size_t metadata_count;
    struct json_document *header; /* of the reader: owns names and texts */
};

/* Encodes a file with these tensors and texts, in any order. Names and texts are UTF-8.
 * Owns:  *out belongs to the caller; memory_free().
 * Fails: ERROR_INVALID for a name that is empty or reserved, a repeated name or key, too many
 * dimensions or tensors, and a header above the limit; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code safetensors_encode(const struct safetensors *content, uint8_t **out,
                                              size_t *size, struct error *err);

/* Decodes a file; the tensors are in the order of their data. Messages name the file by `name`.
 * Owns:  *out, except the data, which is borrowed from `data` [size]; safetensors_release().
 * Fails: ERROR_INPUT naming the tensor, what was expected and what was found; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code safetensors_decode(const uint8_t *data, size_t size, const char *name,
                                              struct safetensors *out, struct error *err);
void safetensors_release(struct safetensors *content);

/* Returns NULL if there is no tensor of that name. */
const struct safetensors_tensor *safetensors_find(const struct safetensors *content,
                                                  const char *name);
const char *safetensors_metadata(const struct safetensors *content, const char *key);

#endif
