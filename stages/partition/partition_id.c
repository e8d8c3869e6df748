#include "stages/partition/partition_id.h"

#include "common/base/checksum.h"
#include "common/base/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Counts up when the same settings begin to give another partition. */
enum { PARTITION_RULES_VERSION = 1 };

enum error_code partition_id(const struct pipeline_settings *settings, const char *dataset_id,
                             char id[ID_SIZE], struct error *err)
{
    char text[SETTINGS_TEXT_SIZE], named[SETTINGS_TEXT_SIZE + 64];
    struct pipeline_settings normal = *settings;
    normal.partition.assignment[0] = '\0';
    if (normal.partition.method == PARTITION_FILE) {
        struct checksum sum;
        const enum error_code rc =
            checksum_of_file(settings->partition.assignment, &sum, NULL, err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "partition.assignment");
        checksum_text(&sum, normal.partition.assignment);
    }
    const enum error_code rc = pipeline_settings_text(&normal, "partition.", text, err);
    if (rc != ERROR_NONE)
        return rc;
    const int size = snprintf(named, sizeof named, "version = %d\nseed = %" PRId64 "\n%s",
                              PARTITION_RULES_VERSION, settings->seed, text);
    must(size > 0 && (size_t)size < sizeof named);
    const uint64_t hash = checksum_64(named, (size_t)size);
    const int length = snprintf(id, ID_SIZE, "%s-%08" PRIx32, dataset_id, (uint32_t)(hash >> 32));
    if (length < 0 || length >= ID_SIZE)
        return error_set(err, ERROR_INVALID, "the id of dataset %s is too long", dataset_id);
    return ERROR_NONE;
}
