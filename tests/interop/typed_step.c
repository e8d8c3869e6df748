/*
 * typed_step - writes one step of a model over relations, for tests/interop/typed.py to do again in
 * PyG.
 *
 *   typed_step MODEL FILE      MODEL: a row of `models`; without arguments it prints their names
 *
 * The file (safetensors) has the weights and their gradient ("weights.<name>", "gradient.<name>"),
 * the rows that come in and the gradient of those ("x.<type>", "x_gradient.<type>"), the edges
 * ("edge.<hop>.<relation>" [2, edges]), their weights ("weight.<hop>.<relation>" [edges]) and
 * features ("feature.<hop>.<relation>" [edges, columns]),
 * destinations ("count.<hop>" [types]), logits and labels; the loss and what the model is are
 * texts.
 */
#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/formats/arrays/safetensors.h"
#include "common/nn/layers/layer.h"
#include "common/nn/model.h"
#include "common/nn/model_file.h"

#include "tests/support/typed_fixture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HOPS = 2, HIDDEN = 12, CLASSES = 4, TENSOR_COUNT_MAX = 4096, TEXT_COUNT_MAX = 16 };

static const struct row {
    const char *name;
    enum layer_kind kind;
    struct layer_options option;
    enum relation_aggr relation_aggr;
    bool own;     /* one type */
    bool project; /* papers and authors */
    bool values;  /* edges have weights */
    enum jumping_knowledge jump;
    uint32_t features; /* columns of edge features */
} models[] = {
    {"rgcn", LAYER_RGCN, .project = true},
    {"rgcn-own", LAYER_RGCN, .own = true},
    {"rgcn-bases", LAYER_RGCN, {.bases = 3}, .project = true},
    {"rgcn-own-bases", LAYER_RGCN, {.bases = 2, .aggr = LAYER_AGGR_ADD}, .own = true},
    {"rgcn-blocks", LAYER_RGCN, {.blocks = 4}, .project = true},
    {"rgcn-own-blocks", LAYER_RGCN, {.blocks = 2, .aggr = LAYER_AGGR_MAX}, .own = true},
    {"sage", LAYER_SAGE, .project = false},
    {"sage-mean", LAYER_SAGE, .relation_aggr = RELATION_AGGR_MEAN, .project = true},
    {"sage-most", LAYER_SAGE, .relation_aggr = RELATION_AGGR_MAX, .project = true},
    {"sage-max", LAYER_SAGE, {.aggr = LAYER_AGGR_MAX}, .project = false},
    {"sage-jump-cat", LAYER_SAGE, .project = true, .jump = JUMP_CAT},
    {"rgcn-jump-max", LAYER_RGCN, .project = true, .jump = JUMP_MAX},
    {"gcn-jump-last", LAYER_GCN, .jump = JUMP_LAST},
    {"graph_conv", LAYER_GRAPH_CONV, .project = false},
    {"graph_conv-mean", LAYER_GRAPH_CONV, .relation_aggr = RELATION_AGGR_MEAN},
    {"graph_conv-most", LAYER_GRAPH_CONV, .relation_aggr = RELATION_AGGR_MAX},
    {"gat", LAYER_GAT, {.heads = 4}, .project = true},
    {"gat-mean", LAYER_GAT, {.heads = 2}, .relation_aggr = RELATION_AGGR_MEAN},
    {"gat-most", LAYER_GAT, {.heads = 2}, .relation_aggr = RELATION_AGGR_MAX},
    {"gat-features", LAYER_GAT, {.heads = 4}, .project = true, .features = 5},
    {"gat-own-features", LAYER_GAT, {.heads = 2}, .own = true, .features = 3},
    {"gatv2-features", LAYER_GATV2, {.heads = 4}, .features = 5},
    {"gatv2-own-features", LAYER_GATV2, {.heads = 2}, .own = true, .features = 3},
    {"rgat", LAYER_RGAT, {.heads = 4}, .project = true},
    {"rgat-own-bases", LAYER_RGAT, {.heads = 2, .bases = 3}, .own = true},
    {"rgat-own-blocks", LAYER_RGAT, {.heads = 1, .blocks = 4}, .own = true},
    {"gin", LAYER_GIN, {.train_eps = true}, .project = true},
    {"gin-own-most", LAYER_GIN, .relation_aggr = RELATION_AGGR_MAX, .own = true},
    {"gin-own-mean", LAYER_GIN, .relation_aggr = RELATION_AGGR_MEAN, .own = true},
    {"le", LAYER_LE, .project = false},
    {"le-mean", LAYER_LE, .relation_aggr = RELATION_AGGR_MEAN, .project = true},
    {"le-weights", LAYER_LE, .values = true},
    {"graph_conv-weights", LAYER_GRAPH_CONV, .values = true},
    {"gcn", LAYER_GCN, .project = false},
    {"gcn-mean", LAYER_GCN, .relation_aggr = RELATION_AGGR_MEAN, .project = true},
    {"gcn-weights", LAYER_GCN, .values = true},
    {"gcn-own-weights", LAYER_GCN, .own = true, .values = true},
    {"sgc", LAYER_SGC, .project = true},
    {"sgc-own", LAYER_SGC, .own = true, .values = true},
    {"gatv2", LAYER_GATV2, {.heads = 4}, .project = false},
    {"gatv2-most", LAYER_GATV2, {.heads = 2}, .relation_aggr = RELATION_AGGR_MAX},
    {"gatv2-mean", LAYER_GATV2, {.heads = 2}, .relation_aggr = RELATION_AGGR_MEAN, .project = true},
    {"hgt", LAYER_HGT, {.heads = 4}, .project = true},
    {"hgt-own", LAYER_HGT, {.heads = 1}, .own = true},
};
enum { MODEL_COUNT = sizeof models / sizeof *models };

