#include "pipelines/report/run_times.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "pipelines/report/folder_texts.h"
#include "stages/engine/stage_list.h"

#include <math.h>
#include <string.h>

enum { WORKERS_MAX = 512 };

static double number_of(const struct json_node *root, const char *key)
{
    double value = 0.0;
    return json_double(json_get(root, key), &value) ? value : 0.0;
}

static int64_t count_of(const struct json_node *root, const char *key)
{
    int64_t value = 0;
    return json_int64(json_get(root, key), &value) ? value : 0;
}

static bool name_of(const struct json_node *root, const char *key, char out[TIMES_NAME_SIZE])
{
    const char *text = json_text(json_get(root, key));
    return text && text_copy(out, TIMES_NAME_SIZE, text);
}

static enum error_code add_span(struct run_times *times, const struct json_node *root,
                                struct error *err)
{
    struct time_span span = {
        .epoch = count_of(root, "epoch"),
        .units = count_of(root, "units"),
        .first = number_of(root, "first"),
        .last_end = number_of(root, "last_end"),
        .wait = number_of(root, "wait"),
        .read = number_of(root, "read"),
        .compute = number_of(root, "compute"),
        .write = number_of(root, "write"),
        .hand_over = number_of(root, "hand_over"),
        .rows = number_of(root, "rows"),
        .row_bytes = number_of(root, "row_bytes"),
        .bytes_read = number_of(root, "record_bytes_read"),
        .bytes_written = number_of(root, "record_bytes_written"),
        .encoding = number_of(root, "encoding"),
        .gradient_bytes = number_of(root, "gradient_bytes"),
        .gradient_float_bytes = number_of(root, "gradient_float_bytes"),
    };
    if (!name_of(root, "stage", span.stage) || !name_of(root, "worker", span.worker) ||
        !name_of(root, "unit", span.unit))
        return ERROR_NONE;
    const enum error_code rc = memory_grow(&times->span, &times->span_capacity,
                                           times->span_count + 1, "times of a run", err);
    if (rc == ERROR_NONE)
        times->span[times->span_count++] = span;
    return rc;
}

static enum error_code add_life(struct run_times *times, const struct json_node *root,
                                struct error *err)
{
    struct time_life life = {
        .started = number_of(root, "started"),
        .ended = number_of(root, "ended"),
        .open = number_of(root, "open"),
        .idle = number_of(root, "idle"),
        .peak_bytes = number_of(root, "peak_bytes"),
        .user = number_of(root, "user"),
        .system = number_of(root, "system"),
        .disk_bytes_read = number_of(root, "disk_bytes_read"),
        .disk_bytes_written = number_of(root, "disk_bytes_written"),
    };
    if (!name_of(root, "stage", life.stage) || !name_of(root, "worker", life.worker))
        return ERROR_NONE;
    const enum error_code rc = memory_grow(&times->life, &times->life_capacity,
                                           times->life_count + 1, "times of a run", err);
    if (rc == ERROR_NONE)
        times->life[times->life_count++] = life;
    return rc;
}

static double number_at(const struct json_node *array, size_t index)
{
    double value = 0.0;
    return json_double(json_at(array, index), &value) ? value : 0.0;
}

/* Adds the arrays of a training line. */
static enum error_code add_shares(struct run_times *times, const struct json_node *root,
                                  struct error *err)
{
    const struct json_node *seconds = json_get(root, "part_seconds");
    const struct json_node *amounts = json_get(root, "part_amounts");
    const char *unit = json_text(json_get(root, "unit"));
    const size_t count = json_node_is_array(seconds) ? json_count(seconds) : 0;
    const enum error_code rc =
        memory_grow(&times->share, &times->share_capacity, count, "times of a run", err);
    if (rc != ERROR_NONE || !unit)
        return rc;
    for (; times->share_count < count; times->share_count++)
        times->share[times->share_count] = (struct time_share){0};
    for (size_t p = 0; p < count; p++) {
        *(strcmp(unit, "sample") == 0 ? &times->share[p].sample : &times->share[p].step) +=
            number_at(seconds, p);
        if (strcmp(unit, "train-step") == 0)
            times->share[p].rows += number_at(amounts, p);
    }
    return ERROR_NONE;
}

static enum error_code add_layer(struct run_times *times, const struct json_node *root,
                                 struct error *err)
{
    const int64_t part = count_of(root, "part"), layer = count_of(root, "layer");
    const struct time_layer done = {.weights = count_of(root, "weights"),
                                    .layer = (int)layer,
                                    .part = (int)part,
                                    .begun = number_of(root, "begun"),
                                    .ended = number_of(root, "ended")};
    if (done.part != part || done.layer != layer || part < 0)
        return ERROR_NONE;
    const enum error_code rc = memory_grow(&times->layer, &times->layer_capacity,
                                           times->layer_count + 1, "times of a run", err);
    if (rc == ERROR_NONE)
        times->layer[times->layer_count++] = done;
    return rc;
}

static enum error_code add_object(struct run_times *times, const struct json_node *root,
                                  struct error *err)
{
    if (json_get(root, "part"))
        return add_layer(times, root, err);
    if (!json_get(root, "unit"))
        return add_life(times, root, err);
    const enum error_code rc = add_span(times, root, err);
    return rc == ERROR_NONE ? add_shares(times, root, err) : rc;
}

static enum error_code add_line(struct run_times *times, const char *text, size_t size,
                                const char *run_id, struct error *err)
{
    struct json_document *document = NULL;
    enum error_code rc = json_parse(text, size, "times", &document, NULL);
    if (rc != ERROR_NONE)
        return rc == ERROR_NO_MEMORY ? error_set(err, rc, "no memory for the times of a run")
                                     : ERROR_NONE;
    const struct json_node *root = json_root(document);
    const char *run = json_text(json_get(root, "run"));
    if (run && (!run[0] || strcmp(run, run_id) == 0))
        rc = add_object(times, root, err);
    json_free(document);
    return rc;
}

