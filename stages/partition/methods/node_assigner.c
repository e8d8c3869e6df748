#include "stages/partition/methods/node_assigner.h"

#include "stages/partition/rules/vertex_cut.h"

#include <string.h>

#define PARTITIONER_AT(number, name, help) [number] = &name##_partitioner,
static const struct partitioner *const partitioners[PARTITION_METHOD_COUNT] = {
    PARTITIONER_LIST(PARTITIONER_AT)};
#define PARTITIONER_NAME(number, name, help) [number] = #name,
static const char *const names[PARTITION_METHOD_COUNT] = {PARTITIONER_LIST(PARTITIONER_NAME)};

/* Returns the number of the method; PARTITION_METHOD_COUNT if there is none. */
static int64_t number_of(const char *name)
{
    int64_t number = 0;
    while (number < PARTITION_METHOD_COUNT && strcmp(names[number], name) != 0)
        number++;
    return number;
}

const char *partitioner_name(const char *name)
{
    const int64_t number = number_of(name);
    return number < PARTITION_METHOD_COUNT ? names[number] : NULL;
}

bool partitioner_cuts_vertices(int64_t method)
{
    return method >= 0 && method < PARTITION_METHOD_COUNT && partitioners[method]->cut;
}

static enum error_code cut_vertices(const struct partition_request *request,
                                    const struct partitioner *partitioner, uint32_t *part,
                                    uint16_t **edge_part, struct error *err)
{
    struct vertex_cut cut = {0};
    enum error_code rc = partitioner->cut(request, &cut, err);
    vertex_cut_release_rows(&cut);
    if (rc == ERROR_NONE)
        rc = vertex_cut_masters(&cut, request, part, err);
    if (rc == ERROR_NONE) {
        *edge_part = cut.edge_part;
        cut.edge_part = NULL; /* ownership moves to the caller */
    }
    vertex_cut_release(&cut);
    return rc;
}

enum error_code node_assigner_run(const struct partition_request *request, uint32_t *part,
                                  uint16_t **edge_part, const char **chosen, struct error *err)
{
    int64_t method = *chosen ? number_of(*chosen) : request->settings->partition.method;
    *edge_part = NULL;
    if (method < 0 || method >= PARTITION_METHOD_COUNT)
        return error_set(err, ERROR_INVALID, "partition.method is none of the known ones");
    if (partitioners[method]->choose) {
        method = (int64_t)partitioners[method]->choose(request);
        *chosen = names[method];
    }
    if (partitioners[method]->cut)
        return cut_vertices(request, partitioners[method], part, edge_part, err);
    return partitioners[method]->assign(request, part, err);
}
