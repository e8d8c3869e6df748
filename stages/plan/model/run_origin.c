#include "stages/plan/model/run_origin.h"

#include <inttypes.h>
#include <stdio.h>

bool run_is_imported(const struct pipeline_settings *settings)
{
    return settings->infer.model[0] != '\0';
}

/* Parses "<version> <hash> <run>". A version has at most 18 digits, so that nothing overflows. */
static bool read_origin(const char *text, struct run_origin *out)
{
    int end = 0;
    _Static_assert(CHECKSUM_TEXT_SIZE == 33 && ID_SIZE == 80, "as below");
    /* NOLINTNEXTLINE(cert-err34-c) */
    return sscanf(text, "%18" SCNd64 " %32[0-9a-f] %79s%n", &out->version, out->sum, out->run_id,
                  &end) == 3 &&
           !text[end] && out->version > 0 && out->version <= UINT32_MAX;
}

enum error_code run_origin_of(const struct pipeline_settings *settings, struct run_origin *out,
                              struct error *err)
{
    if (read_origin(settings->infer.model, out))
        return ERROR_NONE;
    return error_set(
        err, ERROR_INVALID,
        "infer.model is '%.200s', expected nothing: graphmill infer MODEL --on DATASET "
        "sets it",
        settings->infer.model);
}

bool run_is_warm(const struct pipeline_settings *settings)
{
    return settings->train_step.initial[0] != '\0';
}

enum error_code run_initial_of(const struct pipeline_settings *settings, struct run_origin *out,
                               struct error *err)
{
    if (read_origin(settings->train_step.initial, out))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "train-step.initial is '%.200s', which names a model: expected a run that "
                     "graphmill run or graphmill start began, since these read it",
                     settings->train_step.initial);
}

static void write_origin(char text[SETTING_PATH_SIZE], const struct weights_identity *identity,
                         const char *run_id)
{
    char sum[CHECKSUM_TEXT_SIZE];
    checksum_text(&identity->sum, sum);
    (void)snprintf(text, SETTING_PATH_SIZE, "%" PRId64 " %s %s", identity->version, sum, run_id);
}

void run_import_name(struct pipeline_settings *settings, const struct weights_identity *identity,
                     const char *run_id)
{
    write_origin(settings->infer.model, identity, run_id);
}

void run_initial_name(struct pipeline_settings *settings, const struct weights_identity *identity,
                      const char *run_id)
{
    write_origin(settings->train_step.initial, identity, run_id);
}

void run_import_name_nodes(struct pipeline_settings *settings, const struct wanted_nodes *wanted)
{
    char text[CHECKSUM_TEXT_SIZE];
    const struct checksum sum = checksum_of(wanted->node, wanted->count * sizeof *wanted->node);
    checksum_text(&sum, text);
    (void)snprintf(settings->infer.nodes, sizeof settings->infer.nodes, "%" PRIu32 " %s",
                   wanted->count, text);
}
