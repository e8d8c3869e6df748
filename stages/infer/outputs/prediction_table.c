#include "stages/infer/outputs/prediction_table.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/text/csv_field.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_of_graphs(const struct task *task)
{
    return task && task_row_has(task, TASK_HAS_GRAPHS);
}

const char *prediction_header(const struct task *task)
{
    return is_of_graphs(task) ? "graph,split,label,prediction,probability\n"
                              : "node,split,label,prediction,probability\n";
}

const char *prediction_id_header(const struct task *task)
{
    return is_of_graphs(task) ? "graph\n" : "node\n";
}

const char *prediction_edge_header(bool has_types)
{
    return has_types ? "source,target,type,split,label,prediction,probability\n"
                     : "source,target,split,label,prediction,probability\n";
}

const char *prediction_link_header(bool has_types, bool ranks_source)
{
    if (has_types)
        return ranks_source ? "source,target,type,split,score,rank,source_rank\n"
                            : "source,target,type,split,score,rank\n";
    return ranks_source ? "source,target,split,score,rank,source_rank\n"
                        : "source,target,split,score,rank\n";
}

void prediction_lines_release(struct prediction_lines *lines)
{
    memory_free(lines->text);
    *lines = (struct prediction_lines){0};
}

/* Makes room for `more` bytes. The put_ functions append without checking. */
static enum error_code reserve(struct prediction_lines *lines, size_t more, struct error *err)
{
    return memory_grow(&lines->text, &lines->capacity, lines->size + more, "lines of predictions",
                       err);
}

static void put_char(struct prediction_lines *lines, char c)
{
    lines->text[lines->size++] = c;
}

static void put_text(struct prediction_lines *lines, const char *text, size_t size)
{
    memcpy(lines->text + lines->size, text, size);
    lines->size += size;
}

static void put_id(struct prediction_lines *lines, const struct node_ids *ids, uint32_t node)
{
    lines->size += node_ids_field_put(ids, node, lines->text + lines->size);
}

static bool has_words(const struct prediction_table *table)
{
    return table->words && table->words->class_count && table->task->is_class_number;
}

/* Returns the most bytes that a class name takes. */
static size_t longest_word(const struct prediction_table *table)
{
    size_t most = 0;
    for (size_t i = 0; has_words(table) && i < table->words->class_count; i++) {
        const size_t size = csv_field_size(strlen(table->words->class_name[i]));
        most = size > most ? size : most;
    }
    return most;
}

/* Writes the name of the class whose number is in `text` [size]. */
static void put_class(struct prediction_lines *lines, const struct prediction_table *table,
                      const char *text, size_t size)
{
    int64_t number = 0;
    if (!text_int64(text, size, &number) || (size_t)number >= table->words->class_count) {
        put_text(lines, text, size);
        return;
    }
    const char *word = table->words->class_name[number];
    lines->size += csv_field_put(lines->text + lines->size, word, strlen(word));
}

/* Writes the "label,prediction,probability" that a task printed, with names for class numbers. */
static void put_words(struct prediction_lines *lines, const struct prediction_table *table,
                      const char *text, size_t size)
{
    const char *label_end = memchr(text, ',', size);
    must(label_end);
    const char *prediction = label_end + 1;
    const char *prediction_end = memchr(prediction, ',', (size_t)(text + size - prediction));
    must(prediction_end);
    put_class(lines, table, text, (size_t)(label_end - text));
    put_char(lines, ',');
    put_class(lines, table, prediction, (size_t)(prediction_end - prediction));
    put_text(lines, prediction_end, (size_t)(text + size - prediction_end));
}

enum error_code prediction_lines_add(struct prediction_lines *lines,
                                     const struct prediction_table *table, uint32_t row,
                                     const char *split, const float *logit, const void *label,
                                     struct error *err)
{
    const uint32_t node = table->first_node + row;
    const size_t size = node_ids_field_size(table->ids, node) + strlen(split) +
                        2 * longest_word(table) + task_print_size(table->task, table->class_count) +
                        3;
    const enum error_code rc = reserve(lines, size, err);
    if (rc != ERROR_NONE)
        return rc;
    put_id(lines, table->ids, node);
    put_char(lines, ',');
    put_text(lines, split, strlen(split));
    put_char(lines, ',');
    if (has_words(table)) {
        char text[3 * TEXT_NUMBER_SIZE + 4]; /* for one class per node */
        put_words(lines, table, text, table->task->print(text, logit, label, table->class_count));
    } else {
        lines->size +=
            table->task->print(lines->text + lines->size, logit, label, table->class_count);
    }
    put_char(lines, '\n');
    return ERROR_NONE;
}

enum error_code prediction_lines_add_edge(struct prediction_lines *lines,
                                          const struct prediction_table *table,
                                          const struct prediction_link *link, const float *output,
                                          const void *label, struct error *err)
{
    char columns[32]; /* the columns between the ends and the label */
    const enum error_code rc =
        reserve(lines, node_ids_field_size(table->ids, link->source) + 1, err);
    if (rc != ERROR_NONE)
        return rc;
    (void)snprintf(columns, sizeof columns, "%s%s%s", link->type ? link->type : "",
                   link->type ? "," : "", link->split);
    put_id(lines, table->ids, link->source);
    put_char(lines, ',');
    return prediction_lines_add(lines, table, link->target, columns, output, label, err);
}

enum error_code prediction_lines_add_id(struct prediction_lines *lines,
                                        const struct prediction_table *table, uint32_t row,
                                        struct error *err)
{
    const uint32_t node = table->first_node + row;
    const enum error_code rc = reserve(lines, node_ids_field_size(table->ids, node) + 1, err);
    if (rc != ERROR_NONE)
        return rc;
    put_id(lines, table->ids, node);
    put_char(lines, '\n');
    return ERROR_NONE;
}

enum error_code prediction_lines_add_link(struct prediction_lines *lines,
                                          const struct prediction_table *table,
                                          const struct prediction_link *link, struct error *err)
{
    char numbers[112];
    int size = snprintf(numbers, sizeof numbers, "%.9g,", (double)link->score);
    if (link->rank[0] > 0)
        size += snprintf(numbers + size, sizeof numbers - (size_t)size, "%.17g", link->rank[0]);
    if (link->ranks_source)
        size += snprintf(numbers + size, sizeof numbers - (size_t)size, ",%.17g", link->rank[1]);
    const size_t split_size = strlen(link->split), type_size = link->type ? strlen(link->type) : 0;
    const enum error_code rc = reserve(lines,
                                       node_ids_field_size(table->ids, link->source) +
                                           node_ids_field_size(table->ids, link->target) +
                                           split_size + type_size + (size_t)size + 5,
                                       err);
    if (rc != ERROR_NONE)
        return rc;
    put_id(lines, table->ids, link->source);
    put_char(lines, ',');
    put_id(lines, table->ids, link->target);
    put_char(lines, ',');
    if (link->type) {
        put_text(lines, link->type, type_size);
        put_char(lines, ',');
    }
    put_text(lines, link->split, split_size);
    put_char(lines, ',');
    put_text(lines, numbers, (size_t)size);
    put_char(lines, '\n');
    return ERROR_NONE;
}