static const uint32_t counts[HOPS + 1][FIXTURE_TYPES] = {{150, 90, 40}, {70, 50, 20}, {31, 0, 0}};
static const uint32_t input_dim[FIXTURE_TYPES] = {9, 7, 8};

struct file {
    struct safetensors_tensor tensor[TENSOR_COUNT_MAX];
    char name[TENSOR_COUNT_MAX][PARAMETER_NAME_SIZE + 16];
    size_t count;
    struct safetensors_text text[TEXT_COUNT_MAX];
    char value[TEXT_COUNT_MAX][4096];
    size_t text_count;
};

static void add(struct file *file, const char *name, enum safetensors_type type, uint64_t rows,
                uint64_t cols, const void *data)
{
    must(file->count < TENSOR_COUNT_MAX);
    (void)snprintf(file->name[file->count], sizeof file->name[0], "%s", name);
    file->tensor[file->count] = (struct safetensors_tensor){.name = file->name[file->count],
                                                            .type = type,
                                                            .dim_count = cols ? 2 : 1,
                                                            .dim = {rows, cols},
                                                            .data = data};
    file->count++;
}

static void add_parameters(struct file *file, const struct model *model, const char *prefix,
                           const float *value)
{
    for (int i = 0; i < model->parameter_count; i++) {
        const size_t at = file->count++;
        file->tensor[at] = model_file_tensor(&model->parameter[i], value);
        (void)snprintf(file->name[at], sizeof file->name[at], "%s.%s", prefix,
                       model->parameter[i].name);
        file->tensor[at].name = file->name[at];
    }
}

__attribute__((format(printf, 3, 4))) static void add_text(struct file *file, const char *key,
                                                           const char *format, ...)
{
    va_list arguments;
    must(file->text_count < TEXT_COUNT_MAX);
    va_start(arguments, format);
    (void)vsnprintf(file->value[file->text_count], sizeof file->value[0], format, arguments);
    va_end(arguments);
    file->text[file->text_count] = (struct safetensors_text){key, file->value[file->text_count]};
    file->text_count++;
}

/* Types, and relations as "source name target", a line each. */
static void add_schema(struct file *file, const struct relation_schema *schema)
{
    char types[1024] = "", relations[4096] = "";
    for (uint32_t t = 0; t < schema->type_count; t++)
        (void)snprintf(types + strlen(types), sizeof types - strlen(types), "%s\n",
                       schema->type_name[t]);
    for (uint32_t r = 0; r < schema->relation_count; r++)
        (void)snprintf(relations + strlen(relations), sizeof relations - strlen(relations),
                       "%s %s %s\n", schema->type_name[schema->relation[r].source_type],
                       schema->relation[r].name,
                       schema->type_name[schema->relation[r].target_type]);
    add_text(file, "types", "%s", types);
    add_text(file, "relations", "%s", relations);
}

