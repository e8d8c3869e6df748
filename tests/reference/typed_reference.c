#include "tests/reference/typed_reference.h"

#include "common/base/memory.h"
#include "common/nn/layers/layer.h"

#include "tests/reference/tail_reference.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct layer {
    const struct model *model;
    const struct model_layer *own;
    int number;
    const struct relation_schema *schema;
    const double *value;
    const struct relation_block *block; /* set if this kind uses edges */
    const uint32_t *count;              /* [types]: number of output rows */
    double **x;                         /* [types]: input rows */
    /* [types]: first input of the run, if this kind has reads_start */
    double **start;
    const struct random_stream *dropout;
};

__attribute__((format(printf, 2, 3))) static const double *tensor(const struct layer *layer,
                                                                  const char *name, ...)
{
    char text[PARAMETER_NAME_SIZE];
    va_list arguments;
    va_start(arguments, name);
    (void)vsnprintf(text, sizeof text, name, arguments);
    va_end(arguments);
    for (int i = 0; i < layer->model->parameter_count; i++)
        if (strcmp(layer->model->parameter[i].name, text) == 0)
            return layer->value + layer->model->parameter[i].offset;
    (void)fprintf(stderr, "no tensor %s\n", text);
    must(false);
    return NULL;
}

/* Writes the name of a type as it appears in PyG's tensor names. */
static const char *type_key(const struct layer *layer, uint32_t type, char key[RELATION_NAME_SIZE])
{
    (void)snprintf(key, RELATION_NAME_SIZE, "%s", layer->schema->type_name[type]);
    for (char *c = key; *c; c++)
        if (*c == '.')
            *c = '#';
    return key;
}

static const char *relation_key_of(const struct layer *layer, uint32_t r, const char *between,
                                   char key[4 * RELATION_NAME_SIZE])
{
    const struct relation *relation = &layer->schema->relation[r];
    char source[RELATION_NAME_SIZE], target[RELATION_NAME_SIZE];
    (void)snprintf(key, (size_t)4 * RELATION_NAME_SIZE, "%s%s%s%s%s",
                   type_key(layer, relation->source_type, source), between, relation->name, between,
                   type_key(layer, relation->target_type, target));
    return key;
}

static uint32_t in_dim(const struct layer *layer, uint32_t type)
{
    return layer->own->type_input_dim[type];
}

static bool leads_to(const struct layer *layer, uint32_t r, uint32_t type)
{
    return layer->schema->relation[r].target_type == type;
}

static const double *source_row(const struct layer *layer, uint32_t r, uint32_t edge)
{
    const uint32_t type = layer->schema->relation[r].source_type;
    return layer->x[type] +
           (size_t)layer->block->edges[r].block.neighbor[edge] * in_dim(layer, type);
}

/* Adds weight [out, in] x to y [out]. */
static void multiply(const double *weight, const double *x, uint32_t out, uint32_t in, double *y)
{
    for (uint32_t o = 0; o < out; o++)
        for (uint32_t c = 0; c < in; c++)
            y[o] += weight[(size_t)o * in + c] * x[c];
}

/* Aggregates the neighbours of row i in relation r into a. */
static void aggregate(const struct layer *layer, uint32_t r, uint32_t i, double *a)
{
    const struct message_block *block = &layer->block->edges[r].block;
    const uint32_t first = block->row_start[i], end = block->row_start[i + 1];
    const uint32_t dim = in_dim(layer, layer->schema->relation[r].source_type);
    const int64_t aggr = layer->own->config.option.aggr;
    for (uint32_t c = 0; c < dim; c++) {
        a[c] = 0;
        for (uint32_t e = first; e < end; e++) {
            const double factor = block->edge_value ? (double)block->edge_value[e] : 1;
            const double term = factor * source_row(layer, r, e)[c];
            a[c] = aggr != LAYER_AGGR_MAX ? a[c] + term : e == first ? term : fmax(a[c], term);
        }
        if (first < end && aggr == LAYER_AGGR_MEAN)
            a[c] /= end - first;
        if (first < end && aggr == LAYER_AGGR_ADD)
            a[c] *= (double)block->degree[i] / (end - first);
    }
}

/* --- R-GCN --- */

static double rgcn_weight(const struct layer *layer, uint32_t r, uint32_t in, uint32_t out,
                          uint32_t outs)
{
    const bool is_rgat = layer->own->config.kind == LAYER_RGAT;
    const double *weight = tensor(
        layer, is_rgat && layer->own->config.option.bases ? "convs.%d.basis" : "convs.%d.weight",
        layer->number);
    const uint32_t ins = in_dim(layer, layer->schema->relation[r].source_type);
    const uint32_t bases = (uint32_t)layer->own->config.option.bases;
    const uint32_t blocks = (uint32_t)layer->own->config.option.blocks;
    double sum = 0;
    if (blocks) {
        const uint32_t bi = ins / blocks, bo = outs / blocks;
        if (in / bi != out / bo)
            return 0;
        return weight[(((size_t)r * blocks + in / bi) * bi + in % bi) * bo + out % bo];
    }
    if (!bases)
        return weight[((size_t)r * ins + in) * outs + out];
    const double *comp = tensor(layer, is_rgat ? "convs.%d.att" : "convs.%d.comp", layer->number);
    for (uint32_t b = 0; b < bases; b++)
        sum += comp[r * bases + b] * weight[((size_t)b * ins + in) * outs + out];
    return sum;
}

