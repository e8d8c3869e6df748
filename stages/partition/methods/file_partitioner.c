/* Takes the parts from a file, whatever made it (DGL's or ParMETIS's tools, a person). */
#include "common/formats/text/assignment_file.h"
#include "stages/partition/layout/assignment.h"
#include "stages/partition/rules/partitioner.h"

static enum error_code assign(const struct partition_request *request, uint32_t *part,
                              struct error *err)
{
    const char *path = request->settings->partition.assignment;
    const uint32_t node_count = request->schema->node_count;
    const uint32_t part_count = (uint32_t)request->settings->partition.parts;
    enum error_code rc = assignment_file_read(path, part_count, part, node_count, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = assignment_refuse_empty(part, node_count, part_count, err);
    return rc == ERROR_INPUT ? error_context(err, rc, "%s", path) : rc;
}

const struct partitioner file_partitioner = {.assign = assign};
