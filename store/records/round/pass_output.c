#include "store/records/round/pass_output.h"

#include "store/records/section_table.h"

#include <inttypes.h>
#include <string.h>

static const char value_name[] = "value";

static enum element_type element_of(enum precision precision)
{
    return precision == PRECISION_BF16 ? ELEMENT_U16 : ELEMENT_F32;
}

static uint64_t values_of(const struct pass_output *output)
{
    return output->row_count * (uint64_t)precision_stride(output->precision, output->column_count);
}

static void add_values(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct pass_output *output = from;
    (void)scratch;
    record_add(record, value_name, element_of(output->precision), output->value, values_of(output));
}

/* The type of the elements says the precision. */
static enum error_code read_values(const struct record_view *view, void *out, struct error *err)
{
    struct pass_output *output = out;
    uint64_t count = 0;
    output->precision =
        record_section_type(view, value_name) == ELEMENT_U16 ? PRECISION_BF16 : PRECISION_FP32;
    const enum error_code rc = record_section_get(view, value_name, element_of(output->precision),
                                                  -1, &output->value, &count, err);
    if (rc != ERROR_NONE || (count && count == values_of(output)))
        return rc;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: section value has %" PRIu64 " values, expected %" PRIu32
                     " rows of %" PRIu32 " columns",
                     view->key, count, output->row_count, output->column_count);
}

#define SECTION_STRUCT struct pass_output
static const struct section_row rows[] = {
    {SECTION_VALUE("version", U64, weights_version)},
    {SECTION_VALUES("shape", U32, row_count, column_count)},
    {SECTION_HAND(add_values, read_values)},
};
static const struct section_table table = SECTION_TABLE(RECORD_PASS_OUTPUT, 1, 1, rows);

enum error_code pass_output_put(struct store *store, const char *run_id, const struct key *key,
                                const struct pass_output *output, struct error *err)
{
    return section_table_put(store, &table, key->text, run_id, output, STORE_RECOMPUTABLE, err);
}

enum error_code pass_output_decode(const struct record_view *view, struct pass_output *out,
                                   struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code pass_output_get(struct store *store, const char *run_id, const struct key *key,
                                struct pass_output *out, struct error *err)
{
    return section_table_get(store, &table, key->text, run_id, out, err);
}
