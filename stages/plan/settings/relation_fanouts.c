#include "stages/plan/settings/relation_fanouts.h"

#include "common/base/text.h"
#include "stages/plan/settings/named_entries.h"
#include "stages/sampling/rows/neighbor_sampler.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* an entry such as "cites: 15,10" */
struct entry {
    struct named_entry of;
    struct int_list fanouts;
};

static enum error_code bad_entry(const struct entry *entry, struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "sample.relation_fanouts: expected entries `relation: 10,5` with `;` between "
                     "them, numbers from -1 to 1000000, found '%.*s'",
                     named_entry_shown(entry->of.size), entry->of.text);
}

static enum error_code take_numbers(struct entry *entry, struct error *err)
{
    const char *text = entry->of.value, *number = NULL;
    size_t size = entry->of.value_size, length = 0;
    while (named_entry_word(&text, &size, ',', &number, &length)) {
        int64_t value = 0;
        if (!text_int64(number, length, &value) || value < -1 || value > 1000000 ||
            entry->fanouts.count == (int)(sizeof entry->fanouts.value / sizeof(int64_t)))
            return bad_entry(entry, err);
        entry->fanouts.value[entry->fanouts.count++] = value;
    }
    return ERROR_NONE;
}

static enum error_code check_entry(const struct pipeline_settings *settings, struct entry *entry,
                                   struct error *err)
{
    if (entry->of.name_size == 0)
        return bad_entry(entry, err);
    const enum error_code rc = take_numbers(entry, err);
    if (rc == ERROR_NONE && entry->fanouts.count != settings->sample.fanouts.count)
        return error_set(err, ERROR_INVALID,
                         "sample.relation_fanouts: '%.*s' has %d fan-outs, expected %d as "
                         "sample.fanouts",
                         named_entry_shown(entry->of.size), entry->of.text, entry->fanouts.count,
                         settings->sample.fanouts.count);
    return rc;
}

static enum error_code give_entry(const struct entry *entry, const struct relation *relation,
                                  uint32_t relation_count, int64_t *out, struct error *err)
{
    const size_t hops = (size_t)entry->fanouts.count;
    bool found = false;
    for (uint32_t r = 0; r < relation_count; r++) {
        if (!named_entry_is(&entry->of, relation[r].name))
            continue;
        found = true;
        memcpy(out + r * hops, entry->fanouts.value, hops * sizeof *out);
    }
    return found ? ERROR_NONE
                 : error_set(err, ERROR_INVALID,
                             "sample.relation_fanouts: expected a relation of the graph, such as "
                             "%s, found '%.*s'",
                             relation[0].name, named_entry_shown(entry->of.name_size),
                             entry->of.name);
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
    struct entry entry = {0};
    while (rc == ERROR_NONE && named_entry_next(&text, &entry.of)) {
        entry.fanouts.count = 0;
        rc = check_entry(settings, &entry, err);
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
        return error_set(
            err, ERROR_INVALID,
            "sample.relation_fanouts is '%.60s', but ingest.relations is false: " ADVICE "write "
            "`relations: true` below `ingest:`, or remove the line",
            text);
    struct entry entry = {0};
    while (rc == ERROR_NONE && named_entry_next(&text, &entry.of)) {
        entry.fanouts.count = 0;
        rc = check_entry(settings, &entry, err);
    }
    return rc;
}
