#include "stages/plan/run/run_result.h"

#include "common/base/json.h"
#include "common/base/text.h"
#include "common/nn/tasks/task.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void append(char text[RUN_RESULT_SIZE], const char *format, ...) PRINTF_LIKE(2, 3);
static void append(char text[RUN_RESULT_SIZE], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + used, RUN_RESULT_SIZE - used, format, args);
    va_end(args);
}

/* Returns a score as text. It is null in the record if it is not defined, such as the ROC AUC of
 * nodes of one class. */
static const char *score_of(const struct json_node *split, const char *name, char text[32])
{
    double value = 0.0;
    if (!json_double(json_get(split, name), &value))
        value = (double)NAN;
    return text_score(value, text);
}

/* Appends the metrics of the task, in the order of the table. */
static void append_split(char text[RUN_RESULT_SIZE], const char *name,
                         const struct json_node *split)
{
    char score[32];
    const char *gap = " ";
    append(text, "%-5s", name);
    for (enum metric m = 0; m < METRIC_COUNT; m++)
        if (metric_table[m].is_told && json_get(split, metric_table[m].name)) {
            append(text, "%s%s %s", gap, metric_table[m].title,
                   score_of(split, metric_table[m].name, score));
            gap = "  ";
        }
    append(text, "\n");
}

enum error_code run_result_describe(const char *run_id, int64_t round_count,
                                    const struct outputs_seal *seal, char text[RUN_RESULT_SIZE],
                                    struct error *err)
{
    static const char *const splits[] = {"train", "valid", "test"};
    struct json_document *metrics = NULL;
    char hash[CHECKSUM_TEXT_SIZE];
    const enum error_code rc =
        json_parse(seal->metrics, strlen(seal->metrics), "metrics", &metrics, err);
    text[0] = '\0';
    if (rc != ERROR_NONE)
        return rc;
    append(text, "run            %s\n", run_id);
    append(text, "rounds         %" PRId64 " of %" PRId64 ", weights of round %" PRId64 "\n",
           seal->weights.snapshot_version, round_count, seal->weights.version);
    for (int i = 0; i < 3; i++) {
        const struct json_node *split = json_get(json_root(metrics), splits[i]);
        if (split)
            append_split(text, splits[i], split);
    }
    checksum_text(&seal->weights.sum, hash);
    append(text, "weights hash   %s\n", hash);
    json_free(metrics);
    return ERROR_NONE;
}
