/*
 * program_start - what a program does before any library runs code of its own. The files with
 * main() include it.
 *
 * Constructors of shared libraries run before main(), and OpenBLAS's takes milliseconds and starts
 * threads. Before them, stop signals are held back (common/base/stop_signal.h), and the environment
 * variables that OpenBLAS reads are set (stages/plan/run/core_type.h). Sanitizers are not set up at
 * that time: their builds do both in main() alone.
 */
#ifndef STAGES_ENGINE_PROGRAM_START_H
#define STAGES_ENGINE_PROGRAM_START_H

#include "common/base/stop_signal.h"
#include "stages/plan/run/core_type.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define PROGRAM_IS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define PROGRAM_IS_SANITIZED
#endif
#endif

#ifndef PROGRAM_IS_SANITIZED
static void program_start(int argc, char **argv, char **environment)
{
    (void)argc;
    stop_signal_hold();
    core_type_settle_early(argv, environment);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const program_start_entry)(int argc, char **argv,
                                                               char **environment) = program_start;
#endif

#endif
