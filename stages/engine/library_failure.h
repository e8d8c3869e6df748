/*
 * library_failure - ends a program properly when a C++ library (RocksDB) gets no memory or no
 * thread.
 *
 * The library then throws, also in threads of its own, and nothing between it and C catches the
 * exception: the program would abort, and look like a bug. This handler says what was refused, and
 * the program ends as out of memory. That is safe, because a program may end at any moment.
 */
#ifndef STAGES_ENGINE_LIBRARY_FAILURE_H
#define STAGES_ENGINE_LIBRARY_FAILURE_H

/* Installs the handler; main() calls it. Other exceptions abort as before, naming their type. */
void library_failure_install(void);

#endif
