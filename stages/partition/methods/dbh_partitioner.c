/*
 * Degree-based hashing: Xie, Yan, Li and Zhang, "Distributed power-law graph computing: theoretical
 * and empirical analysis", NIPS 2014. The part of an edge is the hash of its end with the lower
 * degree. So hubs are cut, and not nodes with few edges. Of equal degrees the lower number decides,
 * so that both directions of an edge go to one part.
 */
#include "stages/partition/rules/vertex_cut.h"

static uint32_t part_of(void *context, uint32_t source, uint32_t target)
{
    const struct vertex_cut *cut = context;
    const uint32_t a = cut->degree[source], b = cut->degree[target];
    const bool by_source = a != b ? a < b : source < target;
    return vertex_cut_hash(cut, by_source ? source : target);
}

static enum error_code cut(const struct partition_request *request, struct vertex_cut *out,
                           struct error *err)
{
    const enum error_code rc = vertex_cut_init(out, request, false, 0, err);
    return rc == ERROR_NONE ? vertex_cut_stream(out, request, part_of, out, err) : rc;
}

const struct partitioner dbh_partitioner = {.cut = cut};
