#include "stages/partition/version_assignment.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/partition/kept_assignment.h"
#include "stages/partition/layout/edge_walk.h"
#include "stages/partition/methods/node_assigner.h"
#include "stages/partition/rules/greedy_rule.h"
#include "stages/partition/version_numbering.h"
#include "stages/plan/model/identity.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/partition/node_permutation.h"
#include "store/versions/delta_numbers.h"
#include "store/versions/merged_parts.h"

#include <inttypes.h>
#include <string.h>

#define IN_NO_PART UINT32_MAX
/* Types with fewer nodes in a part than LEAST_OF_TYPE are not balanced by themselves: methods
 * balance them only to within some nodes. */
enum { MOVING_PASSES = 2, LEAST_OF_TYPE = 8 };
/* A part may have at most this many times the mean number of nodes. METIS's parts differ by up to a
 * fifth. */
static const double most_of_mean = 1.25;
/* A cut below this counts as this: in a graph that falls apart, any cut is many times none. */
static const double least_cut = 0.01;

static const char *const names[] = {"placed", "moved"};

const char *version_assignment_name(const char *text)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0)
            return names[i];
    return NULL;
}

bool version_assignment_is_placed(const char *method)
{
    return method && strcmp(method, names[0]) == 0;
}

/* Returns whether nodes keep their parts. A vertex cut is made anew: an edge has no part that it
 * could keep, since the edges of a version have other numbers. */
static bool is_kept(const struct stage_context *context)
{
    return context->settings->partition.update == UPDATE_PLACE &&
           !partitioner_cuts_vertices(context->settings->partition.method);
}

/* --- the chain --- */

/* Sets *found to whether the parts of a dataset's nodes, and their ids in them, are stored. */
static enum error_code is_numbered(const struct stage_context *context, const char *dataset_id,
                                   bool *found, struct error *err)
{
    char id[ID_SIZE];
    const enum error_code rc =
        identity_partition(context->store, context->settings, dataset_id, id, err);
    return rc == ERROR_NONE ? merged_parts_find(context->store, id, found, err) : rc;
}

static enum error_code put_numbers(const struct partition_input *input, const uint32_t *part,
                                   const char *method, struct error *err)
{
    struct renumbering renumbering = {0};
    enum error_code rc = version_numbering(input, part, method, &renumbering, err);
    const struct node_permutation permutation = {.node_count = renumbering.node_count,
                                                 .to_dataset = renumbering.to_dataset,
                                                 .to_partition = renumbering.to_partition};
    if (rc == ERROR_NONE)
        rc = node_permutation_put(input->context->store, input->id, &permutation, err);
    renumbering_release(&renumbering);
    return rc;
}

static enum error_code number_one(const struct stage_context *context, const char *dataset_id,
                                  struct error *err)
{
    struct partition_input *input = NULL;
    struct kept_assignment kept = {.part = NULL};
    enum error_code rc = memory_new(&input, 1, "a dataset's input", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = partition_input_of(input, context, dataset_id, err);
    if (rc == ERROR_NONE)
        rc = partition_input_measure(input, err);
    if (rc == ERROR_NONE)
        rc = kept_assignment_find(input, &kept, err);
    if (rc == ERROR_NONE)
        rc = kept_assignment_put(input, &kept, err);
    if (rc == ERROR_NONE)
        rc = put_numbers(input, kept.part, kept.method, err);
    kept_assignment_release(&kept);
    partition_input_release(input);
    memory_free(input);
    return rc == ERROR_NONE ? rc
                            : error_context(err, rc,
                                            "the parts of %s, which a version of it keeps "
                                            "(partition.update: anew does without)",
                                            dataset_id);
}

/* Finds the oldest version before `dataset_id` from which on no version is numbered; "" if there is
 * none. */
static enum error_code find_missing(const struct stage_context *context, const char *dataset_id,
                                    char missing[ID_SIZE], struct error *err)
{
    char id[ID_SIZE];
    missing[0] = '\0';
    (void)text_copy(id, sizeof id, dataset_id);
    for (;;) {
        struct dataset_delta delta;
        bool found = false;
        enum error_code rc = dataset_delta_get(context->store, id, &delta, err);
        if (rc == ERROR_NOT_FOUND)
            return ERROR_NONE;
        if (rc != ERROR_NONE)
            return rc;
        (void)text_copy(id, sizeof id, delta.base);
        store_release_record(&delta.view);
        rc = is_numbered(context, id, &found, err);
        if (rc != ERROR_NONE || found)
            return rc;
        (void)text_copy(missing, ID_SIZE, id);
    }
}

enum error_code version_assignment_prepare(const struct stage_context *context,
                                           const char *dataset_id, struct error *err)
{
    char missing[ID_SIZE] = "";
    enum error_code rc = ERROR_NONE;
    if (!is_kept(context) || context->is_replay)
        return ERROR_NONE;
    do {
        rc = find_missing(context, dataset_id, missing, err);
        if (rc == ERROR_NONE && missing[0])
            rc = number_one(context, missing, err);
    } while (rc == ERROR_NONE && missing[0]);
    return rc;
}

/* --- the parts of the version before --- */

struct cut {
    const uint32_t *part; /* [node_count] */
    uint64_t edges, cut;
};

static enum error_code count_cut(void *context, const struct edge_chunk *chunk, struct error *err)
{
    struct cut *cut = context;
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++)
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++)
            cut->cut += cut->part[chunk->first_node + row] != cut->part[chunk->neighbor[e]];
    cut->edges += chunk->edge_count;
    return ERROR_NONE;
}

