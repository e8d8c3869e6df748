/* fuzz_npy - whatever the bytes, a header is refused or fits the file exactly. */
#include "common/base/error.h"
#include "common/formats/arrays/npy_header.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct npy_header header;
    if (npy_header_parse(data, size, size, "fuzz.npy", &header, &err) != ERROR_NONE) {
        must(err.code == ERROR_INPUT && err.message[0]);
        return 0;
    }
    uint64_t elements = 1;
    for (uint32_t i = 0; i < header.dimension_count; i++)
        elements *= header.shape[i];
    must(header.dimension_count <= NPY_DIMENSION_MAX);
    must(elements == header.element_count);
    must(header.data_offset + elements * header.item_size == size);
    return 0;
}
