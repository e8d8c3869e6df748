#include "stages/engine/stage_list.h"

const struct stage_row stage_list[STAGE_COUNT] = {
    {"ingest", false, 0},    {"partition", false, 0}, {"sample", false, 1},
    {"train-step", true, 2}, {"aggregate", false, 0}, {"checkpoint", false, 0},
    {"infer", true, 2},
};

const struct stage_row *const stage_loop = stage_list + STAGE_ONCE_COUNT;

const char stage_names_text[] =
    "ingest, partition, sample, train-step, aggregate, checkpoint or infer";
