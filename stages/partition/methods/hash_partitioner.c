#include "stages/partition/methods/hash_partitioner.h"

#include "common/files/checksum.h"
#include "common/numbers/random.h"
#include "stages/partition/layout/assignment.h"
#include "stages/partition/rules/partitioner.h"

enum error_code hash_partition(uint32_t *part, uint32_t node_count, uint32_t part_count,
                               int64_t seed, struct error *err)
{
    for (uint32_t node = 0; node < node_count; node++) {
        const uint64_t named[2] = {(uint64_t)seed, node};
        part[node] = random_below((uint32_t)(checksum_64(named, sizeof named) >> 32), part_count);
    }
    return assignment_fill_empty(part, node_count, part_count, err);
}

static enum error_code assign(const struct partition_request *request, uint32_t *part,
                              struct error *err)
{
    const struct pipeline_settings *settings = request->settings;
    return hash_partition(part, request->schema->node_count, (uint32_t)settings->partition.parts,
                          settings->seed, err);
}

const struct partitioner hash_partitioner = {.assign = assign};