static void rgcn_row(const struct layer *layer, uint32_t type, uint32_t i, double *y)
{
    const uint32_t dim = in_dim(layer, type), out = layer->own->config.output_dim;
    const double *own = layer->x[type] + (size_t)i * dim;
    char key[RELATION_NAME_SIZE];
    double a[256] = {0};
    for (uint32_t r = 0; r < layer->schema->relation_count; r++) {
        const uint32_t from = in_dim(layer, layer->schema->relation[r].source_type);
        if (!leads_to(layer, r, type))
            continue;
        aggregate(layer, r, i, a);
        for (uint32_t o = 0; o < out; o++)
            for (uint32_t c = 0; c < from; c++)
                y[o] += a[c] * rgcn_weight(layer, r, c, o, out);
    }
    if (layer->schema->type_count > 1) {
        type_key(layer, type, key);
        multiply(tensor(layer, "roots.%d.%s.weight", layer->number, key), own, out, dim, y);
        for (uint32_t o = 0; o < out; o++)
            y[o] += tensor(layer, "roots.%d.%s.bias", layer->number, key)[o];
        return;
    }
    for (uint32_t o = 0; o < out; o++) {
        y[o] += tensor(layer, "convs.%d.bias", layer->number)[o];
        for (uint32_t c = 0; c < dim; c++)
            y[o] += own[c] * tensor(layer, "convs.%d.root", layer->number)[(size_t)c * out + o];
    }
}

/* --- SAGE and GraphConv by relation --- */

static double share_of(const struct layer *layer, uint32_t type)
{
    double count = 0;
    for (uint32_t r = 0; r < layer->schema->relation_count; r++)
        count += leads_to(layer, r, type);
    return layer->model->config.types.relation_aggr == RELATION_AGGR_MEAN ? 1 / count : 1;
}

static void neighbor_row(const struct layer *layer, uint32_t type, uint32_t i, double *y)
{
    const bool is_sage = layer->own->config.kind == LAYER_SAGE;
    const char *left = is_sage ? "lin_l" : "lin_rel", *right = is_sage ? "lin_r" : "lin_root";
    const uint32_t dim = in_dim(layer, type), out = layer->own->config.output_dim;
    double a[256] = {0}, part[256] = {0};
    for (uint32_t r = 0; r < layer->schema->relation_count; r++) {
        char key[4 * RELATION_NAME_SIZE];
        const uint32_t from = in_dim(layer, layer->schema->relation[r].source_type);
        if (!leads_to(layer, r, type))
            continue;
        relation_key_of(layer, r, "___", key);
        aggregate(layer, r, i, a);
        for (uint32_t o = 0; o < out; o++)
            part[o] = tensor(layer, "convs.%d.convs.<%s>.%s.bias", layer->number, key, left)[o];
        multiply(tensor(layer, "convs.%d.convs.<%s>.%s.weight", layer->number, key, left), a, out,
                 from, part);
        multiply(tensor(layer, "convs.%d.convs.<%s>.%s.weight", layer->number, key, right),
                 layer->x[type] + (size_t)i * dim, out, dim, part);
        for (uint32_t o = 0; o < out; o++)
            y[o] += share_of(layer, type) * part[o];
    }
}

/* --- HGT --- */

/* Computes the key (`which` 0), query (1) or value (2) of row `row` of a type. */
static void hgt_project(const struct layer *layer, uint32_t type, uint32_t row, uint32_t which,
                        double *out)
{
    const uint32_t width = layer->own->config.output_dim, in = in_dim(layer, type);
    char key[RELATION_NAME_SIZE];
    type_key(layer, type, key);
    const double *bias = tensor(layer, "convs.%d.kqv_lin.lins.%s.bias", layer->number, key);
    const double *weight = tensor(layer, "convs.%d.kqv_lin.lins.%s.weight", layer->number, key);
    for (uint32_t o = 0; o < width; o++)
        out[o] = bias[which * width + o];
    multiply(weight + (size_t)which * width * in, layer->x[type] + (size_t)row * in, width, in,
             out);
}

/* Returns an element of one head of x after the matrix of the relation. */
static double hgt_transformed(const struct layer *layer, const char *name, uint32_t r, uint32_t h,
                              const double *x, uint32_t column)
{
    const uint32_t dim = layer->own->config.output_dim / (uint32_t)layer->own->config.option.heads;
    const double *weight = tensor(layer, "convs.%d.%s.weight", layer->number, name) +
                           ((size_t)h * layer->schema->relation_count + r) * dim * dim;
    double sum = 0;
    for (uint32_t c = 0; c < dim; c++)
        sum += x[h * dim + c] * weight[(size_t)c * dim + column];
    return sum;
}

