/*
 * export_parts - for each part of a run's partition: its size, the reads of and for it, the time
 * spent on it, and the time it waited for other parts.
 *
 *   part,nodes,edges,reads,remote,sample,step,infer,waited,last,from_0,from_1
 *   0,1200,48000,9000,3100,0.4,1.25,0.75,0.125,1,5900,2700
 *   1,1210,36000,8400,2700,0.3,1.125,0.5,0.375,0,3100,5700
 *
 *   nodes, edges   that the part owns
 *   reads, remote  reads of rows of its nodes in the kept mini-batches of training, and those of
 *                  them for seeds of another part (batch_loads.h)
 *   sample, step   its share of the seconds of units of training, by rows read or by nodes and
 *                  edges drawn (stages/engine/part_shares.h)
 *   infer          seconds in which its layers were computed in inference
 *   waited, last   seconds from the end of its layers to the end of the slowest part's, and the
 *                  number of layers in which it was the slowest
 *   from_<p>       reads of rows of part p for its seeds, its own rows among them: the sum of a
 *                  column is the reads of part p
 *
 * An unknown value is empty: reads if no mini-batch is kept, seconds if the folder of the run has
 * no times.
 */
#ifndef PIPELINES_EXPORT_EXPORT_PARTS_H
#define PIPELINES_EXPORT_EXPORT_PARTS_H

#include "common/base/error.h"
#include "pipelines/report/part_times.h"
#include "pipelines/shared/run_folder.h"

/* Writes the table. Fails: ERROR_NOT_FOUND when neither reads nor seconds are known; ERROR_CORRUPT;
 * ERROR_IO. */
MUST_CHECK enum error_code export_parts(const struct run_folder *folder, const char *path,
                                        struct error *err);
/* Computes the times of each part; zeros where there are no times. Owns: *out [parts], which the
 * caller frees, also on failure. */
MUST_CHECK enum error_code export_part_times(const struct run_folder *folder,
                                             struct part_time **out, struct error *err);

#endif
