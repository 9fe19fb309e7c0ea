#include "textflag.h"

// svckit_rt0 is what svcrun's ELF header names as its entry point (the linker's
// -E): it notes which signals are ignored and which are blocked, then goes on to
// the Go runtime's own entry point, which changes both before any Go code runs.
// SIGHUP is ignored from here on, until signal.Notify: nobody can mean more by it
// yet than what svcrun is about to do, and the runtime would die of it.
//
// It runs on the kernel's stack, with argc at 0(SP), and no handler is installed
// yet: what is below SP is free.

#define SYS_rt_sigaction 13
#define SYS_rt_sigprocmask 14
#define SIG_IGN 1
#define SIGHUP 1
#define SIGNALS 64
#define SIGSET_BYTES 8

TEXT svckit_rt0(SB),NOSPLIT|NOFRAME,$0
	XORQ	R12, R12 // the set of ignored signals
	MOVQ	$SIGNALS, R13
next:
	// rt_sigaction(signal, NULL, &old, sizeof(sigset_t)); the handler is old's first field.
	MOVQ	R13, DI
	XORQ	SI, SI
	LEAQ	-256(SP), DX
	MOVQ	$SIGSET_BYTES, R10
	MOVQ	$SYS_rt_sigaction, AX
	SYSCALL
	TESTQ	AX, AX
	JNZ	done
	CMPQ	-256(SP), $SIG_IGN
	JNE	done
	LEAQ	-1(R13), CX
	MOVQ	$1, AX
	SHLQ	CX, AX
	ORQ	AX, R12
done:
	DECQ	R13
	JNZ	next
	MOVQ	R12, ·atEntry+8(SB)
	// rt_sigaction(SIGHUP, &{SIG_IGN}, NULL, sizeof(sigset_t))
	MOVQ	$SIG_IGN, -256(SP)
	MOVQ	$0, -248(SP)
	MOVQ	$0, -240(SP)
	MOVQ	$0, -232(SP)
	MOVQ	$SIGHUP, DI
	LEAQ	-256(SP), SI
	XORQ	DX, DX
	MOVQ	$SIGSET_BYTES, R10
	MOVQ	$SYS_rt_sigaction, AX
	SYSCALL
	// rt_sigprocmask(SIG_BLOCK, NULL, &old, sizeof(sigset_t))
	XORQ	DI, DI
	XORQ	SI, SI
	LEAQ	·atEntry+16(SB), DX
	MOVQ	$SIGSET_BYTES, R10
	MOVQ	$SYS_rt_sigprocmask, AX
	SYSCALL
	MOVQ	$1, ·atEntry+0(SB)
	XORQ	DX, DX // a static program has nothing to run at its exit
	JMP	_rt0_amd64_linux(SB)
