/*
 * predict - answers from a finished run: `predict links` scores pairs of nodes, or finds the best
 * partners of given nodes.
 *
 *   pairs or nodes, by their ids ─> link_questions ─> link_scorer (last layer's rows, decoder)
 *                                                    ─> one line each
 */
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/formats/text/csv_field.h"
#include "pipelines/export/export_target.h"
#include "pipelines/questions/link_questions.h"
#include "pipelines/shared/commands.h"
#include "store/objects/keys.h"
#include "store/records/dataset/node_ids.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINKS_AT_ONCE = 1024 };

struct predict_options {
    const char *pairs, *node, *nodes, *end, *output, *run;
    int64_t best, type, threads;
    uint64_t memory_bytes;
    bool new_only, force;
};

/* clang-format off */
#define AT(field) offsetof(struct predict_options, field)
static const struct option_spec option_table[] = {
    {"pairs", OPTION_TEXT, AT(pairs), NULL, 0, 0, "FILE",
     "score the pairs of a file with a line `source,target` each (`source,target,type` if edges "
     "have types)"},
    {"node", OPTION_TEXT, AT(node), NULL, 0, 0, "ID", "find the best partners of a node"},
    {"nodes", OPTION_TEXT, AT(nodes), NULL, 0, 0, "FILE",
     "find those of the nodes of a file with a line `id` each (`id,type` if edges have types)"},
    {"best", OPTION_INT, AT(best), "10", 1, 1000000, "K", "number of partners"},
    {"end", OPTION_TEXT, AT(end), "target", 0, 0, "END",
     "which end the partners are: target or source"},
    {"type", OPTION_INT, AT(type), "0", 0, UINT16_MAX, "T", "--node: the type of the edges"},
    {"new", OPTION_FLAG, AT(new_only), NULL, 0, 0, NULL,
     "leave out partners that are linked in the graph already, in any split"},
    {"output", OPTION_TEXT, AT(output), "/dev/stdout", 0, 0, "FILE", "where to write the table"},
    {"force", OPTION_FLAG, AT(force), NULL, 0, 0, NULL,
     "replace an existing file, whoever made it"},
    {"memory", OPTION_BYTES, AT(memory_bytes), NULL, 0, 0, "BYTES",
     "budget (default: a quarter of the machine's)"},
    {"threads", OPTION_INT, AT(threads), "0", 0, 1024, "N", "threads (0: as many as processors)"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID",
     "which run, when the folder has several (default: the newest)"},
    {.name = NULL},
};
/* clang-format on */

struct prediction { /* the state of one command */
    struct predict_options options;
    enum pair_end end;
    struct run_folder folder;
    struct link_questions questions;
    struct link_scorer scorer;
    struct node_ids ids; /* without arrays: 0 .. N-1 */
    char *field;         /* buffer for an id in a table */
    size_t field_capacity;
    FILE *out;
};

static void print_help(void)
{
    printf(
        "graphmill predict links RUN (--pairs FILE | --node ID | --nodes FILE) [options] - scores "
        "of pairs, or the best partners of nodes\n\n"
        "RUN is the folder of a finished run of link prediction. Partners are exact: all nodes are "
        "compared,\n"
        "of a graph with relations all of the type that the relation connects.\n\n");
    options_print_help(option_table);
}

static enum error_code parse(struct prediction *p, int argc, char **argv, struct option_list *rest,
                             struct error *err)
{
    struct predict_options *o = &p->options;
    const enum error_code rc = options_parse(option_table, argc, argv, o, rest, err);
    if (rc != ERROR_NONE)
        return rc;
    if (rest->count != 2 || strcmp(rest->item[0], "links") != 0)
        return error_set(err, ERROR_USAGE,
                         "graphmill predict takes `links` and one run's folder; " ADVICE
                         "see --help");
    if ((o->pairs != NULL) + (o->node != NULL) + (o->nodes != NULL) != 1)
        return error_set(err, ERROR_USAGE,
                         "graphmill predict links takes one of --pairs, --node and --nodes");
    if (strcmp(o->end, "target") != 0 && strcmp(o->end, "source") != 0)
        return error_set(err, ERROR_USAGE, "--end is '%s', expected target or source", o->end);
    p->end = strcmp(o->end, "target") == 0 ? PAIR_TARGET : PAIR_SOURCE;
    if (!o->memory_bytes)
        o->memory_bytes = host_memory_bytes() / 4;
    if (!o->threads)
        o->threads = host_core_count();
    return ERROR_NONE;
}

static enum error_code open_ids(struct prediction *p, struct error *err)
{
    const char *dataset = p->folder.run.book.dataset_id;
    bool has_ids = false;
    return merged_ids_find(p->folder.store, dataset, &has_ids, &p->ids, err);
}

/* --- lines --- */

static enum error_code print_node(struct prediction *p, uint32_t node, char behind,
                                  struct error *err)
{
    const struct node_ids *ids = &p->ids;
    if (!ids->offset) {
        (void)fprintf(p->out, "%" PRId64 "%c", ids->integer ? ids->integer[node] : (int64_t)node,
                      behind);
        return ERROR_NONE;
    }
    const size_t size = (size_t)(ids->offset[node + 1] - ids->offset[node]);
    const enum error_code rc =
        memory_grow(&p->field, &p->field_capacity, csv_field_size(size), "the id of a node", err);
    if (rc != ERROR_NONE)
        return rc;
    (void)fwrite(p->field, 1, csv_field_put(p->field, ids->text + ids->offset[node], size), p->out);
    (void)fputc(behind, p->out);
    return ERROR_NONE;
}

