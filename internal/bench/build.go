package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// sources are the service and the smallest wrappers, in C and in Go.
//
//go:embed testdata/service.c testdata/service.go testdata/floor.c testdata/floor.go
var sources embed.FS

// programs are what is built at run time. An empty path is what cannot be.
type programs struct {
	service string
	cFloor  string
	goFloor string
	inC     bool // the service is
}

// buildPrograms builds them in dir. Without a C compiler the service is a Go
// program, and there is no C floor.
func buildPrograms(ctx context.Context, dir string) (programs, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	entries, err := sources.ReadDir("testdata")
	if err != nil {
		return programs{}, err
	}
	for _, e := range entries {
		text, err := sources.ReadFile("testdata/" + e.Name())
		if err != nil {
			return programs{}, err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), text, 0o600); err != nil {
			return programs{}, err
		}
	}
	p := programs{service: filepath.Join(dir, "service"), goFloor: filepath.Join(dir, "floor-go")}
	if err := goBuild(ctx, dir, "floor.go", p.goFloor); err != nil {
		return p, err
	}
	if floor := filepath.Join(dir, "floor-c"); cBuild(ctx, dir, "floor.c", floor) && cBuild(ctx, dir, "service.c", p.service) {
		p.cFloor, p.inC = floor, true
		return p, nil
	}
	return p, goBuild(ctx, dir, "service.go", p.service)
}

func goBuild(ctx context.Context, dir, source, program string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, source)
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %s: %w\n%s", source, err, out)
	}
	return nil
}

// cBuild says whether there was a C compiler that could.
func cBuild(ctx context.Context, dir, source, program string) bool {
	for _, compiler := range []string{"cc", "gcc", "clang"} {
		build := exec.CommandContext(ctx, compiler, "-O2", "-static", "-s", "-o", program, source)
		build.Dir = dir
		if build.Run() == nil {
			return true
		}
	}
	return false
}

// copyProgram copies a program, so that a build beside the run changes nothing.
func copyProgram(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o700) //nolint:gosec // a program must be executable
}