static double hgt_score(const struct layer *layer, uint32_t r, uint32_t h, const double *query,
                        const double *key)
{
    const uint32_t dim = layer->own->config.output_dim / (uint32_t)layer->own->config.option.heads;
    char name[4 * RELATION_NAME_SIZE];
    double sum = 0;
    relation_key_of(layer, r, "__", name);
    for (uint32_t c = 0; c < dim; c++)
        sum += query[h * dim + c] * hgt_transformed(layer, "k_rel", r, h, key, c);
    return sum * tensor(layer, "convs.%d.p_rel.%s", layer->number, name)[h] / sqrt((double)dim);
}

/* Sums over all edges to i: exp(score) if `out` is NULL, otherwise the values weighted by their
 * shares. */
static void hgt_heads(const struct layer *layer, uint32_t type, uint32_t i, double *sum,
                      double *out)
{
    const uint32_t width = layer->own->config.output_dim,
                   heads = (uint32_t)layer->own->config.option.heads;
    double query[256] = {0}, key[256] = {0}, value[256] = {0};
    hgt_project(layer, type, i, 1, query);
    for (uint32_t r = 0; r < layer->schema->relation_count; r++) {
        const struct message_block *block = &layer->block->edges[r].block;
        const uint32_t from = layer->schema->relation[r].source_type;
        if (!leads_to(layer, r, type))
            continue;
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            hgt_project(layer, from, block->neighbor[e], 0, key);
            hgt_project(layer, from, block->neighbor[e], 2, value);
            for (uint32_t h = 0; h < heads; h++) {
                const double score = exp(hgt_score(layer, r, h, query, key));
                if (!out)
                    sum[h] += score;
                for (uint32_t c = 0; out && c < width / heads; c++)
                    out[h * (width / heads) + c] +=
                        score / sum[h] * hgt_transformed(layer, "v_rel", r, h, value, c);
            }
        }
    }
}

static void hgt_row(const struct layer *layer, uint32_t type, uint32_t i, double *y)
{
    const uint32_t width = layer->own->config.output_dim;
    const double *x = layer->x[type] + (size_t)i * in_dim(layer, type);
    double sum[64] = {0}, out[256] = {0};
    char key[RELATION_NAME_SIZE];
    type_key(layer, type, key);
    hgt_heads(layer, type, i, sum, NULL);
    hgt_heads(layer, type, i, sum, out);
    for (uint32_t c = 0; c < width; c++) {
        out[c] *= 0.5 * (1 + erf(out[c] / sqrt(2.0)));
        y[c] += tensor(layer, "convs.%d.out_lin.lins.%s.bias", layer->number, key)[c];
    }
    multiply(tensor(layer, "convs.%d.out_lin.lins.%s.weight", layer->number, key), out, width,
             width, y);
    if (in_dim(layer, type) != width)
        return;
    const double share = 1 / (1 + exp(-*tensor(layer, "convs.%d.skip.%s", layer->number, key)));
    for (uint32_t c = 0; c < width; c++)
        y[c] = share * y[c] + (1 - share) * x[c];
}

/* --- GAT by relation --- */

/* Returns the dropout factor of a share. Slots are numbered over all relations. */
static double kept_share(const struct layer *layer, uint32_t r, uint32_t edge, uint32_t h)
{
    uint32_t word[4];
    uint64_t slot = edge;
    if (!layer->dropout || !(layer->own->config.dropout > 0))
        return 1;
    struct random_stream stream = *layer->dropout;
    stream.purpose_word = (stream.purpose_word & 0xff00ffffU) | (uint32_t)layer->number << 16;
    for (uint32_t before = 0; before < r; before++)
        slot += message_block_edges(&layer->block->edges[before].block);
    random_block(&stream, 1ULL << 39 | slot, h / 8, word);
    const double draw = word[h % 8 / 2] >> (h % 2 ? 16 : 0) & 0xffffU;
    const double dropped = round((double)layer->own->config.dropout * 65536);
    return draw < dropped ? 0 : 65536 / (65536 - dropped);
}

struct gat_sizes {
    uint32_t heads, channels, width;
};

static struct gat_sizes gat_sizes_of(const struct layer *layer)
{
    const uint32_t heads = (uint32_t)layer->own->config.option.heads;
    const uint32_t channels = layer->own->joins_heads ? layer->own->config.output_dim / heads
                                                      : layer->own->config.output_dim;
    return (struct gat_sizes){heads, channels, heads * channels};
}

/* Returns the term of a row in head h. */
static double gat_term(const struct layer *layer, const char *key, const char *end, const double *x,
                       uint32_t dim, uint32_t h)
{
    const struct gat_sizes s = gat_sizes_of(layer);
    const double *matrix =
        tensor(layer, "convs.%d.convs.<%s>.lin_%s.weight", layer->number, key, end);
    const double *vector = tensor(layer, "convs.%d.convs.<%s>.att_%s", layer->number, key, end);
    double p[256] = {0}, sum = 0;
    multiply(matrix, x, s.width, dim, p);
    for (uint32_t c = h * s.channels; c < (h + 1) * s.channels; c++)
        sum += vector[c] * p[c];
    return sum;
}

