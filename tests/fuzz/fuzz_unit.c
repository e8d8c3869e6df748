/* fuzz_unit - names of units from the queue: what is one reads back as the same unit. */
#include "stages/plan/chain/unit.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct unit unit, again;
    struct error err = {0};
    char *text = malloc(size + 1), name[UNIT_NAME_SIZE];
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    const enum error_code rc = unit_parse(text, &unit, &err);
    must(rc == ERROR_NONE || rc == ERROR_INVALID);
    if (rc == ERROR_NONE) {
        must(unit.kind > UNIT_UNKNOWN && unit.kind < UNIT_KIND_COUNT);
        must(unit.round >= 0 && unit.slot >= 0 && unit.layer >= 0);
        unit_name(&unit, name);
        must(unit_parse(name, &again, &err) == ERROR_NONE && unit_equal(&unit, &again));
        (void)!unit_check_stage(&unit, "sample", &err);
    }
    free(text);
    return 0;
}
