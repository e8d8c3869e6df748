#include "store/records/node_ids.h"

#include "common/base/text.h"
#include "common/formats/csv_field.h"
#include "store/objects/keys.h"

#include <inttypes.h>
#include <stdio.h>

enum { NODE_IDS_VERSION = 1 };

enum error_code node_ids_put(struct store *store, const char *dataset_id,
                             const struct node_ids *ids, struct error *err)
{
    struct record record = {.kind = RECORD_NODE_IDS, .version = NODE_IDS_VERSION};
    if (ids->integer) {
        record_add(&record, "integer", ELEMENT_I64, ids->integer, ids->node_count);
    } else {
        record_add(&record, "offset", ELEMENT_U64, ids->offset, (uint64_t)ids->node_count + 1);
        record_add(&record, "text", ELEMENT_U8, ids->text, ids->offset[ids->node_count]);
    }
    return store_put(store, key_dataset(dataset_id, "node_ids").text, dataset_id, &record,
                     STORE_DURABLE, err);
}

static enum error_code set_id_count(struct node_ids *out, const char *section, uint64_t found,
                                    uint64_t beyond, struct error *err)
{
    if (found <= beyond || found - beyond >= UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"%s\": expected %" PRIu64 " to %" PRIu64 " entries, found %" PRIu64,
                         out->view.key, section, beyond + 1, beyond + UINT32_MAX - 1, found);
    out->node_count = (uint32_t)(found - beyond);
    return ERROR_NONE;
}

static enum error_code check_offsets(const struct node_ids *ids, uint64_t text_size,
                                     struct error *err)
{
    uint64_t before = 0;
    for (uint64_t i = 0; i <= ids->node_count; i++) {
        const uint64_t most = i == 0 ? 0 : text_size;
        if (ids->offset[i] < before || ids->offset[i] > most)
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"offset\" entry %" PRIu64 ": expected %" PRIu64 " to %" PRIu64
                             ", found %" PRIu64,
                             ids->view.key, i, before, most, ids->offset[i]);
        before = ids->offset[i];
    }
    if (before != text_size)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"offset\" last entry: expected %" PRIu64 ", found %" PRIu64,
                         ids->view.key, text_size, before);
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
    return check_offsets(out, text_size, err);
}

static enum error_code read_ids(struct node_ids *out, struct error *err)
{
    const void *integer = NULL;
    uint64_t found = 0;
    enum error_code rc = record_expect(&out->view, RECORD_NODE_IDS, NODE_IDS_VERSION, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!record_has(&out->view, "integer"))
        return read_text_ids(out, err);
    rc = record_section_get(&out->view, "integer", ELEMENT_I64, -1, &integer, &found, err);
    if (rc == ERROR_NONE)
        rc = set_id_count(out, "integer", found, 0, err);
    out->integer = integer;
    return rc;
}

enum error_code node_ids_decode(const struct record_view *view, struct node_ids *out,
                                struct error *err)
{
    *out = (struct node_ids){.view = *view};
    return read_ids(out, err);
}

enum error_code node_ids_get(struct store *store, const char *dataset_id, struct node_ids *out,
                             struct error *err)
{
    *out = (struct node_ids){0};
    enum error_code rc =
        store_get(store, key_dataset(dataset_id, "node_ids").text, dataset_id, &out->view, err);
    if (rc == ERROR_NONE)
        rc = read_ids(out, err);
    if (rc != ERROR_NONE) {
        store_release_record(&out->view);
        *out = (struct node_ids){0};
    }
    return rc;
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
