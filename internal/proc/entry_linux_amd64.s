#include "textflag.h"

// svckit_rt0 is what svcrun's ELF header names as its entry point (the linker's
// -E): it notes which signals are ignored and which are blocked, then goes on to
// the Go runtime's own entry point, which changes both before any Go code runs.
// It also has the runtime find GOMAXPROCS=1, in the place of the first variable of
// the environment: svcrun has one thing to do at a time, and each processor that
// the runtime prepares for costs memory, a thread, and wake-ups in vain. What is
// passed on is Environ, in which the first variable is back.
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
	// argc, then as many arguments and NULL, then the environment.
	MOVQ	0(SP), CX
	LEAQ	16(SP)(CX*8), BX
	MOVQ	BX, ·atEntry+24(SB)
	MOVQ	(BX), DX
	TESTQ	DX, DX
	JZ	empty
	MOVQ	DX, ·atEntry+32(SB)
	LEAQ	oneProcessor<>(SB), DX
	MOVQ	DX, (BX)
empty:
	XORQ	DX, DX // a static program has nothing to run at its exit
	JMP	_rt0_amd64_linux(SB)

DATA oneProcessor<>+0(SB)/8, $"GOMAXPRO"
DATA oneProcessor<>+8(SB)/8, $"CS=1\x00\x00\x00\x00"
GLOBL oneProcessor<>(SB), RODATA, $16
