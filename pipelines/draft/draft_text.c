#include "pipelines/draft/draft_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COMMENT_COLUMN = 30, LINE_BYTES = 4096 };

static void put_values(struct json_writer *out, const char *format, va_list values)
    PRINTF_LIKE(2, 0);

static void put_values(struct json_writer *out, const char *format, va_list values)
{
    char line[LINE_BYTES];
    (void)vsnprintf(line, sizeof line, format, values);
    json_put_raw(out, line);
}

void draft_put(struct json_writer *out, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    put_values(out, format, values);
    va_end(values);
}

void draft_put_setting(struct json_writer *out, const char *key, const char *value,
                       const char *comment, ...)
{
    va_list values;
    const int width = COMMENT_COLUMN - (int)strlen("  : ") - (int)strlen(key);
    draft_put(out, "  %s: %-*s%s# ", key, width > 0 ? width : 0, value,
              (int)strlen(value) < width ? "" : " ");
    va_start(values, comment);
    put_values(out, comment, values);
    va_end(values);
    draft_put(out, "\n");
}

void draft_put_quoted(struct json_writer *out, const char *text)
{
    draft_put(out, "\"");
    for (const char *c = text; *c; c++)
        draft_put(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    draft_put(out, "\"");
}

void draft_put_text(struct json_writer *out, const char *key, const char *text)
{
    draft_put(out, "  %s: ", key);
    draft_put_quoted(out, text);
    draft_put(out, "\n");
}

void draft_begin(struct json_writer *out, const char *seen, const char *name, bool links)
{
    draft_put(out,
              "# Written by graphmill init, of what %s. Change what you like;\n"
              "# graphmill run --help tells all settings.\nname: %s\nepochs: %d\n",
              seen, name, links ? 10 : 30);
}

void draft_put_partition(struct json_writer *out)
{
    draft_put(out, "partition:\n");
    draft_put_setting(out, "parts", "4", "many more than workers is fine");
}

void draft_put_sampled_model(struct json_writer *out, bool links)
{
    draft_put(out, "sample:\n");
    draft_put_setting(out, "fanouts", "[10, 10]", "neighbours, one number for each layer; -1: all");
    draft_put(out, "  batch_size: 256\n");
    draft_put_setting(out, "batches_per_round", "1", "mini-batches of one optimizer step");
    draft_put(out, "train-step:\n");
    draft_put_setting(out, "model", "sage", "or gcn, gat, gin, ...: graphmill run --help");
    draft_put(out,
              "  hidden: 64\n%saggregate:\n  optimizer: adam\n  learning_rate: 0.01\ncheckpoint:\n"
              "  metric: %s\n",
              links ? "  decoder: dot\n" : "  dropout: 0.3\n", links ? "roc_auc" : "accuracy");
}
