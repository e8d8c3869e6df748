#include "store/records/round/gradient.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/records/parameter_values.h"
#include "store/records/round/embedding_rows.h"
#include "store/records/round/encoded_values.h"

#include <inttypes.h>
#include <string.h>

enum { GRADIENT_VERSION = 3 };

enum { GROUP_TYPE, GROUP_WIDTH, GROUP_ROWS, GROUP_FIELDS };

/* `group` [group_count, GROUP_FIELDS] is filled, and borrowed by the record. */
static void add_rows(struct record *record, const struct gradient *g,
                     const struct encoded_floats *encoded, uint32_t *group)
{
    uint64_t rows = 0, values = 0;
    for (int i = 0; i < g->group_count; i++) {
        const struct gradient_rows *of = &g->group[i];
        must(of->node == g->group[0].node + rows && of->gradient == g->group[0].gradient + values);
        group[i * GROUP_FIELDS + GROUP_TYPE] = of->type;
        group[i * GROUP_FIELDS + GROUP_WIDTH] = of->width;
        group[i * GROUP_FIELDS + GROUP_ROWS] = (uint32_t)of->count;
        rows += of->count;
        values += of->count * of->width;
    }
    if (g->group_count == 0)
        return;
    record_add(record, "row_node", ELEMENT_U32, g->group[0].node, rows);
    if (encoded->count)
        encoded_floats_add(encoded, "row", record);
    else
        record_add(record, "row_gradient", ELEMENT_F32, g->group[0].gradient, values);
    if (g->group_count > 1 || g->group[0].type != 0)
        record_add(record, "row_group", ELEMENT_U32, group,
                   (uint64_t)g->group_count * GROUP_FIELDS);
}

enum error_code gradient_put(struct store *store, const char *run_id, int64_t round, int slot,
                             const struct gradient *gradient, const struct gradient_form *form,
                             struct error *err)
{
    const uint64_t counts[2] = {gradient->seed_count, gradient->correct_count};
    uint32_t group[RELATION_TYPE_COUNT_MAX * GROUP_FIELDS];
    struct encoded_floats value, rows = {0};
    double error[2];
    struct record record = {.kind = RECORD_GRADIENT, .version = GRADIENT_VERSION};
    enum error_code rc = encoded_values_make(gradient, form, round, slot, &value, error, err);
    if (rc == ERROR_NONE)
        rc = encoded_rows_make(gradient, form, round, slot, &rows, err);
    if (rc == ERROR_NONE) {
        record_add(&record, "version", ELEMENT_U64, &gradient->weights_version, 1);
        if (gradient->value)
            encoded_values_add(&record, gradient->value, gradient->value_count, &value);
        else
            record_add(&record, "values_beside", ELEMENT_U64, &gradient->value_count, 1);
        encoding_error_add(&record, error);
        record_add(&record, "counts", ELEMENT_U64, counts, 2);
        record_add(&record, "loss", ELEMENT_F64, &gradient->loss_sum, 1);
        add_rows(&record, gradient, &rows, group);
        rc = store_put(store, key_gradient(run_id, round, slot).text, run_id, &record,
                       STORE_RECOMPUTABLE, err);
    }
    encoded_floats_free(&value);
    encoded_floats_free(&rows);
    return rc;
}

void gradient_release(struct gradient *gradient)
{
    memory_free(gradient->decoded);
    store_release_record(&gradient->view);
    *gradient = (struct gradient){0};
}

const struct gradient_rows *gradient_rows_of(const struct gradient *gradient, uint32_t type)
{
    for (int i = 0; i < gradient->group_count; i++)
        if (gradient->group[i].type == type)
            return &gradient->group[i];
    return NULL;
}

/* Rows of one width, for nodes of type 0. */
static enum error_code take_plain_group(const struct record_view *view, uint64_t rows,
                                        uint64_t values, struct gradient *g, struct error *err)
{
    if (rows == 0 || values == 0 || values % rows || values / rows > UINT16_MAX + 1U)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: the gradient of rows has %" PRIu64
                         " values, expected rows of 1 to 65536 for each of %" PRIu64 " nodes",
                         view->key, values, rows);
    g->group_count = 1;
    g->group[0] = (struct gradient_rows){.width = (uint32_t)(values / rows), .count = rows};
    return ERROR_NONE;
}

static enum error_code take_groups(const struct record_view *view, uint64_t rows, uint64_t values,
                                   struct gradient *g, struct error *err)
{
    const void *data = NULL;
    uint64_t numbers = 0;
    const enum error_code rc =
        record_section_get(view, "row_group", ELEMENT_U32, -1, &data, &numbers, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *group = data;
    const uint64_t count = numbers / GROUP_FIELDS;
    uint64_t has_rows = 0, has_values = 0;
    bool valid = numbers % GROUP_FIELDS == 0 && count >= 1 && count <= RELATION_TYPE_COUNT_MAX;
    for (uint64_t i = 0; valid && i < count; i++, group += GROUP_FIELDS) {
        g->group[i] = (struct gradient_rows){
            .type = group[GROUP_TYPE], .width = group[GROUP_WIDTH], .count = group[GROUP_ROWS]};
        valid = group[GROUP_ROWS] >= 1 && group[GROUP_WIDTH] >= 1 &&
                group[GROUP_WIDTH] <= UINT16_MAX + 1U &&
                group[GROUP_TYPE] < RELATION_TYPE_COUNT_MAX &&
                (i == 0 || group[GROUP_TYPE] > g->group[i - 1].type);
        has_rows += g->group[i].count;
        has_values += g->group[i].count * g->group[i].width;
    }
    if (!valid || has_rows != rows || has_values != values)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section row_group has %" PRIu64 " numbers for %" PRIu64
                         " rows of %" PRIu64
                         " values in all, expected type, width and rows of each group, types "
                         "ascending",
                         view->key, numbers, rows, values);
    g->group_count = (int)count;
    return ERROR_NONE;
}

