/*
 * library_failure - how a program ends when a C++ library (RocksDB) gets no memory or no thread.
 *
 * It throws then, also in threads of its own, and nothing between it and C catches that: the program would abort, and
 * look like a bug. Here it says what was refused and ends as out of memory; a program may end at any moment.
 */
#ifndef STAGES_ENGINE_LIBRARY_FAILURE_H
#define STAGES_ENGINE_LIBRARY_FAILURE_H

/* For main(). Other exceptions abort as before, naming their type. */
void library_failure_install(void);

#endif
