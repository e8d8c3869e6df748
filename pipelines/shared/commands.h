/*
 * commands - the subcommands of `graphmill`. Each has one file, and one row in graphmill.c.
 *
 * A command parses its own arguments (argv[0] is its name), prints its answer on stdout and its
 * progress on stderr, and returns an error code, from which main() makes the message and the exit
 * status.
 */
#ifndef PIPELINES_SHARED_COMMANDS_H
#define PIPELINES_SHARED_COMMANDS_H

#include "common/base/error.h"

MUST_CHECK enum error_code command_run(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_start(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_partition(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_update(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_watch(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_init(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_infer(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_predict(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_status(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_replay(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_verify(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_export(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_report(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_compare(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_list(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_gc(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_exporter(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_fetch(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_render(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_load(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_scale(int argc, char **argv, struct error *err);
MUST_CHECK enum error_code command_doctor(int argc, char **argv, struct error *err);

#endif
