#include "store/records/section_table.h"

#include "store/records/section_checks.h"

#include <inttypes.h>
#include <string.h>

/* --- fields --- */

static void *place_in(void *of, struct section_field field)
{
    return (char *)of + field.at;
}

/* Returns an unsigned number of the struct, or whether a pointer is not NULL. */
static uint64_t load(const void *of, struct section_field field)
{
    const char *from = (const char *)of + field.at;
    uint64_t wide = 0;
    must(field.size <= sizeof wide); /* records are little-endian machines' only (record.c) */
    memcpy(&wide, from, field.size);
    return wide;
}

static void save(void *of, struct section_field field, uint64_t value)
{
    must(field.size <= sizeof value);
    memcpy(place_in(of, field), &value, field.size);
}

static uint64_t most_of(struct section_field field)
{
    return field.size == sizeof(bool)      ? 1
           : field.size < sizeof(uint64_t) ? (1ULL << 8 * field.size) - 1
                                           : UINT64_MAX;
}

/* Returns how many elements an item of the array has. */
static uint64_t item_size(const struct section_row *row, const void *of)
{
    return (row->times.size ? load(of, row->times) + row->times_plus : 1) *
           (row->unit ? row->unit : 1);
}

/* Returns a length that no section has if the product is beyond 63 bits. */
static uint64_t length_of(const struct section_row *row, const void *of)
{
    const struct section_field items = row->sets.size ? row->sets : row->count;
    uint64_t length = 0;
    if (__builtin_mul_overflow(items.size ? load(of, items) : 0, item_size(row, of), &length) ||
        length > (uint64_t)INT64_MAX - row->plus)
        return INT64_MAX;
    return length + row->plus;
}

/* Returns how many elements the struct itself has. */
static uint64_t elements_in(const struct section_row *row)
{
    const size_t size = element_size(row->type);
    must(size > 0 && row->place.size % size == 0);
    return row->place.size / size;
}

/* --- writing --- */

static struct section_field condition_of(const struct section_row *row)
{
    return row->when.size || (!row->since && !row->if_there) ? row->when : row->place;
}

static bool is_written(const struct section_row *row, const void *from)
{
    const struct section_field when = condition_of(row);
    return !when.size || load(from, when) != 0;
}

void *section_scratch_take(struct section_scratch *scratch, size_t size)
{
    uint64_t *room = &scratch->word[scratch->used];
    scratch->used += (size + sizeof *room - 1) / sizeof *room;
    must(scratch->used <= sizeof scratch->word / sizeof *room);
    return room;
}

/* Returns the numbers of a row, as wide as the elements of the section. */
static const void *widen(const struct section_row *row, const void *from,
                         struct section_scratch *scratch)
{
    const size_t width = element_size(row->type);
    char *to = section_scratch_take(scratch, (size_t)row->number_count * width);
    for (int i = 0; i < row->number_count; i++) {
        const uint64_t value = row->number[i].place.size ? load(from, row->number[i].place) : 0;
        memcpy(to + (size_t)i * width, &value, width);
    }
    return to;
}

static void add(struct record *record, const struct section_row *row, const void *from,
                struct section_scratch *scratch)
{
    const char *place = (const char *)from + row->place.at;
    const void *array = NULL;
    switch (row->form) {
    case SECTION_IN_VIEW:
        memcpy(&array, place, sizeof array);
        record_add(record, row->name, row->type, array, length_of(row, from));
        break;
    case SECTION_COPIED:
        record_add(record, row->name, row->type, place, elements_in(row));
        break;
    case SECTION_WIDENED:
        record_add(record, row->name, row->type, widen(row, from, scratch),
                   (uint64_t)row->number_count);
        break;
    case SECTION_STRING:
        record_add_text(record, row->name, place);
        break;
    }
}

struct record section_table_record(const struct section_table *table, const void *from,
                                   struct section_scratch *scratch)
{
    struct record record = {.kind = table->kind, .version = table->oldest};
    scratch->used = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        const struct section_row *row = &table->row[i];
        if (row->add)
            row->add(&record, from, scratch);
        if (!row->name || !is_written(row, from))
            continue;
        add(&record, row, from, scratch);
        record.version = row->since > record.version ? row->since : record.version;
    }
    return record;
}

enum error_code section_table_put(struct store *store, const struct section_table *table,
                                  const char *key, const char *owner_id, const void *from,
                                  enum store_durability durability, struct error *err)
{
    struct section_scratch scratch;
    const struct record record = section_table_record(table, from, &scratch);
    return store_put(store, key, owner_id, &record, durability, err);
}

/* --- reading --- */

static bool is_read(const struct section_row *row, const struct record_view *view, void *out)
{
    if (row->since && !row->if_there)
        return view->version >= row->since;
    if (!row->if_there)
        return !row->when.size || load(out, row->when) != 0;
    const bool is_there = record_has(view, row->name);
    if (is_there && row->when.size == sizeof(bool))
        save(out, row->when, true);
    return is_there;
}

/* Sets the field that says how many items there are from the length of the section. */
static enum error_code set_count(const struct section_row *row, const struct record_view *view,
                                 uint64_t length, void *out, struct error *err)
{
    const uint64_t size = item_size(row, out);
    const uint64_t most = row->most ? row->most : most_of(row->sets);
    char range[SECTION_RANGE_SIZE];
    const uint64_t items = size && length >= row->plus ? (length - row->plus) / size : 0;
    if (size && items * size + row->plus == length && items >= row->least && items <= most) {
        save(out, row->sets, items);
        return ERROR_NONE;
    }
    if (size == 1)
        return section_refuse_number(view, row->name, "length", row->least + row->plus,
                                     most == UINT64_MAX ? most : most + row->plus, length, err);
    return error_set(err, ERROR_CORRUPT,
                     "record %s: \"%s\": expected %" PRIu64
                     " elements for each of %s%s, found %" PRIu64 " in all",
                     view->key, row->name, size, section_range_text(row->least, most, range),
                     row->plus ? " and more" : "", length);
}

