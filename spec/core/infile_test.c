#include "check.h"
#include "infile.h"

static void first_words(void) {
    static const struct {
        const char *sql;
        bool insert;
    } cases[] = {
        {"INSERT INTO t FORMAT CSV", true},
        {" \t\n\v\finsert into t", true},
        {"-- c\nINSERT INTO t", true},
        {"/* c */--\n/**/Insert INTO t", true},
        {"INSERT", true},
        {"INSERT/**/INTO t", true},
        {"INSERTX INTO t", false},
        {"INSERT_1", false},
        {"'INSERT' INTO t", false},
        {"-- INSERT INTO t", false},
        {"/* INSERT INTO t", false},
        {"SELECT 1 -- INSERT", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_INT(cases[i].insert, chute_infile_is_insert(cases[i].sql, strlen(cases[i].sql)));
}

int main(void) {
    first_words();
    return check_report("core/infile");
}