/* Prints "source,target[,type],". */
static enum error_code print_link(struct prediction *p, uint32_t source, uint32_t target,
                                  uint16_t type, struct error *err)
{
    enum error_code rc = print_node(p, source, ',', err);
    if (rc == ERROR_NONE)
        rc = print_node(p, target, ',', err);
    if (rc == ERROR_NONE && p->folder.run.book.pair_type_count)
        (void)fprintf(p->out, "%u,", type);
    return rc;
}

static enum error_code print_scores(struct prediction *p, const struct asked_link *link,
                                    size_t count, struct error *err)
{
    float score[LINKS_AT_ONCE];
    enum error_code rc = link_scorer_scores(&p->scorer, link, count, score, err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++) {
        rc = print_link(p, link[i].source, link[i].target, link[i].type, err);
        (void)fprintf(p->out, "%.9g\n", (double)score[i]);
    }
    return rc;
}

static enum error_code print_found(struct prediction *p, const struct asked_link *link,
                                   const struct link_partner *partner, uint32_t found,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t k = 0; rc == ERROR_NONE && k < found; k++) {
        const bool is_target = p->end == PAIR_TARGET;
        rc = print_link(p, is_target ? link->source : partner[k].node,
                        is_target ? partner[k].node : link->source, link->type, err);
        (void)fprintf(p->out, "%.9g,%" PRIu32 "\n", (double)partner[k].score, k + 1);
    }
    return rc;
}

static enum error_code print_partners(struct prediction *p, const struct asked_link *link,
                                      size_t count, struct error *err)
{
    const uint32_t nodes = p->folder.run.book.node_count;
    const uint32_t best = p->options.best < nodes ? (uint32_t)p->options.best : nodes;
    struct link_partner *partner = NULL;
    uint32_t *found = NULL;
    enum error_code rc = memory_new(&partner, count * best, "the best partners", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&found, count, "the best partners", err);
    if (rc == ERROR_NONE)
        rc = link_scorer_partners(&p->scorer, link, count, p->end, best, partner, found, err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = print_found(p, &link[i], partner + i * best, found[i], err);
    memory_free(found);
    memory_free(partner);
    return rc;
}

/* Returns how many questions are answered at once: for nodes, as many as the lists of their
 * partners have room for. */
static size_t links_at_once(const struct prediction *p)
{
    const uint64_t list = (uint64_t)p->options.best * sizeof(struct link_partner);
    const uint64_t fit = p->options.memory_bytes / 8 / list;
    if (p->options.pairs || fit >= LINKS_AT_ONCE)
        return LINKS_AT_ONCE;
    return fit ? (size_t)fit : 1;
}

static enum error_code print_all(struct prediction *p, struct error *err)
{
    const size_t step = links_at_once(p), all = p->questions.count;
    enum error_code rc = ERROR_NONE;
    (void)fprintf(p->out, "source,target,%sscore%s\n",
                  p->folder.run.book.pair_type_count ? "type," : "",
                  p->options.pairs ? "" : ",rank");
    for (size_t first = 0; rc == ERROR_NONE && first < all; first += step) {
        const size_t count = all - first < step ? all - first : step;
        rc = p->options.pairs ? print_scores(p, p->questions.link + first, count, err)
                              : print_partners(p, p->questions.link + first, count, err);
    }
    return rc;
}

static enum error_code write_all(struct prediction *p, const char *path, struct error *err)
{
    p->out = fopen(path, "we");
    if (!p->out)
        return error_set_errno(err, ERROR_IO, "%s cannot be written", path);
    enum error_code rc = print_all(p, err);
    const bool failed = ferror(p->out) != 0;
    if ((fclose(p->out) != 0 || failed) && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be written", path);
    return rc;
}

static enum error_code answer(struct prediction *p, struct error *err)
{
    struct export_target target;
    enum error_code rc =
        export_target_open(&target, p->options.output, p->options.force, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = write_all(p, target.path, err);
    const enum error_code closed =
        export_target_close(&target, rc == ERROR_NONE, rc == ERROR_NONE ? err : NULL);
    return rc == ERROR_NONE ? closed : rc;
}

static enum error_code ask(struct prediction *p, struct error *err)
{
    const struct predict_options *o = &p->options;
    const enum pair_end stays = p->end == PAIR_TARGET ? PAIR_SOURCE : PAIR_TARGET;
    if (o->node)
        return link_questions_ask(&p->questions, "--node", o->node, o->type, stays, &p->folder,
                                  err);
    return link_questions_read(&p->questions, o->pairs ? o->pairs : o->nodes, o->pairs != NULL,
                               stays, &p->folder, err);
}

enum error_code command_predict(int argc, char **argv, struct error *err)
{
    static struct prediction p;
    struct option_list rest = {0};
    if (options_want_help(argc, argv)) {
        print_help();
        return ERROR_NONE;
    }
    enum error_code rc = parse(&p, argc, argv, &rest, err);
    if (rc == ERROR_NONE)
        rc = run_folder_open(&p.folder, rest.item[1], p.options.run, err);
    if (rc == ERROR_NONE)
        rc = link_scorer_open(&p.scorer, &p.folder, p.options.new_only, p.options.memory_bytes,
                              (int)p.options.threads, err);
    if (rc == ERROR_NONE)
        rc = ask(&p, err);
    if (rc == ERROR_NONE)
        rc = open_ids(&p, err);
    if (rc == ERROR_NONE)
        rc = answer(&p, err);
    store_release_record(&p.ids.view);
    memory_free(p.field);
    link_questions_release(&p.questions);
    link_scorer_close(&p.scorer);
    run_folder_close(&p.folder);
    return rc;
}