static enum error_code read_array(const struct section_row *row, const struct record_view *view,
                                  void *out, struct error *err)
{
    const void *data = NULL;
    uint64_t length = 0;
    const int64_t expected = row->sets.size ? -1 : (int64_t)length_of(row, out);
    enum error_code rc =
        record_section_get(view, row->name, row->type, expected, &data, &length, err);
    if (rc == ERROR_NONE && row->sets.size)
        rc = set_count(row, view, length, out, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(place_in(out, row->place), &data, sizeof data);
    const bool has_limit = row->limit.size || row->behind;
    const struct element_bounds bounds = {
        .checks = row->checks,
        .least = row->floor,
        .limit =
            has_limit ? (row->limit.size ? load(out, row->limit) : 0) + row->behind : UINT64_MAX,
    };
    return section_elements_check(view, row->name, row->type, data, length, &bounds, err);
}

static enum error_code read_copied(const struct section_row *row, const struct record_view *view,
                                   void *out, struct error *err)
{
    const void *data = NULL;
    const uint64_t count = elements_in(row);
    const struct element_bounds bounds = {.checks = row->checks, .limit = UINT64_MAX};
    enum error_code rc =
        record_section_get(view, row->name, row->type, (int64_t)count, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(place_in(out, row->place), data, row->place.size);
    rc = section_elements_check(view, row->name, row->type, data, count, &bounds, err);
    if (rc != ERROR_NONE || !(row->least || row->most))
        return rc;
    const uint64_t value = load(out, row->place);
    const uint64_t most = row->most ? row->most : UINT64_MAX;
    return value >= row->least && value <= most
               ? ERROR_NONE
               : section_refuse_number(view, row->name, NULL, row->least, most, value, err);
}

static enum error_code read_widened(const struct section_row *row, const struct record_view *view,
                                    void *out, struct error *err)
{
    const void *data = NULL;
    const size_t width = element_size(row->type);
    enum error_code rc =
        record_section_get(view, row->name, row->type, row->number_count, &data, NULL, err);
    for (int i = 0; rc == ERROR_NONE && i < row->number_count; i++) {
        const struct section_number *number = &row->number[i];
        const uint64_t most = number->most ? number->most : most_of(number->place);
        uint64_t value = 0;
        memcpy(&value, (const char *)data + (size_t)i * width, width);
        if (!number->name)
            continue;
        if (value < number->least || value > most)
            return section_refuse_number(view, row->name, number->name, number->least, most, value,
                                         err);
        save(out, number->place, value); /* of none: nothing */
    }
    return rc;
}

static enum error_code read_string(const struct section_row *row, const struct record_view *view,
                                   void *out, struct error *err)
{
    char *text = place_in(out, row->place);
    const enum error_code rc = record_text_get(view, row->name, text, row->place.size, err);
    if (rc != ERROR_NONE || !(row->checks & SECTION_ID) || section_text_is_id(text))
        return rc;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: \"%s\": expected an id of [A-Za-z0-9._-], found '%s'", view->key,
                     row->name, text);
}

enum error_code section_table_read(const struct section_table *table,
                                   const struct record_view *view, void *out, struct error *err)
{
    static enum error_code (*const read[])(const struct section_row *, const struct record_view *,
                                           void *, struct error *) = {
        [SECTION_IN_VIEW] = read_array,
        [SECTION_COPIED] = read_copied,
        [SECTION_WIDENED] = read_widened,
        [SECTION_STRING] = read_string,
    };
    enum error_code rc = record_expect_among(view, table->kind, table->oldest, table->newest, err);
    for (size_t i = 0; rc == ERROR_NONE && i < table->row_count; i++) {
        const struct section_row *row = &table->row[i];
        if (row->name && is_read(row, view, out))
            rc = read[row->form](row, view, out, err);
        if (rc == ERROR_NONE && row->read)
            rc = row->read(view, out, err);
    }
    return rc;
}

enum error_code section_table_decode(const struct section_table *table,
                                     const struct record_view *view, void *out, struct error *err)
{
    memset(out, 0, table->size);
    if (table->view.size)
        memcpy(place_in(out, table->view), view, sizeof *view);
    const enum error_code rc = section_table_read(table, view, out, err);
    if (rc != ERROR_NONE)
        memset(out, 0, table->size);
    return rc;
}

enum error_code section_table_fetch(struct store *store, const struct section_table *table,
                                    const char *key, const char *owner_id, void *out,
                                    struct error *err)
{
    struct record_view view = {0};
    enum error_code rc = store_get(store, key, owner_id, &view, err);
    if (table->view.size)
        memcpy(place_in(out, table->view), &view, sizeof view);
    if (rc == ERROR_NONE)
        rc = section_table_read(table, &view, out, err);
    if (!table->view.size)
        store_release_record(&view);
    return section_table_keep(table, rc, out);
}

enum error_code section_table_get(struct store *store, const struct section_table *table,
                                  const char *key, const char *owner_id, void *out,
                                  struct error *err)
{
    memset(out, 0, table->size);
    return section_table_fetch(store, table, key, owner_id, out, err);
}

enum error_code section_table_keep(const struct section_table *table, enum error_code rc, void *out)
{
    if (rc == ERROR_NONE)
        return rc;
    if (table->view.size)
        store_release_record(place_in(out, table->view));
    memset(out, 0, table->size);
    return rc;
}