/* W_e f of an edge, [heads * channels]; zeros where the layer reads no features. */
static void project_feature(const struct layer *layer, const char *key, uint32_t r, uint32_t edge,
                            double *out)
{
    const uint32_t width = gat_sizes_of(layer).width, dim = layer->own->edge_dim;
    const float *feature = layer->block->edges[r].block.edge_feature;
    for (uint32_t o = 0; o < width; o++)
        out[o] = 0;
    for (uint32_t o = 0; dim && o < width; o++)
        for (uint32_t d = 0; d < dim; d++)
            out[o] += tensor(layer, "convs.%d.convs.<%s>.lin_edge.weight", layer->number,
                             key)[o * dim + d] *
                      (double)feature[(size_t)edge * dim + d];
}

/* Returns what the features of an edge add to its score in head h. */
static double gat_edge_term(const struct layer *layer, const char *key, uint32_t r, uint32_t edge,
                            uint32_t h)
{
    const uint32_t channels = gat_sizes_of(layer).channels;
    double row[256], sum = 0;
    if (layer->own->edge_dim == 0)
        return 0;
    project_feature(layer, key, r, edge, row);
    for (uint32_t c = h * channels; c < (h + 1) * channels; c++)
        sum += tensor(layer, "convs.%d.convs.<%s>.att_edge", layer->number, key)[c] * row[c];
    return sum;
}

static void gat_relation(const struct layer *layer, uint32_t r, uint32_t i, double *y)
{
    const struct message_block *block = &layer->block->edges[r].block;
    const struct gat_sizes s = gat_sizes_of(layer);
    const uint32_t from = in_dim(layer, layer->schema->relation[r].source_type);
    const uint32_t type = layer->schema->relation[r].target_type, to = in_dim(layer, type);
    const uint32_t first = block->row_start[i], end = block->row_start[i + 1];
    char key[4 * RELATION_NAME_SIZE];
    relation_key_of(layer, r, "___", key);
    for (uint32_t c = 0; c < layer->own->config.output_dim; c++)
        y[c] += tensor(layer, "convs.%d.convs.<%s>.bias", layer->number, key)[c];
    for (uint32_t h = 0; h < s.heads; h++) {
        const double own = gat_term(layer, key, "dst", layer->x[type] + (size_t)i * to, to, h);
        double score[64], sum = 0;
        for (uint32_t e = first; e < end; e++) {
            const double term = own +
                                gat_term(layer, key, "src", source_row(layer, r, e), from, h) +
                                gat_edge_term(layer, key, r, e, h);
            score[e - first] = exp(term > 0 ? term : 0.2 * term);
            sum += score[e - first];
        }
        for (uint32_t e = first; e < end; e++) {
            const double share = score[e - first] / sum * kept_share(layer, r, e, h);
            double p[256] = {0};
            multiply(tensor(layer, "convs.%d.convs.<%s>.lin_src.weight", layer->number, key),
                     source_row(layer, r, e), s.width, from, p);
            for (uint32_t c = 0; c < s.channels; c++)
                y[layer->own->joins_heads ? h * s.channels + c : c] +=
                    share * p[h * s.channels + c] / (layer->own->joins_heads ? 1 : s.heads);
        }
    }
}

/* --- R-GAT --- */

static void rgat_project(const struct layer *layer, uint32_t r, const double *x, double *p)
{
    const uint32_t width = gat_sizes_of(layer).width;
    for (uint32_t o = 0; o < width; o++) {
        p[o] = 0;
        for (uint32_t c = 0; c < in_dim(layer, 0); c++)
            p[o] += x[c] * rgcn_weight(layer, r, c, o, width);
    }
}

static double rgat_score(const struct layer *layer, const double *own, const double *source,
                         uint32_t h)
{
    const struct gat_sizes s = gat_sizes_of(layer);
    double sum = 0;
    for (uint32_t c = 0; c < s.width; c++)
        sum += own[c] * tensor(layer, "convs.%d.q", layer->number)[c * s.heads + h] +
               source[c] * tensor(layer, "convs.%d.k", layer->number)[c * s.heads + h];
    return exp(sum > 0 ? sum : 0.2 * sum);
}

/* Sums over all edges to i, like hgt_heads(). */
static void rgat_heads(const struct layer *layer, uint32_t type, uint32_t i, double *sum, double *y)
{
    const struct gat_sizes s = gat_sizes_of(layer);
    double own[256] = {0}, source[256] = {0};
    for (uint32_t r = 0; r < layer->schema->relation_count; r++) {
        const struct message_block *block = &layer->block->edges[r].block;
        if (!leads_to(layer, r, type))
            continue;
        rgat_project(layer, r, layer->x[type] + (size_t)i * in_dim(layer, type), own);
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            rgat_project(layer, r, source_row(layer, r, e), source);
            for (uint32_t h = 0; h < s.heads; h++) {
                const double score = rgat_score(layer, own, source, h);
                if (!y)
                    sum[h] += score;
                for (uint32_t c = 0; y && c < s.channels; c++)
                    y[layer->own->joins_heads ? h * s.channels + c : c] +=
                        score / sum[h] * kept_share(layer, r, e, h) * source[h * s.channels + c] /
                        (layer->own->joins_heads ? 1 : s.heads);
            }
        }
    }
}

static void rgat_row(const struct layer *layer, uint32_t type, uint32_t i, double *y)
{
    double sum[64] = {0};
    rgat_heads(layer, type, i, sum, NULL);
    rgat_heads(layer, type, i, sum, y);
    for (uint32_t c = 0; c < layer->own->config.output_dim; c++)
        y[c] += tensor(layer, "convs.%d.bias", layer->number)[c];
}

