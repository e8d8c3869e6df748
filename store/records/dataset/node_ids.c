#include "store/records/dataset/node_ids.h"

#include "common/base/text.h"
#include "common/formats/text/csv_field.h"
#include "store/records/section_checks.h"
#include "store/records/section_table.h"

#include <inttypes.h>
#include <stdio.h>

static void add_ids(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct node_ids *ids = from;
    (void)scratch;
    if (ids->integer) {
        record_add(record, "integer", ELEMENT_I64, ids->integer, ids->node_count);
    } else {
        record_add(record, "offset", ELEMENT_U64, ids->offset, (uint64_t)ids->node_count + 1);
        record_add(record, "text", ELEMENT_U8, ids->text, ids->offset[ids->node_count]);
    }
}

static enum error_code set_id_count(struct node_ids *out, const char *section, uint64_t found,
                                    uint64_t beyond, struct error *err)
{
    if (found <= beyond || found - beyond >= UINT32_MAX)
        return section_refuse_number(&out->view, section, "length", beyond + 1,
                                     beyond + UINT32_MAX - 1, found, err);
    out->node_count = (uint32_t)(found - beyond);
    return ERROR_NONE;
}

static enum error_code read_text_ids(struct node_ids *out, struct error *err)
{
    const void *offset = NULL, *text = NULL;
    uint64_t found = 0, text_size = 0;
    enum error_code rc =
        record_section_get(&out->view, "offset", ELEMENT_U64, -1, &offset, &found, err);
    if (rc == ERROR_NONE)
        rc = set_id_count(out, "offset", found, 1, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(&out->view, "text", ELEMENT_U8, -1, &text, &text_size, err);
    if (rc != ERROR_NONE)
        return rc;
    out->offset = offset;
    out->text = text;
    const struct element_bounds bounds = {.checks = SECTION_OFFSETS, .limit = text_size + 1};
    return section_elements_check(&out->view, "offset", ELEMENT_U64, offset, found, &bounds, err);
}

static enum error_code read_ids(const struct record_view *view, void *of, struct error *err)
{
    struct node_ids *out = of;
    const void *integer = NULL;
    uint64_t found = 0;
    if (!record_has(view, "integer"))
        return read_text_ids(out, err);
    const enum error_code rc =
        record_section_get(view, "integer", ELEMENT_I64, -1, &integer, &found, err);
    out->integer = integer;
    return rc == ERROR_NONE ? set_id_count(out, "integer", found, 0, err) : rc;
}

#define SECTION_STRUCT struct node_ids
static const struct section_row rows[] = {
    {SECTION_HAND(add_ids, read_ids)},
};
static const struct section_table table = SECTION_TABLE(RECORD_NODE_IDS, 1, 1, rows);

enum error_code node_ids_put(struct store *store, const char *dataset_id,
                             const struct node_ids *ids, struct error *err)
{
    return section_table_put(store, &table, key_dataset(dataset_id, "node_ids").text, dataset_id,
                             ids, STORE_DURABLE, err);
}

enum error_code node_ids_decode(const struct record_view *view, struct node_ids *out,
                                struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code node_ids_get(struct store *store, const char *dataset_id, struct node_ids *out,
                             struct error *err)
{
    return section_table_get(store, &table, key_dataset(dataset_id, "node_ids").text, dataset_id,
                             out, err);
}

const char *node_ids_text(const struct node_ids *ids, uint32_t node, char out[NODE_ID_TEXT_SIZE])
{
    if (ids->integer) {
        (void)snprintf(out, NODE_ID_TEXT_SIZE, "%" PRId64, ids->integer[node]);
    } else if (ids->offset) {
        const uint64_t size = ids->offset[node + 1] - ids->offset[node], most = 40;
        (void)snprintf(out, NODE_ID_TEXT_SIZE, "'%.*s%s'", (int)(size < most ? size : most),
                       ids->text + ids->offset[node], size > most ? "..." : "");
    } else {
        (void)snprintf(out, NODE_ID_TEXT_SIZE, "%" PRIu32, node);
    }
    return out;
}

size_t node_ids_field_size(const struct node_ids *ids, uint32_t node)
{
    return ids->offset ? csv_field_size((size_t)(ids->offset[node + 1] - ids->offset[node]))
                       : 1 + TEXT_NUMBER_SIZE;
}

size_t node_ids_field_put(const struct node_ids *ids, uint32_t node, char *out)
{
    if (ids->offset)
        return csv_field_put(out, ids->text + ids->offset[node],
                             (size_t)(ids->offset[node + 1] - ids->offset[node]));
    if (!ids->integer)
        return text_put_number(out, node);
    const int64_t id = ids->integer[node];
    if (id >= 0)
        return text_put_number(out, (uint64_t)id);
    *out = '-';
    return 1 + text_put_number(out + 1, -(uint64_t)id);
}
