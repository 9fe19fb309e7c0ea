package main

import (
	"context"
	"errors"
	"time"
)

// start measures from the fork of the wrapper to the first instruction of its
// child's main.
func (b *bench) start(ctx context.Context, c contender) error {
	i, err := b.launch(ctx, c, use{prefix: c.plain})
	if err != nil {
		return err
	}
	defer i.end()
	begun, err := i.begin()
	if err != nil {
		return err
	}
	b.samples.add("start", c.name, milliseconds(begun-i.begun))
	return nil
}

// exit measures from the child's _exit to the wrapper's end.
func (b *bench) exit(c contender, i *instance) error {
	if err := i.tell(tellExit); err != nil {
		return err
	}
	gone, err := i.wait()
	if err != nil {
		return err
	}
	left, _, err := i.next(saidExit)
	if err := errors.Join(err, i.nothingLeft()); err != nil {
		return err
	}
	b.samples.add("exit", c.name, milliseconds(gone-left))
	return nil
}

// stop measures from SIGTERM to the child's handler, and to the end of both.
func (b *bench) stop(c contender, i *instance) error {
	sent, had, gone, err := i.stop()
	if err != nil {
		return err
	}
	b.samples.add("stop.forward", c.name, milliseconds(had-sent))
	b.samples.add("stop", c.name, milliseconds(gone-sent))
	return nil
}

// killed measures what a stop takes beyond the grace when the child ignores
// SIGTERM.
func (b *bench) killed(c contender, i *instance) error {
	sent, _, gone, err := i.stop()
	if err != nil {
		return err
	}
	b.samples.add("grace", c.name, milliseconds(gone-sent-grace))
	return nil
}

// stop stops a wrapper and its child: when it was asked to, when the child had
// the signal, and when both had gone.
func (i *instance) stop() (sent, had, gone time.Duration, err error) {
	if sent, err = i.term(); err != nil {
		return 0, 0, 0, err
	}
	if gone, err = i.wait(); err != nil {
		return 0, 0, 0, err
	}
	had, _, err = i.next(saidTERM)
	return sent, had, gone, errors.Join(err, i.nothingLeft())
}
