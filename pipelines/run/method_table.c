#include "pipelines/run/method_table.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"

#include <stdio.h>
#include <string.h>

#define PARTITIONER_NAME(number, name, help) [number] = #name,
const char *const method_table_names[PARTITION_METHOD_COUNT + 1] = {
    PARTITIONER_LIST(PARTITIONER_NAME)[PARTITION_METHOD_COUNT] = NULL};

static bool read_balance(const struct json_node *report, const char *key,
                         struct method_balance *out)
{
    const struct json_node *node = json_get(report, key);
    return json_double(json_get(node, "ratio"), &out->ratio) &&
           json_double(json_get(node, "variation"), &out->variation) &&
           json_double(json_get(node, "efficiency"), &out->efficiency);
}

static bool read_trial(const struct json_node *root, struct method_trial *trial)
{
    const struct json_node *report = json_get(root, "report"), *loads = json_get(root, "loads");
    trial->has_loads = loads != NULL;
    const char *method = json_text(json_get(root, "method"));
    return method && text_copy(trial->method, sizeof trial->method, method) &&
           json_double(json_get(root, "seconds"), &trial->seconds) &&
           json_int64(json_get(root, "peak_bytes"), &trial->peak_bytes) &&
           json_int64(json_get(root, "batch_bytes"), &trial->batch_bytes) &&
           json_double(json_get(report, "cut_share"), &trial->cut_share) &&
           json_double(json_get(report, "replication_factor"), &trial->replication) &&
           read_balance(report, "nodes", &trial->nodes) &&
           read_balance(report, "edges", &trial->edges) &&
           read_balance(report, "train", &trial->train) &&
           (!loads || (json_double(json_get(loads, "cut_share"), &trial->load_cut_share) &&
                       read_balance(loads, "reads", &trial->reads)));
}

enum error_code method_trial_read(const char *path, struct method_trial *trial, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    struct json_document *document = NULL;
    enum error_code rc = file_read(path, 0, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = json_parse(text, size, path, &document, err);
    if (rc == ERROR_NONE && !read_trial(json_root(document), trial))
        rc = error_set(err, ERROR_CORRUPT, "%s: a figure is missing", path);
    json_free(document);
    memory_free(text);
    return rc;
}

static void put_balance(struct json_writer *json, const char *key,
                        const struct method_balance *balance)
{
    json_open_object(json, key);
    json_put_double(json, "ratio", balance->ratio);
    json_put_double(json, "variation", balance->variation);
    json_put_double(json, "efficiency", balance->efficiency);
    json_close_object(json);
}

static void put_trial(struct json_writer *json, const struct method_trial *trial)
{
    json_open_object(json, NULL);
    json_put_string(json, "method", trial->name);
    if (trial->by_loads)
        json_put_bool(json, "by_loads", true);
    if (trial->failed) {
        json_put_string(json, "error", trial->why.message);
        json_close_object(json);
        return;
    }
    json_put_string(json, "chosen", trial->method);
    json_put_double(json, "seconds", trial->seconds);
    json_put_int64(json, "peak_bytes", trial->peak_bytes);
    json_put_double(json, "cut_share", trial->cut_share);
    json_put_double(json, "replication_factor", trial->replication);
    json_put_int64(json, "batch_bytes", trial->batch_bytes);
    put_balance(json, "nodes", &trial->nodes);
    put_balance(json, "edges", &trial->edges);
    put_balance(json, "train", &trial->train);
    if (trial->has_loads) {
        put_balance(json, "reads", &trial->reads);
        json_put_double(json, "sampled_cut_share", trial->load_cut_share);
    }
    json_close_object(json);
}

static enum error_code print_json(const struct method_trial *trial, int count, int64_t parts,
                                  struct error *err)
{
    struct json_writer json = {0};
    json_open_object(&json, NULL);
    json_put_int64(&json, "parts", parts);
    json_open_array(&json, "methods");
    for (int i = 0; i < count; i++)
        put_trial(&json, &trial[i]);
    json_close_array(&json);
    json_close_object(&json);
    return json_writer_print(&json, err);
}

static void print_line(const struct method_trial *trial)
{
    char name[64], peak[32], batch[32];
    if (trial->failed) {
        printf("%-18s %s\n", trial->name, trial->why.message);
        return;
    }
    const bool is_other = strcmp(trial->name, trial->method) != 0;
    (void)snprintf(name, sizeof name, "%s%s%s%s", trial->name, is_other ? ": " : "",
                   is_other ? trial->method : "", trial->by_loads ? ", by loads" : "");
    printf("%-18s %8.2f %10s %7.4f %7.3f  %6.3f %6.4f %6.4f  %6.3f %6.4f %6.4f  %6.3f %6.4f %6.4f",
           name, trial->seconds, text_size((uint64_t)trial->peak_bytes, peak), trial->cut_share,
           trial->replication, trial->nodes.ratio, trial->nodes.variation, trial->nodes.efficiency,
           trial->edges.ratio, trial->edges.variation, trial->edges.efficiency, trial->train.ratio,
           trial->train.variation, trial->train.efficiency);
    if (trial->has_loads)
        printf("  %6.3f %6.4f %6.4f %7.4f", trial->reads.ratio, trial->reads.variation,
               trial->reads.efficiency, trial->load_cut_share);
    printf(" %10s\n", text_size((uint64_t)trial->batch_bytes, batch));
}

enum error_code method_table_print(const struct method_trial *trial, int count, int64_t parts,
                                   bool as_json, struct error *err)
{
    if (as_json)
        return print_json(trial, count, parts, err);
    bool has_loads = false;
    for (int i = 0; i < count; i++)
        has_loads |= trial[i].has_loads;
    printf("%-18s %8s %10s %7s %7s  %-20s  %-20s  %-20s", "", "", "", "", "", "nodes", "edges",
           "training nodes");
    if (has_loads)
        printf("  %-20s %7s", "rows read", "sampled");
    printf(" %10s\n", "bytes");
    printf("%-18s %8s %10s %7s %7s", "method", "seconds", "peak", "cut", "copies");
    for (int i = 0; i < (has_loads ? 4 : 3); i++)
        printf("  %6s %6s %6s", "ratio", "var.", "eff.");
    if (has_loads)
        printf(" %7s", "cut");
    printf(" %10s\n", "a batch");
    for (int i = 0; i < count; i++)
        print_line(&trial[i]);
    return ERROR_NONE;
}
