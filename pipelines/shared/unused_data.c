#include "pipelines/shared/unused_data.h"

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "stages/plan/run/run_binding.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ITEM_COUNT = EDGE_COLUMN_COUNT + 2, ITEM_SIZE = 40 };

void unused_data_text(const struct dataset_schema *schema, const struct edge_use *use, char *text,
                      size_t size)
{
    /* Ids are not data for a model, labels are learned, and types are reported below. */
    const unsigned silent = use->columns | use->refused | use->sampled | 1U << EDGE_TYPE |
                            1U << EDGE_ID | 1U << EDGE_LABEL;
    const unsigned old = silent >> EDGE_TIME & 1 ? 1U << EDGE_TIME_F64 : 0;
    char item[ITEM_COUNT][ITEM_SIZE];
    int count = 0, at = 0;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (schema->edge_width.of[c] && !((silent | old) >> c & 1))
            (void)snprintf(item[count++], ITEM_SIZE, "%s", edge_column[c].plural);
    if (schema->edge_type_count > dataset_relation_count(schema) &&
        !(use->sampled >> EDGE_TYPE & 1))
        (void)snprintf(item[count++], ITEM_SIZE, "%" PRIu32 " edge types", schema->edge_type_count);
    if (schema->node_type_count > dataset_type_count(schema))
        (void)snprintf(item[count++], ITEM_SIZE, "%" PRIu32 " node types", schema->node_type_count);
    text[0] = '\0';
    for (int i = 0; i < count && at >= 0 && (size_t)at < size; i++) {
        const char *gap = i == 0 ? "" : i == count - 1 ? " and " : ", ";
        const int more = snprintf(text + at, size - (size_t)at, "%s%s", gap, item[i]);
        at = more < 0 ? more : at + more;
    }
}

static enum error_code read_schema(struct store *store, const struct pipeline_settings *settings,
                                   struct dataset_schema *out, struct error *err)
{
    char dataset_id[ID_SIZE];
    struct key newest;
    enum error_code rc = run_input_switch(settings, "dataset", &newest, err);
    if (rc == ERROR_NONE)
        rc = store_switch_get(store, newest.text, dataset_id, sizeof dataset_id, err);
    return rc == ERROR_NONE ? dataset_schema_get(store, dataset_id, out, err) : rc;
}

/* Returns whether the report of the dataset already has the warning. */
static bool is_said(const char *report, const char *warning)
{
    struct json_document *document = NULL;
    bool said = false;
    if (!report || json_parse(report, strlen(report), "report", &document, NULL) != ERROR_NONE)
        return false;
    const struct json_node *said_by_ingest = json_get(json_root(document), "warnings");
    for (size_t i = 0; i < json_count(said_by_ingest); i++) {
        const char *text = json_text(json_at(said_by_ingest, i));
        said |= text && strcmp(text, warning) == 0;
    }
    json_free(document);
    return said;
}

/* Warns about weights, unless ingest has done so because it knew whether training reads them. */
static enum error_code warn_of_weights(struct store *store,
                                       const struct pipeline_settings *settings,
                                       const struct dataset_schema *schema,
                                       const struct edge_use *use, struct error *err)
{
    char text[EDGE_USE_TEXT_SIZE];
    char *report = NULL;
    if (!edge_use_weights_differ(settings, schema, use, text))
        return ERROR_NONE;
    const enum error_code rc = dataset_report_get(store, schema->id, &report, err);
    if (rc == ERROR_NONE && !is_said(report, text))
        log_warn("dataset %s: %s", schema->id, text);
    memory_free(report);
    return rc;
}

enum error_code unused_data_warn(struct store *store, const struct pipeline_settings *settings,
                                 struct error *err)
{
    struct dataset_schema *schema = NULL;
    struct edge_use use;
    char text[160];
    enum error_code rc = memory_new(&schema, 1, "a dataset's schema", err);
    if (rc == ERROR_NONE)
        rc = read_schema(store, settings, schema, err);
    if (rc == ERROR_NONE)
        rc = edge_use_check(settings, schema, &use, err);
    if (rc == ERROR_NONE) {
        use.columns |= pipeline_sampler(settings)->needs;
        unused_data_text(schema, &use, text, sizeof text);
        if (text[0])
            log_warn("dataset %s has %s, which training DOES NOT USE: they change no result",
                     schema->id, text);
        rc = warn_of_weights(store, settings, schema, &use, err);
    }
    memory_free(schema);
    return rc;
}
