/* tensor_spec - the type and shape of a tensor of a shard, for seals and for readers and writers of
 * its rows. */
#ifndef STORE_RECORDS_ROUND_TENSOR_SPEC_H
#define STORE_RECORDS_ROUND_TENSOR_SPEC_H

#include <stddef.h>
#include <stdint.h>

enum { TENSOR_NAME_SIZE = 32, SHARD_TENSOR_COUNT_MAX = 16 };

/* The type of the elements, which are little-endian; stored as a number. */
enum tensor_type {
    TENSOR_UNKNOWN = 0,
    TENSOR_F32 = 1,
    TENSOR_F16 = 2, /* IEEE 754 binary16 */
    TENSOR_BF16 = 3,
    TENSOR_I8 = 4,
    TENSOR_I32 = 5,
    TENSOR_I64 = 6,
    TENSOR_TYPE_COUNT
};

/* One tensor: [row_count, dim]. */
struct tensor_spec {
    char name[TENSOR_NAME_SIZE];
    enum tensor_type type;
    uint32_t dim;
    uint64_t row_count;
};

/* Returns the bytes of an element; 0 for an unknown type. */
static inline size_t tensor_type_bytes(enum tensor_type type)
{
    static const unsigned char bytes[TENSOR_TYPE_COUNT] = {0, 4, 2, 2, 1, 4, 8};
    return (unsigned)type < TENSOR_TYPE_COUNT ? bytes[type] : 0;
}

/* Returns the name in settings and messages. */
static inline const char *tensor_type_name(enum tensor_type type)
{
    static const char *const name[TENSOR_TYPE_COUNT] = {"unknown", "f32", "f16", "bf16",
                                                        "i8",      "i32", "i64"};
    return name[(unsigned)type < TENSOR_TYPE_COUNT ? type : TENSOR_UNKNOWN];
}

/* Returns the bytes of a row. */
static inline size_t tensor_row_bytes(const struct tensor_spec *tensor)
{
    return tensor->dim * tensor_type_bytes(tensor->type);
}

#endif
