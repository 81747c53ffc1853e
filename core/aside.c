#include "aside.h"

#include "about.h"
#include "error.h"
#include "kill.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_json(chute_text *out, const char *at, size_t len) {
    chute_text_add(out, "\"", 1);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c == '"' || c == '\\')
            chute_text_print(out, "\\%c", c);
        else if (c < ' ' || c == 0x7F)
            chute_text_print(out, "\\u%04x", c);
        else
            chute_text_add(out, at + i, 1);
    }
    chute_text_add(out, "\"", 1);
}

static void put_field(chute_text *out, const char *name, const char *value) {
    chute_text_print(out, "  \"%s\": ", name);
    put_json(out, value, strlen(value));
    chute_text_add(out, ",\n", 2);
}

/* The last field: no comma follows. */
static void put_time(chute_text *out) {
    struct timespec now;
    struct tm utc;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    chute_text_print(out, "  \"time\": \"%s.%03ldZ\"\n}\n", text, now.tv_nsec / 1000000);
}

static void put_columns(chute_text *out, const uint8_t *about, size_t about_bytes) {
    struct chute_about_text name, type;
    chute_text_print(out, "  \"columns\": [");
    for (uint32_t i = 0; chute_about_column(about, about_bytes, i, &name, &type); i++) {
        chute_text_print(out, "%s[", i ? ", " : "");
        put_json(out, name.at, name.len);
        chute_text_print(out, ", ");
        put_json(out, type.at, type.len);
        chute_text_print(out, "]");
    }
    chute_text_print(out, "],\n");
}

static void put_refusal(chute_text *out, const chute_batch *batch, const char *token) {
    const chute_error *why = &batch->error;
    chute_text_print(out, "{\n");
    put_field(out, "token", token);
    put_field(out, "reason", why->message);
    chute_text_print(out, "  \"code\": %d,\n", why->code);
    put_field(out, "name", why->name);
    put_field(out, "host", why->host);
    chute_text_print(out, "  \"rows\": %llu,\n  \"bytes\": %llu,\n",
                     (unsigned long long)batch->rows, (unsigned long long)batch->bytes);
    put_field(out, "insert", batch->insert->target);
    put_field(out, "format", batch->insert->format);
}

/* ---- moving -------------------------------------------------------------------------------- */

static int refuse(const char *root, const char *what, chute_error *err) {
    return chute_fail(err, CHUTE_E_SPOOL, "the spool %.512s: cannot %s: %s", root, what,
                      strerror(errno));
}

static int open_folder(const char *root, const char *name, chute_error *err) {
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) return refuse(root, "make a folder", err);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return fd >= 0 ? fd : refuse(root, "open a folder", err);
}

/* Written beside, then named: whole or not there. */
static int write_note(int folder, const char *name, const chute_text *text) {
    char draft[NAME_MAX + 1], json[NAME_MAX + 1];
    snprintf(json, sizeof json, "%.200s.json", name);
    snprintf(draft, sizeof draft, ".%.200s.new", name);
    int fd = openat(folder, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) return -1;
    bool fine = write(fd, text->at, text->len) == (ssize_t)text->len && fsync(fd) == 0;
    int why = errno;
    close(fd);
    if (fine && renameat(folder, draft, folder, json) == 0) return 0;
    errno = fine ? errno : why;
    why = errno;
    unlinkat(folder, draft, 0);
    errno = why;
    return -1;
}

/* The note first: what lies aside has one. A disk too full for it does not keep the file. */
static int put_aside(const char *root, const char *where, int from, const char *name,
                     const char *as, chute_text *note, chute_error *err) {
    char file[NAME_MAX + 1];
    int folder = open_folder(root, where, err);
    if (folder < 0) return CHUTE_E_SPOOL;
    put_time(note);
    if (!note->failed) write_note(folder, as, note);
    chute_kill_point();
    snprintf(file, sizeof file, "%.200s%s", as, strcmp(where, "dead") == 0 ? ".slot" : "");
    int rc =
        renameat(from, name, folder, file) == 0 ? CHUTE_OK : refuse(root, "move a batch file", err);
    if (rc == CHUTE_OK) fsync(folder);
    close(folder);
    return rc;
}

int chute_aside_bury(const struct chute_aside_place *from, const char *token,
                     const chute_batch *batch, const uint8_t *about, size_t about_bytes,
                     chute_error *err) {
    chute_text note = {0};
    put_refusal(&note, batch, token);
    put_columns(&note, about, about_bytes);
    int rc = put_aside(from->root, "dead", from->folder, from->name, token, &note, err);
    chute_text_clear(&note);
    return rc;
}

void chute_aside_remove(const char *root, const char *token) {
    static const char *const ends[] = {"slot", "json"};
    char path[PATH_MAX + CHUTE_TOKEN_LEN + 16];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/dead/%s.%s", root, token, ends[i]);
        unlink(path);
        chute_kill_point();
    }
}

uint64_t chute_aside_dead_bytes(const char *root) {
    char path[PATH_MAX + 8];
    struct stat seen;
    uint64_t bytes = 0;
    snprintf(path, sizeof path, "%s/dead", root);
    DIR *dir = opendir(path);
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && fstatat(dirfd(dir), entry->d_name, &seen, 0) == 0)
            bytes += (uint64_t)seen.st_size;
    closedir(dir);
    return bytes;
}

int chute_aside_bad(const char *root, int from, const char *folder, const char *name,
                    const char *reason, chute_error *err) {
    char as[NAME_MAX + 1];
    chute_text note = {0};
    snprintf(as, sizeof as, "%.48s-%.140s", folder, name);
    chute_text_print(&note, "{\n");
    put_field(&note, "file", name);
    put_field(&note, "reason", reason);
    int rc = put_aside(root, "bad", from, name, as, &note, err);
    chute_text_clear(&note);
    return rc;
}
