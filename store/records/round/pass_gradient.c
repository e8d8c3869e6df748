#include "store/records/round/pass_gradient.h"

#include "store/records/parameter_values.h"
#include "store/records/section_table.h"

#include <inttypes.h>

enum { PART_LAYER, PART_IS_NEXT, PART_ROWS, PART_COLUMNS, PART_FIELDS };

static uint64_t values_of(const struct pass_gradient_part *part)
{
    return part->row_count * (uint64_t)part->column_count;
}

static void add_parts(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct pass_gradient *g = from;
    const size_t count = (size_t)g->part_count * PART_FIELDS;
    uint32_t *part = section_scratch_take(scratch, count * sizeof *part);
    uint32_t *type = section_scratch_take(scratch, (size_t)g->part_count * sizeof *type);
    uint64_t values = 0;
    bool has_types = false;
    if (g->part_count == 0)
        return;
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
    record_add(record, "part", ELEMENT_U32, part, count);
    if (has_types)
        record_add(record, "type", ELEMENT_U32, type, (uint64_t)g->part_count);
    record_add(record, "row", ELEMENT_F32, g->part[0].row, values);
}

/* Reads the node types of the parts, which were read before. */
static enum error_code get_types(const struct record_view *view, struct pass_gradient *g,
                                 struct error *err)
{
    const void *type = NULL;
    if (!record_has(view, "type"))
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(view, "type", ELEMENT_U32, g->part_count, &type, NULL, err);
    for (int i = 0; rc == ERROR_NONE && i < g->part_count; i++)
        g->part[i].type = ((const uint32_t *)type)[i];
    return rc;
}

static enum error_code get_parts(const struct record_view *view, void *out, struct error *err)
{
    struct pass_gradient *g = out;
    const void *part = NULL, *row = NULL;
    uint64_t fields = 0, values = 0, found = 0;
    if (!record_has(view, "part") && !record_has(view, "row"))
        return ERROR_NONE;
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
    return get_types(view, g, err);
}

static enum error_code check_counts(const struct record_view *view, void *out, struct error *err)
{
    const struct pass_gradient *g = out;
    return seed_counts_check(view, g->seed_count, g->correct_count, err);
}

#define SECTION_STRUCT struct pass_gradient
static const struct section_row rows[] = {
    {SECTION_VALUE("version", U64, weights_version)},
    {SECTION_ARRAY("value", F32, value), .sets = AT(value_count), .when = AT(value_count),
     .if_there = true},
    {SECTION_HAND(add_parts, get_parts)},
    {SECTION_VALUES("counts", U64, seed_count, correct_count), .when = AT(has_loss),
     .if_there = true, .read = check_counts},
    {SECTION_VALUE("loss", F64, loss_sum), .when = AT(has_loss)},
};
static const struct section_table table = SECTION_TABLE(RECORD_PASS_GRADIENT, 1, 1, rows);

enum error_code pass_gradient_put(struct store *store, const char *run_id, const struct key *key,
                                  const struct pass_gradient *gradient, struct error *err)
{
    return section_table_put(store, &table, key->text, run_id, gradient, STORE_RECOMPUTABLE, err);
}

enum error_code pass_gradient_decode(const struct record_view *view, struct pass_gradient *out,
                                     struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code pass_gradient_get(struct store *store, const char *run_id, const struct key *key,
                                  struct pass_gradient *out, struct error *err)
{
    return section_table_get(store, &table, key->text, run_id, out, err);
}
