#include "textflag.h"

// svckit_caught is what catch_linux_amd64.s says, for arm64.

#define SYS_write 64

TEXT svckit_caught(SB),NOSPLIT|NOFRAME,$0
	SUB	$1, R0, R1 // the signal's bit
	MOVD	$1, R2
	LSL	R1, R2, R2
	MOVD	$·caught(SB), R3
again:
	LDAXR	(R3), R4
	ORR	R2, R4, R4
	STLXR	R4, (R3), R5
	CBNZ	R5, again
	// write(caught.fd, &caught.one, 8)
	MOVD	8(R3), R0
	ADD	$16, R3, R1
	MOVD	$8, R2
	MOVD	$SYS_write, R8
	SVC
	RET // to the kernel's own restorer

// func handler() uintptr
TEXT ·handler(SB),NOSPLIT,$0-8
	MOVD	$svckit_caught(SB), R0
	MOVD	R0, ret+0(FP)
	RET
