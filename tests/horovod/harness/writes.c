/* Preloaded into the processes of a run: appends the path of each file that is opened to be written, is the target
 * of a renaming or is removed to the file that HVDLINT_WRITES names. The ranks share a folder as on one machine, and
 * TensorFlow and HDF5 write without Python's knowledge: only here is it seen who wrote.
 *
 * A process that HVDLINT_SLOW names a folder to is slow when it begins to write a file below it: who does not wait for it
 * finds the file empty, or not at all. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) __typeof__(name) *real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int real_open(const char *path, int flags, mode_t mode) {
    REAL(open);
    return real(path, flags, mode);
}

/* A tenth of a second, in microseconds: others read at once. */
#define DELAY 100000

static void delay(const char *path) {
    const char *below = getenv("HVDLINT_SLOW");
    if (below && strncmp(path, below, strlen(below)) == 0) usleep(DELAY);
}

static void note(int folder, const char *path) {
    static char log[PATH_MAX]; /* asked for once it is there: the environment may be changed by another thread */
    const char *said = log[0] ? log : getenv("HVDLINT_WRITES");
    if (!said || !path) return;
    if (!log[0]) snprintf(log, sizeof log, "%s", said);
    char base[PATH_MAX] = "", link[64], line[2 * PATH_MAX + 2];
    if (path[0] != '/' && folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) return;
    } else if (path[0] != '/') {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, base, sizeof base - 1);
        base[length < 0 ? 0 : length] = 0;
    }
    int length = snprintf(line, sizeof line, "%s%s%s\n", base, path[0] == '/' ? "" : "/", path);
    int file = real_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) return;
    if (write(file, line, length) < 0) perror("HVDLINT_WRITES");
    close(file);
    delay(line);
}

static int changes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)); }

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        MODE(flags) \
        int result = real(path, flags, mode); \
        if (result >= 0 && changes(flags)) note(AT_FDCWD, path); \
        return result; \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(name); \
        MODE(flags) \
        int result = real(folder, path, flags, mode); \
        if (result >= 0 && changes(flags)) note(folder, path); \
        return result; \
    }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name) \
    FILE *name(const char *path, const char *mode) { \
        REAL(name); \
        FILE *result = real(path, mode); \
        if (result && strpbrk(mode, "wa+")) note(AT_FDCWD, path); \
        return result; \
    }
FOPEN(fopen)
FOPEN(fopen64)

int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int rename(const char *from, const char *to) {
    REAL(rename);
    int result = real(from, to);
    if (result == 0) note(AT_FDCWD, to);
    return result;
}

int unlink(const char *path) {
    REAL(unlink);
    int result = real(path);
    if (result == 0) note(AT_FDCWD, path);
    return result;
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat);
    int result = real(folder, path, flags);
    if (result == 0 && !(flags & AT_REMOVEDIR)) note(folder, path);
    return result;
}
