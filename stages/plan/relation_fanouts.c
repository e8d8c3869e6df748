#include "stages/plan/relation_fanouts.h"

#include "common/base/text.h"
#include "stages/sampling/neighbor_sampler.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* "cites: 15,10" */
struct entry {
    const char *text;
    size_t size;
    const char *name;
    size_t name_size;
    struct int_list fanouts;
};

static void trim(const char **text, size_t *size)
{
    while (*size > 0 && **text == ' ') {
        ++*text;
        --*size;
    }
    while (*size > 0 && (*text)[*size - 1] == ' ')
        --*size;
}

static enum error_code bad_entry(const struct entry *entry, struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "sample.relation_fanouts: expected entries `relation: 10,5` with `;` between "
                     "them, numbers from -1 to 1000000, found '%.*s'",
                     (int)(entry->size < 80 ? entry->size : 80), entry->text);
}

static enum error_code take_numbers(struct entry *entry, const char *text, size_t size,
                                    struct error *err)
{
    while (size > 0) {
        const char *comma = memchr(text, ',', size);
        const char *number = text;
        size_t length = comma ? (size_t)(comma - text) : size;
        const size_t taken = comma ? length + 1 : length;
        int64_t value = 0;
        trim(&number, &length);
        if (!text_int64(number, length, &value) || value < -1 || value > 1000000 ||
            entry->fanouts.count == (int)(sizeof entry->fanouts.value / sizeof(int64_t)))
            return bad_entry(entry, err);
        entry->fanouts.value[entry->fanouts.count++] = value;
        text += taken;
        size -= taken;
    }
    return ERROR_NONE;
}

/* Takes one entry off the text. */
static enum error_code take_entry(const struct pipeline_settings *settings, const char **text,
                                  struct entry *entry, struct error *err)
{
    const char *end = strchr(*text, ';');
    *entry = (struct entry){.text = *text, .size = end ? (size_t)(end - *text) : strlen(*text)};
    *text += entry->size + (end != NULL);
    trim(&entry->text, &entry->size);
    size_t colon = entry->size;
    while (colon > 0 && entry->text[colon - 1] != ':')
        colon--;
    if (colon < 2)
        return bad_entry(entry, err);
    entry->name = entry->text;
    entry->name_size = colon - 1;
    trim(&entry->name, &entry->name_size);
    const enum error_code rc = take_numbers(entry, entry->text + colon, entry->size - colon, err);
    if (rc == ERROR_NONE && entry->fanouts.count != settings->sample.fanouts.count)
        return error_set(err, ERROR_INVALID,
                         "sample.relation_fanouts: '%.*s' has %d fan-outs, expected %d as "
                         "sample.fanouts",
                         (int)(entry->size < 80 ? entry->size : 80), entry->text,
                         entry->fanouts.count, settings->sample.fanouts.count);
    return rc;
}

static enum error_code give_entry(const struct entry *entry, const struct relation *relation,
                                  uint32_t relation_count, int64_t *out, struct error *err)
{
    const size_t hops = (size_t)entry->fanouts.count;
    bool found = false;
    for (uint32_t r = 0; r < relation_count; r++) {
        if (strlen(relation[r].name) != entry->name_size ||
            memcmp(relation[r].name, entry->name, entry->name_size) != 0)
            continue;
        found = true;
        memcpy(out + r * hops, entry->fanouts.value, hops * sizeof *out);
    }
    return found ? ERROR_NONE
                 : error_set(err, ERROR_INVALID,
                             "sample.relation_fanouts: expected a relation of the graph, such as "
                             "%s, found '%.*s'",
                             relation[0].name, (int)(entry->name_size < 80 ? entry->name_size : 80),
                             entry->name);
}

enum error_code relation_fanouts_of(const struct pipeline_settings *settings,
                                    const struct relation *relation, uint32_t relation_count,
                                    int64_t *out, struct error *err)
{
    const struct int_list *all = &settings->sample.fanouts;
    const char *text = settings->sample.relation_fanouts;
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; r < relation_count; r++)
        memcpy(out + r * (size_t)all->count, all->value, (size_t)all->count * sizeof *out);
    while (rc == ERROR_NONE && *text) {
        struct entry entry;
        rc = take_entry(settings, &text, &entry, err);
        if (rc == ERROR_NONE)
            rc = give_entry(&entry, relation, relation_count, out, err);
    }
    return rc;
}

void relation_fanouts_of_evaluation(const struct pipeline_settings *settings,
                                    uint32_t relation_count, int64_t *out)
{
    const struct int_list *all = &settings->sample.evaluation_fanouts;
    const size_t hops = (size_t)settings->sample.fanouts.count;
    for (size_t i = 0; i < relation_count * hops; i++)
        out[i] = all->count ? all->value[i % hops] : FANOUT_ALL;
}

enum error_code relation_fanouts_check(const struct pipeline_settings *settings, struct error *err)
{
    const char *text = settings->sample.relation_fanouts;
    enum error_code rc = ERROR_NONE;
    if (*text && !settings->ingest.relations)
        return error_set(err, ERROR_INVALID,
                         "sample.relation_fanouts is '%.60s', but ingest.relations is false: write "
                         "`relations: true` below `ingest:`, or remove the line",
                         text);
    while (rc == ERROR_NONE && *text) {
        struct entry entry;
        rc = take_entry(settings, &text, &entry, err);
    }
    return rc;
}
