#include "stages/engine/stage_list.h"

#include <stdio.h>
#include <string.h>

#define STAGE_ROW(name, threads, memory) {name, threads, memory},
const struct stage_row stage_list[STAGE_COUNT] = {STAGE_ONCE_LIST(STAGE_ROW)
                                                      STAGE_LOOP_LIST(STAGE_ROW)};

const struct stage_row *const stage_loop = stage_list + STAGE_ONCE_COUNT;

void stage_list_names(char text[STAGE_NAMES_SIZE])
{
    text[0] = '\0';
    for (int i = 0; i < STAGE_COUNT; i++) {
        const size_t at = strlen(text);
        const char *gap = i == 0 ? "" : i == STAGE_COUNT - 1 ? " or " : ", ";
        (void)snprintf(text + at, STAGE_NAMES_SIZE - at, "%s%s", gap, stage_list[i].name);
    }
}
