/*
 * element - the types of numbers in arrays. The values are stored in records: never renumber, only
 * add.
 */
#ifndef COMMON_NUMBERS_ELEMENT_H
#define COMMON_NUMBERS_ELEMENT_H

#include <stddef.h>

enum element_type {
    ELEMENT_UNKNOWN = 0,
    ELEMENT_U8 = 1,
    ELEMENT_U16 = 2,
    ELEMENT_U32 = 3,
    ELEMENT_U64 = 4,
    ELEMENT_I32 = 5,
    ELEMENT_I64 = 6,
    ELEMENT_F32 = 7,
    ELEMENT_F64 = 8,
};

/* Returns the bytes of an element; 0 for a value that is no type. */
static inline size_t element_size(enum element_type type)
{
    static const unsigned char size[] = {
        [ELEMENT_U8] = 1,  [ELEMENT_U16] = 2, [ELEMENT_U32] = 4, [ELEMENT_U64] = 8,
        [ELEMENT_I32] = 4, [ELEMENT_I64] = 8, [ELEMENT_F32] = 4, [ELEMENT_F64] = 8,
    };
    return (unsigned)type < sizeof size ? size[type] : 0;
}

#endif
