/* fuzz_round_base - the base of a round from arbitrary sections. */
#include "store/records/round/round_base.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"version"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view view;
    int64_t version = 0;
    fuzz_record_view(data, size, RECORD_ROUND_BASE, names, sizeof names / sizeof *names, &view);
    if (round_base_decode(&view, 9, 5, &version, NULL) == ERROR_NONE)
        must(version >= 5 && version <= 9);
    fuzz_record_view_release(&view);
    return 0;
}
