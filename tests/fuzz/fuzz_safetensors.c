/*
 * Any bytes as a safetensors file: refused with its name, or tensors that fill the data without a gap,
 * and what is read can be written and read again as the same.
 */
#include "common/base/memory.h"
#include "common/formats/arrays/safetensors.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_layout(const struct safetensors *read, const uint8_t *data, size_t size)
{
    const uint8_t *at = data + size;
    for (size_t i = read->tensor_count; i-- > 0;) {
        const struct safetensors_tensor *tensor = &read->tensor[i];
        must(tensor->bytes <= (uint64_t)(at - data));
        at -= tensor->bytes;
        must(at == (const uint8_t *)tensor->data);
        must(tensor->dim_count >= 0 && tensor->dim_count <= SAFETENSORS_DIMS_MAX);
    }
    must(at >= data + 8);
}

static void check_round_trip(const struct safetensors *read)
{
    struct safetensors again;
    struct error err = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    const enum error_code rc = safetensors_encode(read, &bytes, &size, &err);
    if (rc != ERROR_NONE) { /* a tensor without a name, or escapes made the header too long */
        must(rc == ERROR_INVALID);
        return;
    }
    must(safetensors_decode(bytes, size, "again", &again, &err) == ERROR_NONE);
    must(again.tensor_count == read->tensor_count);
    for (size_t i = 0; i < read->tensor_count; i++) {
        const struct safetensors_tensor *tensor = safetensors_find(&again, read->tensor[i].name);
        must(tensor && tensor->bytes == read->tensor[i].bytes);
        must(memcmp(tensor->data, read->tensor[i].data, tensor->bytes) == 0);
    }
    safetensors_release(&again);
    memory_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors read;
    struct error err = {0};
    const enum error_code rc = safetensors_decode(data, size, "fuzz", &read, &err);
    must(rc == ERROR_NONE || (rc == ERROR_INPUT && strstr(err.message, "fuzz")));
    if (rc == ERROR_NONE) {
        check_layout(&read, data, size);
        check_round_trip(&read);
    }
    safetensors_release(&read);
    return 0;
}
