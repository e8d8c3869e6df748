#include "store/records/pass_output.h"

#include <inttypes.h>
#include <string.h>

enum { PASS_OUTPUT_VERSION = 1 };

enum { SHAPE_ROWS, SHAPE_COLUMNS, SHAPE_COUNT };

static enum element_type element_of(enum precision precision)
{
    return precision == PRECISION_BF16 ? ELEMENT_U16 : ELEMENT_F32;
}

enum error_code pass_output_put(struct store *store, const char *run_id, const struct key *key,
                                const struct pass_output *output, struct error *err)
{
    const uint32_t shape[SHAPE_COUNT] = {output->row_count, output->column_count};
    const uint64_t values =
        output->row_count * (uint64_t)precision_stride(output->precision, output->column_count);
    struct record record = {.kind = RECORD_PASS_OUTPUT, .version = PASS_OUTPUT_VERSION};
    record_add(&record, "version", ELEMENT_U64, &output->weights_version, 1);
    record_add(&record, "shape", ELEMENT_U32, shape, SHAPE_COUNT);
    record_add(&record, "value", element_of(output->precision), output->value, values);
    return store_put(store, key->text, run_id, &record, STORE_RECOMPUTABLE, err);
}

/* Its element type says the precision, so it is looked for by its name. */
static enum precision precision_of(const struct record_view *view)
{
    for (uint32_t i = 0; i < view->section_count; i++)
        if (strcmp(view->section[i].name, "value") == 0 && view->section[i].type == ELEMENT_U16)
            return PRECISION_BF16;
    return PRECISION_FP32;
}

enum error_code pass_output_decode(const struct record_view *view, struct pass_output *out,
                                   struct error *err)
{
    const void *version = NULL, *shape = NULL, *value = NULL;
    uint64_t count = 0;
    struct pass_output output = {.precision = precision_of(view)};
    enum error_code rc = record_expect(view, RECORD_PASS_OUTPUT, PASS_OUTPUT_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "version", ELEMENT_U64, 1, &version, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "shape", ELEMENT_U32, SHAPE_COUNT, &shape, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "value", element_of(output.precision), -1, &value, &count,
                                err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(&output.weights_version, version, sizeof output.weights_version);
    output.row_count = ((const uint32_t *)shape)[SHAPE_ROWS];
    output.column_count = ((const uint32_t *)shape)[SHAPE_COLUMNS];
    output.value = value;
    const uint64_t expected =
        output.row_count * (uint64_t)precision_stride(output.precision, output.column_count);
    if (expected == 0 || count != expected)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section value has %" PRIu64 " values, expected %" PRIu64
                         " rows of %" PRIu64 " columns",
                         view->key, count, (uint64_t)output.row_count,
                         (uint64_t)output.column_count);
    *out = output;
    return ERROR_NONE;
}

enum error_code pass_output_get(struct store *store, const char *run_id, const struct key *key,
                                struct pass_output *out, struct error *err)
{
    struct record_view view = {0};
    *out = (struct pass_output){0};
    enum error_code rc = store_get(store, key->text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = pass_output_decode(&view, out, err);
    if (rc == ERROR_NONE)
        out->view = view;
    else
        store_release_record(&view);
    return rc;
}
