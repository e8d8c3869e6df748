/* fuzz_file_kind - whatever the first bytes of a file are, looking at them stays inside of them,
 * and a kind has a name and a way out. */
#include "common/base/memory.h"
#include "common/formats/bytes/file_kind.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    uint8_t *copy = NULL; /* of this size, so that a sanitizer sees a read behind it */
    must(memory_new(&copy, size + 1, "a copy", NULL) == ERROR_NONE);
    uint8_t *exact = memory_resize(copy, size ? size : 1, 1);
    must(exact);
    if (size)
        memcpy(exact, data, size);
    const struct kind_of_file *kind = file_kind_find(exact, size);
    if (kind) {
        must(kind->name[0] && kind->way_out[0]);
        must(file_kind_refuse(kind, "a/file", "edges", &err) == ERROR_INPUT);
        must(strstr(err.message, kind->name));
    }
    memory_free(exact);
    return 0;
}
