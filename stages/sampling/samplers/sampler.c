#include "stages/sampling/samplers/sampler.h"

#include <stdio.h>
#include <string.h>

#define SAMPLER_ROW(number, name, help) extern const struct sampler name##_row;
SAMPLER_LIST(SAMPLER_ROW)
#undef SAMPLER_ROW

const struct sampler neighbor_row = {.name = "neighbor",
                                     .has_neighborhoods = true,
                                     .takes_pairs = true,
                                     .takes_graphs = true,
                                     .draw = neighbor_sampler_draw};

#define SAMPLER_ROW(number, name, help) [number] = &name##_row,
static const struct sampler *const table[SAMPLER_COUNT] = {SAMPLER_LIST(SAMPLER_ROW)};

const struct sampler *sampler_of(enum sampler_kind kind)
{
    must(kind < SAMPLER_COUNT);
    return table[kind];
}

const char *sampler_names(bool (*has)(const struct sampler *sampler), char *text)
{
    int all = 0, said = 0;
    size_t size = 0;
    for (int k = 0; k < SAMPLER_COUNT; k++)
        all += has(table[k]);
    text[0] = '\0';
    for (int k = 0; k < SAMPLER_COUNT; k++) {
        if (!has(table[k]))
            continue;
        const char *between = said == 0 ? "" : said + 1 == all ? " or " : ", ";
        const int length =
            snprintf(text + size, SAMPLER_NAMES_SIZE - size, "%s%s", between, table[k]->name);
        must(length >= 0 && (size_t)length < SAMPLER_NAMES_SIZE - size);
        size += (size_t)length;
        said++;
    }
    return text;
}

enum error_code sampler_check(const struct sampler *sampler, const struct topology *topology,
                              struct error *err)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (sampler->needs >> c & 1 && !(c == EDGE_TIME && topology->node_time) &&
            !edge_widths_have(&topology->width, (enum edge_column)c))
            return error_set(err, ERROR_INVALID,
                             "sample.sampler is %s, which needs the column %s of the edges: the "
                             "dataset has none",
                             sampler->name, edge_column_shown((enum edge_column)c));
    return ERROR_NONE;
}
