/*
 * partition_report - how good a partition is, in figures.
 *
 * Written by partition before the book; read by the driver and by reports. Nothing computes with
 * it.
 *
 *   key       partition/<id>/report
 *   sections  "json" U8: one object; the names are those of the fields below; "method" only of
 *             auto, and of versions of a dataset
 *
 * It holds what depends on the graph and its parts only, so that it is the same record whatever the
 * sampler's settings are. What a round costs follows from it: partition_report_round_bytes().
 */
#ifndef STORE_RECORDS_PARTITION_PARTITION_REPORT_H
#define STORE_RECORDS_PARTITION_PARTITION_REPORT_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "common/graph/relation_block.h"
#include "store/objects/store.h"

#include <stdint.h>

struct part_figures {
    uint64_t nodes,
        edges; /* owned edges: those with a target in the part; in a vertex cut those in the part */
    uint64_t cut_edges; /* owned edges whose source is in another part */
    uint64_t halo;      /* distinct sources in other parts; in a vertex cut ends (replicas) */
    uint64_t train;     /* owned training nodes */
};

/* How evenly something is spread over the parts. */
struct balance {
    uint64_t least, most;
    double ratio;     /* most / least; 0 when least is 0 */
    double variation; /* coefficient of variation: standard deviation / mean; 0 when mean is 0 */
};

/* Figures of one relation in all parts together. */
struct relation_figures {
    char name[RELATION_NAME_SIZE];
    uint64_t edges, cut_edges;
    uint64_t halo; /* distinct sources in another part than the target, counted by part */
};

struct partition_report { /* {0} is empty */
    char id[80];
    char method
        [64]; /* the choice of partition.method auto; of a version "placed" or "moved"; or "" */
    int part_count;
    uint64_t node_count, edge_count;
    uint64_t cut_edges;
    double cut_share;          /* cut_edges / edge_count; 0 without edges */
    uint64_t halo;             /* of all parts together */
    double replication_factor; /* (node_count + halo) / node_count */
    uint32_t feature_dim;      /* with several node types the mean over all nodes */
    uint64_t halo_bytes;       /* feature bytes of all halos: what one full-neighbour pass moves */
    struct balance nodes, edges, train;
    struct part_figures *part;         /* [part_count], owned */
    uint32_t relation_count;           /* 0: a graph without relations */
    struct relation_figures *relation; /* [relation_count], owned */
};

MUST_CHECK enum error_code
partition_report_put(struct store *store, const struct partition_report *report, struct error *err);
/* Returns mean / most: the share of all parts that has work as long as the largest part has. 1 is
 * even; 0 without any work. */
double partition_report_efficiency(const struct partition_report *report,
                                   const struct balance *balance);
/* Appends the report as JSON to `json`: the text of its record, and the efficiencies. */
MUST_CHECK enum error_code partition_report_text(const struct partition_report *report,
                                                 struct json_writer *json, struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming the key and what is wrong. */
MUST_CHECK enum error_code partition_report_get(struct store *store, const char *partition_id,
                                                struct partition_report *out, struct error *err);
void partition_report_release(struct partition_report *report);

/* Estimated feature bytes that a round of `seed_count` seed nodes takes from parts other than those
 * of its seeds. Hop h reaches seed_count * f_1 * ... * f_h nodes, f_i = min(fanout[i], mean
 * degree), all hops together at most all nodes; a node h hops away is in another part with
 * probability 1 - (1 - cut_share)^h. A fan-out of -1 is all neighbours. It is meant to compare
 * partitions: repeats within a batch, which are read once, are not taken off before the cap. */
uint64_t partition_report_round_bytes(const struct partition_report *report, const int64_t *fanout,
                                      int hop_count, int64_t seed_count);

#endif