static struct model_config config_of(const struct row *row)
{
    struct model_config config = {.edge_dim = row->features,
                                  .layer_count =
                                      row->kind == LAYER_HGT || row->jump ? HOPS + 1 : HOPS,
                                  .jumping_knowledge = row->jump};
    config.types.schema = row->own                                    ? fixture_own_schema
                          : layer_type_of(row->kind)->divides_by_ends ? fixture_reversed_schema
                                                                      : fixture_schema;
    config.types.relation_aggr = row->relation_aggr;
    config.types.projected_dim = input_dim[FIELD];
    config.types.projected_activation = ACTIVATION_RELU;
    for (uint32_t t = 0; t < config.types.schema.type_count; t++) {
        config.types.input_dim[t] = input_dim[row->own ? FIELD : t];
        config.types.projects[t] = row->project && t != FIELD;
    }
    for (int i = 0; i < config.layer_count; i++) {
        const bool is_last = i == config.layer_count - 1;
        config.layer[i] =
            (struct layer_config){.kind = i < HOPS ? row->kind : LAYER_MLP,
                                  .output_dim = is_last ? CLASSES : HIDDEN,
                                  .option = row->option,
                                  .activation = is_last ? ACTIVATION_NONE : ACTIVATION_RELU};
        if (row->kind == LAYER_SGC && !is_last) /* hops below the matrix */
            config.layer[i] = (struct layer_config){.kind = LAYER_PROPAGATE,
                                                    .output_dim = config.types.projected_dim,
                                                    .activation = ACTIVATION_NONE};
    }
    return config;
}

/* Cross entropy, mean over the rows, and its gradient. */
static double loss_of(const float *logits, const int64_t *label, size_t rows, float *gradient)
{
    double loss = 0;
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t c = 0; c < CLASSES; c++)
            sum += exp((double)logits[i * CLASSES + c]);
        for (size_t c = 0; c < CLASSES; c++) {
            const double share = exp((double)logits[i * CLASSES + c]) / sum;
            const bool is_it = (int64_t)c == label[i];
            gradient[i * CLASSES + c] = (float)((share - is_it) / (double)rows);
            loss -= is_it ? log(share) / (double)rows : 0;
        }
    }
    return loss;
}

static void add_edges(struct file *file, const struct typed_fixture *f, int hop, uint32_t r)
{
    const struct message_block *block = &f->edges[hop][r].block;
    const uint64_t count = message_block_edges(block);
    int64_t *edge = memory_alloc(2 * count + 1, sizeof *edge);
    char name[64];
    for (uint32_t i = 0; i < block->destination_count; i++)
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            edge[e] = block->neighbor[e];
            edge[count + e] = i;
        }
    (void)snprintf(name, sizeof name, "edge.%d.%" PRIu32, hop, r);
    add(file, name, SAFETENSORS_I64, 2, count, edge);
    file->tensor[file->count - 1].dim_count = 2; /* also without an edge */
    if (block->edge_feature) {
        (void)snprintf(name, sizeof name, "feature.%d.%" PRIu32, hop, r);
        add(file, name, SAFETENSORS_F32, count, block->edge_feature_dim, block->edge_feature);
    }
    if (!block->edge_value)
        return;
    (void)snprintf(name, sizeof name, "weight.%d.%" PRIu32, hop, r);
    add(file, name, SAFETENSORS_F32, count, 0, block->edge_value);
}

static void add_graph(struct file *file, const struct typed_fixture *f)
{
    char name[64];
    for (int hop = 0; hop < HOPS; hop++) {
        int64_t *count = memory_alloc(FIXTURE_TYPES, sizeof *count);
        for (uint32_t t = 0; t < f->schema->type_count; t++)
            count[t] = f->count[hop + 1][t];
        (void)snprintf(name, sizeof name, "count.%d", hop);
        add(file, name, SAFETENSORS_I64, f->schema->type_count, 0, count);
        for (uint32_t r = 0; r < f->schema->relation_count; r++)
            add_edges(file, f, hop, r);
    }
}

static void add_rows(struct file *file, const struct typed_fixture *f, const struct model *model,
                     const struct model_trace *trace)
{
    for (uint32_t t = 0; t < f->schema->type_count; t++) {
        const size_t rows = f->count[0][t], dim = model->config.types.input_dim[t];
        float *x = memory_alloc(rows * dim, sizeof *x);
        char name[RELATION_NAME_SIZE + 16];
        for (size_t i = 0; i < rows * dim; i++)
            x[i] = f->feature[t][f->row_index[t][i / dim] * f->rows[t].stride + i % dim];
        (void)snprintf(name, sizeof name, "x.%s", f->schema->type_name[t]);
        add(file, name, SAFETENSORS_F32, rows, dim, x);
        (void)snprintf(name, sizeof name, "x_gradient.%s", f->schema->type_name[t]);
        add(file, name, SAFETENSORS_F32, rows, dim, model_input_gradient(trace, t));
    }
}

/* The blocks are the whole graph: ends of edges have what is in them, with PyG's loop of weight 1
 * at a node of a relation from a type to itself that has none. */
