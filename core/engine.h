/* engine: ClickHouse in this process. There is one at most, with one folder, shared by all pools
 * that name it; it runs one statement at a time. */
#ifndef CHUTE_ENGINE_H
#define CHUTE_ENGINE_H

#include "chute.h"
#include "text.h"

/* Opens the engine on a folder ("" is memory only), or joins those that have it open. `library`:
 * path of libchdb.so, or NULL. 0, or fills err. */
int chute_engine_open(const char *library, const char *folder, chute_error *err);
/* Gives it back: the last one closes it. */
void chute_engine_close(void);

struct chute_engine_statement {
    const char *place;    /* for messages */
    const char *database; /* or NULL: "default" */
    const char *sql;
    size_t sql_len;
    const char *rows; /* of an INSERT … FORMAT, or NULL */
    size_t rows_len;
    const char *format;         /* of the answer */
    const chute_pair *settings; /* in force for this statement only */
    size_t settings_count;
    const chute_pair *params;
    size_t params_count;
};

struct chute_engine_counts {
    uint64_t read_rows, read_bytes, written_rows, written_bytes;
};

/* Runs a statement to its end: 0 and the answer's bytes in `body`, or fills err. Any thread. */
int chute_engine_run(const struct chute_engine_statement *statement, chute_text *body,
                     struct chute_engine_counts *counts, chute_error *err);

#endif