static void gat_row(const struct layer *layer, uint32_t type, uint32_t i, double *y)
{
    const double share = share_of(layer, type);
    double part[256] = {0};
    for (uint32_t r = 0; r < layer->schema->relation_count; r++)
        if (leads_to(layer, r, type))
            gat_relation(layer, r, i, part);
    for (uint32_t c = 0; c < layer->own->config.output_dim; c++)
        y[c] += share * part[c];
}

/* --- plain kinds, each relation by itself --- */

/* Returns how many edges of the whole graph each sampled edge of row i represents in a sum. */
static double edges_for_each(const struct message_block *block, uint32_t i)
{
    const uint32_t count = block->row_start[i + 1] - block->row_start[i];
    return count ? (double)block->degree[i] / count : 1;
}

static const double *conv_tensor(const struct layer *layer, uint32_t r, const char *name)
{
    char key[4 * RELATION_NAME_SIZE];
    relation_key_of(layer, r, "___", key);
    return tensor(layer, "convs.%d.convs.<%s>.%s", layer->number, key, name);
}

static double activate(enum activation_kind kind, double x)
{
    if (kind == ACTIVATION_NONE || x > 0)
        return x;
    return kind == ACTIVATION_RELU ? 0 : kind == ACTIVATION_ELU ? expm1(x) : 0.01 * x;
}

static void gin_relation(const struct layer *layer, uint32_t r, uint32_t i, double *y)
{
    const struct message_block *block = &layer->block->edges[r].block;
    const uint32_t type = layer->schema->relation[r].target_type, dim = in_dim(layer, type);
    const uint32_t out = layer->own->config.output_dim;
    const double eps = *conv_tensor(layer, r, "eps");
    double a[256], hidden[256];
    struct norm_reference norm = {.kind = layer->own->config.inner_norm};
    for (uint32_t c = 0; c < dim; c++) {
        a[c] = (1 + eps) * layer->x[type][(size_t)i * dim + c];
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
            a[c] += edges_for_each(block, i) * source_row(layer, r, e)[c];
    }
    memcpy(hidden, conv_tensor(layer, r, "nn.lins.0.bias"), out * sizeof *hidden);
    multiply(conv_tensor(layer, r, "nn.lins.0.weight"), a, out, dim, hidden);
    if (norm.kind != NORM_NONE) {
        norm.weight = conv_tensor(layer, r, "nn.norms.0.weight");
        norm.bias = conv_tensor(layer, r, "nn.norms.0.bias");
        norm_reference_apply(&norm, 1, out, false, hidden);
    }
    for (uint32_t o = 0; o < out; o++) {
        hidden[o] = activate(layer->own->config.inner_activation, hidden[o]);
        y[o] += conv_tensor(layer, r, "nn.lins.1.bias")[o];
    }
    multiply(conv_tensor(layer, r, "nn.lins.1.weight"), hidden, out, out, y);
}

static void le_relation(const struct layer *layer, uint32_t r, uint32_t i, double *y)
{
    const struct message_block *block = &layer->block->edges[r].block;
    const uint32_t type = layer->schema->relation[r].target_type, dim = in_dim(layer, type);
    const uint32_t from = in_dim(layer, layer->schema->relation[r].source_type);
    const uint32_t out = layer->own->config.output_dim;
    const double *x = layer->x[type] + (size_t)i * dim;
    double own[256] = {0};
    multiply(conv_tensor(layer, r, "lin2.weight"), x, out, dim, own);
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
        const double value = block->edge_value ? (double)block->edge_value[e] : 1;
        double message[256];
        memcpy(message, conv_tensor(layer, r, "lin1.bias"), out * sizeof *message);
        multiply(conv_tensor(layer, r, "lin1.weight"), source_row(layer, r, e), out, from, message);
        for (uint32_t o = 0; o < out; o++)
            y[o] += edges_for_each(block, i) * value * (message[o] - own[o]);
    }
    multiply(conv_tensor(layer, r, "lin3.weight"), x, out, dim, y);
    for (uint32_t o = 0; o < out; o++)
        y[o] += conv_tensor(layer, r, "lin3.bias")[o];
}

/* Multiplies a row by lin_l or lin_r of GATv2. */
static void gatv2_project(const struct layer *layer, uint32_t r, bool is_source, const double *x,
                          uint32_t dim, double *p)
{
    const uint32_t width = gat_sizes_of(layer).width;
    memcpy(p, conv_tensor(layer, r, is_source ? "lin_l.bias" : "lin_r.bias"), width * sizeof *p);
    multiply(conv_tensor(layer, r, is_source ? "lin_l.weight" : "lin_r.weight"), x, width, dim, p);
}

