/* exception: what an answer of ClickHouse says went wrong. Pure functions over bytes. */
#ifndef CHUTE_EXCEPTION_H
#define CHUTE_EXCEPTION_H

#include "chute.h"

#include <stdbool.h>

/* A whole HTTP answer, all of it borrowed. */
typedef struct chute_answer {
    const char *place; /* "host:port", for messages */
    const char *body;
    size_t len;
    const char *tag;      /* X-ClickHouse-Exception-Tag, or "" */
    int32_t status;       /* HTTP status */
    int32_t code;         /* X-ClickHouse-Exception-Code, or 0 */
    bool from_clickhouse; /* some X-ClickHouse-… header was there */
    bool old_server;      /* no X-ClickHouse-Query-Id: before 20 or so */
    bool complete;        /* the body arrived whole */
    bool insert;          /* rows were sent: the answer to success is empty */
} chute_answer;

/* 0: the answer means success. Else fills err, host, flags and all, and returns its kind. */
int chute_exception_find(const chute_answer *answer, chute_error *err);

/* Fills err from the text of an exception ("Code: N. DB::Exception: …" or as 18.16 spells it):
 * code, name, message, flags. `code`: known otherwise, or 0. Returns CHUTE_E_SERVER. */
int chute_exception_read(const char *text, size_t len, int32_t code, const char *place,
                         chute_error *err);

#endif
