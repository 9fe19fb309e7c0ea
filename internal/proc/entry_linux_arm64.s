#include "textflag.h"

// svckit_rt0 is what entry_linux_amd64.s says, for arm64.

#define SYS_rt_sigaction 134
#define SYS_rt_sigprocmask 135
#define SIG_IGN 1
#define SIGHUP 1
#define SIGNALS 64
#define SIGSET_BYTES 8

TEXT svckit_rt0(SB),NOSPLIT|NOFRAME,$0
	MOVD	$0, R20 // the set of ignored signals
	MOVD	$SIGNALS, R21
next:
	// rt_sigaction(signal, NULL, &old, sizeof(sigset_t)); the handler is old's first field.
	MOVD	R21, R0
	MOVD	$0, R1
	SUB	$256, RSP, R2
	MOVD	$SIGSET_BYTES, R3
	MOVD	$SYS_rt_sigaction, R8
	SVC
	CBNZ	R0, done
	SUB	$256, RSP, R2
	MOVD	(R2), R4
	CMP	$SIG_IGN, R4
	BNE	done
	SUB	$1, R21, R5
	MOVD	$1, R4
	LSL	R5, R4, R4
	ORR	R4, R20, R20
done:
	SUB	$1, R21, R21
	CBNZ	R21, next
	MOVD	R20, ·atEntry+8(SB)
	// rt_sigaction(SIGHUP, &{SIG_IGN}, NULL, sizeof(sigset_t))
	SUB	$256, RSP, R1
	MOVD	$SIG_IGN, R4
	MOVD	R4, (R1)
	MOVD	ZR, 8(R1)
	MOVD	ZR, 16(R1)
	MOVD	ZR, 24(R1)
	MOVD	$SIGHUP, R0
	MOVD	$0, R2
	MOVD	$SIGSET_BYTES, R3
	MOVD	$SYS_rt_sigaction, R8
	SVC
	// rt_sigprocmask(SIG_BLOCK, NULL, &old, sizeof(sigset_t))
	MOVD	$0, R0
	MOVD	$0, R1
	MOVD	$·atEntry+16(SB), R2
	MOVD	$SIGSET_BYTES, R3
	MOVD	$SYS_rt_sigprocmask, R8
	SVC
	MOVD	$1, R4
	MOVD	R4, ·atEntry+0(SB)
	// argc, then as many arguments and NULL, then the environment.
	MOVD	0(RSP), R4
	ADD	$16, RSP, R5
	ADD	R4<<3, R5, R5
	MOVD	R5, ·atEntry+24(SB)
	MOVD	(R5), R6
	CBZ	R6, empty
	MOVD	R6, ·atEntry+32(SB)
	MOVD	$oneProcessor<>(SB), R6
	MOVD	R6, (R5)
empty:
	JMP	_rt0_arm64_linux(SB)

DATA oneProcessor<>+0(SB)/8, $"GOMAXPRO"
DATA oneProcessor<>+8(SB)/8, $"CS=1\x00\x00\x00\x00"
GLOBL oneProcessor<>(SB), RODATA, $16
