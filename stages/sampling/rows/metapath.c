#include "stages/sampling/rows/metapath.h"

#include "common/files/file_pattern.h"
#include "stages/sampling/sampler_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 512 };

_Static_assert(RELATION_TYPE_COUNT_MAX <= 32, "types are the bits of a word");

/* A path while it is read. */
struct reading {
    const struct partition_book *book;
    const char *name[METAPATH_STEPS_MAX]; /* as they are written */
    int size[METAPATH_STEPS_MAX];
    uint32_t count;
};

static bool is_named(const struct reading *reading, uint32_t item, uint32_t relation)
{
    const char *name = reading->book->relation[relation].name;
    const size_t size = (size_t)reading->size[item];
    return strlen(name) == size && memcmp(name, reading->name[item], size) == 0;
}

/* Names the relations of the graph that end in a type, or all if `type` is below 0; false if there
 * is none. */
static bool suited(const struct reading *reading, int64_t type, char text[TEXT_SIZE])
{
    const struct partition_book *book = reading->book;
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t r = 0; r < book->relation_count && at + RELATION_NAME_SIZE < TEXT_SIZE; r++)
        if (type < 0 || book->relation[r].target_type == type)
            at += (size_t)snprintf(text + at, TEXT_SIZE - at, "%s%s", at ? ", " : "",
                                   book->relation[r].name);
    return at > 0;
}

static enum error_code take_names(struct reading *reading, const char *text, struct error *err)
{
    const char *at = NULL, *name = NULL;
    size_t size = 0;
    while (file_pattern_next(text, &at, &name, &size)) {
        if (reading->count == METAPATH_STEPS_MAX)
            return error_set(err, ERROR_INVALID, "sample.metapath: expected at most %d relations",
                             METAPATH_STEPS_MAX);
        reading->name[reading->count] = name;
        reading->size[reading->count++] = (int)size;
    }
    return reading->count ? ERROR_NONE
                          : error_set(err, ERROR_INVALID,
                                      "sample.metapath is '%.60s', which names no relation: " ADVICE
                                      "remove the line",
                                      text);
}

static enum error_code find_names(const struct reading *reading, struct metapath *out,
                                  struct error *err)
{
    const struct partition_book *book = reading->book;
    char names[TEXT_SIZE];
    for (uint32_t r = 0; r < book->relation_count; r++) {
        uint32_t first = 0;
        while (strcmp(book->relation[first].name, book->relation[r].name) != 0)
            first++;
        out->first[r] = (uint16_t)first;
    }
    for (uint32_t i = 0; i < reading->count; i++) {
        uint32_t r = 0;
        while (r < book->relation_count && !is_named(reading, i, r))
            r++;
        if (r < book->relation_count) {
            out->step[reading->count - 1 - i] = (uint16_t)r;
            continue;
        }
        (void)suited(reading, -1, names);
        return error_set(err, ERROR_INVALID,
                         "sample.metapath: expected relations of the graph, found '%.*s': " ADVICE
                         "write some of %s",
                         reading->size[i], reading->name[i], names);
    }
    out->count = reading->count;
    return ERROR_NONE;
}

static enum error_code does_not_join(const struct reading *reading, uint32_t item, bool is_first,
                                     uint32_t types, struct error *err)
{
    const struct partition_book *book = reading->book;
    const uint32_t next = (item + 1) % reading->count;
    char after[RELATION_NAME_SIZE + 64] = "the nodes that train are of type", names[TEXT_SIZE];
    uint32_t wanted = 0, r = 0;
    while (!is_named(reading, item, r))
        r++;
    while (!(types >> wanted & 1))
        wanted++;
    if (!is_first)
        (void)snprintf(after, sizeof after, "%.*s, which comes next, begins in",
                       reading->size[next], reading->name[next]);
    const bool has_some = suited(reading, wanted, names);
    return error_set(err, ERROR_INVALID,
                     has_some ? "sample.metapath: %.*s ends in %s, but %s %s: " ADVICE
                                "write one that ends in %s there: %s"
                              : "sample.metapath: %.*s ends in %s, but %s %s, and no relation ends "
                                "in %s: " ADVICE "write `add_reverse: true` below `ingest:`%s",
                     reading->size[item], reading->name[item],
                     book->type_name[book->relation[r].target_type], after, book->type_name[wanted],
                     book->type_name[wanted], names);
}

/* Goes along the path as a walk of so many steps does. */
static enum error_code check_joins(const struct reading *reading, int64_t steps, struct error *err)
{
    const struct partition_book *book = reading->book;
    uint32_t types = 1U << book->target_type; /* where the walk can be */
    must(reading->count > 0);
    if (steps < reading->count)
        return error_set(err, ERROR_INVALID,
                         "sample.metapath has %" PRIu32
                         " relations, but sample.walk_length is %" PRId64
                         ": expected as many steps, or more",
                         reading->count, steps);
    for (int64_t k = 0; k < steps; k++) {
        const uint32_t item = reading->count - 1 - (uint32_t)(k % reading->count);
        uint32_t sources = 0;
        for (uint32_t r = 0; r < book->relation_count; r++)
            if (is_named(reading, item, r) && types >> book->relation[r].target_type & 1)
                sources |= 1U << book->relation[r].source_type;
        if (!sources)
            return does_not_join(reading, item, k == 0, types, err);
        types = sources;
    }
    return ERROR_NONE;
}

enum error_code metapath_read(const struct sampler_options *options,
                              const struct partition_book *book, struct metapath *out,
                              struct error *err)
{
    struct reading reading = {.book = book};
    *out = (struct metapath){0};
    if (!options->metapath[0])
        return ERROR_NONE;
    if (!book || !book->relation)
        return error_set(err, ERROR_INVALID,
                         "sample.metapath is '%.60s', but ingest.relations is false: " ADVICE
                         "write `relations: true` below `ingest:`, or remove the line",
                         options->metapath);
    enum error_code rc = take_names(&reading, options->metapath, err);
    if (rc == ERROR_NONE)
        rc = find_names(&reading, out, err);
    return rc == ERROR_NONE ? check_joins(&reading, options->walk_length, err) : rc;
}
