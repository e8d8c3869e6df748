#include "stages/partition/partition_trial.h"

#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/files/file.h"
#include "stages/partition/check/load_quality.h"
#include "stages/partition/layout/part_writer.h"
#include "stages/partition/layout/renumbering.h"
#include "stages/partition/methods/node_assigner.h"
#include "stages/plan/settings/setting_table.h"

struct trial {
    struct partition_input *input;
    const char *method;
    double seconds;
    uint64_t peak_bytes; /* of this process, or of the child that did the work */
    uint16_t *edge_part; /* node_assigner.h */
    struct renumbering renumbering;
    struct partition_quality quality;
    /* To measure by, whatever the method uses; {0}: none. */
    struct measured_loads loads;
    struct load_quality load_quality;
};

static enum error_code assign(struct trial *trial, struct error *err)
{
    struct partition_input *input = trial->input;
    const struct partition_request request = partition_input_request(input);
    const char *chosen = NULL;
    uint32_t *part = NULL;
    enum error_code rc = memory_new(&part, input->schema.node_count, "the assignment", err);
    const double before = clock_seconds();
    if (rc == ERROR_NONE)
        rc = node_assigner_run(&request, part, &trial->edge_part, &chosen, err);
    trial->seconds = clock_seconds() - before;
    if (chosen)
        trial->method = chosen;
    const uint64_t own = host_usage().peak_bytes, child = host_children_peak_bytes();
    trial->peak_bytes = own > child ? own : child;
    if (rc == ERROR_NONE && trial->loads.load)
        rc =
            load_quality_measure(request.store, request.schema, &trial->loads, part,
                                 (int)request.settings->partition.parts, &trial->load_quality, err);
    if (rc == ERROR_NONE)
        rc = renumbering_init(&trial->renumbering, part, input->schema.node_count,
                              (uint32_t)request.settings->partition.parts, err);
    memory_free(part);
    return rc == ERROR_NONE ? renumbering_by_type(&trial->renumbering, &input->schema, err) : rc;
}

static enum error_code measure(struct trial *trial, struct error *err)
{
    struct partition_input *input = trial->input;
    const struct numbering numbering = renumbering_view(&trial->renumbering);
    const struct part_writer writer = {
        .store = input->context->store,
        .partition_id = input->id,
        .schema = &input->schema,
        .numbering = &numbering,
        .in_degree = input->in_degree,
        .split_marks = input->split_marks,
        .edge_part = trial->edge_part,
        .budget_bytes = input->budget_bytes,
        .only_measures = true,
    };
    enum error_code rc = partition_quality_init(&trial->quality, input->id, &input->schema,
                                                numbering.part_count, err);
    return rc == ERROR_NONE ? part_writer_topologies(&writer, &trial->quality, NULL, err) : rc;
}

static void put_loads(struct json_writer *json, const struct load_quality *quality)
{
    json_open_object(json, "loads");
    json_put_double(json, "cut_share", quality->cut_share);
    json_open_object(json, "reads");
    json_put_double(json, "ratio", quality->reads.ratio);
    json_put_double(json, "variation", quality->reads.variation);
    json_put_double(json, "efficiency", quality->efficiency);
    json_close_object(json);
    json_close_object(json);
}

static enum error_code write_figures(struct trial *trial, struct error *err)
{
    const struct stage_context *context = trial->input->context;
    const struct pipeline_settings *settings = context->settings;
    const struct partition_report *report = partition_quality_finish(&trial->quality);
    struct partition_report sampled = *report; /* as a mini-batch sees it */
    if (trial->loads.load)
        sampled.cut_share = trial->load_quality.cut_share;
    const uint64_t batch_bytes =
        partition_report_round_bytes(&sampled, settings->sample.fanouts.value,
                                     settings->sample.fanouts.count, settings->sample.batch_size);
    struct json_writer json = {0}, figures = {0};
    enum error_code rc = partition_report_text(report, &figures, err);
    if (rc == ERROR_NONE) {
        json_open_object(&json, NULL);
        json_put_string(&json, "method", trial->method);
        json_put_double(&json, "seconds", trial->seconds);
        json_put_int64(&json, "peak_bytes", (int64_t)trial->peak_bytes);
        json_put_int64(&json, "batch_bytes", (int64_t)batch_bytes);
        if (trial->loads.load)
            put_loads(&json, &trial->load_quality);
        json_put_raw(&json, ",\"report\":");
        json_put_raw(&json, figures.text);
        json_close_object(&json);
        rc = json_writer_finish(&json, err);
    }
    if (rc == ERROR_NONE)
        rc = file_replace(context->trial_path, json.text, json.size, false, err);
    json_writer_release(&figures);
    json_writer_release(&json);
    return rc;
}

enum error_code partition_trial(struct partition_input *input, struct error *err)
{
    char name[SETTING_NAME_SIZE];
    struct trial trial = {.input = input, .method = name};
    (void)setting_print(setting_find("partition.method"), input->context->settings, name,
                        sizeof name);
    if (input->graphs.graph_count)
        return error_set(
            err, ERROR_INVALID,
            "with ingest.task: %s each graph is whole in a part: there are no methods to compare",
            task_name(input->schema.task));
    enum error_code rc = partition_input_measure(input, err);
    if (rc == ERROR_NONE && input->context->trial_loads)
        rc = measured_loads_read(input->context->trial_loads, input->context->store, &input->schema,
                                 input->in_degree, &trial.loads, err);
    if (rc == ERROR_NONE)
        rc = partition_input_take_loads(input, err);
    if (rc == ERROR_NONE)
        rc = assign(&trial, err);
    if (rc == ERROR_NONE)
        rc = measure(&trial, err);
    if (rc == ERROR_NONE)
        rc = write_figures(&trial, err);
    measured_loads_release(&trial.loads);
    partition_quality_release(&trial.quality);
    renumbering_release(&trial.renumbering);
    memory_free(trial.edge_part);
    return rc;
}
