/* tensor_spec - what a tensor of a shard is: for the seals that name it, and for who reads and writes its rows. */
#ifndef STORE_RECORDS_TENSOR_SPEC_H
#define STORE_RECORDS_TENSOR_SPEC_H

#include <stdint.h>

enum { TENSOR_NAME_SIZE = 32, SHARD_TENSOR_COUNT_MAX = 8 };

/* One tensor: [row_count, dim] of 4-byte elements (float32, or int32 for single labels). */
struct tensor_spec {
    char name[TENSOR_NAME_SIZE];
    uint32_t dim;
    uint64_t row_count;
};

#endif