static enum error_code cut_share(struct store *store, const struct dataset_schema *schema,
                                 const uint32_t *part, double *share, struct error *err)
{
    struct cut cut = {.part = part};
    const enum error_code rc = edge_walk(store, schema, count_cut, &cut, err);
    *share = cut.edges ? (double)cut.cut / (double)cut.edges : 0.0;
    return rc;
}

/* Finds the cut of the last full partition before the base, or of the base. */
static enum error_code find_full_cut(const struct partition_input *input, const char *base,
                                     const struct node_assignment *old, double *full_cut,
                                     struct error *err)
{
    struct dataset_schema *schema = NULL;
    *full_cut = old->full_cut;
    if (*full_cut >= 0.0)
        return ERROR_NONE;
    enum error_code rc = memory_new(&schema, 1, "a schema", err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(input->context->store, base, schema, err);
    if (rc == ERROR_NONE)
        rc = cut_share(input->context->store, schema, old->part, full_cut, err);
    memory_free(schema);
    return rc;
}

/* Copies the parts of the nodes that stay, and leaves the others without one. */
static enum error_code take_parts(const struct partition_input *input,
                                  const struct delta_numbers *numbers,
                                  const struct node_assignment *old, uint32_t *part,
                                  struct error *err)
{
    const uint32_t parts = (uint32_t)input->context->settings->partition.parts;
    const uint32_t node_count = input->schema.node_count;
    for (uint32_t node = 0; node < node_count; node++)
        part[node] = node;
    delta_numbers_step_down(numbers, part, node_count);
    for (uint32_t node = 0; node < node_count; node++) {
        const uint32_t before = part[node];
        part[node] = before == DELTA_GONE ? IN_NO_PART : old->part[before];
        if (before != DELTA_GONE && part[node] >= parts)
            return error_set(err, ERROR_CORRUPT, "%s: node %" PRIu32 " is in part %" PRIu32,
                             old->view.key, before, part[node]);
    }
    return ERROR_NONE;
}

static enum error_code take_base(const struct partition_input *input,
                                 const struct dataset_delta *delta, uint32_t *part,
                                 double *full_cut, struct error *err)
{
    struct stage_context const *context = input->context;
    struct node_assignment old = {.method = ""};
    struct delta_numbers numbers;
    char id[ID_SIZE];
    delta_numbers_init(&numbers, delta);
    enum error_code rc = delta_numbers_check(&numbers, &input->schema, err);
    if (rc == ERROR_NONE)
        rc = identity_partition(context->store, context->settings, delta->base, id, err);
    if (rc == ERROR_NONE)
        rc = merged_assignment_get(context->store, id, &old, err);
    if (rc == ERROR_NONE && old.node_count != delta->base_nodes)
        rc = error_set(err, ERROR_CORRUPT, "%s: has %" PRIu32 " nodes, expected %" PRIu32,
                       old.view.key, old.node_count, delta->base_nodes);
    if (rc == ERROR_NONE)
        rc = find_full_cut(input, delta->base, &old, full_cut, err);
    if (rc == ERROR_NONE)
        rc = take_parts(input, &numbers, &old, part, err);
    store_release_record(&old.view);
    return rc;
}

/* --- placing --- */

static enum error_code stream(const struct partition_input *input, bool only_new, uint32_t *part,
                              struct error *err)
{
    const struct partition_request request = partition_input_request(input);
    struct stream_rule rule = greedy_rule(names[only_new ? 0 : 1]);
    struct part_loads loads = {0};
    rule.only_new = only_new;
    enum error_code rc = part_loads_init(&loads, &request, err);
    for (uint32_t node = 0; rc == ERROR_NONE && only_new && node < loads.node_count; node++)
        if (part[node] != IN_NO_PART)
            part_loads_take(&loads, node, part[node]);
    if (rc == ERROR_NONE)
        rc = node_stream_run(&request, &rule, only_new ? 1 : MOVING_PASSES, &loads, part, err);
    part_loads_release(&loads);
    return rc;
}

/* How unequal the parts are. */
struct balance {
    uint32_t least; /* nodes of the smallest part */
    /* The largest part by the mean; in a graph with relations that of a type if it is larger. */
    double largest;
    bool is_uneven; /* a part is beyond its bound */
};

/* Updates *out with nodes [parts], which counts all nodes, or those of a type. */
static void weigh(const uint32_t *nodes, size_t parts, struct balance *out)
{
    uint64_t all = 0;
    uint32_t most = 0;
    for (size_t p = 0; p < parts; p++) {
        all += nodes[p];
        most = nodes[p] > most ? nodes[p] : most;
    }
    const double mean = (double)all / (double)parts;
    out->largest = (double)most / mean > out->largest ? (double)most / mean : out->largest;
    out->is_uneven |= (double)most > most_of_mean * mean && (double)most > mean + 1;
}

static enum error_code balance_of(const struct partition_input *input, const uint32_t *part,
                                  struct balance *out, struct error *err)
{
    const size_t parts = (size_t)input->context->settings->partition.parts;
    const uint32_t types = dataset_type_count(&input->schema);
    uint32_t *nodes = NULL, *all = NULL;
    *out = (struct balance){.least = UINT32_MAX};
    enum error_code rc = memory_new(&nodes, parts, "nodes of parts", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&all, parts, "nodes of parts", err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types; t++) {
        const struct node_type type = dataset_type(&input->schema, t);
        memset(nodes, 0, parts * sizeof *nodes);
        for (uint32_t i = 0; i < type.node_count; i++)
            nodes[part[type.first_node + i]]++;
        for (size_t p = 0; p < parts; p++)
            all[p] += nodes[p];
        if (type.node_count >= LEAST_OF_TYPE * parts)
            weigh(nodes, parts, out);
    }
    if (rc == ERROR_NONE)
        weigh(all, parts, out);
    for (size_t p = 0; rc == ERROR_NONE && p < parts; p++)
        out->least = all[p] < out->least ? all[p] : out->least;
    memory_free(nodes);
    memory_free(all);
    return rc;
}

/* Sets *drifted if the cut or the largest part is beyond its bound, or if a part is empty. */
static enum error_code measure(const struct partition_input *input, const uint32_t *part,
                               double full_cut, bool *drifted, struct error *err)
{
    const double most =
        (full_cut > least_cut ? full_cut : least_cut) * input->context->settings->partition.drift;
    struct balance balance;
    double share = 0.0;
    enum error_code rc = cut_share(input->context->store, &input->schema, part, &share, err);
    if (rc == ERROR_NONE)
        rc = balance_of(input, part, &balance, err);
    if (rc != ERROR_NONE)
        return rc;
    *drifted = balance.least == 0 || balance.is_uneven || share > most;
    log_info("version cut_share=%.4f full_cut_share=%.4f largest_part=%.3f drifted=%d", share,
             full_cut, balance.largest, *drifted);
    return ERROR_NONE;
}

static enum error_code place(const struct partition_input *input, const struct dataset_delta *delta,
                             uint32_t *part, const char **method, double *full_cut,
                             struct error *err)
{
    bool drifted = false;
    enum error_code rc = take_base(input, delta, part, full_cut, err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof names / sizeof *names; i++) {
        rc = stream(input, i == 0, part, err);
        if (rc == ERROR_NONE)
            rc = measure(input, part, *full_cut, &drifted, err);
        if (rc != ERROR_NONE || drifted)
            continue;
        *method = names[i];
        return ERROR_NONE;
    }
    if (rc == ERROR_NONE)
        log_info("the parts of %s have drifted: all nodes are partitioned", input->schema.id);
    return rc;
}

enum error_code version_assignment(const struct partition_input *input, uint32_t *part,
                                   const char **method, double *full_cut, struct error *err)
{
    struct dataset_delta delta;
    *method = NULL;
    if (!is_kept(input->context))
        return ERROR_NONE;
    enum error_code rc = dataset_delta_get(input->context->store, input->schema.id, &delta, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = place(input, &delta, part, method, full_cut, err);
    store_release_record(&delta.view);
    return rc;
}