/* The sections of a record before they are decoded. If `encoded` has a count, it replaces the
 * floats. */
struct raw_gradient {
    struct value_sections values;
    const float *row; /* borrowed */
    struct encoded_floats encoded_rows;
};

static enum error_code get_values(const struct record_view *view, struct raw_gradient *raw,
                                  struct error *err)
{
    const void *count = NULL;
    if (!record_has(view, "values_beside"))
        return value_sections_get(view, 0, &raw->values, err);
    const enum error_code rc =
        record_section_get(view, "values_beside", ELEMENT_U64, 1, &count, NULL, err);
    if (rc == ERROR_NONE)
        memcpy(&raw->values.value_count, count, sizeof raw->values.value_count);
    return rc;
}

/* The sections of rows. Gradients are placed later: of an encoded record they are not there yet. */
static enum error_code get_rows(const struct record_view *view, struct gradient *g,
                                struct raw_gradient *raw, struct error *err)
{
    const enum gradient_encoding encoding = encoded_floats_find(view, "row");
    const void *node = NULL, *gradient = NULL;
    uint64_t rows = 0, values = 0;
    enum error_code rc = record_section_get(view, "row_node", ELEMENT_U32, -1, &node, &rows, err);
    if (rc == ERROR_NONE && encoding == GRADIENT_F32)
        rc = record_section_get(view, "row_gradient", ELEMENT_F32, -1, &gradient, &values, err);
    else if (rc == ERROR_NONE)
        rc = encoded_rows_get(view, encoding, &raw->encoded_rows, err);
    raw->row = gradient;
    values += raw->encoded_rows.count;
    if (rc == ERROR_NONE)
        rc = record_has(view, "row_group") ? take_groups(view, rows, values, g, err)
                                           : take_plain_group(view, rows, values, g, err);
    const uint32_t *of_group = node;
    for (int i = 0; rc == ERROR_NONE && i < g->group_count; i++) {
        g->group[i].node = of_group;
        of_group += g->group[i].count;
        rc = embedding_nodes_check(view, "row_node", g->group[i].node, g->group[i].count, err);
    }
    return rc;
}

/* Where the floats of all are: in the record, or in memory of their own. */
static enum error_code place(struct raw_gradient *raw, struct gradient *g, struct error *err)
{
    const struct value_sections *values = &raw->values;
    const uint64_t encoded = values->encoded.count, rows = raw->encoded_rows.count;
    g->value_count = encoded + values->value_count;
    g->value = values->value;
    if (encoded + rows) {
        const enum error_code rc = memory_new(
            &g->decoded, (size_t)((encoded ? g->value_count : 0) + rows), "a gradient", err);
        if (rc != ERROR_NONE)
            return rc;
    }
    const double began = clock_seconds();
    float *next = g->decoded;
    if (encoded) {
        value_sections_read(values, next);
        g->value = next;
        next += g->value_count;
    }
    if (rows) {
        encoded_floats_read(&raw->encoded_rows, next);
        raw->row = next;
    }
    g->decode_seconds = encoded + rows ? clock_seconds() - began : 0;
    const float *row = raw->row;
    for (int i = 0; i < g->group_count; i++) {
        g->group[i].gradient = row;
        row += g->group[i].count * g->group[i].width;
    }
    return ERROR_NONE;
}

enum error_code gradient_decode(const struct record_view *view, struct gradient *out,
                                struct error *err)
{
    struct gradient g = {0};
    struct raw_gradient raw = {0};
    double error[2] = {0};
    const void *version = NULL;
    enum error_code rc = record_expect(view, RECORD_GRADIENT, GRADIENT_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "version", ELEMENT_U64, 1, &version, NULL, err);
    if (rc == ERROR_NONE)
        memcpy(&g.weights_version, version, sizeof g.weights_version);
    if (rc == ERROR_NONE)
        rc = get_values(view, &raw, err);
    if (rc == ERROR_NONE)
        rc = encoding_error_get(view, error, err);
    if (rc == ERROR_NONE)
        rc = seed_counts_get(view, &g.seed_count, &g.correct_count, &g.loss_sum, err);
    if (rc == ERROR_NONE && (record_has(view, "row_node") || record_has(view, "row_gradient") ||
                             record_has(view, "row_group")))
        rc = get_rows(view, &g, &raw, err);
    g.squared_error = error[0];
    g.squared_norm = error[1];
    if (rc == ERROR_NONE)
        rc = place(&raw, &g, err);
    if (rc == ERROR_NONE)
        *out = g;
    return rc;
}

enum error_code gradient_get(struct store *store, const char *run_id, int64_t round, int slot,
                             struct gradient *out, struct error *err)
{
    struct record_view view = {0};
    *out = (struct gradient){0};
    enum error_code rc =
        store_get(store, key_gradient(run_id, round, slot).text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = gradient_decode(&view, out, err);
    if (rc == ERROR_NONE)
        out->view = view;
    else
        store_release_record(&view);
    return rc;
}
