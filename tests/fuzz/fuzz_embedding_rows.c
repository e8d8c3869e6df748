/* fuzz_embedding_rows - rows of embeddings from arbitrary sections; what a reader lets through is read to its end. */
#include "store/records/round/embedding_rows.h"

#include "tests/fuzz/fuzz_record_view.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"span", "node", "value", "first", "second", "updates"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view view;
    struct embedding_rows rows;
    fuzz_record_view(data, size, RECORD_EMBEDDING_ROWS, names, sizeof names / sizeof *names, &view);
    if (embedding_rows_decode(&view, &rows, NULL) == ERROR_NONE) {
        must(rows.version > 0 && rows.width > 0 && (!rows.second || rows.first));
        for (uint64_t i = 0; i < rows.count; i++)
            must((i == 0 || rows.node[i] > rows.node[i - 1]) &&
                 (!rows.updates || rows.updates[i] > 0));
        for (uint64_t i = 0; i < rows.count * rows.width; i++)
            must(isfinite(rows.value[i]) && (!rows.first || isfinite(rows.first[i])) &&
                 (!rows.second || isfinite(rows.second[i])));
    }
    fuzz_record_view_release(&view);
    return 0;
}
