/* The units of ingest and partition, which come before a run: one each. */
#include "stages/plan/chain/unit_row.h"

const struct unit_row ingest_unit = {.name = "ingest", .stage = "ingest"};
const struct unit_row partition_unit = {.name = "partition", .stage = "partition"};