enum error_code run_times_add(struct run_times *times, const char *text, size_t size,
                              const char *run_id, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    const char *end = text + size;
    while (rc == ERROR_NONE && text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (!line_end)
            break; /* a line that a kill cut off */
        rc = add_line(times, text, (size_t)(line_end - text), run_id, err);
        text = line_end + 1;
    }
    return rc;
}

struct reading {
    const char *run_id;
    struct run_times *times;
};

static enum error_code add_file(void *context, const char *text, size_t size, struct error *err)
{
    const struct reading *reading = context;
    return run_times_add(reading->times, text, size, reading->run_id, err);
}

enum error_code run_times_read(const char *folder, const char *run_id, struct run_times *out,
                               struct error *err)
{
    struct reading reading = {.run_id = run_id, .times = out};
    *out = (struct run_times){0};
    const enum error_code rc = folder_texts_each(folder, ".jsonl", add_file, &reading, err);
    if (rc != ERROR_NONE)
        run_times_release(out);
    return rc;
}

void run_times_release(struct run_times *times)
{
    memory_free(times->span);
    memory_free(times->life);
    memory_free(times->share);
    memory_free(times->layer);
    *times = (struct run_times){0};
}

/* --- by stage --- */

struct worker_busy {
    const char *stage, *name;
    double busy;
};

static struct stage_figures *figures_of(struct stage_figures *out, size_t *count, const char *stage)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(out[i].stage, stage) == 0)
            return &out[i];
    if (*count == STAGE_FIGURES_MAX)
        return NULL;
    struct stage_figures *figures = &out[(*count)++];
    *figures = (struct stage_figures){0};
    must(text_copy(figures->stage, sizeof figures->stage, stage));
    return figures;
}

static void add_busy(struct worker_busy *worker, size_t *count, const struct time_span *span)
{
    size_t i = 0;
    while (i < *count &&
           (strcmp(worker[i].name, span->worker) != 0 || strcmp(worker[i].stage, span->stage) != 0))
        i++;
    if (i == WORKERS_MAX)
        return;
    if (i == *count)
        worker[(*count)++] = (struct worker_busy){.stage = span->stage, .name = span->worker};
    worker[i].busy += span->read + span->compute + span->write + span->hand_over;
}

static void find_variation(struct stage_figures *figures, const struct worker_busy *worker,
                           size_t count)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(worker[i].stage, figures->stage) == 0) {
            figures->workers++;
            sum += worker[i].busy;
        }
    const double mean = figures->workers ? sum / figures->workers : 0.0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(worker[i].stage, figures->stage) == 0)
            squares += (worker[i].busy - mean) * (worker[i].busy - mean);
    if (mean > 0.0)
        figures->busy_variation = sqrt(squares / figures->workers) / mean;
}

static void add_span_figures(struct stage_figures *figures, const struct time_span *span)
{
    figures->units += span->units;
    figures->wait += span->wait;
    figures->read += span->read;
    figures->compute += span->compute;
    figures->write += span->write;
    figures->hand_over += span->hand_over;
    figures->row_bytes += span->row_bytes;
    figures->encoding += span->encoding;
    figures->gradient_bytes += span->gradient_bytes;
    figures->gradient_float_bytes += span->gradient_float_bytes;
    figures->bytes_read += span->bytes_read;
    figures->bytes_written += span->bytes_written;
}

static void add_life_figures(struct stage_figures *figures, const struct time_life *life)
{
    figures->lives++;
    figures->open += life->open;
    figures->cpu += life->user + life->system;
    figures->peak_bytes = fmax(figures->peak_bytes, life->peak_bytes);
    figures->disk_bytes_read += life->disk_bytes_read;
    figures->disk_bytes_written += life->disk_bytes_written;
}

/* Returns the position of a stage in the flow; unknown stages come last. */
static int place_of(const char *stage)
{
    int place = 0;
    while (place < STAGE_COUNT && strcmp(stage_list[place].name, stage) != 0)
        place++;
    return place;
}

/* Returns the first stage in the flow that is not listed yet. */
static const char *next_stage(const struct run_times *times, const struct stage_figures *out,
                              size_t count)
{
    const struct time_span *first = NULL;
    for (size_t i = 0; i < times->span_count; i++) {
        const struct time_span *span = &times->span[i];
        size_t listed = 0;
        while (listed < count && strcmp(out[listed].stage, span->stage) != 0)
            listed++;
        if (listed == count && (!first || place_of(span->stage) < place_of(first->stage)))
            first = span;
    }
    return first ? first->stage : NULL;
}

size_t run_times_by_stage(const struct run_times *times,
                          struct stage_figures out[STAGE_FIGURES_MAX])
{
    struct worker_busy worker[WORKERS_MAX];
    size_t count = 0, worker_count = 0;
    const char *stage;
    while (count < STAGE_FIGURES_MAX && (stage = next_stage(times, out, count)) != NULL)
        (void)figures_of(out, &count, stage);
    for (size_t i = 0; i < times->span_count; i++) {
        struct stage_figures *figures = figures_of(out, &count, times->span[i].stage);
        if (figures)
            add_span_figures(figures, &times->span[i]);
        add_busy(worker, &worker_count, &times->span[i]);
    }
    for (size_t i = 0; i < times->life_count; i++) {
        struct stage_figures *figures = figures_of(out, &count, times->life[i].stage);
        if (figures)
            add_life_figures(figures, &times->life[i]);
    }
    for (size_t i = 0; i < count; i++)
        find_variation(&out[i], worker, worker_count);
    return count;
}
