/*
 * class_counts - how often nodes of one class were predicted as which: the confusion matrix of a split, out of
 * predictions.csv.
 */
#ifndef PIPELINES_REPORT_CLASS_COUNTS_H
#define PIPELINES_REPORT_CLASS_COUNTS_H

#include "common/base/error.h"
#include "common/formats/column_encoding.h"

#include <stdint.h>

enum { CLASS_COUNT_MAX = 1024, CLASS_SPLIT_SIZE = 16 };

struct
    class_counts { /* {0} is empty: the predictions are not of one class a node, or no split has labels */
    char split[CLASS_SPLIT_SIZE]; /* "test", or "valid" where no node is for the test */
    uint32_t classes;
    double *count; /* [classes, classes]: of label i predicted as j; owned */
    double nodes;
};

struct class_score {
    double support, predicted, precision, recall, f1; /* undefined ones are NaN */
};

/* Reads the file once. `classes`: of the dataset; 0 or above CLASS_COUNT_MAX gives an empty result, as does a file without
 * the columns split, label and prediction. Fails: ERROR_NOT_FOUND; ERROR_INPUT naming the line; ERROR_IO;
 * ERROR_NO_MEMORY. */
/* `words`: what classes are called, or none. */
MUST_CHECK enum error_code class_counts_read(const char *path, uint32_t classes,
                                             const struct column_encoding *words,
                                             struct class_counts *out, struct error *err);
struct class_score class_counts_score(const struct class_counts *counts, uint32_t class_number);
void class_counts_release(struct class_counts *counts);

#endif
