#include "store/versions/delta_numbers.h"

#include "common/numbers/ascending.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <stdbool.h>

void delta_numbers_init(struct delta_numbers *numbers, const struct dataset_delta *delta)
{
    uint32_t base = 0, added = 0;
    uint64_t gone = 0;
    numbers->delta = delta;
    numbers->type_count = delta->type_count ? delta->type_count : 1;
    for (uint32_t t = 0; t <= numbers->type_count; t++) {
        if (t == numbers->type_count) {
            base = delta->base_nodes;
            added = delta->added_nodes;
        }
        gone = ascending_below(delta->gone_node, delta->gone_nodes, base);
        numbers->base_first[t] = base;
        numbers->added_first[t] = added;
        numbers->gone_first[t] = gone;
        numbers->first[t] = (uint32_t)(base - gone + added);
        if (t < delta->type_count) {
            base += delta->base_of_type[t];
            added += delta->added_of_type[t];
        }
    }
}

enum error_code delta_numbers_check(const struct delta_numbers *n,
                                    const struct dataset_schema *schema, struct error *err)
{
    /* A delta may, but need not, distinguish types that the schema only names. */
    const bool fits =
        n->type_count == schema->node_type_count || n->type_count == dataset_type_count(schema);
    if (delta_numbers_count(n) != schema->node_count || !fits)
        return error_set(err, ERROR_CORRUPT,
                         "dataset %s has %" PRIu32 " nodes, expected %" PRIu32 " of %" PRIu32
                         " types by its delta",
                         schema->id, schema->node_count, delta_numbers_count(n), n->type_count);
    for (uint32_t t = 0; t < n->type_count; t++)
        if (n->first[t] != schema->node_type[t].first_node)
            return error_set(err, ERROR_CORRUPT,
                             "dataset %s: type %s begins at node %" PRIu32 ", expected %" PRIu32
                             " by its delta",
                             schema->id, schema->node_type[t].name, schema->node_type[t].first_node,
                             n->first[t]);
    return ERROR_NONE;
}

uint64_t delta_numbers_gone_before(const struct delta_numbers *numbers, uint32_t node)
{
    return ascending_below(numbers->delta->gone_node, numbers->delta->gone_nodes, node);
}

/* Returns the type of a node; `first` has the first node of each type. */
static uint32_t type_of(const struct delta_numbers *numbers, const uint32_t *first, uint32_t node)
{
    uint32_t type = numbers->type_count - 1;
    while (type > 0 && node < first[type])
        type--;
    return type;
}

/* Returns how many nodes of a type in the base stay. */
static uint32_t stay_of(const struct delta_numbers *n, uint32_t type)
{
    const uint64_t gone = n->gone_first[type + 1] - n->gone_first[type];
    return (uint32_t)(n->base_first[type + 1] - n->base_first[type] - gone);
}

uint32_t delta_numbers_version(const struct delta_numbers *n, uint32_t node)
{
    const struct dataset_delta *delta = n->delta;
    if (node >= delta->base_nodes) {
        const uint32_t type = type_of(n, n->added_first, node - delta->base_nodes);
        return n->first[type] + stay_of(n, type) +
               (node - delta->base_nodes - n->added_first[type]);
    }
    const uint64_t gone = ascending_below(delta->gone_node, delta->gone_nodes, node);
    const uint32_t type = type_of(n, n->base_first, node);
    if (gone < delta->gone_nodes && delta->gone_node[gone] == node)
        return DELTA_GONE;
    return (uint32_t)(node - gone + n->added_first[type]);
}

/* Returns the node of the base that is number `at` among the nodes of its type that stay. */
static uint32_t select_stay(const struct delta_numbers *n, uint32_t type, uint32_t at)
{
    const uint64_t count = n->gone_first[type + 1] - n->gone_first[type];
    const uint32_t *gone = n->delta->gone_node + n->gone_first[type];
    uint64_t low = 0, high = count; /* how many removed nodes of the type precede it */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (gone[middle] - n->base_first[type] - middle > at)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)(n->base_first[type] + at + low);
}

uint32_t delta_numbers_own(const struct delta_numbers *n, uint32_t node)
{
    const uint32_t type = type_of(n, n->first, node);
    const uint32_t at = node - n->first[type], stay = stay_of(n, type);
    return at < stay ? select_stay(n, type, at)
                     : n->delta->base_nodes + n->added_first[type] + (at - stay);
}

void delta_numbers_of_base(const struct delta_numbers *n, uint32_t *number)
{
    const uint32_t *gone = n->delta->gone_node;
    uint64_t next = 0;
    for (uint32_t t = 0; t < n->type_count; t++)
        for (uint32_t node = n->base_first[t]; node < n->base_first[t + 1]; node++) {
            const bool goes = next < n->delta->gone_nodes && gone[next] == node;
            next += goes;
            number[node] = goes ? DELTA_GONE : (uint32_t)(node - next + n->added_first[t]);
        }
}

void delta_numbers_step_down(const struct delta_numbers *n, uint32_t *node, uint32_t count)
{
    const uint32_t *gone = n->delta->gone_node;
    uint64_t next = 0;
    uint32_t type = 0, stay = stay_of(n, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (node[i] == DELTA_GONE)
            continue;
        while (type + 1 < n->type_count && node[i] >= n->first[type + 1])
            stay = stay_of(n, ++type);
        if (node[i] - n->first[type] >= stay) {
            node[i] = DELTA_GONE;
            continue;
        }
        const uint32_t shifted = node[i] - n->added_first[type];
        while (next < n->delta->gone_nodes && gone[next] - next <= shifted)
            next++;
        node[i] = (uint32_t)(shifted + next);
    }
}