static void count_ends(struct typed_fixture *f, int hop, uint32_t r)
{
    const struct relation *relation = &f->schema->relation[r];
    const struct message_block *block = &f->edges[hop][r].block;
    const bool is_own = relation->source_type == relation->target_type;
    uint32_t *degree = f->array[hop][r][4];
    float *source = f->sum[hop][r][0], *target = f->sum[hop][r][1];
    for (uint32_t j = 0; j < block->source_count; j++) {
        degree[j] = 0;
        source[j] = is_own ? 1 : 0;
    }
    for (uint32_t i = 0; i < block->destination_count; i++) {
        bool has_loop = false;
        target[i] = 0;
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            const uint32_t j = block->neighbor[e], end = is_own ? i : j;
            const bool is_loop = is_own && j == i;
            must(!is_loop || !has_loop); /* of several PyG takes the last */
            has_loop |= is_loop;
            degree[end] += !is_loop;
            source[end] += f->edge_value[hop][r][e] - (is_loop ? 1.0F : 0.0F);
            target[i] += f->edge_value[hop][r][e];
        }
    }
}

static void write_step(const struct row *row, const char *path)
{
    static struct model model;
    static struct file file;
    static float logits[64 * CLASSES], slope[64 * CLASSES];
    static int64_t label[64];
    static const bool all[FIXTURE_TYPES] = {true, true, true};
    const struct model_config config = config_of(row);
    const uint32_t seeds = counts[HOPS][PAPER];
    struct typed_fixture f;
    struct arena arena = {0};
    struct error err = {0};
    struct model_trace *trace = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    must(model_init(&model, &config, &err) == ERROR_NONE);
    typed_fixture_make(&f, &model.config.types.schema, HOPS, counts, config.types.input_dim, 5,
                       row->values);
    typed_fixture_features(&f, row->features);
    for (int hop = 0; hop < HOPS; hop++) /* all neighbours are there, so sums are as they are */
        for (uint32_t r = 0; r < f.schema->relation_count; r++) {
            count_ends(&f, hop, r);
            for (uint32_t i = 0; i < f.edges[hop][r].block.destination_count; i++)
                f.array[hop][r][3][i] = f.array[hop][r][0][i + 1] - f.array[hop][r][0][i];
        }
    float *value = memory_alloc(model.value_count, sizeof *value);
    float *gradient = memory_alloc(model.value_count, sizeof *gradient);
    model_initialise(&model, 5, value);
    for (uint64_t i = 0; i < model.value_count; i += 3)
        value[i] += 0.05F;
    for (uint32_t i = 0; i < seeds; i++)
        label[i] = i % CLASSES;
    const struct model_workspace workspace = {.arena = &arena};
    const struct model_input input = {
        .relations = f.block, .type_rows = f.rows, .wants_gradient = all};
    must(model_forward(&model, value, &input, &workspace, logits, &trace, &err) == ERROR_NONE);
    const double loss = loss_of(logits, label, seeds, slope);
    must(model_backward(&model, value, trace, slope, &workspace, gradient, &err) == ERROR_NONE);
    add_parameters(&file, &model, "weights", value);
    add_parameters(&file, &model, "gradient", gradient);
    add_rows(&file, &f, &model, trace);
    add_graph(&file, &f);
    add(&file, "logits", SAFETENSORS_F32, seeds, CLASSES, logits);
    add(&file, "labels", SAFETENSORS_I64, seeds, 0, label);
    add_schema(&file, f.schema);
    add_text(&file, "kind", "%s", layer_names[row->kind]);
    add_text(&file, "aggr", "%s", layer_aggr_names[model.layer[0].config.option.aggr]);
    add_text(&file, "relation_aggr", "%s", relation_aggr_names[row->relation_aggr]);
    add_text(&file, "jumping_knowledge", "%s", jumping_knowledge_names[row->jump]);
    add_text(&file, "train_eps", "%d", (int)row->option.train_eps);
    add_text(&file, "heads", "%d", (int)row->option.heads);
    add_text(&file, "bases", "%d", (int)row->option.bases);
    add_text(&file, "blocks", "%d", (int)row->option.blocks);
    add_text(&file, "hidden", "%d", (int)HIDDEN);
    add_text(&file, "loss", "%.17g", loss);
    const struct safetensors content = {.tensor = file.tensor,
                                        .tensor_count = file.count,
                                        .metadata = file.text,
                                        .metadata_count = file.text_count};
    must(safetensors_encode(&content, &bytes, &size, &err) == ERROR_NONE);
    must(file_replace(path, bytes, size, false, &err) == ERROR_NONE);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < MODEL_COUNT; i++) {
        if (argc < 3)
            (void)printf("%s\n", models[i].name);
        else if (strcmp(argv[1], models[i].name) == 0)
            write_step(&models[i], argv[2]);
    }
    return 0;
}
