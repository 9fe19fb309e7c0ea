#include "textflag.h"

// svckit_caught is a signal handler: it notes the signal and wakes whoever waits
// for it. It may come at any instruction of any thread, also of a child between
// its fork and its exec, so it uses nothing of Go's, and no stack.

#define SYS_write 1

TEXT svckit_caught(SB),NOSPLIT|NOFRAME,$0
	LEAL	-1(DI), CX // the signal's bit
	MOVQ	$1, AX
	SHLQ	CX, AX
	LOCK
	ORQ	AX, ·caught+0(SB)
	// write(caught.fd, &caught.one, 8)
	MOVQ	·caught+8(SB), DI
	LEAQ	·caught+16(SB), SI
	MOVQ	$8, DX
	MOVQ	$SYS_write, AX
	SYSCALL
	RET // to the action's restorer

// func handler() uintptr
TEXT ·handler(SB),NOSPLIT,$0-8
	LEAQ	svckit_caught(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
