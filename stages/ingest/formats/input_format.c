#include "stages/ingest/formats/input_format.h"

#include "common/base/file_pattern.h"
#include "common/base/memory.h"
#include "common/formats/file_kind.h"
#include "stages/ingest/formats/dgl_csv_reader.h"
#include "stages/ingest/formats/distdgl_reader.h"
#include "stages/ingest/formats/edge_list_reader.h"
#include "stages/ingest/formats/edge_shape.h"
#include "stages/ingest/formats/folder_reader.h"
#include "stages/ingest/formats/graphbolt_reader.h"
#include "stages/ingest/formats/graphml_reader.h"
#include "stages/ingest/formats/graphsaint_reader.h"
#include "stages/ingest/formats/hgb_reader.h"
#include "stages/ingest/formats/linqs_reader.h"
#include "stages/ingest/formats/matrix_market_reader.h"
#include "stages/ingest/formats/metis_reader.h"
#include "stages/ingest/formats/node_files.h"
#include "stages/ingest/formats/npz_reader.h"
#include "stages/ingest/formats/ogb_reader.h"
#include "stages/ingest/formats/openke_reader.h"
#include "stages/ingest/formats/triple_reader.h"
#include "stages/ingest/formats/tu_reader.h"
#include "stages/ingest/generate/generator.h"

/* Of readers that hold a bounded piece whatever the budget. */
#define WITHOUT_BUDGET(name, reader)                                                               \
    static enum error_code name(const struct pipeline_settings *settings, uint64_t memory_bytes,   \
                                struct dataset_builder *builder, struct error *err)                \
    {                                                                                              \
        (void)memory_bytes;                                                                        \
        return reader(settings, builder, err);                                                     \
    }

WITHOUT_BUDGET(run_folder, folder_reader_run)
WITHOUT_BUDGET(run_ogb, ogb_reader_run)
WITHOUT_BUDGET(run_generated, generator_run)
WITHOUT_BUDGET(run_tu, tu_reader_run)
WITHOUT_BUDGET(run_npz, npz_reader_run)
WITHOUT_BUDGET(run_graphsaint, graphsaint_reader_run)
WITHOUT_BUDGET(run_graphbolt, graphbolt_reader_run)
WITHOUT_BUDGET(run_distdgl, distdgl_reader_run)
WITHOUT_BUDGET(run_dgl_csv, dgl_csv_reader_run)
WITHOUT_BUDGET(run_graphml, graphml_reader_run)
WITHOUT_BUDGET(run_linqs, linqs_reader_run)
WITHOUT_BUDGET(run_hgb, hgb_reader_run)
WITHOUT_BUDGET(run_openke, openke_reader_run)

/* Where a setting names the columns, they are what it says. */
static enum error_code check_edge_file(void *context, const char *path, size_t index,
                                       struct error *err)
{
    const struct pipeline_settings *const *settings = context;
    (void)index;
    const enum error_code rc = file_kind_check_table(path, NULL, 0, "edges", err);
    return rc == ERROR_NONE && !(*settings)->ingest.edge_columns[0] ? edge_shape_check(path, err)
                                                                    : rc;
}

static enum error_code run_edge_list(const struct pipeline_settings *settings,
                                     uint64_t memory_bytes, struct dataset_builder *builder,
                                     struct error *err)
{
    struct node_files files;
    const struct edge_list_input input = {
        .name = settings->ingest.path,
        .nodes = &files,
        .edge_features = (enum edge_feature_choice)settings->ingest.edge_features,
        .settings = settings};
    const struct pipeline_settings *context = settings;
    enum error_code rc = node_files_open(&files, settings, err);
    if (rc == ERROR_NONE)
        rc = file_pattern_visit(settings->ingest.path, check_edge_file, &context, err);
    if (rc == ERROR_NONE)
        rc = edge_list_reader_run(&input, (enum id_type)settings->ingest.id_type, memory_bytes,
                                  builder, err);
    node_files_release(&files);
    return rc;
}

#define RANDOM_SPLIT "write `split: random 60/20/20` below `ingest:`"
/* Labels and splits are in files that settings name. */
#define ADVICE_BESIDE                                                                              \
    {                                                                                              \
        "give nodes a class in the file that ingest.labels names",                                 \
            "give ids in the file that ingest.train names, or write `split: random 60/20/20` in "  \
            "its place"                                                                            \
    }

/* Triples have neither classes nor splits of nodes. */
#define ADVICE_TRIPLES                                                                             \
    {                                                                                              \
        "write `task: link_prediction` below `ingest:`, since triples have no classes",            \
            "write `task: link_prediction` below `ingest:`, since triples have no splits of nodes" \
    }

