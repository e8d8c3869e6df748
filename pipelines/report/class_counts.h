/*
 * class_counts - the confusion matrix of a split, computed from predictions.csv.
 */
#ifndef PIPELINES_REPORT_CLASS_COUNTS_H
#define PIPELINES_REPORT_CLASS_COUNTS_H

#include "common/base/error.h"
#include "common/formats/text/column_encoding.h"

#include <stdint.h>

enum { CLASS_COUNT_MAX = 1024, CLASS_SPLIT_SIZE = 16 };

/* {0} is empty: there is no single predicted class for each node, or no split has labels. */
struct class_counts {
    char split[CLASS_SPLIT_SIZE]; /* "test", or "valid" if no node is for the test */
    uint32_t classes;
    double *count; /* [classes, classes]: nodes of class i that were predicted as j; owned */
    double nodes;
};

struct class_score {
    double support, predicted, precision, recall, f1; /* NaN if undefined */
};

/* Reads the file once. `classes` is that of the dataset. The result is empty if it is 0 or above
 * CLASS_COUNT_MAX, or if the file has no columns split, label and prediction. `words` has the names
 * of the classes, or none. Fails: ERROR_NOT_FOUND; ERROR_INPUT naming the line; ERROR_IO;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code class_counts_read(const char *path, uint32_t classes,
                                             const struct column_encoding *words,
                                             struct class_counts *out, struct error *err);
struct class_score class_counts_score(const struct class_counts *counts, uint32_t class_number);
void class_counts_release(struct class_counts *counts);

#endif
