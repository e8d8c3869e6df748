#include "store/records/pass_gradient.h"

#include "store/records/parameter_values.h"

#include <inttypes.h>
#include <string.h>

enum { PASS_GRADIENT_VERSION = 1 };

enum { PART_LAYER, PART_IS_NEXT, PART_ROWS, PART_COLUMNS, PART_FIELDS };

static uint64_t values_of(const struct pass_gradient_part *part)
{
    return part->row_count * (uint64_t)part->column_count;
}

/* Fills `part` [PASS_GRADIENT_PARTS_MAX, PART_FIELDS] and `type` [PASS_GRADIENT_PARTS_MAX], which
 * the record borrows. */
static void add_parts(struct record *record, const struct pass_gradient *g, uint32_t *part,
                      uint32_t *type)
{
    uint64_t values = 0;
    bool has_types = false;
    for (int i = 0; i < g->part_count; i++) {
        uint32_t *fields = part + (size_t)i * PART_FIELDS;
        must(g->part[i].row == g->part[0].row + values);
        fields[PART_LAYER] = g->part[i].layer;
        fields[PART_IS_NEXT] = g->part[i].is_next;
        fields[PART_ROWS] = g->part[i].row_count;
        fields[PART_COLUMNS] = g->part[i].column_count;
        values += values_of(&g->part[i]);
        type[i] = g->part[i].type;
        has_types |= type[i] > 0;
    }
    if (g->part_count == 0)
        return;
    record_add(record, "part", ELEMENT_U32, part, (uint64_t)g->part_count * PART_FIELDS);
    if (has_types)
        record_add(record, "type", ELEMENT_U32, type, (uint64_t)g->part_count);
    record_add(record, "row", ELEMENT_F32, g->part[0].row, values);
}

enum error_code pass_gradient_put(struct store *store, const char *run_id, const struct key *key,
                                  const struct pass_gradient *gradient, struct error *err)
{
    const uint64_t counts[2] = {gradient->seed_count, gradient->correct_count};
    uint32_t part[PASS_GRADIENT_PARTS_MAX * PART_FIELDS], type[PASS_GRADIENT_PARTS_MAX];
    struct record record = {.kind = RECORD_PASS_GRADIENT, .version = PASS_GRADIENT_VERSION};
    record_add(&record, "version", ELEMENT_U64, &gradient->weights_version, 1);
    if (gradient->value_count)
        record_add(&record, "value", ELEMENT_F32, gradient->value, gradient->value_count);
    add_parts(&record, gradient, part, type);
    if (gradient->has_loss) {
        record_add(&record, "counts", ELEMENT_U64, counts, 2);
        record_add(&record, "loss", ELEMENT_F64, &gradient->loss_sum, 1);
    }
    return store_put(store, key->text, run_id, &record, STORE_RECOMPUTABLE, err);
}

static enum error_code get_parts(const struct record_view *view, struct pass_gradient *g,
                                 struct error *err)
{
    const void *part = NULL, *row = NULL;
    uint64_t fields = 0, values = 0, found = 0;
    enum error_code rc = record_section_get(view, "part", ELEMENT_U32, -1, &part, &fields, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "row", ELEMENT_F32, -1, &row, &values, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t count = fields / PART_FIELDS;
    bool valid = count > 0 && fields % PART_FIELDS == 0 && count <= PASS_GRADIENT_PARTS_MAX;
    for (uint64_t i = 0; valid && i < count; i++) {
        const uint32_t *field = (const uint32_t *)part + i * PART_FIELDS;
        g->part[i] = (struct pass_gradient_part){.layer = field[PART_LAYER],
                                                 .is_next = field[PART_IS_NEXT] == 1,
                                                 .row_count = field[PART_ROWS],
                                                 .column_count = field[PART_COLUMNS]};
        const uint64_t own = values_of(&g->part[i]);
        valid = field[PART_IS_NEXT] <= 1 && own > 0 && own <= values - found;
        g->part[i].row = (const float *)row + found;
        found += own;
    }
    if (!valid || found != values)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section part has %" PRIu64 " numbers for %" PRIu64
                         " values, expected layer, place, rows and columns of each of up to %d "
                         "parts",
                         view->key, fields, values, PASS_GRADIENT_PARTS_MAX);
    g->part_count = (int)count;
    return ERROR_NONE;
}

/* After the parts. */
static enum error_code get_types(const struct record_view *view, struct pass_gradient *g,
                                 struct error *err)
{
    const void *type = NULL;
    const enum error_code rc =
        record_section_get(view, "type", ELEMENT_U32, g->part_count, &type, NULL, err);
    for (int i = 0; rc == ERROR_NONE && i < g->part_count; i++)
        g->part[i].type = ((const uint32_t *)type)[i];
    return rc;
}

enum error_code pass_gradient_decode(const struct record_view *view, struct pass_gradient *out,
                                     struct error *err)
{
    struct pass_gradient g = {.has_loss = record_has(view, "loss")};
    const void *data = NULL;
    enum error_code rc = record_expect(view, RECORD_PASS_GRADIENT, PASS_GRADIENT_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "version", ELEMENT_U64, 1, &data, NULL, err);
    if (rc == ERROR_NONE)
        memcpy(&g.weights_version, data, sizeof g.weights_version);
    if (rc == ERROR_NONE && record_has(view, "value")) {
        rc = record_section_get(view, "value", ELEMENT_F32, -1, &data, &g.value_count, err);
        g.value = data;
    }
    if (rc == ERROR_NONE && (record_has(view, "part") || record_has(view, "row")))
        rc = get_parts(view, &g, err);
    if (rc == ERROR_NONE && record_has(view, "type"))
        rc = get_types(view, &g, err);
    if (rc == ERROR_NONE && g.has_loss)
        rc = seed_counts_get(view, &g.seed_count, &g.correct_count, &g.loss_sum, err);
    if (rc == ERROR_NONE)
        *out = g;
    return rc;
}

enum error_code pass_gradient_get(struct store *store, const char *run_id, const struct key *key,
                                  struct pass_gradient *out, struct error *err)
{
    struct record_view view = {0};
    *out = (struct pass_gradient){0};
    enum error_code rc = store_get(store, key->text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = pass_gradient_decode(&view, out, err);
    if (rc == ERROR_NONE)
        out->view = view;
    else
        store_release_record(&view);
    return rc;
}
