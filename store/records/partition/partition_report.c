#include "store/records/partition/partition_report.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/objects/keys.h"

#include <inttypes.h>
#include <string.h>

enum { REPORT_VERSION = 1 };

static void write_count(struct json_writer *w, const char *key, uint64_t value)
{
    must(value <= INT64_MAX); /* 2^32 nodes, 2^48 edges, 2^16 columns of 4 bytes: far below */
    json_put_int64(w, key, (int64_t)value);
}

double partition_report_efficiency(const struct partition_report *report,
                                   const struct balance *balance)
{
    uint64_t total = 0;
    for (int p = 0; p < report->part_count; p++)
        total += balance == &report->nodes   ? report->part[p].nodes
                 : balance == &report->edges ? report->part[p].edges
                                             : report->part[p].train;
    return balance->most ? (double)total / report->part_count / (double)balance->most : 0.0;
}

/* `report`: NULL leaves the efficiency out, as the record does. */
static void write_balance(struct json_writer *w, const char *key, const struct balance *balance,
                          const struct partition_report *report)
{
    json_open_object(w, key);
    write_count(w, "least", balance->least);
    write_count(w, "most", balance->most);
    json_put_double(w, "ratio", balance->ratio);
    json_put_double(w, "variation", balance->variation);
    if (report)
        json_put_double(w, "efficiency", partition_report_efficiency(report, balance));
    json_close_object(w);
}

static void write_part(struct json_writer *w, const struct part_figures *part)
{
    json_open_object(w, NULL);
    write_count(w, "nodes", part->nodes);
    write_count(w, "edges", part->edges);
    write_count(w, "cut_edges", part->cut_edges);
    write_count(w, "halo", part->halo);
    write_count(w, "train", part->train);
    json_close_object(w);
}

