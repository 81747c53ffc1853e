/* slotfile: how a batch lies in a file.
 *
 *   0        header block     written in turns, so that one of the two is whole at any instant;
 *   4096     header block     the whole one of the higher generation counts
 *   8192     live word        rows and bytes, published with every row
 *   12288    about            see about.h; its checksum stands in the header
 *   steps    { word, checksum of the data since the step before } …, at ends of rows
 *   data     the format's header and the rows, contiguous; page-aligned
 *
 * Numbers lie as the machine has them (little-endian: wire.h). Checksums of steps are seeded with
 * the token, so that bytes of an earlier batch in the same file never pass.
 *
 * Which rows there are: after the process ended but not the machine, those that the word tells of
 * (of a sealed batch: that the header tells of). After another boot only those up to the last of
 * the steps that are right, one after another.
 */
#ifndef CHUTE_SLOTFILE_H
#define CHUTE_SLOTFILE_H

#include "batch.h"

#define CHUTE_SLOT_MAGIC UINT64_C(0x746F6C7365747563)

enum {
    CHUTE_SLOT_VERSION = 1,
    CHUTE_SLOT_BLOCK = 4096,
    CHUTE_SLOT_WORD_AT = 2 * CHUTE_SLOT_BLOCK,
    CHUTE_SLOT_ABOUT_AT = 3 * CHUTE_SLOT_BLOCK,
    CHUTE_BOOT_LEN = 36
};

/* A slot goes round: free, open, sealed, attempted, free. */
enum {
    CHUTE_SLOT_FREE = 1,
    CHUTE_SLOT_OPEN,     /* takes rows */
    CHUTE_SLOT_SEALED,   /* takes no more; `sealed` is their word */
    CHUTE_SLOT_ATTEMPTED /* sealed, and maybe sent */
};

/* A header block; the rest of its 4096 bytes is zero. */
struct chute_slot_header {
    uint64_t magic;
    uint32_t version;
    uint32_t state;
    uint64_t generation;
    uint64_t opened_ms; /* unix time in milliseconds */
    uint64_t sequence;  /* of the owner's batches, in the order they were opened */
    uint64_t sealed;    /* the word, once sealed */
    uint64_t file_bytes;
    uint64_t data_bytes; /* room for data */
    uint32_t about_bytes, about_crc;
    uint32_t steps_at, steps_max;
    uint32_t data_at;
    uint32_t head_bytes; /* the format's header, the first of the data */
    char token[CHUTE_TOKEN_LEN + 4];
    char boot[CHUTE_BOOT_LEN + 4];
    uint32_t reserved;
    uint32_t crc; /* of all before it */
};

struct chute_slot_step {
    uint64_t word;
    uint32_t crc;   /* of the data since the step before */
    uint32_t check; /* of the token, the step's index, word and crc */
};

uint32_t chute_slot_header_crc(const struct chute_slot_header *header);
uint32_t chute_slot_data_crc(const char *token, uint64_t from, const void *data, size_t len);
uint32_t chute_slot_step_check(const char *token, uint32_t index, const struct chute_slot_step *);

/* The system's boot, as text; "" where it does not tell. */
const char *chute_boot_id(void);

/* A file that is read: by pread, so that what the disk refuses is an error and no signal. */
struct chute_slotfile {
    struct chute_slot_header header;
    uint8_t *about;   /* owned; header.about_bytes */
    uint8_t *data;    /* owned: the format's header and the rows that can be trusted; or NULL */
    uint64_t word;    /* of those rows */
    uint32_t steps;   /* that are right, one after another */
    uint64_t stepped; /* the word of the last of them */
    bool damaged;     /* sealed rows are missing behind them */
};

/* Reads the header: 0, or CHUTE_E_SPOOL with the reason, flagged as retryable where it is the
 * disk's and not the file's. An open slot without rows has word 0. */
int chute_slotfile_read(struct chute_slotfile *file, int fd, chute_error *err);
/* Reads the data as well. */
int chute_slotfile_load(struct chute_slotfile *file, int fd, chute_error *err);
void chute_slotfile_clear(struct chute_slotfile *file);

/* Stores the state, not free or open, in the file that was loaded. 0, or CHUTE_E_SPOOL. */
int chute_slotfile_mark(struct chute_slotfile *file, int fd, uint32_t state, chute_error *err);

/* Cuts the file behind its sealed rows. */
void chute_slotfile_trim(const struct chute_slotfile *file, int fd);

static inline size_t chute_slotfile_data_len(const struct chute_slotfile *file) {
    return file->header.head_bytes + chute_word_bytes(file->word);
}

#endif
