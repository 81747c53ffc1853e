/* insert: what the INSERT of a batch needs besides its rows. Immutable, shared by the batches of
 * a stream, counted by references from any thread. */
#ifndef CHUTE_INSERT_H
#define CHUTE_INSERT_H

#include "chute.h"
#include "retry.h"

#include <stdatomic.h>
#include <stdbool.h>

struct chute_insert {
    _Atomic uint32_t refs;
    int compression;      /* CHUTE_COMPRESS_… */
    int level;            /* 0: the method's default */
    bool sql_in_body;     /* the statement at the head of the body, not in the URL */
    char *target;         /* "INSERT INTO `db`.`t` (`a`, `b`)", NUL-ended */
    const char *format;   /* ClickHouse's name of the format, static */
    chute_pair *settings; /* names and values owned, NUL-ended */
    size_t settings_count;
    chute_retry retry;
    _Atomic bool given_up; /* no batch is to be sent once more */
};

typedef struct chute_insert chute_insert;

/* `table` is "db.table" or "table"; a part may stand in backquotes. The columns are the
 * schema's. NULL: a bad table name, too long a setting or no memory. One reference. */
chute_insert *chute_insert_new(const chute_schema *schema, const chute_stream_config *config,
                               chute_error *err);
chute_insert *chute_insert_keep(chute_insert *insert); /* one more reference */
void chute_insert_free(chute_insert *insert);          /* one less */

#endif