static void gatv2_relation(const struct layer *layer, uint32_t r, uint32_t i, double *y)
{
    const struct message_block *block = &layer->block->edges[r].block;
    const struct gat_sizes s = gat_sizes_of(layer);
    const uint32_t type = layer->schema->relation[r].target_type, dim = in_dim(layer, type);
    const uint32_t from = in_dim(layer, layer->schema->relation[r].source_type);
    const uint32_t first = block->row_start[i], count = block->row_start[i + 1] - first;
    const double *att = conv_tensor(layer, r, "att");
    double p[8][256], feature[8][256], q[256], score[8], sum;
    char key[4 * RELATION_NAME_SIZE];
    must(count <= 8);
    relation_key_of(layer, r, "___", key);
    gatv2_project(layer, r, false, layer->x[type] + (size_t)i * dim, dim, q);
    for (uint32_t k = 0; k < count; k++)
        gatv2_project(layer, r, true, source_row(layer, r, first + k), from, p[k]);
    for (uint32_t k = 0; k < count; k++)
        project_feature(layer, key, r, first + k, feature[k]);
    for (uint32_t c = 0; c < layer->own->config.output_dim; c++)
        y[c] += conv_tensor(layer, r, "bias")[c];
    for (uint32_t h = 0; h < s.heads; h++) {
        sum = 0;
        for (uint32_t k = 0; k < count; k++) {
            score[k] = 0;
            for (uint32_t c = h * s.channels; c < (h + 1) * s.channels; c++) {
                const double z = p[k][c] + q[c] + feature[k][c];
                score[k] += att[c] * (z > 0 ? z : 0.2 * z);
            }
            score[k] = exp(score[k]);
            sum += score[k];
        }
        for (uint32_t k = 0; k < count; k++)
            for (uint32_t c = 0; c < s.channels; c++)
                y[layer->own->joins_heads ? h * s.channels + c : c] +=
                    score[k] / sum * kept_share(layer, r, first + k, h) * p[k][h * s.channels + c] /
                    (layer->own->joins_heads ? 1 : s.heads);
    }
}

static double inverse_root(double sum)
{
    return sum > 0 ? 1 / sqrt(sum) : 0;
}

/* Returns the degree or the sum of edge values of a source. If the relation joins a type to
 * itself, this includes the self-loop. */
static double source_has(const struct layer *layer, uint32_t r, uint32_t j)
{
    const struct relation *relation = &layer->schema->relation[r];
    const struct relation_edges *edges = &layer->block->edges[r];
    if (edges->block.edge_value)
        return (double)edges->source_sum[j];
    return edges->source_degree[j] + (relation->source_type == relation->target_type ? 1 : 0);
}

/* Computes row i of A x with GCN's A. */
static void gcn_aggregate(const struct layer *layer, uint32_t r, uint32_t i, double *a)
{
    const struct relation *relation = &layer->schema->relation[r];
    const struct relation_edges *edges = &layer->block->edges[r];
    const struct message_block *block = &edges->block;
    const bool is_own = relation->source_type == relation->target_type;
    const uint32_t dim = in_dim(layer, relation->source_type);
    double found = 0, loops = 0, loop = 0,
           degree = is_own ? edges->source_degree[i] : block->degree[i];
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
        const double value = block->edge_value ? (double)block->edge_value[e] : 1;
        const bool is_loop = is_own && block->neighbor[e] == i;
        found += !is_loop;
        loops += is_loop;
        loop += is_loop ? value : 0;
    }
    const double has = is_own              ? source_has(layer, r, i)
                       : block->edge_value ? (double)edges->target_sum[i]
                                           : block->degree[i];
    const double more = found > 0 && found < degree ? degree / found : 1;
    for (uint32_t c = 0; c < dim; c++)
        a[c] = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
        const double value = block->edge_value ? (double)block->edge_value[e] : 1;
        const uint32_t j = block->neighbor[e];
        for (uint32_t c = 0; c < dim && !(is_own && j == i); c++)
            a[c] += more * value * inverse_root(has) * inverse_root(source_has(layer, r, j)) *
                    source_row(layer, r, e)[c];
    }
    loop = block->edge_value && loops > 0 ? loop : 1;
    for (uint32_t c = 0; is_own && c < dim; c++)
        a[c] += loop * inverse_root(has) * inverse_root(has) *
                layer->x[relation->target_type][(size_t)i * dim + c];
}

static void gcn_relation(const struct layer *layer, uint32_t r, uint32_t i, double *y)
{
    const enum layer_kind kind = layer->own->config.kind;
    const uint32_t from = in_dim(layer, layer->schema->relation[r].source_type);
    const uint32_t out = layer->own->config.output_dim;
    const double alpha = kind == LAYER_APPNP ? layer->own->config.option.alpha : 0;
    double a[256];
    gcn_aggregate(layer, r, i, a);
    if (kind == LAYER_GCN || kind == LAYER_SGC) {
        const double *bias = conv_tensor(layer, r, kind == LAYER_GCN ? "bias" : "lin.bias");
        for (uint32_t o = 0; o < out; o++)
            y[o] += bias[o];
        multiply(conv_tensor(layer, r, "lin.weight"), a, out, from, y);
        return;
    }
    for (uint32_t c = 0; c < out; c++)
        y[c] += (1 - alpha) * a[c];
    for (uint32_t c = 0; kind == LAYER_APPNP && c < out; c++)
        y[c] += alpha * layer->start[layer->schema->relation[r].target_type][(size_t)i * out + c];
}