static void write_relations(struct json_writer *w, const struct partition_report *report)
{
    json_open_array(w, "relation");
    for (uint32_t r = 0; r < report->relation_count; r++) {
        json_open_object(w, NULL);
        json_put_string(w, "name", report->relation[r].name);
        write_count(w, "edges", report->relation[r].edges);
        write_count(w, "cut_edges", report->relation[r].cut_edges);
        write_count(w, "halo", report->relation[r].halo);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_report(struct json_writer *w, const struct partition_report *report,
                         bool with_efficiency)
{
    const struct partition_report *of = with_efficiency ? report : NULL;
    json_open_object(w, NULL);
    if (report->method[0])
        json_put_string(w, "method", report->method);
    json_put_int64(w, "part_count", report->part_count);
    write_count(w, "node_count", report->node_count);
    write_count(w, "edge_count", report->edge_count);
    write_count(w, "cut_edges", report->cut_edges);
    json_put_double(w, "cut_share", report->cut_share);
    write_count(w, "halo", report->halo);
    json_put_double(w, "replication_factor", report->replication_factor);
    json_put_int64(w, "feature_dim", report->feature_dim);
    write_count(w, "halo_bytes", report->halo_bytes);
    write_balance(w, "nodes", &report->nodes, of);
    write_balance(w, "edges", &report->edges, of);
    write_balance(w, "train", &report->train, of);
    json_open_array(w, "part");
    for (int p = 0; p < report->part_count; p++)
        write_part(w, &report->part[p]);
    json_close_array(w);
    if (report->relation_count)
        write_relations(w, report);
    json_close_object(w);
}

enum error_code partition_report_text(const struct partition_report *report,
                                      struct json_writer *json, struct error *err)
{
    write_report(json, report, true);
    return json_writer_finish(json, err);
}

enum error_code partition_report_put(struct store *store, const struct partition_report *report,
                                     struct error *err)
{
    const struct key key = key_partition(report->id, "report");
    struct json_writer w = {0};
    struct record record = {.kind = RECORD_PARTITION_REPORT, .version = REPORT_VERSION};
    write_report(&w, report, false);
    enum error_code rc = json_writer_finish(&w, err);
    if (rc == ERROR_NONE) {
        record_add(&record, "json", ELEMENT_U8, w.text, w.size);
        rc = store_put(store, key.text, report->id, &record, STORE_DURABLE, err);
    }
    json_writer_release(&w);
    return rc;
}

/* Reading: the first field that is missing or wrong is named; later ones are skipped. */
struct field_reader {
    enum error_code rc;
    struct error *err;
};

static uint64_t read_count(struct field_reader *reader, const struct json_node *object,
                           const char *key, int64_t most)
{
    int64_t value = 0;
    if (reader->rc != ERROR_NONE)
        return 0;
    if (!json_int64(json_get(object, key), &value) || value < 0 || value > most)
        reader->rc = error_set(reader->err, ERROR_CORRUPT,
                               "'%s' is missing or no whole number from 0 to %" PRId64, key, most);
    return (uint64_t)value;
}

static double read_number(struct field_reader *reader, const struct json_node *object,
                          const char *key)
{
    double value = 0.0;
    if (reader->rc == ERROR_NONE && !json_double(json_get(object, key), &value))
        reader->rc = error_set(reader->err, ERROR_CORRUPT, "'%s' is missing or no number", key);
    return value;
}

static struct balance read_balance(struct field_reader *reader, const struct json_node *object,
                                   const char *key)
{
    const struct json_node *node = json_get(object, key);
    return (struct balance){
        .least = read_count(reader, node, "least", INT64_MAX),
        .most = read_count(reader, node, "most", INT64_MAX),
        .ratio = read_number(reader, node, "ratio"),
        .variation = read_number(reader, node, "variation"),
    };
}

static void read_parts(struct field_reader *reader, const struct json_node *root,
                       struct partition_report *out)
{
    const struct json_node *parts = json_get(root, "part");
    if (reader->rc == ERROR_NONE && json_count(parts) != (size_t)out->part_count)
        reader->rc = error_set(reader->err, ERROR_CORRUPT, "'part' has %zu entries, expected %d",
                               json_count(parts), out->part_count);
    if (reader->rc == ERROR_NONE)
        reader->rc =
            memory_new(&out->part, (size_t)out->part_count, "a partition report", reader->err);
    for (int p = 0; reader->rc == ERROR_NONE && p < out->part_count; p++) {
        const struct json_node *part = json_at(parts, (size_t)p);
        out->part[p].nodes = read_count(reader, part, "nodes", INT64_MAX);
        out->part[p].edges = read_count(reader, part, "edges", INT64_MAX);
        out->part[p].cut_edges = read_count(reader, part, "cut_edges", INT64_MAX);
        out->part[p].halo = read_count(reader, part, "halo", INT64_MAX);
        out->part[p].train = read_count(reader, part, "train", INT64_MAX);
    }
}

/* Only a graph with relations has them. */
static void read_relations(struct field_reader *reader, const struct json_node *root,
                           struct partition_report *out)
{
    const struct json_node *list = json_get(root, "relation");
    const size_t count = json_count(list);
    if (reader->rc != ERROR_NONE || !list)
        return;
    if (count < 1 || count > RELATION_COUNT_MAX || !json_at(list, 0)) {
        reader->rc =
            error_set(reader->err, ERROR_CORRUPT, "'relation' has %zu entries, expected 1 to %d",
                      count, RELATION_COUNT_MAX);
        return;
    }
    reader->rc = memory_new(&out->relation, count, "a partition report", reader->err);
    out->relation_count = reader->rc == ERROR_NONE ? (uint32_t)count : 0;
    for (uint32_t r = 0; reader->rc == ERROR_NONE && r < out->relation_count; r++) {
        const struct json_node *relation = json_at(list, r);
        const char *name = json_text(json_get(relation, "name"));
        if (!name || !text_copy(out->relation[r].name, sizeof out->relation[r].name, name))
            reader->rc = error_set(reader->err, ERROR_CORRUPT,
                                   "'name' of relation %" PRIu32 " is missing or too long", r);
        out->relation[r].edges = read_count(reader, relation, "edges", INT64_MAX);
        out->relation[r].cut_edges = read_count(reader, relation, "cut_edges", INT64_MAX);
        out->relation[r].halo = read_count(reader, relation, "halo", INT64_MAX);
    }
}

static enum error_code read_report(const struct json_node *root, struct partition_report *out,
                                   struct error *err)
{
    struct field_reader reader = {.err = err};
    const char *method = json_text(json_get(root, "method"));
    if (method && !text_copy(out->method, sizeof out->method, method))
        return error_set(err, ERROR_CORRUPT, "'method' is longer than %zu bytes",
                         sizeof out->method - 1);
    out->part_count = (int)read_count(&reader, root, "part_count", INT32_MAX);
    out->node_count = read_count(&reader, root, "node_count", INT64_MAX);
    out->edge_count = read_count(&reader, root, "edge_count", INT64_MAX);
    out->cut_edges = read_count(&reader, root, "cut_edges", INT64_MAX);
    out->cut_share = read_number(&reader, root, "cut_share");
    out->halo = read_count(&reader, root, "halo", INT64_MAX);
    out->replication_factor = read_number(&reader, root, "replication_factor");
    out->feature_dim = (uint32_t)read_count(&reader, root, "feature_dim", UINT32_MAX);
    out->halo_bytes = read_count(&reader, root, "halo_bytes", INT64_MAX);
    out->nodes = read_balance(&reader, root, "nodes");
    out->edges = read_balance(&reader, root, "edges");
    out->train = read_balance(&reader, root, "train");
    read_parts(&reader, root, out);
    read_relations(&reader, root, out);
    return reader.rc;
}

static enum error_code decode_report(const struct record_view *view, const char *name,
                                     struct partition_report *out, struct error *err)
{
    const void *text = NULL;
    uint64_t size = 0;
    struct json_document *document = NULL;
    enum error_code rc = record_expect(view, RECORD_PARTITION_REPORT, REPORT_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "json", ELEMENT_U8, -1, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = json_parse(text, (size_t)size, name, &document, err);
    if (rc == ERROR_NONE)
        rc = read_report(json_root(document), out, err);
    json_free(document);
    return rc == ERROR_INPUT ? ERROR_CORRUPT : rc; /* no person wrote this text */
}

enum error_code partition_report_get(struct store *store, const char *partition_id,
                                     struct partition_report *out, struct error *err)
{
    const struct key key = key_partition(partition_id, "report");
    struct record_view view = {0};
    *out = (struct partition_report){0};
    enum error_code rc = store_get(store, key.text, partition_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    must(text_copy(out->id, sizeof out->id, partition_id)); /* keys bound the length of ids */
    rc = decode_report(&view, key.text, out, err);
    store_release_record(&view);
    if (rc == ERROR_NONE)
        return rc;
    partition_report_release(out);
    return error_context(err, rc, "%s", key.text);
}

void partition_report_release(struct partition_report *report)
{
    memory_free(report->part);
    memory_free(report->relation);
    *report = (struct partition_report){0};
}

uint64_t partition_report_round_bytes(const struct partition_report *report, const int64_t *fanout,
                                      int hop_count, int64_t seed_count)
{
    if (report->node_count == 0)
        return 0;
    const double mean_degree = (double)report->edge_count / (double)report->node_count;
    double reached = (double)seed_count, left = (double)report->node_count;
    double remote = 0.0, local_share = 1.0;
    for (int hop = 0; hop < hop_count; hop++) {
        const double wanted = fanout[hop] < 0 ? mean_degree : (double)fanout[hop];
        reached *= wanted < mean_degree ? wanted : mean_degree;
        reached = reached < left ? reached : left;
        left -= reached;
        local_share *= 1.0 - report->cut_share;
        remote += reached * (1.0 - local_share);
    }
    return (uint64_t)(remote * 4.0 * report->feature_dim);
}
