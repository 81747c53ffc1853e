/* check: what the C tests need. A test program includes it once, calls checks, and returns
 * check_report("core/NAME"). */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static unsigned check_passed, check_failed;

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_INT(wanted, got)                                                                     \
    check_int((int64_t)(wanted), (int64_t)(got), #got, __FILE__, __LINE__)
#define CHECK_TEXT(wanted, got, len) check_text(wanted, got, len, #got, __FILE__, __LINE__)

static inline void check_that(int holds, const char *what, const char *file, int line) {
    if (holds)
        check_passed++;
    else
        check_failed++;
    if (!holds) printf("%s:%d: not so: %s\n", file, line, what);
}

static inline void check_int(int64_t wanted, int64_t got, const char *what, const char *file,
                             int line) {
    check_that(wanted == got, what, file, line);
    if (wanted != got) printf("    %" PRId64 " was wanted, not %" PRId64 "\n", wanted, got);
}

static inline void check_text(const char *wanted, const char *got, size_t len, const char *what,
                              const char *file, int line) {
    int same = strlen(wanted) == len && memcmp(wanted, got, len) == 0;
    check_that(same, what, file, line);
    if (!same) printf("    \"%s\" was wanted, not \"%.*s\"\n", wanted, (int)len, got);
}

static inline int check_report(const char *name) {
    printf("%s: %u passed, %u failed\n", name, check_passed, check_failed);
    return check_failed ? 1 : 0;
}

#endif
