/*
 * 2PS-L: Mayer, Orujzade and Jacobsen, "Out-of-core edge partitioning at linear run-time", ICDE
 * 2022.
 *
 * First phase: one pass over the edges makes clusters of nodes. The volume of a cluster is the sum
 * of the degrees of its nodes. Of an edge between two clusters, the end whose cluster is smaller
 * without it moves to the other cluster, as long as no volume exceeds the mean of a part. Clusters
 * are given to parts by falling volume, each to the part with the least volume so far.
 * Second phase: one pass places the edges whose clusters are in one part there. Another pass places
 * each remaining edge in the better of the two parts of its clusters, by
 *
 *   g(u, p) + g(v, p) + s(u, p) + s(v, p),   g as in hdrf_partitioner.c,
 *   s(u, p) = volume of u's cluster / both volumes, if that cluster is in p, otherwise 0
 *
 * So an edge costs the same whatever the number of parts is. A full part (1.05 times the mean of
 * edges) is skipped: then the part is the hash of the end with the higher degree, and if that part
 * is full, too, the least loaded one.
 */
#include "common/base/memory.h"
#include "stages/partition/rules/vertex_cut.h"

#include <stdlib.h>

struct two_phases {
    struct vertex_cut *cut;
    uint64_t volume_most, load_most;
    uint32_t *cluster; /* [node_count], owned, and so are the next */
    uint64_t *volume;  /* [node_count] of each cluster */
    uint16_t *home;    /* [node_count]: the part of each cluster */
};

/* --- clusters --- */

static uint32_t meet(void *context, uint32_t source, uint32_t target)
{
    struct two_phases *t = context;
    const uint32_t *degree = t->cut->degree;
    const uint64_t source_volume = t->volume[t->cluster[source]];
    const uint64_t target_volume = t->volume[t->cluster[target]];
    if (t->cluster[source] == t->cluster[target] || source_volume > t->volume_most ||
        target_volume > t->volume_most)
        return IN_NO_CUT;
    const bool source_moves = source_volume - degree[source] <= target_volume - degree[target];
    const uint32_t node = source_moves ? source : target;
    const uint32_t to = t->cluster[source_moves ? target : source];
    if (t->volume[to] + degree[node] > t->volume_most)
        return IN_NO_CUT;
    t->volume[t->cluster[node]] -= degree[node];
    t->volume[to] += degree[node];
    t->cluster[node] = to;
    return IN_NO_CUT;
}

struct sized_cluster {
    uint64_t volume;
    uint32_t cluster;
};

static int compare_clusters(const void *a, const void *b)
{
    const struct sized_cluster *x = a, *y = b;
    if (x->volume != y->volume)
        return x->volume > y->volume ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static void give_clusters(struct two_phases *t, const struct sized_cluster *sized, uint32_t count,
                          uint64_t *held)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part = 0;
        for (uint32_t p = 1; p < t->cut->part_count; p++)
            if (held[p] < held[part])
                part = p;
        t->home[sized[i].cluster] = (uint16_t)part;
        held[part] += sized[i].volume;
    }
}

static enum error_code map_clusters(struct two_phases *t, struct error *err)
{
    const struct vertex_cut *cut = t->cut;
    struct sized_cluster *sized = NULL;
    uint64_t *held = NULL;
    uint32_t count = 0;
    enum error_code rc = memory_new(&sized, cut->node_count, "the clusters by volume", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&held, cut->part_count, "the volumes of parts", err);
    for (uint32_t c = 0; rc == ERROR_NONE && c < cut->node_count; c++)
        if (t->volume[c])
            sized[count++] = (struct sized_cluster){.volume = t->volume[c], .cluster = c};
    if (rc == ERROR_NONE) {
        qsort(sized, count, sizeof *sized, compare_clusters);
        give_clusters(t, sized, count, held);
    }
    memory_free(sized);
    memory_free(held);
    return rc;
}

/* --- edges --- */

static uint32_t home_of(const struct two_phases *t, uint32_t node)
{
    return t->home[t->cluster[node]];
}

static uint32_t place_inside(void *context, uint32_t source, uint32_t target)
{
    const struct two_phases *t = context;
    const uint32_t part = home_of(t, source);
    return part == home_of(t, target) && t->cut->load[part] < t->load_most ? part : IN_NO_CUT;
}

static double score(const struct two_phases *t, uint32_t source, uint32_t target, uint32_t part)
{
    const struct vertex_cut *cut = t->cut;
    const double degree[2] = {cut->degree[source], cut->degree[target]};
    const double volume[2] = {(double)t->volume[t->cluster[source]],
                              (double)t->volume[t->cluster[target]]};
    double sum = 0;
    if (vertex_cut_has(cut, source, part))
        sum += 2 - degree[0] / (degree[0] + degree[1]);
    if (vertex_cut_has(cut, target, part))
        sum += 2 - degree[1] / (degree[0] + degree[1]);
    if (home_of(t, source) == part)
        sum += volume[0] / (volume[0] + volume[1]);
    if (home_of(t, target) == part)
        sum += volume[1] / (volume[0] + volume[1]);
    return sum;
}

static uint32_t place_rest(void *context, uint32_t source, uint32_t target)
{
    const struct two_phases *t = context;
    const struct vertex_cut *cut = t->cut;
    const uint32_t first = home_of(t, source), second = home_of(t, target);
    const bool is_second = score(t, source, target, second) > score(t, source, target, first);
    const uint32_t better = is_second ? second : first;
    if (cut->load[better] < t->load_most)
        return better;
    const uint32_t hub = cut->degree[source] >= cut->degree[target] ? source : target;
    const uint32_t hashed = vertex_cut_hash(cut, hub);
    return cut->load[hashed] < t->load_most ? hashed : vertex_cut_least(cut);
}

static enum error_code begin(struct two_phases *t, struct error *err)
{
    const uint32_t node_count = t->cut->node_count;
    enum error_code rc = memory_new(&t->cluster, node_count, "the clusters of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&t->volume, node_count, "the volumes of clusters", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&t->home, node_count, "the parts of clusters", err);
    for (uint32_t v = 0; rc == ERROR_NONE && v < node_count; v++) {
        t->cluster[v] = v;
        t->volume[v] = t->cut->degree[v];
    }
    t->volume_most = 2 * t->cut->edge_count / t->cut->part_count;
    t->load_most = vertex_cut_most(t->cut);
    return rc;
}

static enum error_code cut(const struct partition_request *request, struct vertex_cut *out,
                           struct error *err)
{
    struct two_phases t = {.cut = out};
    const uint64_t node_bytes = sizeof *t.cluster + sizeof *t.volume + sizeof *t.home +
                                sizeof(struct sized_cluster); /* while clusters get parts */
    enum error_code rc =
        vertex_cut_init(out, request, true, node_bytes * request->schema->node_count, err);
    if (rc == ERROR_NONE)
        rc = begin(&t, err);
    if (rc == ERROR_NONE) {
        vertex_cut_place(out, meet, &t);
        rc = map_clusters(&t, err);
    }
    if (rc == ERROR_NONE) {
        vertex_cut_place(out, place_inside, &t);
        vertex_cut_place(out, place_rest, &t);
    }
    memory_free(t.cluster);
    memory_free(t.volume);
    memory_free(t.home);
    return rc;
}

const struct partitioner two_phase_partitioner = {.cut = cut};
