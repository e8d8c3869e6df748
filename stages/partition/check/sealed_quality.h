/*
 * sealed_quality - measures parts that were written before, by their sealed topologies.
 */
#ifndef STAGES_PARTITION_CHECK_SEALED_QUALITY_H
#define STAGES_PARTITION_CHECK_SEALED_QUALITY_H

#include "common/base/error.h"
#include "stages/partition/layout/part_writer.h"
#include "store/records/partition/partition_book.h"

#include <stdbool.h>

/* Adds the parts marked in standing [part_count] to the quality. All parts are sealed, and the
 * partition is no vertex cut. Fails: what topology_open_part() fails with. */
MUST_CHECK enum error_code sealed_quality_add(const struct part_writer *writer,
                                              const struct partition_book *book,
                                              const bool *standing,
                                              struct partition_quality *quality, struct error *err);

#endif
