#include "stages/plan/run_origin.h"

#include <inttypes.h>
#include <stdio.h>

bool run_is_imported(const struct pipeline_settings *settings)
{
    return settings->infer.model[0] != '\0';
}

enum error_code run_origin_of(const struct pipeline_settings *settings, struct run_origin *out,
                              struct error *err)
{
    char sum[CHECKSUM_TEXT_SIZE];
    int end = 0;
    _Static_assert(CHECKSUM_TEXT_SIZE == 33 && ID_SIZE == 80, "as below");
    /* At most 18 digits, so that nothing overflows. NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(settings->infer.model, "%18" SCNd64 " %32[0-9a-f] %79s%n", &out->version, sum,
               out->run_id, &end) == 3 &&
        !settings->infer.model[end] && out->version > 0 && out->version <= UINT32_MAX)
        return ERROR_NONE;
    return error_set(
        err, ERROR_INVALID,
        "infer.model is '%.200s', expected nothing: graphmill infer MODEL --on DATASET "
        "sets it",
        settings->infer.model);
}

void run_import_name(struct pipeline_settings *settings, const struct weights_identity *identity,
                     const char *run_id)
{
    char sum[CHECKSUM_TEXT_SIZE];
    checksum_text(&identity->sum, sum);
    (void)snprintf(settings->infer.model, sizeof settings->infer.model, "%" PRId64 " %s %s",
                   identity->version, sum, run_id);
}

void run_import_name_nodes(struct pipeline_settings *settings, const struct wanted_nodes *wanted)
{
    char text[CHECKSUM_TEXT_SIZE];
    const struct checksum sum = checksum_of(wanted->node, wanted->count * sizeof *wanted->node);
    checksum_text(&sum, text);
    (void)snprintf(settings->infer.nodes, sizeof settings->infer.nodes, "%" PRIu32 " %s",
                   wanted->count, text);
}
