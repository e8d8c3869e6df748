#include "common/base/element.h"

size_t element_size(enum element_type type)
{
    static const size_t size[] = {
        [ELEMENT_U8] = 1,  [ELEMENT_U16] = 2, [ELEMENT_U32] = 4, [ELEMENT_U64] = 8,
        [ELEMENT_I32] = 4, [ELEMENT_I64] = 8, [ELEMENT_F32] = 4, [ELEMENT_F64] = 8,
    };
    return (unsigned)type < sizeof size / sizeof *size ? size[type] : 0;
}