static void conv_row(const struct layer *layer, uint32_t type, uint32_t i, double *y)
{
    double part[256] = {0};
    for (uint32_t r = 0; r < layer->schema->relation_count; r++) {
        if (!leads_to(layer, r, type))
            continue;
        if (layer->own->config.kind == LAYER_GIN)
            gin_relation(layer, r, i, part);
        else if (layer->own->config.kind == LAYER_LE)
            le_relation(layer, r, i, part);
        else if (layer->own->type->divides_by_ends)
            gcn_relation(layer, r, i, part);
        else
            gatv2_relation(layer, r, i, part);
    }
    for (uint32_t c = 0; c < layer->own->config.output_dim; c++)
        y[c] += share_of(layer, type) * part[c];
}

/* --- without the graph --- */

static void mlp_row(const struct layer *layer, uint32_t type, uint32_t i, double *y)
{
    const bool is_last = layer->number == layer->model->config.layer_count - 1;
    const uint32_t in = in_dim(layer, type), out = layer->own->config.output_dim;
    char name[PARAMETER_NAME_SIZE], key[RELATION_NAME_SIZE];
    type_key(layer, type, key);
    if (is_last && type != layer->model->config.types.target_type)
        return;
    (void)snprintf(name, sizeof name, is_last ? "lin" : "lins.%d.%s", layer->number, key);
    for (uint32_t o = 0; o < out; o++)
        y[o] += tensor(layer, "%s.bias", name)[o];
    multiply(tensor(layer, "%s.weight", name), layer->x[type] + (size_t)i * in, out, in, y);
}

/* --- after a layer --- */

static double kept(const struct layer *layer, const struct random_stream *dropout, uint32_t type,
                   uint32_t row, uint32_t column)
{
    uint32_t word[4];
    struct random_stream stream = *dropout;
    stream.purpose_word = (stream.purpose_word & 0xff00ffffU) |
                          (uint32_t)(layer->number + LAYER_COUNT_MAX * (int)type) << 16;
    random_block(&stream, row, column / 8, word);
    const double draw = word[column % 8 / 2] >> (column % 2 ? 16 : 0) & 0xffffU;
    const double dropped = round((double)layer->own->config.dropout * 65536);
    return draw < dropped ? 0 : 65536 / (65536 - dropped);
}

/* Scales `count` values, `stride` elements apart, to mean 0 and variance 1. */
static void center(double *y, size_t stride, uint32_t count)
{
    double mean = 0, variance = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += y[i * stride] / count;
    for (uint32_t i = 0; i < count; i++)
        variance += (y[i * stride] - mean) * (y[i * stride] - mean) / count;
    for (uint32_t i = 0; i < count; i++)
        y[i * stride] = (y[i * stride] - mean) / sqrt(variance + 1e-5);
}

static void follow(const struct layer *layer, uint32_t type, uint32_t rows, bool by_batch,
                   double *y)
{
    const struct model_layer *own = layer->own;
    const uint32_t dim = own->config.output_dim, in = in_dim(layer, type);
    const char *module = own->config.norm == NORM_BATCH ? "module." : "";
    char key[RELATION_NAME_SIZE];
    type_key(layer, type, key);
    for (uint32_t i = 0; own->config.residual && i < rows; i++) {
        const double *x = layer->x[type] + (size_t)i * in;
        if (in != dim)
            multiply(tensor(layer, "residuals.%d.%s.weight", layer->number, key), x, dim, in,
                     y + (size_t)i * dim);
        for (uint32_t c = 0; in == dim && c < dim; c++)
            y[(size_t)i * dim + c] += x[c];
    }
    if (own->config.norm == NORM_NONE)
        return;
    must(own->config.norm == NORM_LAYER || (by_batch && rows > 1));
    for (uint32_t i = 0; own->config.norm == NORM_LAYER && i < rows; i++)
        center(y + (size_t)i * dim, 1, dim);
    for (uint32_t c = 0; own->config.norm == NORM_BATCH && c < dim; c++)
        center(y + c, dim, rows);
    const double *weight = tensor(layer, "norms.%d.%s.%sweight", layer->number, key, module);
    const double *bias = tensor(layer, "norms.%d.%s.%sbias", layer->number, key, module);
    for (size_t i = 0; i < (size_t)rows * dim; i++)
        y[i] = y[i] * weight[i % dim] + bias[i % dim];
}

typedef void (*row_function)(const struct layer *layer, uint32_t type, uint32_t i, double *y);

static row_function row_of(enum layer_kind kind)
{
    if (kind == LAYER_RGCN)
        return rgcn_row;
    if (kind == LAYER_HGT)
        return hgt_row;
    if (kind == LAYER_GAT)
        return gat_row;
    if (kind == LAYER_RGAT)
        return rgat_row;
    if (kind == LAYER_GIN || kind == LAYER_LE || kind == LAYER_GATV2 ||
        layer_type_of(kind)->divides_by_ends)
        return conv_row;
    return kind == LAYER_MLP ? mlp_row : neighbor_row;
}

