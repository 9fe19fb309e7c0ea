/*
 * The smallest wrapper: it starts its child, hands SIGTERM on, and ends as the child ended.
 *
 *	floor [-g MS] [-r] COMMAND [ARG...]
 *
 * -g: SIGKILL that long after SIGTERM. -r: what the child says to its $NOTIFY_SOCKET goes on to the floor's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* open_relay makes in for the child, under a name that the kernel chooses, and connects out to $NOTIFY_SOCKET. */
static void open_relay(int *in, int *out)
{
	const char *where = getenv("NOTIFY_SOCKET");
	struct sockaddr_un name = {.sun_family = AF_UNIX}, to = {.sun_family = AF_UNIX};
	socklen_t size = sizeof name;
	char text[sizeof name.sun_path + 1] = "@";

	if (where == NULL || strlen(where) >= sizeof to.sun_path)
		exit(64);
	strcpy(to.sun_path, where);
	*out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	*in = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (connect(*out, (struct sockaddr *)&to, sizeof to) != 0 ||
	    bind(*in, (struct sockaddr *)&name, sizeof(sa_family_t)) != 0 ||
	    getsockname(*in, (struct sockaddr *)&name, &size) != 0)
		exit(1);
	memcpy(text + 1, name.sun_path + 1, size - sizeof(sa_family_t) - 1);
	setenv("NOTIFY_SOCKET", text, 1);
}

static pid_t start(char **command, const sigset_t *mask)
{
	pid_t child = vfork();
	if (child == 0) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvp(command[0], command);
		_exit(203);
	}
	return child;
}

static void end_as(int status)
{
	if (!WIFSIGNALED(status))
		_exit(WEXITSTATUS(status));
	sigset_t none;
	sigemptyset(&none);
	signal(WTERMSIG(status), SIG_DFL);
	kill(getpid(), WTERMSIG(status));
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	int64_t grace = 0, deadline = 0;
	int option, status, in = -1, out = -1;
	sigset_t mine, given;

	while ((option = getopt(argc, argv, "+g:r")) != -1) {
		if (option == 'g')
			grace = atoll(optarg) * 1000000;
		else if (option == 'r')
			open_relay(&in, &out);
		else
			return 64;
	}
	sigemptyset(&mine);
	sigaddset(&mine, SIGTERM);
	sigaddset(&mine, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mine, &given);
	pid_t child = start(argv + optind, &given);
	struct pollfd fds[] = {{.fd = signalfd(-1, &mine, SFD_CLOEXEC), .events = POLLIN}, {.fd = in, .events = POLLIN}};
	for (;;) {
		int64_t left = deadline ? deadline - now() : 0;
		struct timespec wait = {.tv_sec = left > 0 ? left / 1000000000 : 0, .tv_nsec = left > 0 ? left % 1000000000 : 0};
		int n = ppoll(fds, 2, deadline ? &wait : NULL, NULL);
		if (n == 0) {
			kill(child, SIGKILL);
			deadline = 0;
		}
		if (n > 0 && fds[1].revents) {
			char text[4096];
			ssize_t length = recv(in, text, sizeof text, 0);
			if (length > 0)
				send(out, text, length, 0);
		}
		struct signalfd_siginfo got;
		if (n > 0 && fds[0].revents && read(fds[0].fd, &got, sizeof got) == sizeof got) {
			if (got.ssi_signo == SIGCHLD && waitpid(child, &status, WNOHANG) == child)
				end_as(status);
			if (got.ssi_signo == SIGTERM) {
				kill(child, SIGTERM);
				deadline = grace ? now() + grace : 0;
			}
		}
	}
}
