/*
 * The service that every wrapper of the comparison runs. What happens to it, and when, it says on its standard output
 * in records; what it is to do it is told on its standard input, and when that ends, so does it: no service outlives
 * the harness. service.go is the same for machines without a C compiler.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct record {
	int64_t what, when, pid;
};

static int stubborn;

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void say(char what, int64_t when)
{
	struct record r = {what, when, getpid()};
	if (write(STDOUT_FILENO, &r, sizeof r) != sizeof r)
		_exit(1);
}

static void on_term(int signal)
{
	(void)signal;
	say('t', now());
	if (!stubborn)
		_exit(0);
}

/* tell_status sends one status message that carries the time. */
static void tell_status(void)
{
	const char *where = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char text[64];
	size_t length = where ? strlen(where) : 0;
	static int fd = -1;

	if (length == 0 || length > sizeof to.sun_path)
		_exit(1);
	memcpy(to.sun_path, where, length);
	if (where[0] == '@')
		to.sun_path[0] = '\0';
	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int n = snprintf(text, sizeof text, "STATUS=bench:%lld;", (long long)now());
	if (sendto(fd, text, n, 0, (struct sockaddr *)&to, offsetof(struct sockaddr_un, sun_path) + length) != n)
		_exit(1);
}

/* spin keeps a processor from halting, and gives way to whoever wants it. */
static void spin(void)
{
	struct sched_param none = {0};
	if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
		_exit(1);
	for (;;)
		__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int64_t begun = now();
	char told;

	if (argc > 1 && strcmp(argv[1], "spin") == 0)
		spin();
	stubborn = getenv("BENCH_STUBBORN") != NULL;
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_term, .sa_flags = SA_RESTART}, NULL);
	say('m', begun);
	while (read(STDIN_FILENO, &told, 1) == 1) {
		if (told == 's')
			tell_status();
		if (told == 'x') {
			say('x', now());
			_exit(0);
		}
	}
	_exit(1);
}