static const struct input_format rows[] = {
    [FORMAT_FOLDER] = {.endings = {".csv", ".csv.gz", ".csv.zst", ".npy", ".json"},
                       .advice = {"add node-label.csv, whose line i is the class of node i (-1: "
                                  "none)",
                                  "add train.csv (and valid.csv, test.csv) with a node id a line, "
                                  "or a line `split: random 60/20/20` below `ingest:`"},
                       .run = run_folder},
    [FORMAT_OGB] = {.has_folders = true,
                    .endings = {".csv", ".csv.gz", ".csv.zst", ".npz", ".npy", ".json", ".pt"},
                    .advice = {"add raw/node-label.csv.gz, whose line i is the class of node i",
                               "add split/<name>/train.csv.gz (and valid, test) with a node id a "
                               "line, or a line `split: random 60/20/20` below `ingest:`"},
                    .run = run_ogb},
    [FORMAT_EDGE_LIST] = {.is_file = true, .advice = ADVICE_BESIDE, .run = run_edge_list},
    [FORMAT_GENERATED] = {.advice = {"set ingest.classes", "raise ingest.train_share"},
                          .run = run_generated},
    [FORMAT_TU] = {.endings = {".txt", ".csv", ".csv.gz", ".csv.zst", ".npy", ".json"},
                   .advice = {"add NAME_graph_labels.txt, whose line i is the class of graph i",
                              RANDOM_SPLIT},
                   .run = run_tu},
    [FORMAT_MATRIX_MARKET] = {.is_file = true,
                              .advice = ADVICE_BESIDE,
                              .run = matrix_market_reader_run},
    [FORMAT_METIS] = {.is_file = true, .advice = ADVICE_BESIDE, .run = metis_reader_run},
    [FORMAT_NPZ] = {.is_file = true,
                    .advice = {"the archive needs an array labels (or node_labels) with a class a "
                               "node",
                               RANDOM_SPLIT},
                    .run = run_npz},
    [FORMAT_GRAPHSAINT] = {.endings = {".npz", ".npy", ".json"},
                           .advice = {"add class_map.json with a class for each node",
                                      "add role.json with lists tr, va and te, or a line `split: "
                                      "random 60/20/20` below `ingest:`"},
                           .run = run_graphsaint},
    [FORMAT_GRAPHBOLT] = {.has_folders = true,
                          .endings = {".yaml", ".npy", ".csv"},
                          .advice = {"add an item `name: labels` to the sets below `tasks:`",
                                     "add train_set below `tasks:`, or a line `split: random "
                                     "60/20/20` below `ingest:`"},
                          .run = run_graphbolt},
    [FORMAT_DISTDGL] = {.has_folders = true,
                        .endings = {".json", ".npy", ".csv", ".csv.gz", ".csv.zst", ".txt"},
                        .advice = {"add \"label\" to the arrays of a type below \"node_data\"",
                                   "add \"train_mask\" to them, or write `split: random 60/20/20` "
                                   "below `ingest:`"},
                        .run = run_distdgl},
    [FORMAT_DGL_CSV] =
        {.has_folders = true,
         .endings = {".yaml", ".csv", ".tsv", ".txt"},
         .advice = {"add a column `label` to a file of nodes",
                    "add a column `train_mask` to it, or write `split: random 60/20/20` "
                    "below `ingest:`"},
         .run = run_dgl_csv},
    [FORMAT_GRAPHML] = {.is_file = true,
                        .advice = {"give nodes a <data> of a key with attr.name=\"label\"",
                                   "give nodes a <data> of a key with attr.name=\"train_mask\", or "
                                   "write `split: random 60/20/20` below `ingest:`"},
                        .run = run_graphml},
    [FORMAT_LINQS] = {.endings = {".content", ".cites"},
                      .advice = {"end each line of NAME.content with a class", RANDOM_SPLIT},
                      .run = run_linqs},
    [FORMAT_HGB] = {.endings = {".dat", ".dat.test"},
                    .advice = {"add label.dat with a line of id, name, type and class for each "
                               "training node",
                               RANDOM_SPLIT},
                    .run = run_hgb},
    [FORMAT_OPENKE] = {.endings = {"2id.txt"}, .advice = ADVICE_TRIPLES, .run = run_openke},
    [FORMAT_NTRIPLES] = {.is_file = true, .advice = ADVICE_TRIPLES, .run = ntriples_reader_run},
    [FORMAT_SIF] = {.is_file = true, .advice = ADVICE_TRIPLES, .run = sif_reader_run},
};

const struct training_advice input_format_graph_advice = {
    "add graph-label.csv, whose line i is the class of graph i (-1: none)",
    "add train.csv (and valid.csv, test.csv) with a graph id a line, or a line `split: random "
    "80/10/10` below `ingest:`"};

const struct input_format *input_format_of(enum ingest_format format)
{
    must((size_t)format < sizeof rows / sizeof *rows && rows[format].run);
    return &rows[format];
}