static double *layer_output(const struct layer *layer, uint32_t type,
                            const struct random_stream *dropout, bool by_batch)
{
    const struct model_layer *own = layer->own;
    const bool is_last = layer->number == layer->model->config.layer_count - 1;
    const uint32_t rows = layer->count[type], dim = own->config.output_dim;
    double *y = memory_alloc((size_t)rows * dim + 1, sizeof *y);
    memset(y, 0, (size_t)rows * dim * sizeof *y);
    for (uint32_t i = 0; i < rows; i++)
        row_of(own->config.kind)(layer, type, i, y + (size_t)i * dim);
    if (rows)
        follow(layer, type, rows, by_batch, y);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t c = 0; c < dim; c++) {
            double *element = &y[(size_t)i * dim + c];
            *element = activate(own->config.activation, *element);
            if (dropout && !is_last)
                *element *= kept(layer, dropout, type, i, c);
        }
    return y;
}

/* Returns the rows of a type before the first layer, projected if the type has a projection. */
static double *projected(const struct layer *layer, uint32_t type, const double *x, uint32_t rows)
{
    const struct model_types *types = &layer->model->config.types;
    const uint32_t in = types->input_dim[type];
    const uint32_t out = types->projects[type] ? types->projected_dim : in;
    double *y = memory_alloc((size_t)rows * out + 1, sizeof *y);
    char key[RELATION_NAME_SIZE];
    type_key(layer, type, key);
    for (uint32_t i = 0; i < rows; i++) {
        double *row = y + (size_t)i * out;
        for (uint32_t o = 0; o < out; o++)
            row[o] = types->projects[type] ? tensor(layer, "lin_dict.%s.bias", key)[o]
                                           : x[(size_t)i * in + o];
        if (!types->projects[type])
            continue;
        multiply(tensor(layer, "lin_dict.%s.weight", key), x + (size_t)i * in, out, in, row);
        for (uint32_t o = 0; o < out; o++)
            row[o] = activate(types->projected_activation, row[o]);
    }
    return y;
}

static double *copy_of(const double *rows, size_t count)
{
    double *copy = memory_alloc(count + 1, sizeof *copy);
    memcpy(copy, rows, count * sizeof *copy);
    return copy;
}

/* Replaces *rows by the outputs of the layers below `number`: side by side, or their maximum. */
static void join(const struct model *model, int number, uint32_t count, double *const *kept,
                 double **rows)
{
    const bool is_max = model->config.jumping_knowledge == JUMP_MAX;
    const size_t width = model->layer[number].type_input_dim[0];
    double *joined = memory_alloc(count * width + 1, sizeof *joined);
    for (size_t i = 0; i < count; i++)
        for (size_t l = 0, at = 0; l < (size_t)number; l++) {
            const size_t dim = model->layer[l].config.output_dim;
            for (size_t c = 0; c < dim; c++) {
                double *element = &joined[i * width + at + c];
                const double x = kept[l][i * dim + c];
                *element = is_max && l > 0 ? fmax(*element, x) : x;
            }
            at += is_max ? 0 : dim;
        }
    memory_free(*rows);
    *rows = joined;
}

double *typed_reference_logits(const struct model *model, const double *value,
                               const struct relation_block *block, double *const *x,
                               const struct random_stream *dropout, bool by_batch)
{
    const struct relation_schema *schema = &model->config.types.schema;
    double *rows[RELATION_TYPE_COUNT_MAX], *next[RELATION_TYPE_COUNT_MAX];
    double *kept[LAYER_COUNT_MAX] = {NULL}; /* rows of the target type, for jumping knowledge */
    const uint32_t target = model->config.types.target_type;
    double *start[RELATION_TYPE_COUNT_MAX] = {NULL};
    struct layer layer = {.model = model,
                          .schema = schema,
                          .value = value,
                          .x = rows,
                          .start = start,
                          .dropout = dropout};
    for (uint32_t t = 0; t < schema->type_count; t++)
        rows[t] = projected(&layer, t, x[t], block[0].source_count[t]);
    for (int i = 0; i < model->config.layer_count; i++) {
        layer.number = i;
        layer.own = &model->layer[i];
        const bool uses_edges = layer.own->type->uses_edges;
        const int hop = layer.own->hop;
        layer.block = uses_edges ? &block[hop] : NULL;
        layer.count = uses_edges               ? block[hop].destination_count
                      : hop < model->hop_count ? block[hop].source_count
                                               : block[hop - 1].destination_count;
        if (layer.own->reads_all)
            join(model, i, layer.count[target], kept, &rows[target]);
        for (uint32_t t = 0; t < schema->type_count; t++)
            next[t] = layer_output(&layer, t, dropout, by_batch);
        for (uint32_t t = 0; t < schema->type_count; t++) {
            memory_free(rows[t]);
            rows[t] = next[t];
        }
        if (model->config.jumping_knowledge)
            kept[i] =
                copy_of(rows[target], (size_t)layer.count[target] * layer.own->config.output_dim);
        if (i + 1 < model->config.layer_count && model->layer[i + 1].second_input == i)
            for (uint32_t t = 0; t < schema->type_count; t++)
                start[t] = copy_of(rows[t], (size_t)layer.count[t] * layer.own->config.output_dim);
    }
    for (int i = 0; i < model->config.layer_count; i++)
        memory_free(kept[i]);
    for (uint32_t t = 0; t < schema->type_count; t++) {
        memory_free(start[t]);
        if (t != model->config.types.target_type)
            memory_free(rows[t]);
    }
    return rows[model->config.types.target_type];
}
